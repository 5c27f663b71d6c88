import type { AskFacts } from '../../dashboard/ask.ts';
import { h } from '../dom.ts';
import { card } from '../parts.ts';

/** The tables, each with its columns in words; a column's name is put where the person writes. */
export function schemaCard({ tables }: AskFacts, insert: (word: string) => void): HTMLElement {
  const word = (text: string): HTMLElement =>
    h(
      'button',
      {
        type: 'button',
        class: 'word',
        title: `Put ${text} into the statement`,
        on: { click: () => insert(text) },
      },
      text,
    );
  const shown = tables.map(({ name, line, columns }) =>
    h(
      'details',
      { class: 'schema' },
      h('summary', {}, h('code', {}, name), h('span', { class: 'note' }, line)),
      h(
        'dl',
        {},
        ...Object.entries(columns).map(([column, words]) => [
          h('dt', {}, word(column)),
          h('dd', { class: 'note' }, words),
        ]),
      ),
    ),
  );
  return card({ title: 'Tables' }, ...shown);
}
