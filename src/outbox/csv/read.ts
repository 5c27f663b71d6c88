import { AppError } from '../../base/errors.ts';
import { type CellReader, cellReader, explainFault } from './cells.ts';
import { rowChecker } from './check.ts';
import { mapColumns } from './columns.ts';
import type { CsvFile, CsvRow, ReadOptions } from './csv-file.ts';
import { chooseDelimiter, DELIMITERS } from './delimiter.ts';
import { dataColumns } from './result-columns.ts';
import { type Limits, type RawRecord, RecordScanner } from './scan.ts';
import { openText, type Text } from './text.ts';

export type {
  AcceptedRow,
  CsvFile,
  CsvPost,
  CsvRow,
  Delimiter,
  Encoding,
  Field,
  MappedColumn,
  ReadOptions,
  RefusedRow,
} from './csv-file.ts';

/** A megabyte of text in one cell is odd but real; more than this is an unclosed quote or no post. */
const MAX_FIELD_BYTES = 2 * 1024 * 1024;
/** A row has other columns than ours; together they may be this many times the largest field. */
const FIELDS_IN_A_ROW = 8;
const BATCH_ROWS = 500;
/** Blank lines and a first piece may come on top of the largest header line. */
const HEAD_SLACK = 1024 * 1024;

/**
 * Reads as far as the header line and says how the file will be read; the rows follow while they are walked.
 * Throws AppError('usage') for what concerns the whole file. A bad row is only ever a refused row.
 */
export async function openCsv(
  source: AsyncIterable<Uint8Array>,
  options: ReadOptions = {},
): Promise<CsvFile> {
  const text = await openText(source, options);
  try {
    return await openRows(text, options);
  } catch (error) {
    await text.pieces.return();
    throw error;
  }
}

/** What the columns are called, also where nobody could tell yet what they are for. */
export async function headersOf(
  source: AsyncIterable<Uint8Array>,
  options: ReadOptions = {},
): Promise<string[]> {
  const text = await openText(source, options);
  try {
    const { headers } = await openHead(text, options);
    return headers.slice(0, dataColumns(headers));
  } finally {
    await text.pieces.return();
  }
}

async function openHead({ encoding, pieces }: Text, options: ReadOptions) {
  const fieldBytes = options.maxFieldBytes ?? MAX_FIELD_BYTES;
  const limits: Limits = { fieldBytes, rowBytes: fieldBytes * FIELDS_IN_A_ROW };
  const head = await readHead(pieces, limits);
  const delimiter = chooseDelimiter(head.header, options.map);
  const scanner = new RecordScanner([delimiter], limits);
  scanner.push(head.bytes);
  const reader = cellReader(scanner, delimiter, encoding, limits);
  return { delimiter, scanner, reader, headers: readHeader(scanner, reader) };
}

async function openRows(text: Text, options: ReadOptions): Promise<CsvFile> {
  const { encoding, bom, pieces } = text;
  const { delimiter, scanner, reader, headers } = await openHead(text, options);
  const { mapping, ignored } = mapColumns(headers, options);
  const check = rowChecker({ headers, mapping, board: options.board });
  const toRows = (records: readonly RawRecord[]): CsvRow[] => reader.read(records).map(check);
  const rows = readRows(scanner, pieces, toRows);
  return { encoding, bom, delimiter, headers, mapping, ignored, rows };
}

interface Head {
  /** Everything read so far. */
  bytes: Buffer;
  /** The header line, found with each delimiter taken for one: which it is, is decided by looking at this line. */
  header: Buffer;
}

async function readHead(pieces: Text['pieces'], limits: Limits): Promise<Head> {
  const scanner = new RecordScanner(DELIMITERS, limits);
  const read: Buffer[] = [];
  let size = 0;
  let record: RawRecord | undefined;
  while (!record) {
    const piece = await pieces.next();
    if (piece.done) break;
    size += piece.value.length;
    // All of it is held until the header is known, so an endless first line has to end here.
    if (size > limits.rowBytes + HEAD_SLACK)
      throw badHeader(1, 'has no end: perhaps a quote in it is not closed');
    read.push(piece.value);
    scanner.push(piece.value);
    [record] = scanner.scan(1);
  }
  record ??= scanner.finish()[0];
  if (!record) throw new AppError('usage', 'the file is empty', { hint: 'It needs a header line.' });
  if (record.fault) throw badHeader(record.line, explainFault(record.fault, limits));
  return { bytes: Buffer.concat(read), header: scanner.slice(record.start, record.end) };
}

function readHeader(scanner: RecordScanner, reader: CellReader): string[] {
  const records = scanner.scan(1);
  const [header] = reader.read(records.length > 0 ? records : scanner.finish());
  if (!header) throw badHeader(1, 'cannot be read as CSV');
  if (!header.ok) throw badHeader(header.line, header.reason);
  return header.cells;
}

function badHeader(line: number, reason: string): AppError {
  return new AppError('usage', `the header in line ${line} ${reason}`);
}

async function* readRows(
  scanner: RecordScanner,
  pieces: Text['pieces'],
  toRows: (records: readonly RawRecord[]) => CsvRow[],
): AsyncGenerator<CsvRow[], void, undefined> {
  try {
    yield* scanned(scanner, toRows);
    for await (const piece of pieces) {
      scanner.push(piece);
      yield* scanned(scanner, toRows);
    }
    const last = toRows(scanner.finish());
    if (last.length > 0) yield last;
  } finally {
    // The source must be closed as well when the walk ends before its first piece was asked for.
    await pieces.return();
  }
}

function* scanned(scanner: RecordScanner, toRows: (records: readonly RawRecord[]) => CsvRow[]) {
  for (;;) {
    const records = scanner.scan(BATCH_ROWS);
    if (records.length > 0) yield toRows(records);
    if (records.length < BATCH_ROWS) return;
  }
}
