import { AppError } from '../../../base/errors.ts';
import {
  CsvParser,
  type CsvRecord,
  DELIMITERS,
  type Delimiter,
  faultText,
  withoutFormulaGuard,
} from '../../../text/csv.ts';
import { distinctNames, type MappedColumns, mapColumns, recognisedColumns } from './columns.ts';
import { type Question, questionHint } from './questions.ts';
import {
  type CsvFile,
  type CsvRow,
  dataColumns,
  type ReadOptions,
  resultsColumns,
  rowChecker,
} from './rows.ts';
import { type DecodedText, type Encoding, openText, type Source } from './text.ts';

/** A megabyte of text in one cell is odd but real; more than this is an unclosed quote or no post. */
const MAX_FIELD_BYTES = 2 * 1024 * 1024;
/** A row has other columns than ours; together they may be this many times the largest field. */
const FIELDS_IN_A_ROW = 8;
const BATCH_ROWS = 500;
/** How many rows are looked at before the columns are decided; large ones fewer, because they are held meanwhile. */
const SAMPLE_ROWS = 100;
const SAMPLE_LETTERS = 256 * 1024;
/** Exports with a column for each comment or label have hundreds. Each is compared with every field: 10,000 held up the service for 6 s. */
const MOST_COLUMNS = 2000;
/** Blank lines and a first piece may come on top of the largest header line. */
const HEAD_SLACK = 1024 * 1024;

/**
 * Reads as far as the header line and says how the file will be read; the rows follow while they are walked.
 * Throws AppError('usage') for what concerns the whole file. A bad row is only ever a refused row.
 */
export async function openCsv(source: Source, options: ReadOptions = {}): Promise<CsvFile> {
  const text = await openText(source, options);
  try {
    const { delimiter, parser, headers, broken, asMeant, sample, cells } = await openHead(text, options);
    if (broken) throw broken;
    const { layout, questions, ...columns } = mapColumns(headers, options, cells);
    const { mapping, stateColumns } = columns;
    if (questions.length > 0) throw unanswered(questions, headers);
    const isToolsKey = mapping.some(({ field, how }) => field === 'key' && how === 'layout');
    const { board, chooseBoard } = options;
    const keyPrefix = layout && isToolsKey ? `${layout.id}:` : '';
    const asWritten = mapColumns(headers, { map: options.map }, cells).mapping;
    const writtenBoardAt = asWritten.find(({ field }) => field === 'board')?.index ?? -1;
    const check = rowChecker({
      headers,
      mapping,
      stateColumns,
      board,
      writtenBoardAt,
      chooseBoard,
      keyPrefix,
    });
    const toRow = (read: CsvRecord) => {
      const record = { ...read, cells: asMeant(read.cells) };
      return refusal(record, text.encoding, options) ?? check(record);
    };
    const rows = readRows(parser, text, sample, toRow);
    const { encoding, bom } = text;
    return { encoding, bom, delimiter, headers, layout: layout?.name ?? null, ...columns, rows };
  } catch (error) {
    await text.pieces.return();
    throw error;
  }
}

/** All questions together, so that a script answers them in one run. */
function unanswered(questions: readonly Question[], headers: readonly string[]): AppError {
  const names = distinctNames(headers);
  return new AppError('usage', questions.map(({ problem }) => problem).join('; '), {
    hint: questions.map((question) => questionHint(question, names)).join('\n'),
  });
}

/** How a file looks before anybody has said how to read it. */
export interface Inspection extends MappedColumns {
  /** The names by which columns are chosen. No two are equal (`distinctNames`). */
  headers: string[];
  encoding: Encoding;
  delimiter: Delimiter;
}

/** The columns and what they seem to be, also where that is not clear yet, or the names are of an encoding that has to be said. */
export async function inspectCsv(source: Source, options: ReadOptions = {}): Promise<Inspection> {
  const text = await openText(source, options);
  try {
    const { delimiter, headers, broken, cells } = await openHead(text, options);
    const { questions, ...columns } = mapColumns(headers, options, cells);
    return {
      ...columns,
      questions: broken ? [] : questions,
      headers: distinctNames(headers).slice(0, dataColumns(headers)),
      encoding: text.encoding,
      delimiter,
    };
  } finally {
    await text.pieces.return();
  }
}

function limitsOf({ maxFieldBytes = MAX_FIELD_BYTES }: ReadOptions) {
  return { fieldBytes: maxFieldBytes, rowBytes: maxFieldBytes * FIELDS_IN_A_ROW };
}

interface Candidate {
  delimiter: Delimiter;
  parser: CsvParser;
  header: CsvRecord | undefined;
}

interface Head {
  delimiter: Delimiter;
  /** Holds what was read beyond the sample. */
  parser: CsvParser;
  headers: string[];
  /** Why no row can be read: the names are not in the encoding that the file seems to have. */
  broken: AppError | null;
  sample: Sample;
  /** The rows of the sample, as `asMeant` returns them. */
  cells: string[][];
  /** Removes empty cells behind the last column. In our own results files it moves the results to the end, and removes the apostrophes before formulas. */
  asMeant(cells: string[]): string[];
}

/** The header line is read with each delimiter; the one that makes sense of it stays. */
async function openHead(text: DecodedText, options: ReadOptions): Promise<Head> {
  const limits = limitsOf(options);
  const candidates = DELIMITERS.map(
    (delimiter): Candidate => ({ delimiter, parser: new CsvParser(delimiter, limits), header: undefined }),
  );
  let size = 0;
  while (candidates.some(({ header }) => header === undefined) && size <= limits.rowBytes + HEAD_SLACK) {
    const piece = await text.pieces.next();
    if (piece.done) {
      for (const candidate of candidates) candidate.header ??= candidate.parser.finish()[0];
      break;
    }
    size += piece.value.length;
    for (const candidate of candidates) {
      candidate.parser.push(piece.value);
      candidate.header ??= headerOf(candidate.parser);
    }
  }
  refuseTooWide(candidates);
  const { delimiter, parser, header } = choose(candidates, options);
  if (header === undefined)
    throw size === 0 ||
      candidates.every(({ header: found }) => found === undefined && size <= limits.rowBytes)
      ? new AppError('usage', 'the file is empty', { hint: 'It needs a header line.' })
      : badHeader(1, 'has no end: perhaps a quote in it is not closed');
  const refused = refusal(header, text.encoding, options);
  const broken = refused && badHeader(header.line, refused.reason);
  if (broken && header.fault?.kind !== 'not-utf8') throw broken;
  const { cells } = header;
  if (EXPORTED.every((name) => cells.includes(name))) throw exportedOutbox();
  const sample = await readSample(parser, text);
  refuseHeading(header, sample, options);
  const rows = cellsOf(sample);
  const results = resultsColumns(cells, rows);
  const asMeant: Head['asMeant'] = (read) => {
    const row = withoutPadding(read, cells.length);
    return results ? results.arrange(row).map(withoutFormulaGuard) : row;
  };
  const headers = results ? results.headers.map(withoutFormulaGuard) : cells;
  return { delimiter, parser, headers, broken, sample, cells: rows.map(asMeant), asMeant };
}

/** Spreadsheets write empty cells behind the last column where some row once had something there. */
function withoutPadding(cells: string[], columns: number): string[] {
  const isPadded = cells.length > columns && cells.slice(columns).every((cell) => cell.trim() === '');
  return isPadded ? cells.slice(0, columns) : cells;
}

/** The first record; not the line `sep=;` before it, by which Excel is told the delimiter. */
function headerOf(parser: CsvParser): CsvRecord | undefined {
  const [first] = parser.records(1);
  const [cell = '', rest = '', ...more] = first?.cells ?? [];
  const isForExcel = first?.line === 1 && /^sep=.?$/i.test(cell) && rest === '' && more.length === 0;
  return isForExcel ? parser.records(1)[0] : first;
}

/**
 * The delimiter under which the header line can be read and makes most sense: several columns before one, then names that we know. A
 * stray quote under one delimiter is an ordinary one under another. A file of one column is read with commas.
 */
function choose(candidates: readonly Candidate[], { map }: ReadOptions): Candidate {
  const rank = ({ header }: Candidate): number[] => {
    const { cells = [], fault = null } = header ?? {};
    const isReadable = fault === null || fault.kind === 'not-utf8';
    const sense = [cells.length > 1 ? 1 : 0, recognisedColumns(cells, map), cells.length];
    return header === undefined ? [1] : isReadable ? [2, ...sense] : [0, cells.length];
  };
  const ranked = candidates.map((candidate) => ({ candidate, rank: rank(candidate) }));
  const [best] = ranked.sort((a, b) => a.rank.map((n, i) => (b.rank[i] ?? 0) - n).find(Boolean) ?? 0);
  if (!best) throw new Error('there are delimiters');
  return best.candidate;
}

function badHeader(line: number, reason: string): AppError {
  return new AppError('usage', `the header in line ${line} ${reason}`);
}

function refuseTooWide(candidates: readonly Candidate[]): void {
  const wide = candidates.find(({ header }) => (header?.cells.length ?? 0) > MOST_COLUMNS)?.header;
  if (!wide) return;
  const columns = `has ${wide.cells.length} columns, and a file has at most ${MOST_COLUMNS}`;
  throw new AppError('usage', `the header in line ${wide.line} ${columns}`, {
    hint: 'Delete the columns that are not needed: title, content, board, email, name and a key are enough.',
  });
}

/** Sheets made by hand have a heading above the table: one cell, alone or of many, which names no field, and the names of the columns further down. */
function refuseHeading({ line, cells }: CsvRecord, { records }: Sample, { map = {} }: ReadOptions): void {
  const isAnswered = Object.keys(map).length > 0;
  if (isAnswered || cells.length === 2 || filled(cells) > 1 || recognisedColumns(cells, map) > 0) return;
  // A heading that is alone tells no delimiter, so the lines below it were read with commas, whatever theirs is.
  const areNames = (names: string[]): boolean => names.length > 2 && recognisedColumns(names, map) > 1;
  const isNames = (record: CsvRecord): boolean =>
    cells.length === 1
      ? DELIMITERS.some((delimiter) => areNames(record.cells.join(',').split(delimiter)))
      : filled(record.cells) * 2 > cells.length;
  const names = records.slice(0, 10).find(isNames);
  if (!names) return;
  const problem = `line ${line} is a heading and not the names of the columns; they seem to be in line ${names.line}`;
  throw new AppError('usage', problem, { hint: 'Delete the lines above the names of the columns.' });
}

const filled = (cells: readonly string[]): number => cells.filter((cell) => cell.trim() !== '').length;

/** MappedColumns that only the table of the outbox has, as `export outbox` writes it. */
const EXPORTED = ['batch', 'source_key', 'attempts', 'last_error'];

/** An export may hold rows of many imports, redacted or guarded against formulas. Its rows cannot be recognised, and every one would be new. */
function exportedOutbox(): AppError {
  return new AppError('usage', 'this is an export of the outbox: all its posts would be sent a second time', {
    hint: 'Import the file of "feedback-mirror outbox list --batch BATCH --format csv", which tells what was sent. To post them again all the same, take out the column source_key.',
  });
}

/** The reason why text of another encoding could not become UTF-8. */
function unsaid(encoding: Encoding): string | undefined {
  if (encoding === 'utf-8') return undefined;
  const isUtf16 = encoding.startsWith('utf-16');
  return isUtf16
    ? 'has half a character (a lone surrogate)'
    : `has a byte that is no character of ${encoding}`;
}

function refusal({ line, cells, fault }: CsvRecord, encoding: Encoding, options: ReadOptions) {
  if (fault === null) return null;
  const said = fault.kind === 'not-utf8' ? unsaid(encoding) : undefined;
  const reason = said === undefined ? faultText(fault, limitsOf(options)) : `${said} in line ${fault.line}`;
  return { ok: false as const, line, cells, reason };
}

interface Sample {
  records: CsvRecord[];
  /** The file has no others. */
  isAll: boolean;
}

/** The first rows are read ahead: they help to tell what is in the columns. */
async function readSample(parser: CsvParser, { pieces }: DecodedText): Promise<Sample> {
  const records: CsvRecord[] = [];
  let size = 0;
  for (;;) {
    for (;;) {
      const [record] = parser.records(1);
      if (!record) break;
      records.push(record);
      size += record.cells.reduce((sum, cell) => sum + cell.length, 0);
      if (records.length === SAMPLE_ROWS || size >= SAMPLE_LETTERS) return { records, isAll: false };
    }
    const piece = await pieces.next();
    if (piece.done) return { records: [...records, ...parser.finish()], isAll: true };
    parser.push(piece.value);
  }
}

function cellsOf({ records }: Sample): string[][] {
  return records.flatMap(({ cells, fault }) => (fault === null ? [cells] : []));
}

async function* readRows(
  parser: CsvParser,
  { pieces }: DecodedText,
  { records, isAll }: Sample,
  toRow: (record: CsvRecord) => CsvRow,
): AsyncGenerator<CsvRow[], void, undefined> {
  try {
    if (records.length > 0) yield records.map(toRow);
    if (isAll) return;
    yield* parsed(parser, toRow);
    for await (const piece of pieces) {
      parser.push(piece);
      yield* parsed(parser, toRow);
    }
    const last = parser.finish().map(toRow);
    if (last.length > 0) yield last;
  } finally {
    // The source must be closed as well when the walk ends before its first piece was asked for.
    await pieces.return();
  }
}

function* parsed(parser: CsvParser, toRow: (record: CsvRecord) => CsvRow) {
  for (;;) {
    const records = parser.records(BATCH_ROWS);
    if (records.length > 0) yield records.map(toRow);
    if (records.length < BATCH_ROWS) return;
  }
}
