import fc from 'fast-check';
import type { ExportCell, ExportRow } from '../../src/export/store/export.ts';
import type { ExportColumn } from '../../src/export/store/tables.ts';
import { anyText } from '../support/any-text.ts';

/** One column of each kind, with and without missing values. */
export const COLUMNS: readonly ExportColumn[] = [
  { name: 'id', type: 'integer', nullable: false, personal: null },
  { name: 'text', type: 'text', nullable: false, personal: { kind: 'text' } },
  { name: 'word', type: 'text', nullable: true, personal: null },
  { name: 'flag', type: 'boolean', nullable: false, personal: null },
  { name: 'at', type: 'time', nullable: true, personal: null },
  { name: 'extra', type: 'json', nullable: true, personal: null },
  { name: 'count', type: 'integer', nullable: true, personal: null },
];

/** Everything that ever broke a CSV, beside everything else that Unicode has. */
const nasty = fc.constantFrom(
  '=1+1',
  '+1',
  '-1',
  '@x',
  '\t',
  '\r',
  '\n',
  '"',
  ',',
  ';',
  "'",
  '\0',
  '\u2028',
  '\u0085',
  '😀',
  'é',
  '\uFEFF',
  '',
);
const text = fc.oneof(
  anyText({ maxLength: 20 }),
  fc.array(fc.oneof(nasty, fc.string({ maxLength: 3 })), { maxLength: 6 }).map((parts) => parts.join('')),
);
const time = fc
  .date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
  .map((date) => date.toISOString());
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value));

const row: fc.Arbitrary<ExportRow> = fc.tuple<ExportCell[]>(
  fc.maxSafeNat(),
  text,
  fc.option(text),
  fc.constantFrom(0, 1),
  fc.option(time),
  fc.option(json),
  fc.option(fc.maxSafeInteger()),
);

export const anyRows = fc.array(row, { maxLength: 12 });
