import type { Format } from './formats.ts';
import type { CellType, ExportTable } from './store/tables.ts';

/** What a run wrote, so that a reader of the files can check that they are whole and what is in them. */
export interface Manifest {
  format: Format;
  upstream: string;
  startedAt: string;
  finishedAt: string;
  options: ManifestOptions;
  /** What the options mean for the rows, in sentences. */
  notes: string[];
  files: ExportedFile[];
}

export interface ManifestOptions {
  since: string | null;
  live: boolean;
  segment?: string;
  raw: boolean;
  redacted: 'emails' | null;
}

export interface ExportedFile {
  name: string;
  what: ExportTable;
  rows: number;
  ms: number;
  bytes: number;
  sha256: string;
  columns: { name: string; type: CellType; nullable: boolean }[];
}

export function notesOn(format: Format, { since, live, segment, raw, redacted }: ManifestOptions): string[] {
  return [
    live
      ? 'Posts and comments that were deleted upstream are left out, and so is their history.'
      : 'Rows with a deleted_at were deleted upstream.',
    ...(since === null ? [] : [sinceNote(since)]),
    ...(segment === undefined ? [] : [`Only what customers with ${segment} wrote.`]),
    ...(format === 'csv' ? [csvNote(raw)] : []),
    ...(redacted === null ? [] : [REDACTION_NOTE]),
  ];
}

function sinceNote(since: string): string {
  return (
    `Only rows of which a column changed at ${since} or later, also by a rename of what they name, by a deletion or by an ` +
    'erasure; written over the rows of the same id (histories: id and observed_at) they make an earlier export complete.'
  );
}

function csvNote(raw: boolean): string {
  return raw
    ? 'Cells are exactly the texts of the mirror, also those that a spreadsheet would run as a formula.'
    : 'Texts that begin with = + - @ a tab or a return have an apostrophe before them.';
}

/** Said wherever redaction is offered: a promise that cannot be kept must not be made. */
export const REDACTION_NOTE =
  'E-mail addresses, also inside texts, and the names of people in their own columns are pseudonyms, the same for a person in ' +
  'every export of this mirror. Names inside titles and texts cannot be told from other words and are still there.';
