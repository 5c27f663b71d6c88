import type { Db } from '../../db/open.ts';

/** How many of the latest creates and passes are looked at: enough to know a service by, and always the same little work. */
const LATEST = 500;

interface Arrival {
  confirmed_at: string;
  /** The latest pass when the answer came. */
  after_run: number;
  first_seen_at: string;
}

interface Run {
  id: number;
  started_at: string;
  /** Empty while it runs, and for ever where its process was killed. */
  finished_at: string;
  isComplete: 0 | 1;
}

/**
 * The longest time a post was seen to be missing from the list after its create had been confirmed. A complete pass that began after
 * the answer, before the pass that showed the post, proves that it was not listed yet when that pass began.
 */
export function listDelayReader(db: Db): () => number {
  const latestRuns = db.prepare<[number], Run>(`
    SELECT id, started_at, coalesce(finished_at, '') AS finished_at, outcome = 'complete' AS isComplete
      FROM sync_runs WHERE resource = 'posts' ORDER BY id DESC LIMIT ?`);
  // A post that is dated anew counts as another one under its number, seen since then only; what it said was seen before.
  const arrivals = db.prepare<[], Arrival>(`
    SELECT a.ended_at AS confirmed_at, a.after_run,
           min(p.first_seen_at, p.version_at,
               coalesce((SELECT min(observed_at) FROM post_versions WHERE post_id = p.id), p.version_at)) AS first_seen_at
      FROM outbox_attempts a JOIN posts p ON p.id = a.post_id
     WHERE a.outcome = 'confirmed' AND a.after_run IS NOT NULL ORDER BY a.ended_at DESC LIMIT ${LATEST}`);
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
 * is as good as lost. So passes are told by their numbers, and so many of them without the post are worth no more than the usual time
 * between so many passes. Runs come latest first.
 */
function worstOf(arrivals: readonly Arrival[], runs: readonly Run[]): number {
  const usual = usualInterval(runs);
  // Of an answer from before the passes that are looked at nobody can tell which of them showed its post first.
  const oldest = runs.length < LATEST ? 0 : (runs.at(-1)?.id ?? 0);
  let worst = 0;
  for (const { confirmed_at, after_run, first_seen_at } of arrivals) {
    if (after_run < oldest) continue;
    // The earliest of several, which most often is the one under way when the answer came: a later one during which the clock was put ahead
    // lasts a day, and saw nothing of it.
    const seenBy = runs.findLast((run) => run.id >= after_run && isDuring(run, first_seen_at));
    if (!seenBy) continue;
    const without = runs.filter(({ id, isComplete }) => id > after_run && id < seenBy.id && isComplete === 1);
    const [last] = without;
    if (!last) continue;
    const most = (without.length + 1) * usual;
    const measured = Date.parse(last.started_at) - Date.parse(confirmed_at);
    // Below nothing where the clock was put back in between.
    worst = Math.max(worst, measured < 0 ? most : Math.min(measured, most));
  }
  return worst;
}

/** A pass during which the clock was put back ends before it begins, and what it saw is from after its begin or from before its end. */
function isDuring({ started_at, finished_at }: Run, at: string): boolean {
  const [hasBegun, hasNotEnded] = [started_at <= at, at <= finished_at];
  const isPutBack = finished_at !== '' && finished_at < started_at;
  return isPutBack ? hasBegun || hasNotEnded : hasBegun && hasNotEnded;
}

/** The upper quartile of the times between two passes: hours without a pass, and clocks put ahead, are rarer than that. */
function usualInterval(runs: readonly Run[]): number {
  const intervals = runs.slice(1).flatMap(({ started_at }, i) => {
    const interval = Date.parse(runs[i]?.started_at ?? '') - Date.parse(started_at);
    return interval > 0 ? [interval] : [];
  });
  return intervals.sort((a, b) => a - b)[Math.floor((intervals.length - 1) * 0.75)] ?? 0;
}
