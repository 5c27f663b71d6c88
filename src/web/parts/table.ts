import { number } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { type CardOptions, card, swatch, swatched } from './layout.ts';

export interface TableColumn<T> {
  head: Child;
  /** How the rows are sorted by it; none where they are not. */
  sorted?: 'ascending' | 'descending' | null;
  /** Numbers stand on the right. */
  kind?: 'number' | 'wide' | 'quiet' | 'title' | 'words' | 'person';
  cell(row: T): Child;
}

interface TableOptions<T> {
  class?: string;
  columns: readonly TableColumn<T>[];
  rows: readonly T[];
  label: string;
  empty?: Child;
  /** What a row is known by when the table is drawn again; its place unless given. */
  key?(row: T): string | number;
}

/** A table that scrolls sideways on its own where it is too wide. */
export function table<T>({
  columns,
  rows,
  label,
  empty = 'Nothing here.',
  key,
  class: look,
}: TableOptions<T>): VNode {
  if (rows.length === 0) return h('p.empty', empty);
  const head = columns.map(({ head: text, kind, sorted = null }) =>
    h('th', { scope: 'col', class: kind === 'number' ? 'number' : null, 'aria-sort': sorted }, text),
  );
  const body = rows.map((row) =>
    h(
      'tr',
      key ? { key: key(row) } : {},
      ...columns.map(({ kind, cell }) =>
        h('td', { class: kind ?? null, dir: kind === 'number' ? null : 'auto' }, cell(row)),
      ),
    ),
  );
  return h(
    'div.scroll',
    { role: 'region', 'aria-label': `${label}, as a table`, tabIndex: 0 },
    h(
      'table',
      { class: look ?? null },
      columns.some(({ head: text }) => text !== '') && h('thead', h('tr', ...head)),
      h('tbody', body),
    ),
  );
}

/** A card that is a table, under the name of the card. */
export function tableCard<T>(options: CardOptions, content: Omit<TableOptions<T>, 'label'>): VNode {
  return card(options, table({ ...content, label: options.title }));
}

export interface Bar {
  label: string;
  value: number;
  /** The value in words, where the number alone would say nothing: a duration, a share. */
  text?: string;
  color?: string | null;
  href?: string | null;
}

/** Amounts side by side; a table, so that it reads as one. */
export function bars(rows: readonly Bar[], label: string): VNode {
  // Shares are below 1: the largest is the whole length, and not 1.
  const most = Math.max(0, ...rows.map(({ value }) => value)) || 1;
  const columns: TableColumn<Bar>[] = [
    {
      head: '',
      cell: ({ label: text, href, color }) =>
        swatched(h('span.bar-label', { dir: 'auto' }, href ? h('a', { href }, text) : text), color),
    },
    {
      head: '',
      kind: 'wide',
      cell: ({ value, color }) =>
        value > 0 &&
        h('span.bar', {
          'aria-hidden': 'true',
          style: { width: `${(100 * value) / most}%`, ...swatch(color) },
        }),
    },
    { head: '', kind: 'number', cell: ({ value, text }) => text ?? number(value) },
  ];
  return table({ columns, rows, label, class: 'bars' });
}
