import type { ExportsAnswer, MadeExport } from '../../http/dashboard/exports.ts';
import { fetchJson, withQuery } from '../api.ts';
import { type Child, fill, h } from '../dom.ts';
import { choiceField, plainChoices } from '../fields.ts';
import { counted, lasted, number, size } from '../format.ts';
import { keepDrawn, type Page } from '../page.ts';
import {
  attempt,
  banner,
  button,
  type Choice,
  card,
  facts,
  liveRegion,
  pageHead,
  table,
  timeTag,
} from '../parts.ts';

const SINCE = [
  { value: '', text: 'Everything' },
  { value: '1d', text: 'Changed in the last day' },
  { value: '7d', text: 'Changed in the last 7 days' },
  { value: '30d', text: 'Changed in the last 30 days' },
];

/** Files of the mirror: whole exports by schedule or now, and single tables, whole or what has changed. */
export const page: Page = {
  title: 'Exports',
  async show(context) {
    const { root, signal } = context;
    const [said, body] = [liveRegion(), h('div.stacked')];
    const run = async (): Promise<void> => {
      await fetchJson('/data/exports', { body: {}, signal });
      fill(said, banner('good', 'The export is under way. It appears below when it is whole.'));
    };
    let known = 0;
    const load = async (): Promise<ExportsAnswer> => {
      const answer = await fetchJson<ExportsAnswer>('/data/exports', { signal });
      if (known > 0 && answer.exports.length !== known) fill(said);
      known = answer.exports.length;
      return answer;
    };
    const form = h('div');
    await keepDrawn(context, body, load, (answer) => {
      // Drawn once: what somebody has chosen stays.
      if (form.childElementCount === 0) fill(form, tableForm(answer));
      return [scheduleCard(answer), madeCard(answer)];
    });
    root.append(
      pageHead(
        'Exports',
        'Everything in the mirror as CSV, NDJSON or Parquet.',
        button('Export everything now', () => void attempt(said, run), { class: 'main' }),
      ),
      said,
      h('div.stacked', body, form),
    );
  },
};

function scheduleCard({ schedule }: ExportsAnswer): HTMLElement {
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

function madeCard({ exports }: ExportsAnswer): HTMLElement {
  const rows = table<MadeExport>(
    [
      { head: 'Made', cell: ({ startedAt }) => timeTag(startedAt) },
      { head: 'Took', kind: 'number', cell: ({ startedAt, finishedAt }) => lasted(startedAt, finishedAt) },
      {
        head: 'Rows',
        kind: 'number',
        cell: ({ files }) => number(files.reduce((sum, { rows: n }) => sum + n, 0)),
      },
      {
        head: 'Files',
        kind: 'wide',
        cell: ({ folder, files }) => h('div.file-list', ...fileLinks(folder, files)),
      },
    ],
    exports,
    'Exports',
    'Nothing was exported yet.',
  );
  return card({ title: 'Whole exports', note: 'the newest first' }, rows);
}

function fileLinks(folder: string, files: MadeExport['files']): Child[] {
  return files.map(({ name, bytes }) =>
    h('a', { href: `/data/exports/${folder}/${name}`, download: name }, `${name} (${size(bytes)})`),
  );
}

/** One table, at once: whole or an increment, with or without names and addresses. */
function tableForm({ tables, formats, redactionNote }: ExportsAnswer): HTMLElement {
  const chosen = { table: tables[0] ?? 'posts', format: 'csv', since: '', redact: '', live: '' };
  const link = h('a.button.main', { download: '' }, 'Download');
  const show = (): void => {
    const { table: name, ...rest } = chosen;
    link.setAttribute('href', withQuery(`/data/export/${name}`, rest));
  };
  const one = (name: keyof typeof chosen, label: string, choices: Choice[]) =>
    choiceField(name, label, choices, chosen[name], (value) => {
      chosen[name] = value ?? '';
      show();
    });
  show();
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
      link,
    ),
    h('p.note.below', h('b', 'Pseudonyms: '), redactionNote),
  );
}
