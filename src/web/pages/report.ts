import type { ReportAnswer, ReportInfo, ReportsAnswer } from '../../http/dashboard/reports.ts';
import type { Column as ReportColumn, Value } from '../../reports/report.ts';
import { fetchFile, fetchJson, saveFile, withQuery } from '../api.ts';
import {
  barsPicture,
  type Caption,
  type ChartOptions,
  chartPicture,
  type Series,
  timeChart,
} from '../chart.ts';
import { customerColumns, customersText, keepCustomers } from '../customer-file.ts';
import { type Child, h, refill } from '../dom.ts';
import {
  boardChoices,
  changedList,
  choiceField,
  listed,
  periodFields,
  picks,
  plainChoices,
  statusChoices,
  zoneField,
} from '../fields.ts';
import { ago, number, OWN_ZONE, percent, period, span, time, withDates } from '../format.ts';
import { type Choose, keepChosen, keepDrawn, type Page, type PageContext } from '../page.ts';
import {
  attempt,
  type Bar,
  bars,
  button,
  type Column,
  card,
  field,
  liveRegion,
  pageHead,
  postLink,
  table,
} from '../parts.ts';
import { openShelf, saveView, VIEWS } from '../saved.ts';
import { excerpt } from '../text.ts';

const SAME = [
  { value: '', text: 'Each for itself' },
  { value: '1', text: 'Counted together' },
];
const LIMITS = ['20', '50', '100', '500'];
const MOST_SERIES = 5;
const MOST_BARS = 20;
const LONGEST_TITLE = 110;
/** Columns with the title of a post, and the column that has its number. */
const TITLES: Record<string, string> = { title: 'post', top_title: 'top_post', other_title: 'other' };

const NAMES = [
  'board',
  'status',
  'since',
  'until',
  'limit',
  'same',
  'post',
  'delivered',
  'tz',
  'by',
  'sum',
] as const;
type Chosen = Record<(typeof NAMES)[number], string | null>;

/** One report, whichever: its question, its filters, a chart where its rows make one, and the rows. */
export const page: Page = {
  title: 'Reports',
  async show(context) {
    const { root, parts, signal } = context;
    const all = await fetchJson<ReportsAnswer>('/data/reports', { signal });
    if (parts[0] === undefined) return showList(context, all);
    const info = all.reports.find(({ name }) => name === parts[0]);
    if (!info) throw new Error(`There is no report "${parts[0]}".`);
    document.title = `${titleOf(info.name)} · Feedback Mirror`;
    const { now, choose } = keepChosen(context, NAMES, () => attempt(body, redraw, signal), inZone);
    const [said, filters, body] = [liveRegion(), h('div.filters.report-filters'), h('div.stacked')];
    const load = async (): Promise<ReportAnswer | string> => {
      refill(filters, ...filtersOf(info, all, now(), choose));
      return missingOf(info, now()) ?? (await ask(info, now(), signal));
    };
    const redraw = await keepDrawn(context, body, load, (answer, drawing) =>
      typeof answer === 'string' ? [h('p.empty.card', answer)] : drawn(answer, drawing),
    );
    const tools = [
      button('Save view', () => saveView(withQuery(`/reports/${info.name}`, now()))),
      button('Download CSV', () => void attempt(said, () => downloadCsv(info, now()))),
    ];
    root.append(
      h('p.crumbs', h('a', { href: '/reports' }, 'Reports')),
      pageHead(titleOf(info.name), questionOf(info), h('div.actions', ...tools)),
      filters,
      said,
      body,
    );
  },
};

/** Every report with the question it answers, and the views that people keep. */
async function showList({ root, signal }: PageContext, { reports }: ReportsAnswer): Promise<void> {
  const items = reports.map((info) =>
    h(
      'li',
      h('a.name', { href: `/reports/${info.name}` }, titleOf(info.name)),
      h('p.note', questionOf(info)),
    ),
  );
  const shelf = await openShelf(VIEWS, signal);
  root.append(
    pageHead('Reports', 'Ready-made answers, the same as on the command line.'),
    h(
      'div.grid',
      card({ title: 'All reports', size: 'two-thirds' }, h('ul.plain.choices', ...items)),
      card({ title: 'Saved views', note: 'Shared by everyone', size: 'third' }, shelf.element),
    ),
  );
}

/** The command line names the flag that a report needs; here it is a field. */
function questionOf({ answers }: ReportInfo): string {
  return answers.replace(/ \(--\w+\)$/, '');
}

function titleOf(name: string): string {
  const text = name.replaceAll('-', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function missingOf({ takes }: ReportInfo, { post }: Chosen): string | null {
  if (takes.includes('post') && post === null) return 'Give the number of a post above.';
  if (takes.includes('segments') && customersText() === null)
    return 'Choose a CSV file of customers above: an e-mail column, then columns such as company, plan or mrr. It is used for this answer and not kept.';
  return null;
}

function bodyOf(chosen: Chosen, more: Record<string, string> = {}): object {
  const said = Object.entries(chosen).filter((pair) => pair[1] !== null);
  return { ...Object.fromEntries(said), ...more, segments: customersText() };
}

/** Days and weeks are those of whoever looks first, wherever the service runs; the address carries them to others. */
function inZone(chosen: Chosen): Chosen {
  return { ...chosen, tz: chosen.tz ?? OWN_ZONE };
}

async function ask(info: ReportInfo, chosen: Chosen, signal: AbortSignal): Promise<ReportAnswer> {
  const path = `/data/reports/${info.name}`;
  const call = info.takes.includes('segments') ? { body: bodyOf(chosen), signal } : { signal };
  const { asOf, ...answer } = await fetchJson<ReportAnswer>(call.body ? path : withQuery(path, chosen), call);
  // A period that ends now is another one each time, and no reason to draw everything again.
  return { ...answer, asOf: Date.now() - Date.parse(asOf) > 90_000 ? asOf : '' };
}

async function downloadCsv(info: ReportInfo, chosen: Chosen): Promise<void> {
  const path = `/data/reports/${info.name}`;
  const blob = info.takes.includes('segments')
    ? await fetchFile(path, { body: bodyOf(chosen, { format: 'csv' }) })
    : await fetchFile(withQuery(path, { ...chosen, format: 'csv' }));
  saveFile(blob, `${info.name}.csv`);
}

function filtersOf(
  { takes, since: usual }: ReportInfo,
  { boards, statuses }: ReportsAnswer,
  chosen: Chosen,
  choose: Choose<keyof Chosen>,
): Child[] {
  const takesOne = (flag: ReportInfo['takes'][number]): boolean => takes.includes(flag);
  const places = [{ value: '', text: 'All boards' }, ...boardChoices(boards)];
  const named = [...new Set(statuses.map(({ name }) => name))].map((name) => ({ value: name, text: name }));
  return [
    takesOne('post') && postField(chosen.post, (post) => choose({ post })),
    takesOne('segments') && customersFields(chosen, choose),
    takesOne('since') &&
      periodFields(chosen, { usual: usualText(usual), hasUntil: takesOne('until') }, choose),
    takesOne('board') && choiceField('board', 'Board', places, chosen.board, (board) => choose({ board })),
    takesOne('status') &&
      picks('status', 'Status', statusChoices(statuses), listed(chosen.status), (change) =>
        choose(({ status }) => ({ status: changedList(status, change) })),
      ),
    takesOne('delivered') &&
      picks(
        'delivered',
        'Counts as delivered',
        named,
        listed(chosen.delivered),
        (change) => choose(({ delivered }) => ({ delivered: changedList(delivered, change) })),
        'As set',
      ),
    takesOne('same') &&
      choiceField('same', 'Posts marked as the same', SAME, chosen.same, (same) => choose({ same })),
    takesOne('limit') &&
      choiceField('limit', 'Rows', plainChoices(LIMITS), chosen.limit ?? '20', (limit) =>
        choose({ limit: limit === '20' ? null : limit }),
      ),
    zoneField(chosen.tz ?? OWN_ZONE, (tz) => choose({ tz: tz || null })),
  ];
}

function usualText(since: ReportInfo['since']): string {
  if (since === null) return 'All time';
  return 'days' in since ? `Last ${since.days} days` : `Last ${since.weeks} weeks`;
}

function postField(post: string | null, onChange: (post: string | null) => void): HTMLElement {
  const input = h('input', { type: 'number', min: 1, id: 'field-post', name: 'post', value: post });
  input.addEventListener('change', () => onChange(input.value || null));
  return field('Post', input);
}

/** The file, and which of its columns customers are grouped by and added up. */
function customersFields({ by, sum }: Chosen, choose: Choose<keyof Chosen>): HTMLElement[] {
  const file = h('input', { type: 'file', id: 'field-segments', name: 'segments', accept: '.csv,text/csv' });
  file.addEventListener('change', async () => {
    keepCustomers((await file.files?.[0]?.text()) ?? null);
    choose({ by: null, sum: null });
  });
  const heads = customerColumns();
  const column = (name: 'by' | 'sum', label: string, none: string, chosen: string | null): HTMLElement => {
    const choices = [{ value: '', text: none }, ...heads.map((head) => ({ value: head, text: head }))];
    return choiceField(name, label, choices, chosen, (value) => choose({ [name]: value }));
  };
  if (customersText() === null) return [field('Customers', file)];
  return [
    field('Customers', file),
    column('by', 'Group by', 'First column', by),
    column('sum', 'Add up', 'Nothing', sum),
  ];
}

/** The chart, the rows, and what a reader has to know. */
function drawn(answer: ReportAnswer, signal: AbortSignal): Child[] {
  const caption = { title: titleOf(answer.name), line: scopeOf(answer) };
  const notes = answer.notes.map((note) => h('li', withDates(note, answer.timeZone)));
  const rows = table(columnsOf(answer), answer.rows, answer.title, 'Nothing to show for this choice.');
  // A list of posts has its bars in the rows themselves, and only the picture needs them again.
  const isPosts = answer.columns.some(({ kind }) => kind === 'post');
  const png = isPosts ? barsButton(answer, caption) : null;
  return [
    isPosts ? null : chartCard(answer, caption, signal),
    card({ title: 'Rows', note: [caption.line, ' ', png] }, h('div.report-rows', rows)),
    notes.length > 0 ? card({ title: 'What is counted' }, h('ul.note', ...notes)) : null,
  ];
}

function scopeOf({ since, until, timeZone, board, asOf }: ReportAnswer): string {
  const days = since === null ? 'everything so far' : period(since, until, timeZone);
  const age = asOf === '' ? [] : [`worked out ${ago(asOf)}`];
  return [board ?? 'all boards', days, `days of ${timeZone}`, ...age].join(', ');
}

function chartCard(answer: ReportAnswer, caption: Caption, signal: AbortSignal): HTMLElement | null {
  const overTime = timeOptions(answer);
  if (overTime) {
    const figure = timeChart(overTime, signal);
    // Where there is nothing to draw, a sentence stands in its place.
    const note = figure.matches('figure') ? pngButton(caption, () => chartPicture(figure, caption)) : null;
    // Several lines have a legend; one alone is named here.
    const title = overTime.series.length === 1 ? `Chart: ${overTime.unit}` : 'Chart';
    return card({ title, note }, figure);
  }
  const amounts = barRows(answer);
  if (amounts.length < 2) return null;
  return card({ title: 'Chart', note: barsButton(answer, caption) }, bars(amounts, caption.title));
}

function barsButton(answer: ReportAnswer, caption: Caption): HTMLElement | null {
  const amounts = barRows(answer);
  return amounts.length < 2 ? null : pngButton(caption, () => barsPicture(amounts, caption));
}

function pngButton({ title }: Caption, make: () => Promise<Blob>): HTMLElement {
  const name = `${title.toLowerCase().replaceAll(' ', '-')}.png`;
  return button('Download PNG', () => void make().then((blob) => saveFile(blob, name)), { class: 'small' });
}

/** Rows that begin with a week or a moment; where several rows share one, each name beside it is a line of its own. */
function timeOptions({ name, columns, rows, timeZone: zone }: ReportAnswer): ChartOptions | null {
  const [first, second] = columns;
  if (!first || (first.kind !== 'date' && first.kind !== 'time')) return null;
  const times = [...new Set(rows.map((row) => String(row[first.name])))];
  const drawnColumns = columns.filter(({ bar }) => bar);
  const series =
    second?.kind === 'text' && first.kind === 'date'
      ? seriesByName(rows, first.name, second.name, drawnColumns[0]?.name ?? '', times)
      : drawnColumns.map((column) => seriesOf(column, rows, first.kind === 'time'));
  const unit = drawnColumns.map((column) => headOf(column)).join(', ');
  return { title: titleOf(name), unit, times, zone, series, height: 260 };
}

type Rows = ReportAnswer['rows'];

function seriesOf(column: ReportColumn, rows: Rows, isSteps: boolean): Series {
  const values = rows.map((row) => drawnValue(row[column.name] ?? null, column.kind));
  return { label: headOf(column), kind: isSteps ? 'steps' : 'bars', values };
}

/** Durations in hours, shares in percent: an axis of seconds says nothing. */
function drawnValue(value: Value, kind: ReportColumn['kind']): number | null {
  if (typeof value !== 'number') return null;
  if (kind === 'duration') return Math.round(value / 360) / 10;
  return kind === 'percent' ? Math.round(value * 1000) / 10 : value;
}

function seriesByName(rows: Rows, at: string, by: string, value: string, times: readonly string[]): Series[] {
  const sums = new Map<string, Map<string, number>>();
  for (const row of rows) {
    const name = String(row[by] ?? 'no board');
    const own = sums.get(name) ?? new Map<string, number>();
    own.set(String(row[at]), Number(row[value] ?? 0));
    sums.set(name, own);
  }
  const total = (own: Map<string, number>): number => [...own.values()].reduce((sum, n) => sum + n, 0);
  const ranked = [...sums].filter(([, own]) => total(own) > 0).sort(([, a], [, b]) => total(b) - total(a));
  const [shown, rest] = [ranked.slice(0, MOST_SERIES - 1), ranked.slice(MOST_SERIES - 1)];
  const line = (label: string, parts: Map<string, number>[]): Series => ({
    label,
    kind: 'line',
    values: times.map((when) => parts.reduce((sum, own) => sum + (own.get(when) ?? 0), 0)),
  });
  const others =
    rest.length === 0
      ? []
      : [
          line(
            rest.length === 1 ? (rest[0]?.[0] ?? '') : 'others',
            rest.map(([, own]) => own),
          ),
        ];
  return [...shown.map(([name, own]) => line(name, [own])), ...others];
}

/** By the first column that is worth a bar; named by the title of a post, or by the first text. */
function barRows({ columns, rows, timeZone }: ReportAnswer): (Bar & { text: string })[] {
  const value = columns.find(({ bar, name }) => bar && rows.some((row) => Number(row[name]) > 0));
  const label = columns.find(({ name }) => name === 'title') ?? columns.find(({ kind }) => kind === 'text');
  if (!value || !label) return [];
  return rows.slice(0, MOST_BARS).map((row) => ({
    label: excerpt(String(row[label.name] ?? '–'), LONGEST_TITLE),
    value: Number(row[value.name] ?? 0),
    text: textOf(row[value.name] ?? null, value.kind, timeZone),
  }));
}

function headOf({ name, kind }: ReportColumn): string {
  const words = name.replaceAll('_', ' ');
  return kind === 'duration' ? `${words}, hours` : words;
}

/** As the report has them, but that the title of a post stands beside its number: on a phone the rest is to be scrolled to. */
function inOrder(columns: readonly ReportColumn[]): readonly ReportColumn[] {
  const title = columns.find(({ name }) => name === 'title');
  if (!title || columns[0]?.kind !== 'post') return columns;
  return [columns[0], title, ...columns.slice(1).filter((column) => column !== title)];
}

function columnsOf({ columns, rows, timeZone }: ReportAnswer): Column<Rows[number]>[] {
  return inOrder(columns)
    .filter(({ kind, name }) => kind !== 'remark' || rows.some((row) => row[name] !== null))
    .map((column) => {
      const isText = ['text', 'remark', 'trend', 'date', 'time'].includes(column.kind);
      const most = column.bar ? Math.max(0, ...rows.map((row) => Number(row[column.name] ?? 0))) || 1 : null;
      return {
        head: column.name.replaceAll('_', ' '),
        ...(isText ? {} : { kind: 'number' as const }),
        ...(column.name in TITLES ? { kind: 'title' as const } : {}),
        cell: (row) => cellOf(row, column, { most, zone: timeZone }),
      };
    });
}

interface CellStyle {
  /** The longest bar of the column; null where it has none. */
  most: number | null;
  zone: string;
}

function cellOf(row: Rows[number], { name, kind }: ReportColumn, { most, zone }: CellStyle): Child {
  const value = row[name] ?? null;
  const text = textOf(value, kind, zone);
  if (Array.isArray(value)) return trend(value);
  if (kind === 'post' && value !== null) return h('a', { href: `/posts/${value}` }, `#${value}`);
  if (name === 'email' && value !== null)
    return h('a', { href: withQuery('/people', { email: String(value) }) }, text);
  const post = row[TITLES[name] ?? ''];
  if (post) return postLink(Number(post), text, {}, LONGEST_TITLE);
  if (most === null || typeof value !== 'number') return text;
  return [
    text,
    h('span.bar.thin', { 'aria-hidden': 'true', vars: { width: `${(100 * Math.max(0, value)) / most}%` } }),
  ];
}

function textOf(value: Value, kind: ReportColumn['kind'], zone: string): string {
  if (value === null) return kind === 'remark' ? '' : '–';
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value === 'string') {
    if (kind === 'time') return time(value, zone);
    return kind === 'date' || kind === 'remark' ? withDates(value, zone) : value;
  }
  if (kind === 'percent') return percent(value);
  if (kind === 'duration') return span(value * 1000);
  if (kind === 'post') return `#${value}`;
  const digits = kind === 'decimal' ? 2 : kind === 'money' ? 2 : 0;
  return value.toLocaleString(undefined, { maximumFractionDigits: digits });
}

/** A number a week, as small bars; the numbers themselves for whoever cannot see them. */
function trend(values: readonly number[]): HTMLElement {
  const most = Math.max(1, ...values);
  const steps = values.map((value) => h('i', { vars: { height: `${(100 * value) / most}%` } }));
  return h('span.trend', { role: 'img', 'aria-label': values.map(number).join(', ') }, ...steps);
}
