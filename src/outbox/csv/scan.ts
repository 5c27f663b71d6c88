import type { Delimiter } from './csv-file.ts';
import { ByteWindow } from './window.ts';

/** Why a record cannot be read, and the line to look at. */
export type Fault =
  | { kind: 'stray-quote'; line: number }
  | { kind: 'oversize'; what: 'field' | 'row'; line: number }
  | { kind: 'unclosed'; line: number; swallowed: number };

export interface RawRecord {
  /** The physical line on which the record starts. */
  line: number;
  /** Where its bytes are, without the line end; valid until the next `push`. Nothing when it was too large to keep. */
  start: number;
  end: number;
  fault: Fault | null;
}

export interface Limits {
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

/**
 * Finds where records start and end, and nothing else: csv-parse reads the cells of what is found here.
 *
 * csv-parse alone cannot keep one bad row from hurting others (7.0.3, tried): with `skip_records_with_error` a stray
 * closing quote takes the rows up to the next quote with it, an oversize record drops the rest of its chunk, one
 * record can report several errors, and a CRLF inside quotes counts as two lines.
 *
 * Here a quote that is neither doubled nor at the edge of its field faults its own record only: from there on the
 * text is plain, so the record ends with its line. A quote that is never closed does take what follows: to read those
 * lines as rows would turn the rest of a cut-off text into posts.
 */
export class RecordScanner {
  readonly #window = new ByteWindow();
  readonly #kinds = new Uint8Array(256);
  readonly #limits: Limits;
  #state = START;
  #line = 1;
  #recordLine = 1;
  #fieldLine = 1;
  #fault: Fault | null = null;

  constructor(delimiters: readonly Delimiter[], limits: Limits) {
    this.#limits = limits;
    const kinds: [string, number][] = [
      ['"', QUOTE],
      ['\n', LF],
      ['\r', CR],
    ];
    for (const delimiter of delimiters) kinds.push([delimiter, DELIMITER]);
    for (const [character, kind] of kinds) this.#kinds[character.charCodeAt(0)] = kind;
  }

  /** Takes the next bytes; everything pushed before must have been scanned. */
  push(bytes: Buffer): void {
    this.#window.push(bytes);
  }

  /** The bytes from one record's start to another's end. */
  slice(start: number, end: number): Buffer {
    return this.#window.bytes.subarray(start, end);
  }

  /** The next whole records, at most so many; fewer means that all bytes were looked at. */
  scan(max: number): RawRecord[] {
    const found: RawRecord[] = [];
    const window = this.#window;
    const { bytes, end } = window;
    const kinds = this.#kinds;
    let { at } = window;
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
        this.#endField(at);
        state = START;
      } else if (state === QUOTED) {
        this.#lineBreak(at, kind);
      } else {
        this.#endRecord(at, kind, found);
        state = START;
      }
    }
    window.at = at;
    this.#state = state;
    if (at === end) this.#spare();
    return found;
  }

  /** The record that the file ends in, if it does not end with a line end. */
  finish(): RawRecord[] {
    const { at, recordStart } = this.#window;
    const quoted = this.#state === QUOTED;
    this.#state = START;
    if (!quoted) return at > recordStart ? [this.#take(at)] : [];
    const line = this.#fieldLine;
    const swallowed = this.#line - line - (this.#window.breakAt === at - 1 ? 1 : 0);
    return [{ ...this.#take(at), fault: { kind: 'unclosed', line, swallowed } }];
  }

  #stray(): void {
    this.#fault ??= { kind: 'stray-quote', line: this.#line };
  }

  #endField(at: number): void {
    const window = this.#window;
    if (at - window.fieldStart > this.#limits.fieldBytes && this.#fault?.kind !== 'oversize') {
      this.#fault = { kind: 'oversize', what: 'field', line: this.#fieldLine };
    }
    window.fieldStart = at + 1;
    this.#fieldLine = this.#line;
  }

  #endRecord(at: number, kind: number, found: RawRecord[]): void {
    const window = this.#window;
    // The LF of a CRLF whose CR ended the record, and blank lines, are no records.
    if (at > window.recordStart) found.push(this.#take(at));
    this.#lineBreak(at, kind);
    window.begin(at + 1);
    this.#recordLine = this.#line;
    this.#fieldLine = this.#line;
  }

  #take(at: number): RawRecord {
    const { recordStart } = this.#window;
    this.#endField(at);
    if (at - recordStart > this.#limits.rowBytes && this.#fault?.kind !== 'oversize') {
      this.#fault = { kind: 'oversize', what: 'row', line: this.#recordLine };
    }
    const fault = this.#fault;
    this.#fault = null;
    const start = fault?.kind === 'oversize' ? at : recordStart;
    this.#window.begin(at);
    return { line: this.#recordLine, start, end: at, fault };
  }

  #lineBreak(at: number, kind: number): void {
    if (kind === CR || this.#window.crAt !== at - 1) this.#line++;
    if (kind === CR) this.#window.crAt = at;
    this.#window.breakAt = at;
  }

  /** The bytes of a record that is already too large are let go while it is still being read. */
  #spare(): void {
    const { at, fieldStart, recordStart } = this.#window;
    const { fieldBytes, rowBytes } = this.#limits;
    if (at - fieldStart > fieldBytes || at - recordStart > rowBytes) this.#window.kept = at;
  }
}
