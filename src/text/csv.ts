import { isAscii, isUtf8 } from 'node:buffer';

/** Every delimiter is quoted, not only the one in use, so that a header line is never ambiguous to a program that reads it. */
const NEEDS_QUOTES = /[",;\t\r\n\uFEFF]/;

/**
 * What a spreadsheet would run. Some of them skip what cannot be seen before the first sign, and take the full-width signs of East Asian
 * input and the small ones for the others. Apostrophes before it count, so that the one we add can be taken off again.
 */
const FORMULA = /^'*(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\uFE62\uFE63\uFE66\uFE6B])/u;

export function csvCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text with an apostrophe before it where a spreadsheet would take it for a formula. */
export function withFormulaGuard(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** The text that `withFormulaGuard` was given. */
export function withoutFormulaGuard(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}

/** The text without any such apostrophe. A row keeps its identity whether the apostrophes are there or not. */
export function withoutFormulaGuards(text: string): string {
  const plain = withoutFormulaGuard(text);
  return plain === text ? text : withoutFormulaGuards(plain);
}

export const DELIMITERS = [',', ';', '\t'] as const;
export type Delimiter = (typeof DELIMITERS)[number];
export const DELIMITER_NAMES: Record<Delimiter, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' };

/** Why a record cannot be read, and the line to look at. */
type CsvFault =
  | { kind: 'stray-quote'; line: number }
  | { kind: 'oversize'; what: 'field' | 'row'; line: number }
  | { kind: 'unclosed'; line: number; swallowed: number }
  | { kind: 'not-utf8'; line: number };

export interface CsvRecord {
  /** The physical line on which the record starts; the first is 1. */
  line: number;
  /** The cells, as far as they could be read; empty if the record was too large. */
  cells: string[];
  fault: CsvFault | null;
}

interface CsvLimits {
  fieldBytes: number;
  rowBytes: number;
}

const OTHER = 0;
const QUOTE = 1;
const DELIMITER = 2;
const LF = 3;
const CR = 4;

const START = 0; // at the start of a field
const PLAIN = 1;
const QUOTED = 2;
const CLOSING = 3; // after a quote inside quotes: the end of the field, or the first of a doubled quote

const QUOTE_BYTE = Buffer.from('"');

/**
 * Takes UTF-8 bytes in pieces and gives records. A quote that is neither doubled nor at the edge of its field faults its own record
 * only: from there on the text is plain, so the record ends with its line. A quote that is never closed does take what follows: to
 * read those lines as rows would turn the rest of a cut-off text into posts.
 *
 * csv-parse cannot keep one bad row from hurting others (7.0.3, tried): with `skip_records_with_error` a stray closing quote takes
 * the rows up to the next quote with it, an oversize record drops the rest of its chunk, and a CRLF inside quotes counts as two
 * lines. For 100,000 rows of 260 bytes it takes 1.44 s of processor time, this 0.40 s.
 */
export class CsvParser {
  readonly #kinds = new Uint8Array(256);
  readonly #limits: CsvLimits;
  /** The bytes that are still needed, in one growing buffer: joining a list of chunks again for each one would cost the square. */
  #bytes: Buffer = Buffer.allocUnsafe(128 * 1024);
  #end = 0;
  #at = 0;
  /** Bytes before this place are let go with the next `push`. */
  #kept = 0;
  /** Places in the buffer. They are negative once the bytes there were let go, so that distances stay right. */
  #recordStart = 0;
  #fieldStart = 0;
  #crAt = -2;
  #breakAt = -2;
  /** For each finished field of the open record: its end, counted from the record's start, and whether it was quoted. */
  #fieldEnds: number[] = [];
  #quoted: boolean[] = [];
  #state = START;
  #line = 1;
  #recordLine = 1;
  #fieldLine = 1;
  #fault: CsvFault | null = null;

  constructor(delimiter: Delimiter, limits: CsvLimits) {
    this.#limits = limits;
    const kinds: [string, number][] = [
      ['"', QUOTE],
      [delimiter, DELIMITER],
      ['\n', LF],
      ['\r', CR],
    ];
    for (const [character, kind] of kinds) this.#kinds[character.charCodeAt(0)] = kind;
  }

  push(chunk: Buffer): void {
    this.#letGo(this.#kept);
    const needed = this.#end + chunk.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#end);
      this.#bytes = larger;
    }
    this.#end += chunk.copy(this.#bytes, this.#end);
  }

  /** The next whole records, at most so many; fewer means that all bytes were looked at. */
  records(max: number): CsvRecord[] {
    const found: CsvRecord[] = [];
    const [bytes, end, kinds] = [this.#bytes, this.#end, this.#kinds];
    let at = this.#at;
    let state = this.#state;
    for (; at < end && found.length < max; at++) {
      const kind = kinds[bytes[at] as number] as number;
      if (kind === OTHER) {
        if (state === CLOSING) this.#stray();
        if (state !== QUOTED) state = PLAIN;
      } else if (kind === QUOTE) {
        if (state === PLAIN) this.#stray();
        else state = state === QUOTED ? CLOSING : QUOTED;
      } else if (kind === DELIMITER) {
        if (state === QUOTED) continue;
        this.#endField(at, state === CLOSING);
        state = START;
      } else if (state === QUOTED) {
        this.#lineBreak(at, kind);
      } else {
        this.#endRecord(at, kind, state === CLOSING, found);
        state = START;
      }
    }
    this.#at = at;
    this.#state = state;
    if (at === end) this.#spare();
    return found;
  }

  /** The record that the file ends in, if it does not end with a line end. */
  finish(): CsvRecord[] {
    const at = this.#at;
    const [isOpen, isClosed] = [this.#state === QUOTED, this.#state === CLOSING];
    this.#state = START;
    if (!isOpen) return at > this.#recordStart ? [this.#take(at, isClosed)] : [];
    const line = this.#fieldLine;
    const swallowed = this.#line - line - (this.#breakAt === at - 1 ? 1 : 0);
    this.push(QUOTE_BYTE);
    const fault: CsvFault = { kind: 'unclosed', line, swallowed };
    return [{ ...this.#take(this.#at + 1, true), fault }];
  }

  #letGo(count: number): void {
    if (count === 0) return;
    this.#bytes.copyWithin(0, count, this.#end);
    this.#kept = 0;
    this.#end -= count;
    this.#at -= count;
    this.#recordStart -= count;
    this.#fieldStart -= count;
    this.#crAt -= count;
    this.#breakAt -= count;
  }

  #stray(): void {
    this.#fault ??= { kind: 'stray-quote', line: this.#line };
  }

  #endField(at: number, isQuoted: boolean): void {
    if (at - this.#fieldStart > this.#limits.fieldBytes && this.#fault?.kind !== 'oversize')
      this.#fault = { kind: 'oversize', what: 'field', line: this.#fieldLine };
    this.#fieldEnds.push(at - this.#recordStart);
    this.#quoted.push(isQuoted);
    this.#fieldStart = at + 1;
    this.#fieldLine = this.#line;
  }

  #endRecord(at: number, kind: number, isQuoted: boolean, found: CsvRecord[]): void {
    // The LF of a CRLF whose CR ended the record, and blank lines, are no records.
    if (at > this.#recordStart) found.push(this.#take(at, isQuoted));
    this.#lineBreak(at, kind);
    this.#begin(at + 1);
    this.#recordLine = this.#line;
    this.#fieldLine = this.#line;
  }

  #begin(at: number): void {
    this.#recordStart = at;
    this.#fieldStart = at;
    this.#kept = at;
    this.#fieldEnds.length = 0;
    this.#quoted.length = 0;
  }

  #take(at: number, isQuoted: boolean): CsvRecord {
    this.#endField(at, isQuoted);
    if (at - this.#recordStart > this.#limits.rowBytes && this.#fault?.kind !== 'oversize')
      this.#fault = { kind: 'oversize', what: 'row', line: this.#recordLine };
    const isKept = this.#fault?.kind !== 'oversize';
    if (isKept && this.#fault === null) this.#fault = this.#encodingFault(at);
    const record = { line: this.#recordLine, cells: isKept ? this.#cells() : [], fault: this.#fault };
    this.#fault = null;
    this.#begin(at);
    return record;
  }

  #cells(): string[] {
    const ends = this.#fieldEnds;
    const bytes = this.#bytes.subarray(this.#recordStart, this.#recordStart + (ends.at(-1) ?? 0));
    // Decoded once, where a byte is a character.
    const text = isAscii(bytes) ? bytes.toString('latin1') : null;
    const slice = (from: number, to: number): string =>
      text?.slice(from, to) ?? bytes.toString('utf8', from, to);
    const cells: string[] = [];
    let start = 0;
    for (let i = 0; i < ends.length; i++) {
      const end = ends[i] ?? 0;
      const cell = this.#quoted[i] ? slice(start + 1, end - 1) : slice(start, end);
      cells.push(this.#quoted[i] && cell.includes('""') ? cell.replaceAll('""', '"') : cell);
      start = end + 1;
    }
    return cells;
  }

  /** Line ends are never part of a longer character, so the line with the broken one can be looked for line by line. */
  #encodingFault(at: number): CsvFault | null {
    const bytes = this.#bytes.subarray(this.#recordStart, at);
    if (isUtf8(bytes)) return null;
    const lines = bytes.toString('latin1').split(/\r\n|\n|\r/);
    const bad = lines.findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')));
    return { kind: 'not-utf8', line: this.#recordLine + Math.max(bad, 0) };
  }

  #lineBreak(at: number, kind: number): void {
    if (kind === CR || this.#crAt !== at - 1) this.#line++;
    if (kind === CR) this.#crAt = at;
    this.#breakAt = at;
  }

  /** The bytes of a record that is already too large are let go while it is still being read. */
  #spare(): void {
    const { fieldBytes, rowBytes } = this.#limits;
    if (this.#at - this.#fieldStart > fieldBytes || this.#at - this.#recordStart > rowBytes)
      this.#kept = this.#at;
  }
}

/** A clause about the record, such as "has a stray quote in line 3". */
export function faultText(fault: CsvFault, { fieldBytes, rowBytes }: CsvLimits): string {
  const inLine = `in line ${fault.line}`;
  switch (fault.kind) {
    case 'stray-quote':
      return `has a stray quote ${inLine}; a quote inside a quoted field is written twice`;
    case 'oversize':
      return fault.what === 'row'
        ? `is larger than ${limitText(rowBytes)}`
        : `has a field that starts ${inLine} and is larger than ${limitText(fieldBytes)}; perhaps a quote is not closed`;
    case 'unclosed': {
      const lines =
        fault.swallowed === 1 ? 'the line after it was' : `the ${fault.swallowed} lines after it were`;
      const also = fault.swallowed > 0 ? `, so ${lines} read as part of this row` : '';
      return `has a quote opened ${inLine} that is never closed${also}`;
    }
    case 'not-utf8':
      return `has a byte that is not UTF-8 ${inLine}; save the file as "CSV UTF-8", or choose its encoding (--encoding windows-1252, windows-1250, shift_jis …)`;
  }
}

function limitText(bytes: number): string {
  const mebibytes = bytes / (1024 * 1024);
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes} bytes`;
}
