import { type Child, h } from './dom.ts';
import { number } from './format.ts';

/** Heading of a page, with what can be chosen on its right. */
export function pageHead(title: string, lead: Child, ...tools: Child[]): HTMLElement {
  return h(
    'div',
    { class: 'head' },
    h('div', {}, h('h1', {}, title), h('p', { class: 'lead' }, lead)),
    ...tools,
  );
}

export interface CardOptions {
  title: string;
  note?: Child;
  size?: 'third' | 'half' | 'two-thirds' | 'whole';
}

let cards = 0;

/** A box with a heading; a region that can be jumped to. */
export function card({ title, note, size = 'whole' }: CardOptions, ...content: Child[]): HTMLElement {
  const id = `card-${++cards}`;
  return h(
    'section',
    { class: `card ${size}`, 'aria-labelledby': id },
    h('header', {}, h('h2', { id }, title), note ? h('p', {}, note) : null),
    ...content,
  );
}

export interface Column<T> {
  head: string;
  /** Numbers stand on the right. */
  kind?: 'number' | 'cut' | 'quiet';
  cell(row: T): Child;
}

/** A table that scrolls sideways on its own where it is too wide. */
export function table<T>(
  columns: Column<T>[],
  rows: readonly T[],
  label: string,
  empty: Child = 'Nothing here.',
): HTMLElement {
  if (rows.length === 0) return h('p', { class: 'empty' }, empty);
  const head = columns.map(({ head: text, kind }) =>
    h('th', { scope: 'col', class: kind === 'number' ? 'number' : null }, text),
  );
  const body = rows.map((row) =>
    h('tr', {}, ...columns.map(({ kind, cell }) => h('td', { class: kind ?? null }, cell(row)))),
  );
  return h(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': `${label}, as a table`, tabindex: 0 },
    h(
      'table',
      {},
      columns.some(({ head: text }) => text !== '') && h('thead', {}, h('tr', {}, ...head)),
      h('tbody', {}, ...body),
    ),
  );
}

export interface Bar {
  label: Child;
  value: number;
  /** What the upstream gave as a colour; anything that is none is ignored. */
  color?: string | null;
  href?: string;
}

/** Amounts side by side; a table, so that it reads as one. */
export function bars(rows: readonly Bar[], label: string): HTMLElement {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  return table<Bar>(
    [
      {
        head: '',
        cell: ({ label: text, href, color }) =>
          swatched(h('span', { class: 'bar-label' }, href ? h('a', { href }, text) : text), color),
      },
      {
        head: '',
        kind: 'cut',
        cell: ({ value, color }) =>
          h('span', {
            class: 'bar',
            'aria-hidden': 'true',
            vars: { width: `${(100 * value) / most}%`, ...swatch(color) },
          }),
      },
      { head: '', kind: 'number', cell: ({ value }) => number(value) },
    ],
    rows,
    label,
  );
}

/** A status or board with the colour it has upstream. */
export function swatched(text: Child, color: string | null | undefined): Child {
  return color === undefined ? text : h('span', { class: 'pill', vars: swatch(color) }, text);
}

function swatch(color: string | null | undefined): Record<string, string> {
  return color && /^#[0-9a-f]{3,8}$/i.test(color) ? { '--swatch': color } : {};
}

export function banner(tone: 'good' | 'warn' | 'bad' | 'plain', ...content: Child[]): HTMLElement {
  return h(
    'div',
    { class: 'banner', 'data-tone': tone, role: tone === 'bad' ? 'alert' : 'status' },
    ...content,
  );
}

export function field(label: string, control: HTMLElement): HTMLElement {
  return h('label', { class: 'field' }, label, control);
}

export interface Choice {
  value: string;
  text: string;
}

export function select(
  name: string,
  choices: readonly Choice[],
  chosen: string,
  onChange: (value: string) => void,
): HTMLSelectElement {
  const options = choices.map(({ value, text }) => h('option', { value, selected: value === chosen }, text));
  const element = h('select', { id: `field-${name}`, name }, ...options);
  element.addEventListener('change', () => onChange(element.value));
  return element;
}

export function button(
  text: string,
  onClick: () => void,
  look: 'main' | 'danger' | null = null,
): HTMLButtonElement {
  return h('button', { type: 'button', class: look, on: { click: onClick } }, text);
}
