import type { ImportedAnswer, SegmentsAnswer } from '../../http/dashboard/segments.ts';
import { fetchJson, withQuery } from '../api.ts';
import { ago, counted, number } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { button, field } from '../parts/controls.ts';
import { openForm } from '../parts/dialog.ts';
import { banner, card, pageHead } from '../parts/layout.ts';
import { type Outcome, useOutcome } from '../parts/load.ts';
import { table } from '../parts/table.ts';
import { pageOf } from '../shell/page.ts';

/** The customers that somebody imported: a file in their place, the plans, and the companies with what their people asked. */
export const page = pageOf<SegmentsAnswer>({
  title: 'Customers',
  follows: () => true,
  load: (_place, signal) => fetchJson('/data/segments', { signal }),
  view({ answer, place: { reload } }) {
    const { said, say, attempt } = useOutcome();
    const choose = async ({ currentTarget }: { currentTarget: HTMLInputElement }): Promise<void> => {
      const [file] = currentTarget.files ?? [];
      const csv = await file?.text();
      currentTarget.value = '';
      if (csv !== undefined) await attempt(() => offer(csv, say, reload));
    };
    return [
      pageHead(
        'Customers',
        'Companies, plans and values beside the people of the mirror. Lists and reports can be narrowed to them.',
        field(
          'Import a CSV file',
          h('input', {
            id: 'customers-file',
            type: 'file',
            accept: '.csv,text/csv',
            onChange: (event) => void choose(event),
          }),
        ),
      ),
      said,
      answer.customers === 0
        ? h(
            'p.empty.card',
            'No customers are imported. The file needs a column with e-mail addresses or domains; company, plan and a value are optional.',
          )
        : h(
            'div.grid',
            plansCard(answer),
            companiesCard(answer, () => remove(reload)),
          ),
    ];
  },
});

/** Says what the file has before anything is replaced. */
async function offer(csv: string, say: Outcome['say'], reload: () => Promise<void>): Promise<void> {
  const found = await fetchJson<ImportedAnswer>('/data/segments', { body: { csv, dry: '1' } });
  const { extra, ...roles } = found.columns;
  const columns = Object.entries(roles).flatMap(([role, name]) =>
    name === null ? [] : [`${role}: ${name}`],
  );
  openForm({
    title: `Import ${counted(found.customers, 'customer')}?`,
    content: [
      h(
        'p',
        `Columns: ${[...columns, ...extra].join(', ')}. They take the place of those that were imported before.`,
      ),
      found.notes.map((note) => h('p.note', note)),
      found.unread
        .slice(0, MOST_SHOWN)
        .map(({ line, column, why }) => h('p.note', `Line ${line}, ${column}: ${why}`)),
      found.unread.length > MOST_SHOWN
        ? h('p.note', `and ${counted(found.unread.length - MOST_SHOWN, 'cell')} more`)
        : null,
    ],
    action: 'Import',
    async run() {
      const { imported } = await fetchJson<ImportedAnswer>('/data/segments', { body: { csv } });
      if (imported)
        say(
          banner(
            'good',
            `Imported ${counted(imported.customers, 'customer')} with ${counted(imported.people, 'person', 'people')} of the mirror.`,
          ),
        );
      await reload();
    },
  });
}

const MOST_SHOWN = 5;

function remove(reload: () => Promise<void>): void {
  openForm({
    title: 'Remove all customers?',
    content: h('p', 'Posts and people stay. The file can be imported again.'),
    action: 'Remove',
    isDangerous: true,
    async run() {
      await fetchJson('/data/segments/remove', { body: {} });
      await reload();
    },
  });
}

/** What the customers of a plan want most. */
function toReport(plan: string): string {
  return withQuery('/reports/top-posts', { segment: `plan=${plan}` });
}

function amount(value: number | null, name: string | null): Child {
  return value === null ? '–' : h('span.nowrap', `${number(value)}${name ? ` ${name}` : ''}`);
}

function plansCard({ plans, valueName, customers, people, importedAt }: SegmentsAnswer): VNode {
  return card(
    {
      title: 'Plans',
      size: 'half',
      note: `${counted(customers, 'customer')}, ${counted(people, 'person', 'people')} of the mirror, imported ${ago(importedAt)}`,
    },
    table({
      columns: [
        {
          head: 'Plan',
          kind: 'wide',
          cell: ({ plan }) => (plan === null ? 'no plan' : h('a', { href: toReport(plan) }, plan)),
        },
        { head: 'Customers', kind: 'number', cell: ({ customers: n }) => number(n) },
        { head: 'Value', kind: 'number', cell: ({ value }) => amount(value, valueName) },
      ],
      rows: plans,
      key: ({ plan }) => plan ?? '',
      label: 'Plans',
      empty: 'The file has no plans.',
    }),
  );
}

function companiesCard({ companies, companyCount, valueName }: SegmentsAnswer, onRemove: () => void): VNode {
  return card(
    {
      title: 'Companies',
      size: 'half',
      note: [
        `${number(companies.length)} of ${number(companyCount)} `,
        button('Remove all', onRemove, { class: 'small' }),
      ],
    },
    table({
      columns: [
        {
          head: 'Company',
          kind: 'wide',
          cell: ({ company }) =>
            h('a', { href: `/companies/${encodeURIComponent(company)}`, dir: 'auto' }, company),
        },
        { head: 'People', kind: 'number', cell: ({ people }) => number(people) },
        { head: 'Value', kind: 'number', cell: ({ value }) => amount(value, valueName) },
      ],
      rows: companies,
      key: ({ company }) => company,
      label: 'Companies with the greatest value',
      empty: 'The file has no companies.',
    }),
  );
}
