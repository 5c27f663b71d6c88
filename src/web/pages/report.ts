import { useEffect, useState } from 'preact/hooks';
import type { ReportAnswer, ReportInfo, ReportsAnswer, WorkingAnswer } from '../../http/dashboard/reports.ts';
import type { SegmentChoices } from '../../segments/store.ts';
import { fetchFile, fetchJson, messageOf, saveFile, withQuery } from '../api.ts';
import { ago, OWN_ZONE, percent, period, titleOf, withDates } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { unmounted } from '../mount.ts';
import { hasValues, timeChart } from '../parts/chart.ts';
import { button, Filters } from '../parts/controls.ts';
import { card, pageHead } from '../parts/layout.ts';
import { useOutcome } from '../parts/load.ts';
import { barsPicture, type Caption, chartPicture } from '../parts/picture.ts';
import { saveView } from '../parts/saved-list.ts';
import { segmentChoices } from '../parts/segment-field.ts';
import { bars, table } from '../parts/table.ts';
import { choicesOf, type PagePlace, pageOf, results } from '../shell/page.ts';
import { barRows, timeOptions } from './report-chart.ts';
import { countChosen, NAMES, type ReportChoice, reportFilters } from './report-filters.ts';
import { columnsOf, postsBehind, type RowLinks, type TableOptions } from './report-table.ts';
import { questionOf, withoutFlags } from './reports.ts';
import { TellPeople } from './shipped.ts';

/** Days and weeks are in the time zone of the person who opens the report. The address carries the zone to other people. */
const choices = choicesOf(NAMES, (chosen) => ({ ...chosen, tz: chosen.tz ?? OWN_ZONE }));

const DAY_MS = 86_400_000;

interface Asked {
  info: ReportInfo;
  all: ReportsAnswer;
  customers: SegmentChoices;
  /** Null where something has to be given first, which `missing` says. */
  answer: ReportAnswer | null;
  /** It takes long, and is not there yet. */
  working: WorkingAnswer | null;
  missing: Child;
}

/** One report, whichever: its question, its filters, a chart where its rows make one, and the rows. */
export const page = pageOf<Asked>({
  title: ({ info }) => titleOf(info.name),
  choices,
  // The card of a running report asks for it.
  follows: (_place, { working }) => working === null,
  async load(place, signal) {
    const chosen = choices.read(place.url);
    const all = await catalogueFor(place);
    const info = all.reports.find(({ name }) => name === place.parts[0]);
    if (!info) throw new Error(`There is no report "${place.parts[0]}".`);
    const customers = await segmentChoices(signal);
    const missing = missingOf(info, customers, chosen);
    const path = withQuery(`/data/reports/${info.name}`, { ...chosen, working: '1' });
    const found = missing === null ? await fetchJson<ReportAnswer | WorkingAnswer>(path, { signal }) : null;
    const isWorking = found !== null && 'isWorking' in found;
    const [answer, working] = isWorking ? [null, found] : [found, null];
    return { info, all, customers, missing, answer, working };
  },
  view(shown) {
    const { place, answer: asked } = shown;
    const { info, all, customers, answer, working, missing } = asked;
    const { said, say, attempt } = useOutcome();
    const chosen = choices.read(place.url);
    return [
      h('p.crumbs', h('a', { href: '/reports' }, 'Reports')),
      pageHead(
        titleOf(info.name),
        questionOf(info),
        h(
          'div.actions',
          answer && info.name === 'shipped'
            ? h(TellPeople, { answer, say, attempt, reload: place.reload })
            : null,
          button('Save view', () => saveView(withQuery(unmounted(place.url.pathname), chosen))),
          button('Download CSV', () => void attempt(() => downloadCsv(info, chosen))),
        ),
      ),
      h(
        Filters,
        { look: 'report-filters', chosen: countChosen(chosen) },
        reportFilters(info, { ...all, customers }, chosen, choices.chooser(place)),
      ),
      said,
      results(
        shown,
        missing === null ? null : h('p.empty.card', missing),
        working && h(Working, { key: place.url.href, working, reload: place.reload }),
        answer &&
          drawn(
            answer,
            {
              sort: chosen.sort,
              sortedBy: (sort) => withQuery(place.url.pathname, { ...chosen, sort }),
              links: postsBehind({ ...all, chosen, answer }),
            },
            chosen,
          ),
      ),
    ];
  },
});

/** The reports, and the boards and statuses of their fields. They are loaded once a visit, the answer with every event. */
let catalogue: { visit: string; all: Promise<ReportsAnswer> } | null = null;

async function catalogueFor({ parts }: PagePlace): Promise<ReportsAnswer> {
  const visit = parts.join();
  if (catalogue?.visit !== visit) catalogue = { visit, all: fetchJson<ReportsAnswer>('/data/reports') };
  try {
    return await catalogue.all;
  } catch (error) {
    catalogue = null;
    throw error;
  }
}

const ASKED_AGAIN_MS = 1000;

/** Says how far a long report is, and asks for it again until it is there, or somebody cancels it. */
export function Working({ working, reload }: { working: WorkingAnswer; reload(): Promise<void> }): VNode {
  const [ended, setEnded] = useState<string | null>(null);
  useEffect(() => {
    if (ended !== null) return;
    const ask = () => void reload().catch((error) => setEnded(messageOf(error)));
    const pause = setTimeout(ask, ASKED_AGAIN_MS);
    return () => clearTimeout(pause);
  }, [working, ended]);
  const cancel = (): void => {
    setEnded('Cancelled.');
    fetchJson('/data/reports/cancel', { body: {} }).catch((error) => setEnded(messageOf(error)));
  };
  const share = working.share === null ? '' : ` ${percent(working.share)} done.`;
  return h(
    'div.empty.card',
    h('p', { role: 'status' }, ended ?? `This takes a while in a large mirror.${share}`),
    h('div.actions', ended === null ? button('Cancel', cancel) : button('Begin again', () => setEnded(null))),
  );
}

function missingOf(
  { takes, isOfCustomers }: ReportInfo,
  { columns }: SegmentChoices,
  { post }: ReportChoice,
): Child {
  if (takes.includes('post') && post === null) return 'Give the number of a post above.';
  if (isOfCustomers && columns.length === 0)
    return ['No customers are imported: ', h('a', { href: '/customers' }, 'import a file'), ' once.'];
  return null;
}

async function downloadCsv({ name }: ReportInfo, chosen: ReportChoice): Promise<void> {
  const path = withQuery(`/data/reports/${name}`, { ...chosen, format: 'csv' });
  saveFile(await fetchFile(path), `${name}.csv`);
}

/** The chart, the rows, and what a reader has to know. */
function drawn(answer: ReportAnswer, options: TableOptions, chosen: ReportChoice): Child[] {
  const caption = { title: titleOf(answer.name), line: measureLine(answer) };
  const notes = [answer.counts, ...watchingNotes(answer), ...answer.notes].map((note) =>
    h('li', withDates(withTitles(withoutFlags(note), answer), answer.timeZone)),
  );
  // A list of posts has its bars in the rows themselves, and only the picture needs them again.
  const isPosts = answer.columns.some(({ kind }) => kind === 'post');
  const rows = table({
    columns: columnsOf(answer, options),
    rows: answer.rows,
    label: answer.title,
    empty: 'Nothing to show for this choice.',
  });
  return [
    isPosts ? null : chartCard(answer, caption, options.links, chosen),
    card(
      { title: 'Figures', note: [scopeOf(answer), ' ', isPosts ? barsButton(answer, caption) : null] },
      h('div.report-rows', rows),
    ),
    card({ title: 'What is counted' }, h('ul.note', notes)),
  ];
}

/** Columns are called in notes as in their heads. */
function withTitles(note: string, { columns }: ReportAnswer): string {
  return note.replaceAll(/\b[a-z]+(_[a-z]+)+\b|^[a-z]+(?= is )/g, (word) =>
    columns.some(({ name }) => name === word) ? `“${titleOf(word)}”` : word,
  );
}

/** Passes read every board. */
function whereOf({ name, board }: ReportAnswer): string[] {
  return name === 'sync-health' ? [] : [board ?? 'all boards'];
}

function scopeOf(answer: ReportAnswer): string {
  const { since, until, timeZone, asOf } = answer;
  const days = since === null ? 'everything so far' : period(since, until, timeZone);
  const age = Date.now() - Date.parse(asOf) < 90_000 ? [] : [`worked out ${ago(asOf)}`];
  return [...whereOf(answer), days, `days of ${timeZone}`, ...age].join(', ');
}

/** Under every chart and picture: unit, boards and the time that its numbers are of. */
function measureLine(answer: ReportAnswer): string {
  const { measure, timeZone } = answer;
  if (measure === null) return scopeOf(answer);
  const days = measure.since === null ? 'all time' : period(measure.since, measure.until, timeZone);
  const isOverTime = timeOptions(answer) !== null;
  const unit = measure.unit === 'seconds' ? (isOverTime ? 'hours' : 'time') : measure.unit;
  return [unit.replaceAll('_', ' '), ...whereOf(answer), days, `days of ${timeZone}`].join(', ');
}

function watchingNotes({ watching }: ReportAnswer): string[] {
  return watching.unfinished === null
    ? []
    : [`The week that begins on ${watching.unfinished} is not over: its figures are those so far.`];
}

function chartCard(
  answer: ReportAnswer,
  caption: Caption,
  links: RowLinks,
  chosen: ReportChoice,
): VNode | null {
  const overTime = timeOptions(answer);
  if (overTime) {
    // Several lines have a legend; one alone is named here.
    const title = overTime.series.length === 1 ? titleOf(overTime.unit) : titleOf(answer.name);
    const note = hasValues(overTime)
      ? pngButton(caption, (button) => chartPicture(button.closest('.card') ?? button, caption))
      : null;
    return card(
      { title, note: [caption.line, ' ', note] },
      timeChart({ ...overTime, href: timeLink(answer, links, chosen) }),
    );
  }
  const amounts = barRows(answer);
  if (amounts.length < 2) return null;
  const linked = amounts.map((bar, i) => {
    const row = answer.rows[i];
    return { ...bar, href: row ? links.row(row) : null };
  });
  const title = titleOf(answer.measure?.column ?? answer.name);
  return card({ title, note: [caption.line, ' ', barsButton(answer, caption)] }, bars(linked, caption.title));
}

/** From a week of the chart to the posts of that week, or those that gained its votes; from a moment of a post to that. */
function timeLink({ name, columns }: ReportAnswer, links: RowLinks, chosen: ReportChoice) {
  const [first] = columns;
  if (first?.name === 'at') return (at: string) => links.row({ at });
  if (name !== 'votes') return (week: string) => links.row({ week });
  return (since: string) => {
    const until = new Date(Date.parse(since) + 7 * DAY_MS).toISOString().slice(0, 10);
    const { board, tz } = chosen;
    return withQuery('/reports/gaining-posts', { since, until, board, tz, closed: '1' });
  };
}

function barsButton(answer: ReportAnswer, caption: Caption): VNode | null {
  const amounts = barRows(answer);
  return amounts.length < 2 ? null : pngButton(caption, () => barsPicture(amounts, caption));
}

function pngButton({ title }: Caption, make: (button: Element) => Promise<Blob>): VNode {
  const name = `${title.toLowerCase().replaceAll(' ', '-')}.png`;
  const onClick = ({ currentTarget }: { currentTarget: Element }): void =>
    void make(currentTarget).then((blob) => saveFile(blob, name));
  return h('button.small', { type: 'button', onClick }, 'Download PNG');
}
