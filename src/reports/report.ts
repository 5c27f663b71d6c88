import { csvCell, withFormulaGuard } from '../text/csv.ts';

/** The words of reports: what one is asked with, and what it answers. Plain data, for the terminal, HTTP and machines alike. */

/** What a number or text of a column means: seconds, a share from 0 to 1, ISO time, a list of numbers, a post's id. */
export type ColumnKind =
  | 'text'
  | 'integer'
  | 'decimal'
  | 'percent'
  | 'duration'
  | 'time'
  | 'date'
  | 'money'
  | 'post'
  | 'trend'
  /** A remark on some rows, such as that a week is shown in part; null on the others. */
  | 'remark';

export interface ReportColumn {
  name: string;
  kind: ColumnKind;
  /** Worth a bar beside it, as long as its share of the largest. */
  bar?: true;
  /** What its numbers count: votes, posts, seconds. */
  unit?: string;
  /** It counts everything there is, whatever the period of the report. */
  allTime?: true;
}

/** What the bars and charts of a report show: a column, its unit, and the time that its numbers are of. */
export interface Measure {
  column: string;
  unit: string;
  /** Null for everything there is. */
  since: string | null;
  until: string;
}

export type Value = string | number | null | number[];

export type Row = Record<string, Value>;

/** The rows of a report, and what there is to say of just these. */
export interface ReportRows {
  rows: Row[];
  notes: string[];
}

/** Two looks with nothing between them for days. */
export interface Gap {
  from: string;
  until: string;
}

export interface Watching {
  /** When the mirror had seen every post for the first time, and when it last looked; null where never. */
  since: string | null;
  last: string | null;
  /** Pauses of more than two days that touch the period. */
  gaps: Gap[];
}

export interface ReportResult {
  name: string;
  title: string;
  /** What was looked at; `since` is null where it is everything there is. */
  since: string | null;
  until: string;
  /** Whose days and weeks these are. Moments are UTC all the same. */
  timeZone: string;
  board: string | null;
  /** What the figures count, in one sentence to read out. */
  counts: string;
  /** Null where the report has no bars. */
  measure: Measure | null;
  /** What the mirror could know of this time. */
  watching: Watching & {
    /** The week of the rows that is not over; null where there is none. */
    unfinished: string | null;
  };
  columns: readonly ReportColumn[];
  rows: Row[];
  /** The number of the user that each row is about, where rows are people: by it a program knows them again. */
  people?: number[];
  /** What a reader has to know to read the figures right, as sentences. */
  notes: string[];
}

/** As a person gave it; whatever is wrong with it is said by the report. */
export interface ReportRequest {
  now: number;
  /** The reader's, such as `Europe/Berlin`: it says where days and weeks begin. */
  timeZone: string;
  /** `2026-01-31`, an ISO time, or how long ago: `30d`. */
  since?: string | undefined;
  until?: string | undefined;
  /** Slug, name or id. */
  board?: string | undefined;
  /** Names or ids of the statuses that posts are in now; several are any of them. */
  status?: readonly string[] | undefined;
  limit?: number | undefined;
  /** Whether posts that people hold to be the same count as one. */
  same?: boolean | undefined;
  /** Whether rankings also list finished posts. */
  includeClosed?: boolean | undefined;
  /** The period to compare with: `previous`, `month` or `year`. */
  against?: string | undefined;
  post?: number | undefined;
  /** Names of the statuses that count as delivered. */
  delivered?: readonly string[] | undefined;
  /** The same as a setting has it, where the person says nothing; a name that no status has is noted. */
  usualDelivered?: readonly string[] | null | undefined;
  /** Only posts of these customers, such as `plan=Pro`. */
  segment?: string | undefined;
  /** The column of the customers file that customers are grouped by; or `board`, for a row a board in place of a row a week. */
  by?: string | undefined;
}

/** Of rows, where the reader says nothing. */
export const DEFAULT_LIMIT = 20;

export const REPORT_FLAGS = [
  'board',
  'status',
  'since',
  'until',
  'limit',
  'same',
  'includeClosed',
  'against',
  'post',
  'delivered',
  'segment',
  'by',
] as const;
export type ReportFlag = (typeof REPORT_FLAGS)[number];

/** As the command line spells it: `--include-closed`. */
export function flagText(flag: ReportFlag): string {
  return `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

const DASHES = new RegExp(
  `(?<=^|\\s)--(?=(?:${REPORT_FLAGS.map((flag) => flagText(flag).slice(2)).join('|')})(?![\\w-]))`,
  'g',
);

/** A sentence for those who ask otherwise than on the command line: what is a flag there is a field or parameter of that name. */
export function withoutDashes(sentence: string): string {
  return sentence.replace(DASHES, '');
}

/** The head of a column in a file, where a number must say its unit: `median_seconds`. */
function csvHead({ name, kind }: ReportColumn): string {
  return kind === 'duration' ? `${name}_seconds` : name;
}

/** One line a row under a header; texts that a spreadsheet would run get an apostrophe, numbers stay numbers. */
export function reportCsv({ columns, rows }: ReportResult): string {
  const line = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;
  const cell = (value: Value): string => {
    if (Array.isArray(value)) return value.join(' ');
    return typeof value === 'string' ? withFormulaGuard(value) : String(value ?? '');
  };
  const body = rows.map((row) => line(columns.map(({ name }) => cell(row[name] ?? null))));
  return [line(columns.map(csvHead)), ...body].join('');
}
