import { isUtf8 } from 'node:buffer';
import { type Options, parse } from 'csv-parse/sync';
import type { Delimiter, Encoding, RefusedRow } from './csv-file.ts';
import type { Fault, Limits, RawRecord, RecordScanner } from './scan.ts';

export type CellsOrRefusal = { ok: true; line: number; cells: string[] } | RefusedRow;

export interface CellReader {
  read(records: readonly RawRecord[]): CellsOrRefusal[];
}

export const LINE_ENDS = ['\r\n', '\n', '\r'];
const CARRIAGE_RETURN = 0x0d;

/**
 * The cells of scanned records. Runs of good records go to csv-parse in one call, because a call costs about 25 us
 * and a row about 7; when a run does not come out as expected it is halved until the bad record stands alone.
 */
export function cellReader(
  scanner: RecordScanner,
  delimiter: Delimiter,
  encoding: Encoding,
  limits: Limits,
): CellReader {
  const strict: Options = {
    delimiter,
    record_delimiter: LINE_ENDS,
    skip_empty_lines: true,
    relax_column_count: true,
  };
  const relaxed: Options = { ...strict, relax_quotes: true };
  const bytesOf = (run: readonly RawRecord[]): Buffer =>
    scanner.slice(run[0]?.start ?? 0, run.at(-1)?.end ?? 0);

  function refuse(record: RawRecord, reason: string): RefusedRow {
    const bytes = bytesOf([record]);
    const closed = record.fault?.kind === 'unclosed' ? Buffer.concat([bytes, Buffer.from('"')]) : bytes;
    return { ok: false, line: record.line, cells: tryParse(closed, relaxed)?.[0] ?? [], reason };
  }

  function readRun(run: readonly RawRecord[]): CellsOrRefusal[] {
    const bytes = bytesOf(run);
    const utf8 = isUtf8(bytes);
    // csv-parse tries every line end at every character: a tenth of its time where there is only one.
    const ends = bytes.includes(CARRIAGE_RETURN) ? LINE_ENDS : ['\n'];
    const rows = utf8 ? tryParse(bytes, { ...strict, record_delimiter: ends }) : null;
    if (rows?.length === run.length) {
      return rows.map((cells, i) => ({ ok: true, line: run[i]?.line ?? 0, cells }));
    }
    const [first, second] = run;
    if (!first) return [];
    if (!second) {
      return [refuse(first, utf8 ? 'cannot be read as CSV' : brokenText(bytes, first.line, encoding))];
    }
    const middle = run.length >> 1;
    return [...readRun(run.slice(0, middle)), ...readRun(run.slice(middle))];
  }

  return {
    read(records) {
      if (records.every(({ fault }) => fault === null)) return readRun(records);
      return runs(records).flatMap((run) => {
        const [first] = run;
        return first?.fault ? [refuse(first, explainFault(first.fault, limits))] : readRun(run);
      });
    },
  };
}

/** Neighbours without a fault together, each faulty record alone. */
function runs(records: readonly RawRecord[]): RawRecord[][] {
  const grouped: RawRecord[][] = [];
  let open = false;
  for (const record of records) {
    if (open && record.fault === null) grouped.at(-1)?.push(record);
    else grouped.push([record]);
    open = record.fault === null;
  }
  return grouped;
}

function tryParse(bytes: Buffer, options: Options): string[][] | null {
  try {
    return parse(bytes, options) as unknown as string[][];
  } catch {
    return null;
  }
}

export function explainFault(fault: Fault, { fieldBytes, rowBytes }: Limits): string {
  const inLine = `in line ${fault.line}`;
  if (fault.kind === 'stray-quote') {
    return `has a stray quote ${inLine}; a quote inside a quoted field is written twice`;
  }
  if (fault.kind === 'oversize') {
    return fault.what === 'row'
      ? `is larger than ${size(rowBytes)}`
      : `has a field that starts ${inLine} and is larger than ${size(fieldBytes)}; perhaps a quote is not closed`;
  }
  const { swallowed } = fault;
  const lines = swallowed === 1 ? 'the line after it was' : `the ${swallowed} lines after it were`;
  const also = swallowed > 0 ? `, so ${lines} read as part of this row` : '';
  return `has a quote opened ${inLine} that is never closed${also}`;
}

function size(bytes: number): string {
  const mebibytes = bytes / (1024 * 1024);
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes} bytes`;
}

/** Line ends are never part of a longer character, so the line with the broken one can be looked for line by line. */
function brokenText(bytes: Buffer, firstLine: number, encoding: Encoding): string {
  const lines = bytes.toString('latin1').split(/\r\n|\n|\r/);
  const bad = lines.findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')));
  const where = `in line ${firstLine + Math.max(bad, 0)}`;
  return encoding === 'utf-8'
    ? `has a byte that is not UTF-8 ${where}; save the file as "CSV UTF-8"`
    : `has half a character (a lone surrogate) ${where}`;
}
