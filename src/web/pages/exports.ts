import { useState } from 'preact/hooks';
import type { ExportsAnswer, MadeExport } from '../../http/dashboard/exports.ts';
import { fetchJson, withQuery } from '../api.ts';
import { counted, lasted, number, size } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { button, type ControlChoice, choiceField, plainChoices } from '../parts/controls.ts';
import { banner, card, facts, pageHead, timeTag } from '../parts/layout.ts';
import { useOutcome } from '../parts/load.ts';
import { type TableColumn, table } from '../parts/table.ts';
import { pageOf } from '../shell/page.ts';

const SINCE = [
  { value: '', text: 'Everything' },
  { value: '1d', text: 'Changed in the last day' },
  { value: '7d', text: 'Changed in the last 7 days' },
  { value: '30d', text: 'Changed in the last 30 days' },
];

/** Files of the mirror: whole exports by schedule or now, and single tables, whole or what has changed. */
export const page = pageOf<ExportsAnswer>({
  title: 'Exports',
  follows: () => true,
  load: (_place, signal) => fetchJson('/data/exports', { signal }),
  view({ answer }) {
    const { said, attempt } = useOutcome();
    /** How many exports there were when the person asked for one: it is under way until there is another. */
    const [asked, setAsked] = useState<number | null>(null);
    const run = async (): Promise<void> => {
      await fetchJson('/data/exports', { body: {} });
      setAsked(answer.exports.length);
    };
    return [
      pageHead(
        'Exports',
        'Everything in the mirror as CSV, NDJSON or Parquet.',
        button('Export everything now', () => void attempt(run), { class: 'main' }),
      ),
      said,
      asked === answer.exports.length
        ? banner('good', 'The export is under way. It appears below when it is whole.')
        : null,
      h('div.stacked', scheduleCard(answer), madeCard(answer), h(TableForm, answer)),
    ];
  },
});

function scheduleCard({ schedule }: ExportsAnswer): VNode {
  const { cron, timeZone, format, root, kept } = schedule;
  return card(
    { title: 'Schedule' },
    facts([
      ['When', cron === null ? 'Only when somebody asks: EXPORT_CRON is not set.' : `${cron} (${timeZone})`],
      ['Format', format],
      ['Folder', h('code', root)],
      ['Kept', `the newest ${counted(kept, 'export')}`],
    ]),
  );
}

const MADE: TableColumn<MadeExport>[] = [
  { head: 'Made', cell: ({ startedAt }) => timeTag(startedAt) },
  { head: 'Took', kind: 'number', cell: ({ startedAt, finishedAt }) => lasted(startedAt, finishedAt) },
  {
    head: 'Rows',
    kind: 'number',
    cell: ({ files }) => number(files.reduce((sum, { rows }) => sum + rows, 0)),
  },
  { head: 'Files', kind: 'wide', cell: ({ folder, files }) => h('div.file-list', fileLinks(folder, files)) },
];

function madeCard({ exports }: ExportsAnswer): VNode {
  return card(
    { title: 'Whole exports', note: 'the newest first' },
    table({
      columns: MADE,
      rows: exports,
      key: ({ folder }) => folder,
      label: 'Exports',
      empty: 'Nothing was exported yet.',
    }),
  );
}

function fileLinks(folder: string, files: MadeExport['files']): Child[] {
  return files.map(({ name, bytes }) =>
    h('a', { href: `/data/exports/${folder}/${name}`, download: name }, `${name} (${size(bytes)})`),
  );
}

/** One table, at once: whole or an increment, with or without names and addresses. */
function TableForm({ tables, formats, redactionNote }: ExportsAnswer): VNode {
  const [chosen, setChosen] = useState({
    table: tables[0] ?? 'posts',
    format: 'csv',
    since: '',
    redact: '',
    live: '',
  });
  const one = (name: keyof typeof chosen, label: string, choices: ControlChoice[]) =>
    choiceField(name, label, choices, chosen[name], (value) => setChosen({ ...chosen, [name]: value ?? '' }));
  const { table: name, ...rest } = chosen;
  return card(
    { title: 'One table now' },
    h(
      'div.filters',
      one('table', 'Table', plainChoices(tables)),
      one('format', 'Format', plainChoices(formats)),
      one('since', 'Rows', SINCE),
      one('live', 'Deleted rows', [
        { value: '', text: 'With them' },
        { value: '1', text: 'Without them' },
      ]),
      one('redact', 'People', [
        { value: '', text: 'As they are' },
        { value: 'emails', text: 'Pseudonyms' },
      ]),
      h('a.button.main', { download: '', href: withQuery(`/data/export/${name}`, rest) }, 'Download'),
    ),
    h('p.note.below', h('b', 'Pseudonyms: '), redactionNote),
  );
}
