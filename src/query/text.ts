import { csvCell, withFormulaGuard } from '../text/csv.ts';
import type { SqlValue } from './wire.ts';

/** A number as SQLite would read it back. JSON has no infinity either, and this is a number to all who parse it. */
export function numberText(value: number | bigint): string {
  if (Object.is(value, -0)) return '-0.0';
  if (value === Number.POSITIVE_INFINITY) return '9e999';
  return value === Number.NEGATIVE_INFINITY ? '-9e999' : String(value);
}

export function bytesText(value: Uint8Array): string {
  return `x'${Buffer.from(value).toString('hex')}'`;
}

export function isSqlNumber(value: SqlValue | undefined): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** One line of CSV without its end; `raw` leaves texts as they are that a spreadsheet would take for formulas. */
export function csvLine(values: readonly SqlValue[], raw = false): string {
  return values.map((value) => csvValue(value, raw)).join(',') || '""';
}

function csvValue(value: SqlValue, raw: boolean): string {
  if (value === null) return '';
  if (isSqlNumber(value)) return numberText(value);
  // NULL is the empty cell, so an empty text shows its quotes.
  if (value === '') return '""';
  const text = typeof value === 'string' ? value : bytesText(value);
  return csvCell(raw ? text : withFormulaGuard(text));
}
