import type { CellsOrRefusal } from './cells.ts';
import type { AcceptedRow, CsvRow, Field, MappedColumn } from './csv-file.ts';
import { dataColumns } from './result-columns.ts';

/** The API documents no limits: beyond these a row is sent all the same, with a note. */
const LONG_TITLE = 255;
const LONG_CONTENT = 50_000;

/**
 * C0, DEL and C1. The latter are refused too: in text they are nearly always a Windows-1252 file that was converted
 * as Latin-1, and a post full of them would be public before anyone notices.
 */
const CONTROL = /\p{Cc}/u;
const CONTROL_IN_TEXT = /[^\P{Cc}\t\n\r]/u;

/** One @, no spaces, nothing that belongs to a list or to `Name <address>`; a domain without a dot is an intranet's. */
const EMAIL = /^[^\s@<>()[\],;:\\"]+@[^\s@<>()[\],;:\\".]+(?:\.[^\s@<>()[\],;:\\".]+)*$/u;

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

function fieldProblems(fields: Fields): string | null {
  const { board, title, content, email, full_name, key } = fields;
  const sound =
    board !== '' &&
    title.trim() !== '' &&
    (email === '' || EMAIL.test(email)) &&
    !CONTROL.test(title) &&
    !CONTROL_IN_TEXT.test(content) &&
    !CONTROL.test(board + full_name + key + email);
  return sound ? null : describeProblems(fields);
}

function describeProblems(fields: Fields): string {
  const problems: string[] = [];
  if (fields.board === '') problems.push('board is blank');
  if (fields.title.trim() === '') problems.push('title is blank');
  if (fields.email !== '' && !EMAIL.test(fields.email)) problems.push('email is not one e-mail address');
  for (const [field, text] of Object.entries(fields)) {
    const found = (field === 'content' ? CONTROL_IN_TEXT : CONTROL).exec(text)?.[0];
    if (found !== undefined) problems.push(`${field} has ${controlName(found)}`);
  }
  return problems.join('; ');
}

function controlName(character: string): string {
  if (character === '\n' || character === '\r') return 'a line break';
  if (character === '\t') return 'a tab';
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `a control character (U+${code})`;
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
