import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { type Child, h, type Props, type VNode } from '../h.ts';

export function button(text: Child, onClick: () => void, attributes: Props<'button'> = {}): VNode {
  return h('button', { type: 'button', onClick, ...attributes }, text);
}

export function field(label: string, control: Child): VNode {
  return h('label.field', label, control);
}

export interface ControlChoice {
  value: string;
  text: string;
}

export function select(
  name: string,
  choices: readonly ControlChoice[],
  chosen: string,
  onChange: (value: string) => void,
  attributes: Props<'select'> = {},
): VNode {
  const options = choices.map(({ value, text }) =>
    h('option', { key: value, value, selected: value === chosen }, text),
  );
  return h(
    'select',
    {
      id: `field-${name}`,
      name,
      value: chosen,
      onChange: ({ currentTarget }) => onChange(currentTarget.value),
      ...attributes,
    },
    options,
  );
}

/** One of a list; null where none is chosen. */
export function choiceField(
  name: string,
  label: string,
  choices: readonly ControlChoice[],
  chosen: string | null,
  onChange: (value: string | null) => void,
): VNode {
  return field(
    label,
    select(name, choices, chosen ?? '', (value) => onChange(value || null)),
  );
}

export function boardChoices(boards: readonly { slug: string; name: string }[]): ControlChoice[] {
  return boards.map(({ slug, name }) => ({ value: slug, text: name }));
}

export function statusChoices(statuses: readonly { id: number; name: string }[]): ControlChoice[] {
  return statuses.map(({ id, name }) => ({ value: String(id), text: name }));
}

export function plainChoices(values: readonly string[]): ControlChoice[] {
  return values.map((value) => ({ value, text: value.replaceAll('_', ' ') }));
}

interface TextInputOptions {
  value: string | null;
  onText(text: string | null): void;
  input?: Props<'input'>;
}

/**
 * A field for words. It tells when the person leaves it or presses Enter, and not of what cannot be. What is half typed stays when the page
 * is drawn again; another value from outside is shown.
 */
export function TextInput({ value, onText, input = {} }: TextInputOptions): VNode {
  const [{ text, given }, setText] = useState({ text: value ?? '', given: value });
  if (given !== value) setText({ text: value ?? '', given: value });
  return h('input', {
    autocomplete: 'off',
    ...input,
    value: text,
    onInput: ({ currentTarget }) => setText({ text: currentTarget.value, given: value }),
    onChange: ({ currentTarget }) => {
      if (currentTarget.reportValidity()) onText(currentTarget.value.trim() || null);
    },
  });
}

/** Long enough for the next letter of a quick typist, short enough to feel like none. */
const TYPING_MS = 150;

/** A field to search with: it tells when the person pauses. Another text from outside, such as a suggestion, takes the place of its own. */
export function SearchInput({ value, input, onText }: TextInputOptions): VNode {
  const [text, setText] = useState(value ?? '');
  const lastValue = useRef(value);
  useEffect(() => {
    if (lastValue.current !== value) setText(value ?? '');
    lastValue.current = value;
  }, [value]);
  useEffect(() => {
    const next = text.trim() === '' ? null : text;
    if (next === lastValue.current) return;
    const pause = setTimeout(() => {
      lastValue.current = next;
      onText(next);
    }, TYPING_MS);
    return () => clearTimeout(pause);
  }, [text]);
  return h('input', {
    type: 'search',
    autocomplete: 'off',
    spellcheck: false,
    ...input,
    value: text,
    onInput: ({ currentTarget }) => setText(currentTarget.value),
  });
}

/** What becomes of a list in an address, `a,b`. */
export type ListChange = (values: readonly string[]) => readonly string[];

export function listIn(text: string | null): string[] {
  return text?.split(',') ?? [];
}

export function changedList(text: string | null, change: ListChange): string | null {
  return change(listIn(text)).join(',') || null;
}

/** Several of a list: a box that opens, with a box to tick for each. */
export function checklist(
  name: string,
  label: string,
  choices: readonly ControlChoice[],
  chosen: readonly string[],
  onChange: (change: ListChange) => void,
  none = 'All',
): VNode {
  const id = `picks-${name}`;
  const known = choices.filter(({ value }) => chosen.includes(value));
  const toggle = (value: string, isOn: boolean): void =>
    onChange((values) => [...values.filter((one) => one !== value), ...(isOn ? [value] : [])]);
  const boxes = choices.map(({ value, text }, i) =>
    h(
      'label.tick',
      { key: value },
      h('input', {
        type: 'checkbox',
        id: `${id}-${i}`,
        name,
        value,
        checked: chosen.includes(value),
        onChange: ({ currentTarget }) => toggle(value, currentTarget.checked),
      }),
      h('span', { dir: 'auto' }, text),
    ),
  );
  const said = chosen.length === 0 ? none : known.length === 1 ? known[0]?.text : `${chosen.length} chosen`;
  return h(
    'div.field',
    h('span', { id: `${id}-label` }, label),
    h(
      'details.picks',
      { id },
      h(
        'summary',
        { id: `${id}-summary`, 'aria-label': `${label}: ${said}` },
        h('span', { dir: 'auto' }, said),
      ),
      h(
        'div.picks-list',
        { role: 'group', 'aria-labelledby': `${id}-label` },
        boxes,
        chosen.length > 0 ? button(none, () => onChange(() => []), { id: `${id}-none` }) : null,
      ),
    ),
  );
}

interface FiltersOptions {
  /** Classes of the fields together. */
  look: string;
  /** How many of them are chosen. */
  chosen: number;
  children?: Child;
}

/** The filters of a list. On a phone they are folded behind a button, so that the list is on the first screen. */
export function Filters({ look, chosen, children }: FiltersOptions): Child {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const label = chosen === 0 ? 'Filters' : `Filters: ${chosen} chosen`;
  return [
    button(label, () => setOpen(!isOpen), {
      class: 'filters-toggle',
      'aria-expanded': isOpen,
      'aria-controls': id,
    }),
    h('div.filters', { id, class: isOpen ? look : `${look} folded` }, children),
  ];
}
