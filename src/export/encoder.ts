import type { ExportRow } from '../store/export.ts';
import type { ExportColumn } from '../store/export-tables.ts';

export const FORMATS = ['csv', 'ndjson', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

/** One file's bytes, in pieces: what `begin`, every `rows` and `end` return, one after the other. */
export interface Encoder {
  begin(): Uint8Array;
  rows(rows: readonly ExportRow[]): Uint8Array;
  end(): Uint8Array;
}

export interface EncoderOptions {
  /** Exactly the texts of the mirror, also those a spreadsheet would run. */
  raw: boolean;
}

export type MakeEncoder = (columns: readonly ExportColumn[], options: EncoderOptions) => Encoder;

export const NOTHING = new Uint8Array();

/** Loaded when asked for: most runs need one of them. */
export async function encoderOf(format: Format): Promise<MakeEncoder> {
  if (format === 'csv') return (await import('./csv.ts')).csvEncoder;
  if (format === 'ndjson') return (await import('./ndjson.ts')).ndjsonEncoder;
  return (await import('./parquet.ts')).parquetEncoder;
}
