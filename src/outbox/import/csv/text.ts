import { isAscii, isUtf8 } from 'node:buffer';
import { AppError } from '../../../base/errors.ts';
import { refuseJson } from './json.ts';

/** Without a byte order mark only UTF-8 and windows-1252 are recognised. A person must name the others. */
export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'iso-8859-2',
  'iso-8859-15',
  'shift_jis',
  'gb18030',
  'big5',
  'euc-kr',
] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The most bytes of one piece. It bounds the memory and the rows of a batch. */
const PIECE_BYTES = 64 * 1024;
/** The first bytes tell what a file is. Only the encoding of text without a mark takes more. */
const HEAD_BYTES = 4096;

/** The same bytes from the start at each call. */
export type Source = () => AsyncIterable<Uint8Array>;

export interface DecodedText {
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

/**
 * Turns the source into pieces of UTF-8. Without a mark the encoding is decided on the whole file, which is read once more for that:
 * the first letter with an accent may stand in its last row, and no row may be accepted before it is known.
 */
export async function openText(source: Source, watch: Watch): Promise<DecodedText> {
  const { encoding, markBytes } = await survey(source(), watch);
  const body = afterMarks(markBytes, watched(source(), watch));
  const pieces = encoding === 'utf-8' ? body : transcoded(body, encoding);
  return { encoding, bom: markBytes > 0, pieces };
}

interface Survey {
  encoding: Encoding;
  markBytes: number;
}

async function survey(source: AsyncIterable<Uint8Array>, watch: Watch): Promise<Survey> {
  const chunks = watched(source, { signal: watch.signal });
  try {
    const read = await readHead(chunks);
    const found = sniff(Buffer.concat(read).subarray(0, HEAD_BYTES), watch.encoding);
    if (found) return found;
    const census = byteCensus();
    for (const chunk of read) census.add(chunk);
    for await (const chunk of chunks) census.add(chunk);
    return { encoding: census.isWestern() ? 'windows-1252' : 'utf-8', markBytes: 0 };
  } finally {
    await chunks.return();
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

async function* afterMarks(markBytes: number, chunks: AsyncGenerator<Buffer, void, undefined>) {
  let skip = markBytes;
  for await (const chunk of chunks) {
    if (chunk.length > skip) yield chunk.subarray(skip);
    skip = Math.max(0, skip - chunk.length);
  }
}

async function* transcoded(chunks: AsyncGenerator<Buffer, void, undefined>, encoding: Encoding) {
  const transcoder = transcoderOf(encoding);
  for await (const chunk of chunks) yield transcoder.push(chunk);
  yield transcoder.end();
}

function transcoderOf(encoding: Encoding): Transcoder {
  if (encoding.startsWith('utf-16')) return utf16(encoding === 'utf-16be');
  return ASIAN.includes(encoding) ? multiByte(encoding) : singleByte(encoding);
}

const SAVE_AS = 'Open it in a spreadsheet and save it as "CSV UTF-8".';

/** Other kinds of files that people pass by mistake, known by their first bytes. */
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

/** The encoding that was asked for, or by its mark; null where the bytes must tell. Whatever is certainly not CSV text is refused. */
function sniff(head: Buffer, asked: Encoding | undefined): Survey | null {
  const hex = head.toString('hex', 0, 16);
  const other = NOT_CSV.find(({ magic }) => hex.startsWith(magic));
  if (other) throw notCsv(other.looks, other.hint);
  const marked = MARKS.find(({ mark }) => head.subarray(0, mark.length).equals(mark));
  const isUtf16 = marked?.encoding === 'utf-16le';
  const text = head.toString(isUtf16 ? 'utf16le' : 'utf8').replace(/^\uFEFF/, '');
  refuseJson(text);
  refuseHtml(text);
  if (!marked) {
    if (asked === undefined) refuseNuls(head);
    return asked === undefined ? null : { encoding: asked, markBytes: 0 };
  }
  const { mark, encoding } = marked;
  // Tools that add a mark without looking leave two of them; a mark is no text, so all of them go.
  let markBytes = 0;
  while (head.subarray(markBytes, markBytes + mark.length).equals(mark)) markBytes += mark.length;
  return { encoding, markBytes };
}

/** A page of a login or of an error, saved in place of the file. */
function refuseHtml(head: string): void {
  if (/^\s*<(!doctype html|html)\b/i.test(head))
    throw notCsv('a web page', 'Sign in to the tool, and export the table as CSV again.');
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

/** Western texts have a space or a comma within this length. */
const LONGEST_RUN = 4096;
/** So many broken runs on one that is valid UTF-8: capitals before a quote, as in "CAFÉ»", are valid UTF-8 by chance. */
const BROKEN_PER_VALID = 20;
/** The share of runs that Western text does not have; names of countries and languages in twenty of them have 1 % at most. */
const MOST_ALIEN = 0.05;

/** Runs of bytes beyond ASCII. */
interface Runs {
  /** UTF-8, by what they are or by chance. */
  valid: number;
  broken: number;
  /** Broken, and nothing that Western text has. */
  alien: number;
  /** Runs with an õ that is not before an e. */
  tilde: number;
  acute: number;
}

/**
 * A file is windows-1252, of which Latin-1 is a part, when its runs are not UTF-8, but for a few by chance, and look like Western text.
 * One that has UTF-8 as well is UTF-8 with damage: its broken rows are refused. A file of another single-byte encoding would be public as
 * gibberish before anybody notices, so in doubt its rows are refused too.
 */
function areWestern({ valid, broken, alien, tilde, acute }: Runs): boolean {
  // Portuguese has õ before e alone, and Estonian, which has it anywhere, no acutes; Hungarian has many, and õ stands for its ő.
  const foreign = acute > broken / 4 ? alien + tilde : alien;
  return broken > valid * BROKEN_PER_VALID && foreign <= broken * MOST_ALIEN;
}

/** `before` is the three letters before the run. */
function countRun(runs: Runs, before: string, run: Buffer, after: string): void {
  const isValid = run.length === LONGEST_RUN || isUtf8(run);
  runs[isValid ? 'valid' : 'broken']++;
  if (isValid) return;
  const text = run.toString('latin1');
  if (isAlien(before, text, after)) runs.alien++;
  else if (/\xf5(?=[a-df-z\xdf-\xff])/.test(text + after)) runs.tilde++;
  if (/[\xe1\xed\xf3\xfa]/.test(text)) runs.acute++;
}

/** Counts the runs of a text that comes in chunks. */
function byteCensus(): { add(chunk: Buffer): void; isWestern(): boolean } {
  const run = Buffer.alloc(LONGEST_RUN);
  const runs: Runs = { valid: 0, broken: 0, alien: 0, tilde: 0, acute: 0 };
  // The last three bytes, as one number.
  let [length, before, last] = [0, 0, 0];
  const endRun = (after: number): void => {
    countRun(runs, lettersOf(before), run.subarray(0, length), String.fromCharCode(after));
    length = 0;
  };
  return {
    add(chunk) {
      if (length === 0 && isAscii(chunk)) {
        for (const byte of chunk.subarray(-3)) last = (last << 8) | byte;
        return;
      }
      for (const byte of chunk) {
        if (byte < 0x80) {
          if (length > 0) endRun(byte);
        } else {
          if (length === 0) before = last;
          if (length < LONGEST_RUN) run[length++] = byte;
        }
        last = (last << 8) | byte;
      }
    },
    isWestern() {
      if (length > 0) endRun(0);
      return areWestern(runs);
    },
  };
}

function lettersOf(last: number): string {
  return String.fromCharCode((last >> 16) & 0xff, (last >> 8) & 0xff, last & 0xff);
}

/** Quotes, dashes and such, which stand before and after a word. */
const AROUND_WORDS =
  /^[\x80\x82\x84\x85\x8b\x91-\x99\x9b\xa0-\xa9\xab-\xb7\xb9\xbb-\xbf]+|[\x80\x82\x84\x85\x8b\x91-\x99\x9b\xa0-\xa9\xab-\xb7\xb9\xbb-\xbf]+$/g;

const LOWER = String.raw`[a-z\x9a\x9c\x9e\xdf-\xf6\xf8-\xff]`;
const LETTER = String.raw`[A-Za-z\x8a\x8c\x8e\x9a\x9c\x9e\x9f\xc0-\xd6\xd8-\xf6\xf8-\xff]`;
const CAPITAL = String.raw`[\x8a\x8c\x8e\x9f\xc0-\xd6\xd8-\xde]`;
/** Of the signs only an apostrophe, a dash, dots or a soft hyphen is met inside a word. */
const NOT_IN_WORDS = String.raw`[\x80\x82\x84\x86-\x89\x8b\x93-\x95\x98\x99\x9b\xa1-\xac\xae-\xb3\xb5\xb6\xb8-\xbf]`;

/**
 * What no Western language has: mostly the letters of windows-1250, ISO-8859-2, windows-1254 and code page 850 as windows-1252 shows them.
 * A rule may be wrong about a rare word, because many must be before a file is refused.
 */
const ALIEN = new RegExp(
  [
    String.raw`[\x81\x8d\x8f\x90\x9d]`,
    `(?<=${LETTER})${NOT_IN_WORDS}(?=${LOWER})`,
    // But na hÉireann.
    `(?<=${LOWER})(?<!\\b[hnt])${CAPITAL}|(?<=[A-Z])${CAPITAL}(?=${LOWER})`,
    // by¿, ¶le, £ód¼; but ¿cómo, 10 m³ and 5½.
    String.raw`(?<=${LETTER})[\xa1\xbf]|(?<=${LOWER})[\x84\xa3\xa6\xac\xaf\xb1\xb6\xbc\xbe]`,
    String.raw`(?<!\d)[\xa3\xa6\xac\xaf\xb1\xb3\xb6\xb9\xbc\xbe](?=${LOWER})`,
    String.raw`(?<=${LOWER}${LOWER})(?<!ft|in|yd|mi|[cdhkmn]m)[\xb2\xb3\xb9]`,
    // mìsto, dùm, pøi, pøed, èas, nový: French and Italian have ì and ù at the end, è before no vowel, Danish ø before few.
    String.raw`[\xec\xf9](?=${LOWER})|[\xe8\xf8](?=[aiou\xe1\xe9\xed\xf3\xfa\xfd])|\xe8(?=e)|(?<=[pb])\xf8(?=e)`,
    String.raw`(?<=${LOWER}${LOWER})[\xaa\xba\xf5\xfb\xfd](?!${LETTER})|(?<!\d)[\xaa\xba](?=${LOWER})`,
    // czêœci, mûködik, cãutare, informaþii.
    String.raw`\x9c(?=[clnwkmp\xe6])|\xfb(?=[dgjkvz])|\xe3(?=[^oes\W]|[\xc0-\xff])|(?<=${LOWER})\xfe(?=[ie\xe3])|\xfe(?!${LETTER})`,
  ].join('|'),
);

/** The letters of an alphabet beyond ASCII, as a post about letters names them; in no other encoding do these bytes make a word. */
const ALPHABETS: ReadonlySet<string> = new Set(
  ['åäö', 'æøå', 'äöü', 'äöüß'].flatMap((letters) => [
    letters,
    letters.replace(/[^ß]/g, (c) => c.toUpperCase()),
  ]),
);

/** Letters or signs where Western text has none, or three letters with accents in a row. */
function isAlien(before: string, run: string, after: string): boolean {
  const word = run.replace(AROUND_WORDS, '');
  if (ALPHABETS.has(word) && !/[A-Za-z]/.test(before.slice(-1) + after)) return false;
  return word.length > 2 || ALIEN.test(before + run + after);
}

function notCsv(looks: string, hint: string): AppError {
  return new AppError('usage', `the file is not CSV text: it looks like ${looks}`, { hint });
}

interface Transcoder {
  push(chunk: Uint8Array): Buffer;
  end(): Buffer;
}

/** A byte that no UTF-8 text has: it marks what UTF-8 cannot say, so that the row around it is refused later. */
const UNSAYABLE = Buffer.from([0xff]);

/** What windows-1252 has from 0x80 to 0x9f, where Latin-1 has control characters; half a character stands for the five that are none. */
const BEYOND_LATIN1 = '€\ud800‚ƒ„…†‡ˆ‰Š‹Œ\ud800Ž\ud800\ud800‘’“”•–—˜™š›œ\ud800žŸ';

/** The default encodings of spreadsheets in Japan, China, Taiwan and Korea. */
const ASIAN: readonly Encoding[] = ['shift_jis', 'gb18030', 'big5', 'euc-kr'];

/** Many bytes are a character. What is none is U+FFFD to the decoder, and no text in these encodings has that sign. */
function multiByte(encoding: Encoding): Transcoder {
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  const encoded = (text: string): Buffer => encode(text.replaceAll('\ufffd', '\ud800'));
  return {
    push: (chunk) => encoded(decoder.decode(chunk, { stream: true })),
    end: () => encoded(decoder.decode()),
  };
}

/** One byte is one character, so no chunk edge matters. */
function singleByte(encoding: Encoding): Transcoder {
  const beyondAscii = encoding === 'windows-1252' ? BEYOND_LATIN1 : upperHalf(encoding);
  const push = (chunk: Uint8Array): Buffer =>
    encode(
      Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
        .toString('latin1')
        .replace(/[\x80-\xff]/g, (sign) => beyondAscii[sign.charCodeAt(0) - 0x80] ?? sign),
    );
  return { push, end: () => Buffer.alloc(0) };
}

/**
 * What the encoding has from 0x80 on, with half a character for what is none. Not for windows-1252, which the TextDecoder of Node 22.19,
 * 24.0 and 25.0 reads as Latin-1.
 */
function upperHalf(encoding: Encoding): string {
  const bytes = Uint8Array.from({ length: 128 }, (_, i) => 0x80 + i);
  return new TextDecoder(encoding).decode(bytes).replace(/[\x80-\x9f\ufffd]/g, '\ud800');
}

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

/** Keeps back an odd byte at the end, and a high surrogate without its other half. */
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
