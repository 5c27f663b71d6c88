import type { ExportRow } from '../store/export/export.ts';
import type { ExportColumn } from '../store/export/tables.ts';

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
