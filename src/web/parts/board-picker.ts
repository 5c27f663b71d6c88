import { useRef, useState } from 'preact/hooks';
import type { KnownBoard } from '../../text/boards.ts';
import { h, type VNode } from '../h.ts';
import { boardChoices, type ControlChoice, select } from './controls.ts';

interface PickerOptions {
  /** Tells it from other pickers of the page. */
  id: string;
  /** What it asks for, to be read out. */
  label: string;
  boards: readonly KnownBoard[];
  chosen?: string;
  /** Slugs that are likely meant: they stand first. */
  suggested?: readonly string[];
  /** Choices that are no board, behind the boards. */
  others?: readonly ControlChoice[];
  /** A slug, what was typed, or the value of one of the other choices. */
  onPick(value: string): void;
}

const TYPED = '+typed';

/** A board to choose, or to type: a new service has none to choose from, and boards without posts are never listed. */
export function BoardPicker(options: PickerOptions): VNode {
  const { id, label, boards, chosen = '', suggested = [], others = [], onPick } = options;
  const known = [...suggested, ...boards.map(({ slug }) => slug), ...others.map(({ value }) => value)];
  const isTyped = chosen !== '' && !known.includes(chosen);
  const [{ typing, given }, setTyping] = useState({ typing: isTyped, given: chosen });
  if (given !== chosen) setTyping({ typing: isTyped, given: chosen });
  const input = useRef<HTMLInputElement>(null);
  const pick = (value: string): void => {
    if (value !== '') onPick(value);
  };
  const isAlone = known.length === 0;
  const typed = h('input', {
    ref: input,
    id: `field-${id}-typed`,
    'aria-label': `${label}: the short part of its URL`,
    placeholder: 'e.g. feature-requests',
    autocomplete: 'off',
    spellcheck: false,
    hidden: !isAlone && !typing,
    defaultValue: typing ? chosen : '',
    onChange: ({ currentTarget }) => pick(currentTarget.value.trim()),
  });
  if (isAlone) return typed;
  const onChange = (value: string): void => {
    setTyping({ typing: value === TYPED, given: chosen });
    if (value === TYPED) setTimeout(() => input.current?.focus());
    else pick(value);
  };
  const list = select(id, choicesOf(options), typing ? TYPED : chosen, onChange, { 'aria-label': label });
  return h('div.board-picker', list, typed);
}

function choicesOf({ boards, suggested = [], others = [], chosen = '' }: PickerOptions): ControlChoice[] {
  const nameOf = (slug: string): string => boards.find((board) => board.slug === slug)?.name ?? slug;
  const rest = boards.filter(({ slug }) => !suggested.includes(slug));
  return [
    ...(chosen === '' ? [{ value: '', text: 'Choose …' }] : []),
    ...suggested.map((slug) => ({ value: slug, text: `${nameOf(slug)} (suggested)` })),
    ...boardChoices(rest),
    { value: TYPED, text: 'Another board: type it …' },
    ...others,
  ];
}

/** The picker as a field of a form, under the name `board`. */
export function BoardField({ label, ...options }: Omit<PickerOptions, 'onPick'>): VNode {
  const [board, setBoard] = useState(options.chosen ?? '');
  return h(
    'div.field',
    h('span', label),
    h(BoardPicker, { ...options, label, chosen: board, onPick: setBoard }),
    h('input', { type: 'hidden', name: 'board', value: board }),
  );
}
