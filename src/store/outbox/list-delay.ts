import type { Db } from '../db.ts';

/** How many of the latest creates and passes are looked at: enough to know a service by, and always the same little work. */
const LATEST = 500;

interface Arrival {
  confirmed_at: string;
  first_seen_at: string;
}

interface Run {
  id: number;
  started_at: string;
  finished_at: string;
}

/**
 * The longest time a post was seen to be missing from the list after its create had been confirmed. A complete pass that began after
 * the answer and ended before the post was first seen proves that it was not listed yet when that pass began.
 */
export function listDelayReader(db: Db): () => number {
  const latestRuns = db.prepare<[number], Run>(`
    SELECT id, started_at, finished_at FROM sync_runs WHERE resource = 'posts' AND outcome = 'complete' ORDER BY id DESC LIMIT ?`);
  const arrivals = db.prepare<[], Arrival>(`
    SELECT a.ended_at AS confirmed_at, p.first_seen_at
      FROM outbox_attempts a JOIN posts p ON p.id = a.post_id
     WHERE a.outcome = 'confirmed' ORDER BY a.ended_at DESC LIMIT ${LATEST}`);
  let known = { run: -1, worst: 0 };
  return () => {
    const run = latestRuns.get(1)?.id ?? -1;
    // Only a pass can show something new about it.
    if (run !== known.run) known = { run, worst: worstOf(arrivals.all(), latestRuns.all(LATEST)) };
    return known.worst;
  };
}

/** Runs come latest first, and one after the other: the first that ended before the post was seen also began last. */
function worstOf(arrivals: readonly Arrival[], runs: readonly Run[]): number {
  let worst = 0;
  for (const { confirmed_at, first_seen_at } of arrivals) {
    const run = runs[firstBefore(runs, first_seen_at)];
    if (!run || run.started_at <= confirmed_at) continue;
    worst = Math.max(worst, Date.parse(run.started_at) - Date.parse(confirmed_at));
  }
  return worst;
}

function firstBefore(runs: readonly Run[], moment: string): number {
  let [low, high] = [0, runs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((runs[middle]?.finished_at ?? '') < moment) high = middle;
    else low = middle + 1;
  }
  return low;
}
