import type { FileFacts, Imported } from '../../outbox/import/import.ts';
import type { Outlook } from '../../outbox/import/outlook.ts';
import type { Tally } from '../../outbox/import/tally.ts';
import type { StateCounts } from '../../store/outbox/types.ts';

/** How a person wants a file to be read. */
export interface Wishes {
  /** Field to header; null leaves the field out, a missing one is found by its name. */
  map: Record<string, string | null>;
  /** One board for all rows. */
  board: string | null;
}

/** What a dry run showed, or why the file could not be read like that. */
export type Rehearsal =
  | { ok: true; wishes: Wishes; facts: FileFacts; tally: Tally; outlook: Outlook }
  | { ok: false; wishes: Wishes; problem: string };

export interface ImportState {
  id: string;
  bytes: number;
  headers: string[];
  rehearsal: Rehearsal | null;
  /** Null until somebody has said that it should be imported. */
  committed: Committed | null;
}

export interface Committed extends Imported {
  batch: string;
  /** How the rows of all its batches stand. */
  counts: StateCounts;
}

export interface ImportLimits {
  bytes: number;
}
