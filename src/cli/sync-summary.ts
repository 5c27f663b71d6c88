import type { PassSummary } from '../store/seam.ts';
import { table } from './table.ts';

const HEAD = ['list', 'pass', 'pages', 'rows', 'new', 'changed', 'same', 'deleted', 'time', 'rows/s'];

/** What each pass did, side by side. */
export function summaryText(summaries: PassSummary[]): string {
  return table(
    HEAD,
    summaries.map((s) => {
      const seconds = (Date.parse(s.finishedAt) - Date.parse(s.startedAt)) / 1000;
      const rate = seconds > 0 ? Math.round(s.rows / seconds) : null;
      const pass = s.resumed > 0 ? `${s.mode}, resumed` : s.mode;
      return [
        s.resource,
        pass,
        s.pages,
        s.rows,
        s.inserted,
        s.updated,
        s.unchanged,
        s.deleted,
        `${seconds.toFixed(1)} s`,
        rate,
      ];
    }),
  );
}

/** What the person should know beyond the numbers. A suspect settles itself in a later sweep; the rest needs somebody. */
export function needsAttention({ resource, held, quarantined }: PassSummary): string[] {
  const notes: string[] = [];
  if (held > 0) {
    notes.push(
      `${held} ${resource} are gone upstream, which is suspiciously many at once: nothing was deleted. ` +
        'If that is right, run "feedback-mirror sync --accept-deletes".',
    );
  }
  if (quarantined > 0) {
    notes.push(
      `${quarantined} ${resource} could not be read and were set aside with their reasons; see "feedback-mirror status" ` +
        'or the table quarantine.',
    );
  }
  return notes;
}
