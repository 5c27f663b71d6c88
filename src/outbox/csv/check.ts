import { fieldProblem } from '../../contract/draft.ts';
import type { CellsOrRefusal } from './cells.ts';
import type { AcceptedRow, CsvRow, Field, MappedColumn } from './csv-file.ts';
import { dataColumns } from './result-columns.ts';

/** The API documents no limits: beyond these a row is sent all the same, with a note. */
const LONG_TITLE = 255;
const LONG_CONTENT = 50_000;

const LOST_CHARACTER = '\uFFFD';

export interface Plan {
  headers: readonly string[];
  mapping: readonly MappedColumn[];
  board: string | undefined;
}

/** A function that turns cells into a post, or says everything that is wrong with them. Values never enter a reason. */
export function rowChecker({ headers, mapping, board }: Plan): (read: CellsOrRefusal) => CsvRow {
  const at = (field: Field): number => mapping.find((column) => column.field === field)?.index ?? -1;
  const [boardAt, titleAt, contentAt] = [at('board'), at('title'), at('content')];
  const [emailAt, nameAt, keyAt] = [at('email'), at('full_name'), at('key')];
  const data = dataColumns(headers);
  const results = data < headers.length;
  const boardForAll = board?.trim();

  return (read) => {
    if (!read.ok) return read;
    const { line, cells } = read;
    // What names something is trimmed, because a space around it is never meant; what people wrote stays as it is.
    const title = cells[titleAt] ?? '';
    const fields: Fields = {
      board: boardForAll ?? cells[boardAt]?.trim() ?? '',
      title,
      content: cells[contentAt] ?? '',
      email: cells[emailAt]?.trim() ?? '',
      full_name: cells[nameAt]?.trim() ?? '',
      key: cells[keyAt]?.trim() ?? '',
    };
    const reason = shapeProblem(cells, headers.length, data, title) ?? fieldProblems(fields);
    if (reason !== null) return { ok: false, line, cells, reason };
    const row = accept(line, cells, fields);
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

/** In a file the customer and the key may be left blank. */
const OPTIONAL: ReadonlySet<string> = new Set(['email', 'full_name', 'key']);

function fieldProblems(fields: Fields): string | null {
  let problems: string | null = null;
  for (const [field, text] of Object.entries(fields)) {
    const problem = text === '' && OPTIONAL.has(field) ? null : fieldProblem(field, text);
    if (problem !== null) problems = `${problems === null ? '' : `${problems}; `}${field} ${problem}`;
  }
  return problems;
}

function accept(line: number, cells: string[], fields: Fields): AcceptedRow {
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
  const post = { board, title, content, email: email || null, full_name: name };
  return { ok: true, line, cells, post, key: key || null, notes };
}

function addPrevious(row: AcceptedRow, state: string, postId: string): void {
  if (state.trim() !== '' || postId.trim() !== '') {
    row.previous = { state: state.trim(), post_id: postId.trim() };
  }
}
