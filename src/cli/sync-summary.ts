import type { PassSummary } from '../store/mirror/types.ts';
import { counted } from './counted.ts';
import { table } from './table.ts';

const HEAD = ['list', 'pass', 'pages', 'rows', 'new', 'changed', 'same', 'deleted', 'time', 'rows/s'];

/** A pass and when this process began with it: one that was resumed may have started days ago. */
export interface Passed {
  summary: PassSummary;
  began: number;
}

/** What each pass did, side by side. */
export function summaryText(passed: Passed[]): string {
  return table(HEAD, passed.map(line));
}

function line({ summary: s, began }: Passed): (string | number | null)[] {
  const seconds = Math.max(0, Date.parse(s.finishedAt) - Math.max(Date.parse(s.startedAt), began)) / 1000;
  const isResumed = s.resumed > 0;
  // The rows of a pass that was resumed were not all read in this time.
  const rate = isResumed || seconds === 0 ? null : Math.round(s.rows / seconds);
  const pass = isResumed ? `${s.mode}, resumed` : s.mode;
  const counts = [s.pages, s.rows, s.inserted, s.updated, s.unchanged, s.deleted];
  return [s.resource, pass, ...counts, `${seconds.toFixed(1)} s`, rate];
}

/** What the person should know beyond the numbers. A suspect settles itself in a later sweep; the rest needs somebody. */
export function needsAttention({ resource, held, quarantined }: PassSummary): string[] {
  const notes: string[] = [];
  if (held > 0) {
    notes.push(
      `${counted(held, resource)} seem to be gone upstream, more at once than the mass-delete guard lets pass: they are held, not deleted. ` +
        `If that is right, run "feedback-mirror sync ${resource} --accept-deletes".`,
    );
  }
  if (quarantined > 0) {
    notes.push(
      `${counted(quarantined, resource)} could not be read and went into the table quarantine, each with its reason; ` +
        'an earlier version in the mirror stays.',
    );
  }
  return notes;
}
