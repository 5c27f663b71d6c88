import type { KnownBoard } from '../base/boards.ts';
import { type Child, h } from './dom.ts';
import { type Choice, select } from './parts.ts';

export interface BoardPicker {
  element: HTMLElement;
  /** A slug, what was typed, or the value of one of the other choices; empty where nothing is chosen. */
  value(): string;
}

export interface PickerOptions {
  /** Tells it from other pickers of the page. */
  id: string;
  /** What it asks for, to be read out. */
  label: string;
  boards: readonly KnownBoard[];
  chosen?: string;
  /** Slugs that are likely meant: they stand first. */
  suggested?: readonly string[];
  /** Choices that are no board, behind the boards. */
  others?: readonly Choice[];
  onPick?(value: string): void;
}

const TYPED = '+typed';

/** A board to choose, or to type: a new service has none to choose from, and boards without posts are never listed. */
export function boardPicker(options: PickerOptions): BoardPicker {
  const { id, label, boards, chosen = '', suggested = [], others = [], onPick } = options;
  const known = [...suggested, ...boards.map(({ slug }) => slug), ...others.map(({ value }) => value)];
  const isTyped = chosen !== '' && !known.includes(chosen);
  const input = h('input', {
    id: `field-${id}-typed`,
    'aria-label': `${label}: the short part of its URL`,
    placeholder: 'e.g. feature-requests',
    autocomplete: 'off',
    spellcheck: 'false',
    hidden: boards.length > 0 && !isTyped,
  });
  input.value = isTyped ? chosen : '';
  const pick = (value: string): void => {
    if (value !== '') onPick?.(value);
  };
  input.addEventListener('change', () => pick(input.value.trim()));
  if (boards.length + suggested.length + others.length === 0)
    return { element: input, value: () => input.value.trim() };
  const list = select(id, choicesOf(options), isTyped ? TYPED : chosen, (value) => {
    input.hidden = value !== TYPED;
    if (value === TYPED) input.focus();
    else pick(value);
  });
  list.setAttribute('aria-label', label);
  if (list.value === TYPED) input.hidden = false;
  return {
    element: h('div.board-picker', list, input),
    value: () => (list.value === TYPED ? input.value.trim() : list.value),
  };
}

function choicesOf({ boards, suggested = [], others = [], chosen = '' }: PickerOptions): Choice[] {
  const nameOf = (slug: string): string => boards.find((board) => board.slug === slug)?.name ?? slug;
  const rest = boards.filter(({ slug }) => !suggested.includes(slug));
  return [
    ...(chosen === '' ? [{ value: '', text: 'Choose …' }] : []),
    ...suggested.map((slug) => ({ value: slug, text: `${nameOf(slug)} (suggested)` })),
    ...rest.map(({ slug, name }) => ({ value: slug, text: name })),
    { value: TYPED, text: 'Another board: type it …' },
    ...others,
  ];
}

/** The picker under a label, for a form. */
export function boardField(label: string, picker: BoardPicker): Child {
  return h('div.field', h('span', label), picker.element);
}
