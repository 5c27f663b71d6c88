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

/**
 * The times come from a clock that may have been put a day ahead or back between an answer and a pass, and a row that settles for days
 * is as good as lost: so many passes without the post are worth no more than the usual time between so many passes.
 */
function worstOf(arrivals: readonly Arrival[], runs: readonly Run[]): number {
  const usual = usualInterval(runs);
  let worst = 0;
  for (const { confirmed_at, first_seen_at } of arrivals) {
    const last = runs.findIndex(({ finished_at }) => finished_at < first_seen_at);
    const passes = runs.slice(last).findIndex(({ started_at }) => started_at <= confirmed_at);
    const run = runs[last];
    if (!run || passes === 0) continue;
    const measured = Date.parse(run.started_at) - Date.parse(confirmed_at);
    worst = Math.max(worst, Math.min(measured, ((passes < 0 ? runs.length - last : passes) + 1) * usual));
  }
  return worst;
}

/** The upper quartile of the times between two passes: hours without a pass, and clocks put ahead, are rarer than that. */
function usualInterval(runs: readonly Run[]): number {
  const intervals = runs.slice(1).flatMap(({ started_at }, i) => {
    const interval = Date.parse(runs[i]?.started_at ?? '') - Date.parse(started_at);
    return interval > 0 ? [interval] : [];
  });
  return intervals.sort((a, b) => a - b)[Math.floor((intervals.length - 1) * 0.75)] ?? 0;
}
