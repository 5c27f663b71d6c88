import { fieldProblem } from '../../../contract/draft.ts';
import type { CsvRecord, Delimiter } from '../../../text/csv.ts';
import { OUTBOX_STATES } from '../../decide/types.ts';
import { type RowState, type StateColumn, stateReader } from './state.ts';
import type { Encoding } from './text.ts';

export const FIELDS = ['board', 'title', 'content', 'email', 'full_name', 'key'] as const;
export type Field = (typeof FIELDS)[number];

export interface ReadOptions {
  /**
   * Field to header, as the person typed it; both sides are checked here, so any text may come in. Null leaves the field out, also
   * where a column of the file could be it.
   */
  map?: Readonly<Record<string, string | null | undefined>> | undefined;
  /** The board of every row; a board column in the file is then ignored. */
  board?: string | undefined;
  /** Which board a text of the file names (`boardChooser`); null drops the row. Left out, boards are taken as they are written. */
  chooseBoard?: ((text: string) => string | null) | undefined;
  /** Instead of the one that the bytes tell; a byte order mark counts more. */
  encoding?: Encoding | undefined;
  /** The largest field, counted as it is written in the file once that is UTF-8. */
  maxFieldBytes?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called with the number of bytes of the source read so far. */
  onProgress?: ((bytesRead: number) => void) | undefined;
}

export interface MappedColumn {
  field: Field;
  /** What tells it from the others (`distinctNames`). */
  header: string;
  index: number;
  how: 'exact' | 'alias' | 'layout' | 'asked';
}

export interface CsvPost {
  board: string;
  title: string;
  content: string;
  email: string | null;
  full_name: string | null;
}

export interface AcceptedRow {
  ok: true;
  /** The physical line on which the record starts; the first line of the file is 1. */
  line: number;
  cells: string[];
  post: CsvPost;
  /** The board as the file writes it: what the row is known by does not change with the choice of boards. */
  writtenBoard: string;
  /** Whether the choice of boards leaves this row out. */
  isDropped: boolean;
  /** What the file says about the work on it; null where it says nothing. */
  state: RowState | null;
  key: string | null;
  /** The id of a known tool without the name of that tool. */
  toolKey?: string;
  /** Remarks about a row that is accepted. */
  notes: string[];
  /** The outcome of an earlier import of this row, if the file is one of our own results files. */
  previous?: { state: string; post_id: string };
}

export interface RefusedRow {
  ok: false;
  line: number;
  /** The cells, as far as they could be read; empty if the row was too large. */
  cells: string[];
  reason: string;
}

export type CsvRow = AcceptedRow | RefusedRow;

/** What a column holds that the API does not take. */
export type NotCarriedOver =
  | 'votes'
  | 'dates'
  | 'statuses'
  | 'comments'
  | 'tags'
  | 'attachments'
  | 'who may see a row';

/** What the columns of a file were found to be. */
export interface FoundColumns {
  mapping: MappedColumn[];
  ignored: string[];
  /** Those that say how far a post is. */
  stateColumns: StateColumn[];
  /** What the file has and the API does not take, with the columns. */
  lostColumns: { what: NotCarriedOver; headers: string[] }[];
  /** Columns that could be the title as well as the one that is used. */
  otherTitles: string[];
}

export interface CsvFile extends FoundColumns {
  encoding: Encoding;
  bom: boolean;
  delimiter: Delimiter;
  headers: string[];
  /** The tool whose export this is; null where it is a file of its own kind. */
  layout: string | null;
  /** Can be walked once; leaving the walk early closes the source. */
  rows: AsyncIterable<CsvRow[]>;
}

export function hasKeys({ mapping }: Pick<CsvFile, 'mapping'>): boolean {
  return mapping.some(({ field }) => field === 'key');
}

/** What a results file has after the columns of the file it is about. */
export const RESULT_COLUMNS = ['state', 'post_id', 'url', 'reason'] as const;

/** How many columns hold the person's own data: all, or all but the last four of one of our results files. */
export function dataColumns(headers: readonly string[]): number {
  const start = headers.length - RESULT_COLUMNS.length;
  return start > 0 && RESULT_COLUMNS.every((name, i) => headers[start + i] === name) ? start : headers.length;
}

/** What a results file says of a row: a state of the outbox, or that it was not taken. */
const RESULT_STATES: ReadonlySet<string> = new Set([...OUTBOX_STATES, 'refused', 'skipped']);

interface ResultsColumns {
  headers: string[];
  /** The cells of a row under them. One of another length than the header stays so, and is refused. */
  arrange(cells: readonly string[]): string[];
}

/**
 * Reads one of our results files as it was written, with the four columns at its end; null for another file. Whoever looks through it
 * puts columns of theirs behind the four, or takes some away: the state and the number of the post are enough where the states are ours.
 */
export function resultsColumns(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): ResultsColumns | null {
  const names = headers.map((header) => header.trim().toLowerCase());
  const places: number[] = RESULT_COLUMNS.map((name) => names.lastIndexOf(name));
  const found = places.filter((i) => i >= 0);
  const [stateAt = -1, postAt = -1] = places;
  if (stateAt < 0 || postAt < 0 || headers.length === found.length) return null;
  const states = rows.map((cells) => cells[stateAt]?.trim() ?? '').filter((state) => state !== '');
  const areOurs = states.length > 0 && states.every((state) => RESULT_STATES.has(state));
  if (!areOurs && found.length < places.length) return null;
  const own = headers.map((_, i) => i).filter((i) => !places.includes(i));
  const missing = Array<string>(places.length - found.length).fill('');
  return {
    headers: [...own.map((i) => headers[i] ?? ''), ...RESULT_COLUMNS],
    arrange: (cells) =>
      cells.length === headers.length
        ? [...own, ...places].map((i) => cells[i] ?? '')
        : [...cells, ...missing],
  };
}

/** The API documents no limits: beyond these a row is sent all the same, with a note. */
const LONG_TITLE = 255;
const LONG_CONTENT = 50_000;

const LOST_CHARACTER = '\uFFFD';

export interface RowPlan extends Pick<ReadOptions, 'chooseBoard'> {
  stateColumns?: readonly StateColumn[];
  headers: readonly string[];
  mapping: readonly MappedColumn[];
  board: string | undefined;
  /** The column of boards, also where one board is given for all rows; -1 where there is none. */
  writtenBoardAt: number;
  /** Before the keys of a tool's own ids. */
  keyPrefix: string;
}

/** A function that turns cells into a post, or says everything that is wrong with them. Values never enter a reason. */
export function rowChecker(plan: RowPlan) {
  const { headers, mapping, board, writtenBoardAt, chooseBoard, keyPrefix } = plan;
  const stateOf = stateReader(plan.stateColumns ?? []);
  const at = (field: Field): number => mapping.find((column) => column.field === field)?.index ?? -1;
  const [boardAt, titleAt, contentAt] = [at('board'), at('title'), at('content')];
  const [emailAt, nameAt, keyAt] = [at('email'), at('full_name'), at('key')];
  const data = dataColumns(headers);
  const results = data < headers.length;
  const boardForAll = board?.trim();

  return ({ line, cells }: Pick<CsvRecord, 'line' | 'cells'>): CsvRow => {
    // What names something is trimmed, because a space around it is never meant; what people wrote stays as it is.
    const title = cells[titleAt] ?? '';
    const key = cells[keyAt]?.trim() ?? '';
    const fields: Fields = {
      board: boardForAll ?? cells[boardAt]?.trim() ?? '',
      title,
      content: cells[contentAt] ?? '',
      email: cells[emailAt]?.trim() ?? '',
      full_name: cells[nameAt]?.trim() ?? '',
      key: key === '' ? '' : keyPrefix + key,
    };
    const reason = shapeProblem(cells, headers.length, data, title) ?? fieldProblems(fields);
    if (reason !== null) return { ok: false, line, cells, reason };
    const row = accept(line, cells, fields, chooseBoard ? chooseBoard(fields.board) : fields.board);
    row.state = stateOf(cells);
    // A person may give the board by its slug today and by its name tomorrow.
    if (boardForAll !== undefined) row.writtenBoard = cells[writtenBoardAt]?.trim() || row.post.board;
    if (keyPrefix !== '' && key !== '') row.toolKey = key;
    if (results) addPrevious(row, cells[data] ?? '', cells[data + 1] ?? '');
    return row;
  };
}

type Fields = Record<Field, string>;

function shapeProblem(
  cells: readonly string[],
  expected: number,
  data: number,
  title: string,
): string | null {
  if (title.trim() === '' && isEmpty(cells, expected, data)) return 'is empty';
  if (cells.length === expected) return null;
  const count = cells.length === 1 ? '1 cell' : `${cells.length} cells`;
  return `has ${count} where the header has ${expected}`;
}

/** Blank but for the result columns, which are ours. */
function isEmpty(cells: readonly string[], expected: number, data: number): boolean {
  return cells.every((cell, i) => (i >= data && i < expected) || cell.trim() === '');
}

/** Fields that may be blank in a file. */
const OPTIONAL: ReadonlySet<string> = new Set(['email', 'full_name', 'key']);

function fieldProblems(fields: Fields): string | null {
  let problems: string | null = null;
  for (const [field, text] of Object.entries(fields)) {
    const problem = text === '' && OPTIONAL.has(field) ? null : fieldProblem(field, text);
    if (problem !== null) problems = `${problems === null ? '' : `${problems}; `}${field} ${problem}`;
  }
  return problems;
}

function accept(line: number, cells: string[], fields: Fields, chosen: string | null): AcceptedRow {
  const { board, title, content, email, full_name, key } = fields;
  const notes: string[] = [];
  let name: string | null = null;
  if (email !== '') {
    name = full_name || email.slice(0, email.indexOf('@'));
    if (full_name === '') notes.push('full_name was taken from the e-mail');
  } else if (full_name !== '') {
    notes.push('full_name is ignored: the API takes a name only with an e-mail');
  }
  if (title.length > LONG_TITLE) notes.push(`title is unusually long (${title.length} characters)`);
  if (content.length > LONG_CONTENT) notes.push(`content is unusually long (${content.length} characters)`);
  if (title.includes(LOST_CHARACTER) || content.includes(LOST_CHARACTER)) {
    notes.push('has U+FFFD, the mark of a character that an earlier conversion lost');
  }
  const post = { board: chosen ?? board, title, content, email: email || null, full_name: name };
  const isDropped = chosen === null;
  return {
    ok: true,
    line,
    cells,
    post,
    writtenBoard: board,
    isDropped,
    state: null,
    key: key || null,
    notes,
  };
}

function addPrevious(row: AcceptedRow, state: string, postId: string): void {
  if (state.trim() !== '' || postId.trim() !== '') {
    row.previous = { state: state.trim(), post_id: postId.trim() };
  }
}
