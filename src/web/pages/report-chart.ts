import type { ReportAnswer } from '../../http/dashboard/reports.ts';
import type { ReportColumn, Value } from '../../reports/report.ts';
import { titleOf } from '../format.ts';
import type { ChartOptions, Series } from '../parts/chart.ts';
import type { Bar } from '../parts/table.ts';
import { excerpt } from '../text.ts';
import { cellText } from './report-table.ts';

const MOST_SERIES = 5;
const MOST_BARS = 20;
const LONGEST_TITLE = 110;

/** Rows that begin with a week or a moment; where several rows share one, each name beside it is a line of its own. */
export function timeOptions({
  name,
  columns,
  rows: given,
  timeZone: zone,
  watching: { unfinished },
}: ReportAnswer): ChartOptions | null {
  const [first, second] = columns;
  if (!first || (first.kind !== 'date' && first.kind !== 'time')) return null;
  // One moment is no line.
  if (first.kind === 'time' && given.length < 2) return null;
  // The table may be in another order.
  const rows = given.toSorted(
    (a, b) => Date.parse(String(a[first.name])) - Date.parse(String(b[first.name])),
  );
  const times = [...new Set(rows.map((row) => String(row[first.name])))];
  const drawnColumns = columns.filter(({ bar }) => bar);
  const series =
    second?.kind === 'text' && first.kind === 'date'
      ? seriesByName(rows, first.name, second.name, drawnColumns[0]?.name ?? '', times)
      : drawnColumns.map((column) => seriesOf(column, rows, first.kind === 'time'));
  const unit = drawnColumns.map((column) => headOf(column)).join(', ');
  return { title: titleOf(name), unit, times, zone, series, unfinished, height: 260 };
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
export function barRows({ columns, rows, timeZone }: ReportAnswer): (Bar & { text: string })[] {
  const value = columns.find(({ bar, name }) => bar && rows.some((row) => Number(row[name]) > 0));
  const label = columns.find(({ name }) => name === 'title') ?? columns.find(({ kind }) => kind === 'text');
  if (!value || !label) return [];
  const names = rows.map((row) => row[label.name]);
  // Two rows of one list are told apart by what stands beside it.
  const [, beside] = new Set(names).size < names.length ? columns.filter(({ kind }) => kind === 'text') : [];
  return rows.slice(0, MOST_BARS).map((row) => ({
    label: excerpt([row[label.name] ?? '–', ...(beside ? [row[beside.name]] : [])].join(', '), LONGEST_TITLE),
    value: Number(row[value.name] ?? 0),
    text: cellText(row[value.name] ?? null, value.kind, timeZone),
  }));
}

function headOf({ name, kind }: ReportColumn): string {
  const words = titleOf(name);
  return kind === 'duration' ? `${words}, hours` : words;
}
