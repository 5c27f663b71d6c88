import { csvCell, inert } from '../base/csv.ts';

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

export interface Column {
  name: string;
  kind: ColumnKind;
  /** Worth a bar beside it, as long as its share of the largest. */
  bar?: true;
}

export type Value = string | number | null | number[];

/** A row of a report, by the names of its columns. */
export type Row = Record<string, Value>;

/** The rows of a report, and what there is to say of just these. */
export interface Answer {
  rows: Row[];
  notes: string[];
}

export interface ReportResult {
  name: string;
  /** The question it answers. */
  title: string;
  /** What was looked at; `since` is null where it is everything there is. */
  since: string | null;
  until: string;
  /** Whose days and weeks these are. Moments are UTC all the same. */
  timeZone: string;
  board: string | null;
  columns: readonly Column[];
  rows: Row[];
  /** The number of the user that each row is about, where rows are people: by it a program knows them again. */
  people?: number[];
  /** What a reader has to know to read the figures right, as sentences. */
  notes: string[];
}

/** As a person gave it; whatever is wrong with it is said by the report. */
export interface ReportRequest {
  /** Milliseconds since the epoch. */
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
  post?: number | undefined;
  /** Names of the statuses that count as delivered. */
  delivered?: readonly string[] | undefined;
  /** The same as a setting has it, where the person says nothing; a name that no status has is noted. */
  usualDelivered?: readonly string[] | null | undefined;
  segments?: Segments | undefined;
}

/** Customers of a file, each with the value they are grouped by and the one that is added up. */
export interface Segments {
  by: string;
  sum: string | null;
  customers: { email: string; group: string | null; amount: number | null }[];
  /** About the file itself: rows left out, and why. */
  notes: string[];
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
  'post',
  'delivered',
  'segments',
] as const;
export type ReportFlag = (typeof REPORT_FLAGS)[number];

const DASHES = new RegExp(`(?<=^|\\s)--(?=(?:${REPORT_FLAGS.join('|')})(?![\\w-]))`, 'g');

/** A sentence for those who ask otherwise than on the command line: what is a flag there is a field or parameter of that name. */
export function withoutDashes(sentence: string): string {
  return sentence.replace(DASHES, '');
}

/** One line a row under a header; texts that a spreadsheet would run get an apostrophe, numbers stay numbers. */
export function reportCsv({ columns, rows }: ReportResult): string {
  const line = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;
  const cell = (value: Value): string => {
    if (Array.isArray(value)) return value.join(' ');
    return typeof value === 'string' ? inert(value) : String(value ?? '');
  };
  const body = rows.map((row) => line(columns.map(({ name }) => cell(row[name] ?? null))));
  return [line(columns.map(({ name }) => name)), ...body].join('');
}
