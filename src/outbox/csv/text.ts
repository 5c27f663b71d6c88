import { isUtf8 } from 'node:buffer';
import { AppError } from '../../base/errors.ts';

export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** What is handed on at once, whatever the source yields: it bounds the memory and the size of a batch of rows. */
const PIECE_BYTES = 64 * 1024;
/** How much of a file is looked at before its encoding is decided. */
const HEAD_BYTES = 256 * 1024;

export interface Text {
  encoding: Encoding;
  bom: boolean;
  /** The text as UTF-8 without its byte order mark; what is not valid faults its own row later. */
  pieces: AsyncGenerator<Buffer, void, undefined>;
}

interface Watch {
  encoding?: Encoding | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((bytesRead: number) => void) | undefined;
}

/** Decides the encoding from the first bytes and turns the source into pieces of UTF-8. */
export async function openText(source: AsyncIterable<Uint8Array>, watch: Watch): Promise<Text> {
  const chunks = watched(source, watch);
  try {
    const read = await readHead(chunks);
    const head = Buffer.concat(read).subarray(0, HEAD_BYTES);
    const { encoding, markBytes } = sniff(head, watch.encoding);
    const body = afterMarks(read, markBytes, chunks);
    const pieces = encoding === 'utf-8' ? body : transcoded(body, encoding);
    return { encoding, bom: markBytes > 0, pieces };
  } catch (error) {
    await chunks.return();
    throw error;
  }
}

async function* watched(source: AsyncIterable<Uint8Array>, { signal, onProgress }: Watch) {
  let bytesRead = 0;
  signal?.throwIfAborted();
  for await (const chunk of source) {
    signal?.throwIfAborted();
    bytesRead += chunk.length;
    onProgress?.(bytesRead);
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer[]> {
  const read: Buffer[] = [];
  for (let size = 0; size < HEAD_BYTES; ) {
    const next = await chunks.next();
    if (next.done) break;
    read.push(next.value);
    size += next.value.length;
  }
  return read;
}

/** The chunks as they came, so that what follows meets every chunk edge there was, also the first ones. */
async function* afterMarks(read: Buffer[], markBytes: number, rest: AsyncGenerator<Buffer, void, undefined>) {
  let skip = markBytes;
  try {
    for (const chunk of read) {
      if (chunk.length > skip) yield chunk.subarray(skip);
      skip = Math.max(0, skip - chunk.length);
    }
    yield* rest;
  } finally {
    // `yield*` passes a return on only once it has been reached.
    await rest.return();
  }
}

async function* transcoded(chunks: AsyncGenerator<Buffer, void, undefined>, encoding: Encoding) {
  const transcoder = encoding === 'windows-1252' ? windows1252() : utf16(encoding === 'utf-16be');
  for await (const chunk of chunks) yield transcoder.push(chunk);
  yield transcoder.end();
}

const SAVE_AS = 'Open it in a spreadsheet and save it as "CSV UTF-8".';

/** Files that people pass by mistake, told by their first bytes. */
const NOT_CSV: readonly { magic: string; looks: string; hint: string }[] = [
  // Looked at in November 2026, for a small library that bounds what it unpacks: read-excel-file 9.3.10 allocates what each entry
  // declares, or collects all of it, without a limit; hucre 1.0.0 has one, of 2 GiB an entry, that a caller cannot lower; exceljs 4.4.0
  // brings nine packages of its own and xlsx 0.18.5 seven. Others were not looked at.
  { magic: '504b0304', looks: 'a zip archive or an .xlsx workbook', hint: SAVE_AS },
  { magic: 'd0cf11e0a1b11ae1', looks: 'an old .xls workbook', hint: SAVE_AS },
  { magic: '1f8b', looks: 'a gzip archive', hint: 'Unpack it first: gunzip FILE.gz' },
  { magic: '28b52ffd', looks: 'a zstd archive', hint: 'Unpack it first: unzstd FILE.zst' },
  { magic: 'fd377a585a00', looks: 'an xz archive', hint: 'Unpack it first: unxz FILE.xz' },
  { magic: '425a68', looks: 'a bzip2 archive', hint: 'Unpack it first: bunzip2 FILE.bz2' },
  { magic: '25504446', looks: 'a PDF document', hint: 'Export the table itself as CSV.' },
  { magic: '50415231', looks: 'a Parquet file', hint: 'Convert it to CSV first.' },
  { magic: '53514c69746520666f726d6174203300', looks: 'a SQLite database', hint: 'Export the table as CSV.' },
  { magic: '0000feff', looks: 'UTF-32 text', hint: SAVE_AS },
  // Before the UTF-16 mark, which it starts with: a UTF-16 text whose first character is NUL is no CSV either.
  { magic: 'fffe0000', looks: 'UTF-32 text', hint: SAVE_AS },
];

const MARKS: readonly { mark: Buffer; encoding: Encoding }[] = [
  { mark: Buffer.from([0xef, 0xbb, 0xbf]), encoding: 'utf-8' },
  { mark: Buffer.from([0xff, 0xfe]), encoding: 'utf-16le' },
  { mark: Buffer.from([0xfe, 0xff]), encoding: 'utf-16be' },
];

/** The encoding that was asked for, or by its mark, or by its bytes. Whatever is certainly not CSV text is refused. */
function sniff(head: Buffer, asked: Encoding | undefined): { encoding: Encoding; markBytes: number } {
  const hex = head.toString('hex', 0, 16);
  const other = NOT_CSV.find(({ magic }) => hex.startsWith(magic));
  if (other) throw notCsv(other.looks, other.hint);
  const marked = MARKS.find(({ mark }) => head.subarray(0, mark.length).equals(mark));
  if (!marked) {
    if (asked === undefined) refuseNuls(head);
    return { encoding: asked ?? (isWestern(head) ? 'windows-1252' : 'utf-8'), markBytes: 0 };
  }
  const { mark, encoding } = marked;
  // Tools that add a mark without looking leave two of them; a mark is no text, so all of them go.
  let markBytes = 0;
  while (head.subarray(markBytes, markBytes + mark.length).equals(mark)) markBytes += mark.length;
  return { encoding, markBytes };
}

/** A NUL in a row is a bad row; a first line full of them is another kind of file. */
function refuseNuls(head: Buffer): void {
  const end = head.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  const line = head.subarray(0, Math.min(end < 0 ? head.length : end, 512));
  const even = line.filter((byte, i) => byte === 0 && i % 2 === 0).length;
  const odd = line.filter((byte, i) => byte === 0 && i % 2 === 1).length;
  if (even + odd < 2 || (even + odd) * 10 < line.length) return;
  const utf16 = even * 8 < odd || odd * 8 < even;
  throw notCsv(utf16 ? 'UTF-16 text without a byte order mark' : 'binary data, not text', SAVE_AS);
}

/** Letters with accents stand alone among plain ones; in Greek, Cyrillic or Chinese encodings such bytes stand together. */
const MOST_IN_A_ROW = 0.6;

/**
 * Whether the bytes are windows-1252, of which Latin-1 is a part: not UTF-8, not even in part, and nothing that Western text does not
 * have. A file of another single-byte encoding would be public as gibberish before anybody notices, so in doubt its rows are refused.
 */
function isWestern(head: Buffer): boolean {
  const text = head.toString('latin1');
  const high = text.match(/[\x80-\xff]+/g) ?? [];
  if (high.length === 0) return false;
  const isCut = head.length === HEAD_BYTES;
  const runs = isCut && /[\x80-\xff]$/.test(text) ? high.slice(0, -1) : high;
  const broken = runs.filter((run) => !isUtf8(Buffer.from(run, 'latin1')));
  if (broken.length === 0 || broken.length < runs.length / 2) return false;
  if (runs.some((run) => /[\x81\x8d\x8f\x90\x9d]/.test(run))) return false;
  const bytes = runs.reduce((sum, run) => sum + run.length, 0);
  const together = runs.reduce((sum, run) => sum + (run.length > 1 ? run.length : 0), 0);
  return together <= bytes * MOST_IN_A_ROW;
}

function notCsv(looks: string, hint: string): AppError {
  return new AppError('usage', `the file is not CSV text: it looks like ${looks}`, { hint });
}

interface Transcoder {
  push(chunk: Uint8Array): Buffer;
  end(): Buffer;
}

/** One byte is one character, so no chunk edge matters. */
function windows1252(): Transcoder {
  const decoder = new TextDecoder('windows-1252');
  return { push: (chunk) => Buffer.from(decoder.decode(chunk)), end: () => Buffer.alloc(0) };
}

/** A byte that no UTF-8 text has: it marks what UTF-8 cannot say, so that the row around it is refused later. */
const UNSAYABLE = Buffer.from([0xff]);

/**
 * UTF-16 to UTF-8 piece by piece. A lone surrogate becomes a byte that is invalid in UTF-8 instead of the U+FFFD
 * that TextDecoder and Buffer would put there: a silent change must stay visible to the check that follows.
 */
function utf16(bigEndian: boolean): Transcoder {
  let rest: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      const bytes = Buffer.concat([rest, chunk]);
      const whole = wholeCharacters(bytes, bigEndian);
      rest = bytes.subarray(whole);
      const units = bytes.subarray(0, whole);
      return encode((bigEndian ? units.swap16() : units).toString('utf16le'));
    },
    /** A file that ends in the middle of a character ends in something unsayable. */
    end: () => (rest.length === 0 ? rest : UNSAYABLE),
  };
}

/** Without an odd byte at the end, and without a high surrogate that waits for its other half. */
function wholeCharacters(bytes: Buffer, bigEndian: boolean): number {
  const even = bytes.length - (bytes.length % 2);
  if (even === 0) return 0;
  const high = bytes[bigEndian ? even - 2 : even - 1] ?? 0;
  return high >= 0xd8 && high <= 0xdb ? even - 2 : even;
}

function encode(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const pieces = text.split(/\p{Surrogate}/u).map((piece) => Buffer.from(piece));
  return Buffer.concat(pieces.flatMap((piece, i) => (i === 0 ? [piece] : [UNSAYABLE, piece])));
}
