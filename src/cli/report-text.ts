import { stripVTControlCharacters } from 'node:util';
import { REPORT_NAMES, REPORTS } from '../reports/catalogue.ts';
import { type Calendar, calendarOf } from '../reports/moment.ts';
import type { ReportColumn, ReportResult, Value } from '../reports/report.ts';
import { durationText } from '../text/text.ts';
import { bar, cellLine, cut, sparkline, table } from './table.ts';

const BAR_WIDTH = 12;
/** Below this width of the terminal bars are half as long. */
const WIDE = 100;
/** Even in a narrow terminal some of a title is to be seen. */
const SHORTEST_TITLE = 16;
/** With less room than this, titles get a line of their own. */
const READABLE_TITLE = 40;
const LONGEST_NAME = 32;
const TITLES = ['title', 'titles', 'top_title', 'other_title'];

interface Screen {
  width: number;
  /** Bars and sparklines are for terminals. Output to a pipe has words and numbers only. */
  charts: boolean;
}

export function reportListText(): string {
  return table(
    ['report', 'what it answers'],
    REPORT_NAMES.map((name) => [name, REPORTS[name].answers]),
  );
}

export function reportText(report: ReportResult, screen: Screen): string {
  const calendar = calendarOf(report.timeZone);
  const scope = [report.board === null ? [] : [`board ${report.board}`], periodText(report, calendar)].flat();
  const body = report.rows.length === 0 ? 'Nothing to show.' : rowsText(report, screen, calendar);
  const foot = ['', report.counts, ...report.notes.map(calendar.spoken)].map(cellLine);
  const head = [report.title, ...(scope.length > 0 ? [scope.join(', ')] : [])].map(cellLine);
  return [...head, '', body, ...foot].join('\n');
}

function periodText({ since, until, timeZone }: ReportResult, calendar: Calendar): string[] {
  // The end has its time also at midnight: `to 2026-01-31` would be read as if that day were counted.
  const end = calendar.clockAt(until);
  return since === null ? [] : [`from ${minute(since, calendar)} to ${end} ${timeZone}`];
}

function minute(iso: string, { clockAt }: Calendar): string {
  return clockAt(iso).replace(/ 00:00$/, '');
}

/** Titles get what the other columns leave of the line, or a line of their own below the row where that is too little to read. */
function rowsText({ columns, rows }: ReportResult, { width, charts }: Screen, calendar: Calendar): string {
  const style: Style = {
    charts: charts ? { barWidth: width < WIDE ? BAR_WIDTH / 2 : BAR_WIDTH } : null,
    calendar,
  };
  const drawn = columns
    // A column of remarks is left out if all of them are empty.
    .filter(({ kind, name }) => kind !== 'remark' || rows.some((row) => row[name] !== null))
    .map((column) => drawColumn(column, rows, style));
  const draw = (columns: readonly Drawn[], room: number): string => {
    const cells = (i: number): string[] =>
      columns.flatMap(({ texts, bars, isTitle }) => [
        isTitle ? cut(texts[i] ?? '', room) : (texts[i] ?? ''),
        ...(bars ? [bars[i] ?? ''] : []),
      ]);
    return table(
      columns.flatMap(({ head, bars }) => (bars ? [head, ''] : [head])),
      rows.map((_, i) => cells(i)),
    );
  };
  const titles = drawn.filter(({ isTitle }) => isTitle);
  if (titles.length === 0) return draw(drawn, 0);
  const used = widest(draw(drawn, 1));
  // Drawn so short, a column of titles is as wide as its head.
  const free = titles.reduce((sum, { head }) => sum + head.length, width - used);
  const room = Math.floor(free / titles.length);
  const longest = Math.max(...titles.flatMap(({ texts }) => texts.map((text) => text.length)));
  if (room >= Math.min(longest, READABLE_TITLE)) return draw(drawn, room);
  const [head = '', ...lines] = draw(
    drawn.filter(({ isTitle }) => !isTitle),
    0,
  ).split('\n');
  // If the terminal is too narrow for the other columns, each row is a block of lines. The title is a line of that block.
  const heads = Math.max(...drawn.map((column) => column.head.trim().length));
  if (lines.length !== rows.length) return draw(drawn, Math.max(SHORTEST_TITLE, width - heads - 2));
  const under = (i: number): string[] =>
    titles.map(({ texts }) => `  ${cut(cellLine(texts[i] ?? ''), width - 2)}`);
  return [head, ...lines.flatMap((line, i) => [line, ...under(i)])].join('\n');
}

function widest(text: string): number {
  return Math.max(
    ...stripVTControlCharacters(text)
      .split('\n')
      .map((line) => [...line].length),
  );
}

interface Drawn {
  head: string;
  texts: string[];
  bars: string[] | null;
  isTitle: boolean;
}

interface Style {
  charts: { barWidth: number } | null;
  calendar: Calendar;
}

function drawColumn(column: ReportColumn, rows: ReportResult['rows'], style: Style): Drawn {
  const { charts } = style;
  const values = rows.map((row) => row[column.name] ?? null);
  const isTitle = TITLES.includes(column.name);
  const plain = values.map((value) => cellText(value, column, style));
  const isText = ['text', 'trend', 'remark'].includes(column.kind);
  const head = column.name.replaceAll('_', ' ');
  const width = Math.max(head.length, ...plain.map((text) => text.length));
  return {
    head: isText ? head : head.padStart(width),
    texts: isText
      ? plain.map((text) => (isTitle ? text : cut(text, LONGEST_NAME)))
      : plain.map((text) => text.padStart(width)),
    bars: charts && column.bar ? bars(values, charts.barWidth) : null,
    isTitle,
  };
}

function bars(values: readonly Value[], width: number): string[] {
  const numbers = values.map((value) => (typeof value === 'number' ? value : 0));
  const largest = Math.max(...numbers);
  return numbers.map((value) => bar(value, largest, width));
}

function cellText(value: Value, { kind }: ReportColumn, { charts, calendar }: Style): string {
  if (value === null) return kind === 'remark' ? '' : '–';
  if (Array.isArray(value)) return charts ? sparkline(value) : value.join(' ');
  if (typeof value === 'string') return wordsOf(value, kind, calendar);
  if (kind === 'percent') return `${(value * 100).toFixed(1)} %`;
  if (kind === 'duration') return durationText(value * 1000);
  if (kind === 'post') return `#${value}`;
  const digits = kind === 'decimal' ? 2 : 0;
  return kind === 'money'
    ? value.toLocaleString('en', { maximumFractionDigits: 2 })
    : value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Moments by the reader's clock; the date of a week is one already. */
function wordsOf(value: string, kind: ReportColumn['kind'], calendar: Calendar): string {
  if (kind === 'time') return minute(value, calendar);
  return kind === 'date' && value.length > 10 ? calendar.clockAt(value).slice(0, 10) : value;
}
