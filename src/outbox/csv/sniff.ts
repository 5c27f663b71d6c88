import { AppError } from '../../base/errors.ts';
import type { Encoding } from './csv-file.ts';

/** How much of a file is looked at before its encoding is decided. */
export const SNIFF_BYTES = 512;

export interface Sniffed {
  encoding: Encoding;
  /** How many bytes of byte order mark to skip. */
  bomBytes: number;
}

const SAVE_AS = 'Open it in a spreadsheet and save it as "CSV UTF-8".';

/** Files that people pass by mistake, told by their first bytes. */
const NOT_CSV: readonly { magic: string; looks: string; hint: string }[] = [
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

const BOMS: readonly { bytes: string; encoding: Encoding }[] = [
  { bytes: 'efbbbf', encoding: 'utf-8' },
  { bytes: 'fffe', encoding: 'utf-16le' },
  { bytes: 'feff', encoding: 'utf-16be' },
];

/** The encoding by its mark, UTF-8 without one. Whatever is certainly not CSV text is refused, never guessed. */
export function sniff(head: Buffer): Sniffed {
  const hex = head.toString('hex', 0, 16);
  const other = NOT_CSV.find(({ magic }) => hex.startsWith(magic));
  if (other) throw notCsv(other.looks, other.hint);
  const mark = BOMS.find(({ bytes }) => hex.startsWith(bytes));
  if (!mark) refuseNuls(head);
  return mark
    ? { encoding: mark.encoding, bomBytes: mark.bytes.length / 2 }
    : { encoding: 'utf-8', bomBytes: 0 };
}

/** A NUL in a row is a bad row; a first line full of them is another kind of file. */
function refuseNuls(head: Buffer): void {
  const end = head.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  const line = end < 0 ? head : head.subarray(0, end);
  const even = line.filter((byte, i) => byte === 0 && i % 2 === 0).length;
  const odd = line.filter((byte, i) => byte === 0 && i % 2 === 1).length;
  if (even + odd < 2 || (even + odd) * 10 < line.length) return;
  const utf16 = even * 8 < odd || odd * 8 < even;
  throw notCsv(utf16 ? 'UTF-16 text without a byte order mark' : 'binary data, not text', SAVE_AS);
}

function notCsv(looks: string, hint: string): AppError {
  return new AppError('usage', `the file is not CSV text: it looks like ${looks}`, { hint });
}
