import type { OutboxRow } from './seam.ts';

/** A row as SQLite holds it. */
export interface StoredRow extends Omit<OutboxRow, 'baseline' | 'candidates' | 'was_ambiguous'> {
  baseline: string;
  candidates: string;
  was_ambiguous: number;
}

export function toRow({ baseline, candidates, was_ambiguous, ...row }: StoredRow): OutboxRow {
  return {
    ...row,
    baseline: JSON.parse(baseline) as number[],
    candidates: JSON.parse(candidates) as number[],
    was_ambiguous: was_ambiguous === 1,
  };
}
