import type { Resource } from '../../contract/endpoints.ts';
import type { Db } from '../db.ts';
import { scalar } from '../sql.ts';
import { isLate, type Moments } from './moments.ts';
import { sightingsOf } from './sightings.ts';
import type { Absence, Candidate, Conclusion, Gap, Key, KeyFamily, KeyRange, Pass } from './types.ts';

/** Sweeps that are enough where each of them proves little. */
const SWEEPS_TO_DELETE = 3;
/** The same for a list without an order that moved meanwhile: at each page boundary that moves, a living row is missed by chance. */
const MOVING_SWEEPS = 5;
/** How often a list that leaves out rows by chance may have the same living row missed until it is deleted: once in so many sweeps. */
const SWEEPS_PER_MISTAKE = 100_000;
/** How much is remembered in the next sweep of what a list has left out: of a short one a sweep may show nothing of it by chance. */
const LEAK_KEPT = 0.8;
/** A larger share was not left out by chance: the list was cut short, or is by votes and looks like one by id within its pages. */
const MOST_LEAKED = 0.25;
/** In how many places at once rows must be missing where two pages meet, and how much oftener than by chance, to be no deletions. */
const SKIPPED = { places: 3, times: 4 };
/** So that no number of sweeps is enough. */
const NEVER = -1_000_000;
/** Rows that one sweep reads again; a list that lost more is read again in full by the next sweeps anyway. */
const MOST_REREAD = 5000;

/** Evidence that rows are gone, kept for each row over several sweeps. */
export function absences(db: Db) {
  const readers = { posts: rangeReaders(db, 'posts'), comments: rangeReaders(db, 'comments') };
  const count = db.prepare<[string], { suspects: number; held: number }>(`
    SELECT count(*) - coalesce(sum(held), 0) AS suspects, coalesce(sum(held), 0) AS held FROM absences WHERE resource = ?`);
  // Pages of this sweep may have noted rows already that it is the first to miss.
  const wasAbsent = scalar(db)<[string, number, number], number>(`
    SELECT 1 FROM absences WHERE resource = ? AND id = ? AND first_run < ?`);
  const isMissed = scalar(db)<[string, number, number], number>(`
    SELECT 1 FROM absences WHERE resource = ? AND id = ? AND run_id = ? AND reads + end_reads > 0`);
  const any = scalar(db)<[string], number>('SELECT EXISTS (SELECT 1 FROM absences WHERE resource = ?)');
  const remove = db.prepare('DELETE FROM absences WHERE resource = ? AND id = ?');
  const since = scalar(db)<[string, number], string>(
    'SELECT since FROM absences WHERE resource = ? AND id = ?',
  );
  const put = db.prepare<NoteRow>(`
    INSERT INTO absences (resource, id, since, first_run, run_id, reads, gap_reads, end_reads, page, page_before)
    VALUES ($resource, $id, $at, $run, $run, $reads, $gapReads, $endReads, $page, $pageBefore)
    ON CONFLICT DO UPDATE SET
      reads = iif(run_id = excluded.run_id, reads, 0) + excluded.reads,
      gap_reads = iif(run_id = excluded.run_id, gap_reads, 0) + excluded.gap_reads,
      end_reads = iif(run_id = excluded.run_id, end_reads, 0) + excluded.end_reads,
      run_id = excluded.run_id, page = excluded.page, page_before = excluded.page_before`);
  const restart = db.prepare(`
    UPDATE absences SET sweeps = 0, gap_sweeps = 0, end_sweeps = 0 WHERE resource = ?`);
  const countSweep = db.prepare<{ resource: string; run: number; sameEnd: number }>(`
    UPDATE absences SET sweeps = sweeps + (reads >= 2), gap_sweeps = gap_sweeps + (gap_reads >= 1),
                        end_sweeps = iif(end_reads >= 2, iif($sameEnd, end_sweeps, 0) + 1, 0)
     WHERE resource = $resource AND run_id = $run`);
  // Three reads with a neighbour on each side, in two sweeps: a page leaves a row out in silence at times, but not the same row three
  // times. Between two pages one read proves less: then two reads in each of two sweeps, one of them with two sides, or in each of two
  // where nothing else changed, or in each of three that showed no row twice: rows that move over a boundary are missed there for as
  // long as they move. Beyond the end two reads in each of three sweeps with the same end, or of two where nothing else changed; twice
  // as many where the list leaves out rows, because the last page may have few, and leave out the same one every other time.
  const enough = scalar(db)<
    { resource: string; run: number; sweeps: number; quiet: number; moved: number },
    number
  >(`
    SELECT id FROM absences
     WHERE resource = $resource AND run_id = $run
       AND (reads >= 2 AND (gap_reads >= 2 AND gap_sweeps >= $sweeps
                            OR sweeps >= $sweeps AND gap_sweeps >= 1
                            OR sweeps >= 2 AND $quiet
                            OR sweeps >= max($sweeps, ${SWEEPS_TO_DELETE}) AND NOT $moved)
            OR end_reads >= 2 AND (end_sweeps >= 2 AND $quiet OR end_sweeps >= max(2 * $sweeps - 1, ${SWEEPS_TO_DELETE})))`);
  const meetings = db.prepare<[string, number], { places: number; inside: number }>(`
    SELECT count(DISTINCT iif(gap_reads = 0, page, NULL)) AS places, coalesce(sum(gap_reads > 0), 0) AS inside
      FROM absences WHERE resource = ? AND first_run = ? AND reads > 0 AND held = 0`);
  const neverBetween = db.prepare<[number, string, number]>(`
    UPDATE absences SET sweeps = ? WHERE resource = ? AND first_run = ? AND gap_reads = 0 AND reads > 0`);
  const firstMissed = scalar(db)<[string, number], number>(`
    SELECT EXISTS (SELECT 1 FROM absences WHERE resource = ? AND first_run = ?)`);
  // Here gap_sweeps are those that showed no row twice.
  const miss = db.prepare(`
    INSERT INTO absences (resource, id, since, first_run, run_id, sweeps, gap_sweeps)
    VALUES ($resource, $id, $at, $run, $run, 1, $still)
    ON CONFLICT DO UPDATE SET sweeps = sweeps + 1, gap_sweeps = gap_sweeps + $still, run_id = excluded.run_id`);
  // Below 0 are the sweeps of a row that may be left out where pages meet: it goes when it is missing inside a page.
  const missed = scalar(db)<{ resource: string; run: number; same: number; sweeps: number }, number>(`
    SELECT id FROM absences
     WHERE resource = $resource AND run_id = $run AND (sweeps > 0 OR gap_reads > 0)
       AND (gap_sweeps >= max($sweeps, ${SWEEPS_TO_DELETE}) OR sweeps >= max($sweeps, ${MOVING_SWEEPS}) OR sweeps >= 2 AND $same)`);
  const leak = scalar(db)<[string], number>('SELECT leak FROM sync_state WHERE resource = ?');
  const saveLeak = db.prepare('UPDATE sync_state SET leak = ? WHERE resource = ?');
  const returned = db.prepare<{ resource: string; run: number }, { before: number; stayed: number }>(`
    SELECT coalesce((SELECT suspects FROM sync_runs
                      WHERE resource = $resource AND mode = 'sweep' AND outcome = 'complete' AND id < $run
                      ORDER BY id DESC LIMIT 1), 0) AS before,
           (SELECT count(*) FROM absences WHERE resource = $resource AND held = 0 AND first_run < $run) AS stayed`);
  // A sweep that broke off has missed only some of what went: those of several belong to the next one that was complete.
  const firstWhole = `
    coalesce((SELECT min(r.id) FROM sync_runs r
               WHERE r.resource = a.resource AND r.mode = 'sweep' AND r.outcome = 'complete' AND r.id >= a.first_run), 0) AS first_whole`;
  const cohort = db.prepare<[string], { first_whole: number; size: number }>(`
    SELECT ${firstWhole}, count(*) AS size FROM absences a WHERE resource = ? AND accepted = 0 GROUP BY first_whole`);
  const unaccepted = db.prepare<[string, number], Unaccepted>(`
    SELECT ${firstWhole}, held, end_reads > 0 AND reads = 0 AS beyond
      FROM absences a WHERE resource = ? AND id = ? AND accepted = 0`);
  const holdOne = db.prepare('UPDATE absences SET held = 1 WHERE resource = ? AND id = ? AND held = 0');
  const acceptHeld = db.prepare('UPDATE absences SET accepted = 1, held = 0 WHERE resource = ? AND held = 1');

  /** How many rows that the last sweep missed have come back since. */
  const cameBack = ({ resource, runId: run }: Pass): number => {
    const { before, stayed } = returned.get({ resource, run }) ?? { before: 0, stayed: 0 };
    return Math.max(0, before - stayed);
  };

  /** In how many reads a row must be missing, so that the share of rows which the list leaves out explains it no longer. */
  const readsFor = ({ resource, counts: { rows } }: Pass, back: number): number => {
    const known = LEAK_KEPT * (leak.get(resource) ?? 0);
    const left = back / Math.max(1, rows + back);
    const share = left > MOST_LEAKED ? known : Math.max(known, left);
    if (share > 0) saveLeak.run(share < 1e-6 ? 0 : share, resource);
    return share === 0 ? 0 : -Math.log(SWEEPS_PER_MISTAKE * (rows + 1)) / Math.log(share);
  };

  /**
   * Some services leave out a row wherever two of their pages meet, at every read, until the pages end elsewhere. Of the rows that are
   * deleted, few stood just there: where most that are newly missing did, only what is missing inside a page speaks against them.
   */
  const doubtMeetings = ({ resource, runId, counts: { rows, pages } }: Pass): void => {
    const { places, inside } = meetings.get(resource, runId) ?? { places: 0, inside: 0 };
    const chance = (pages / Math.max(rows, 1)) * (places + inside);
    if (places >= SKIPPED.places && places > SKIPPED.times * chance) neverBetween.run(NEVER, resource, runId);
  };

  const noteGap = (
    pass: Pass,
    { page, pageBefore, kind, isDoubtful }: Gap,
    ids: number[],
    at: string,
    isReread: boolean,
  ): number => {
    const { resource, runId: run } = pass;
    const row = { resource, at, run, page, pageBefore };
    for (const id of ids) {
      // A row that this sweep has shown, and leaves out of a page when it is read again, is one that the list leaves out by chance: that
      // is remembered, and does not speak against the row. Where two pages meet, it has only moved.
      const isOnlyNow = isReread && isMissed.get(resource, id, run) !== 1;
      if (isOnlyNow && kind !== 'inside') continue;
      const counts = !isDoubtful && !isOnlyNow;
      const [reads = 0, gapReads = 0, endReads = 0] = [kind !== 'end', kind === 'inside', kind === 'end'].map(
        (is) => Number(is && counts),
      );
      put.run({ ...row, id, reads, gapReads, endReads });
    }
    return ids.length;
  };

  return {
    /** Notes live rows within the gaps of a page, the given ids left out; returns how many. */
    note(pass: Pass, { by, gaps, isReread }: Absence, except: ReadonlySet<number>, at: string): number {
      let noted = 0;
      for (const gap of gaps) {
        if (isFull(by, gap.range, except)) continue;
        const { within, isOf } = readers[pass.resource];
        const ids = within[by](gap.range).filter((id) => !except.has(id) && !(gap.tie && isOf(gap.tie, id)));
        noted += noteGap(pass, gap, ids, at, isReread === true);
      }
      return noted;
    },
    /** Nothing speaks against rows that were seen since they were missed; returns whether anything did. */
    clear(resource: Resource, ids: Iterable<number>, when: Moments): boolean {
      if (!any.get(resource)) return false;
      let cleared = 0;
      for (const id of ids) {
        const missed = since.get(resource, id);
        if (missed !== undefined && !isLate(missed, when)) cleared += remove.run(resource, id).changes;
      }
      return cleared > 0;
    },
    toReread({ resource, runId }: Pass): { total: number; candidates: Candidate[] } {
      const { suspects, held: kept } = count.get(resource) ?? { suspects: 0, held: 0 };
      const total = suspects + kept;
      return { total, candidates: total === 0 ? [] : readers[resource].toReread(runId) };
    },
    /** Takes back what speaks against any row: it came from an order that proved to be none. What is held stays so. */
    reset: (resource: Resource): void => void restart.run(resource),
    /** Counts this sweep against the rows it missed twice; returns those against which enough speaks. */
    missedInGaps(pass: Pass, { sweeps: least, moved, sameEnd }: Conclusion): number[] {
      const { resource, runId: run, counts } = pass;
      countSweep.run({ resource, run, sameEnd: Number(sameEnd) });
      doubtMeetings(pass);
      const back = cameBack(pass);
      // Two reads in each sweep but the first.
      const leaky = (readsFor(pass, back) + 1) / 2;
      if (least === null) return [];
      const isQuiet =
        !moved && back + counts.inserted + counts.updated === 0 && !firstMissed.get(resource, run);
      const sweeps = isQuiet ? least : Math.max(least, leaky);
      return enough.all({ resource, run, sweeps, quiet: Number(isQuiet), moved: Number(moved) });
    },
    /**
     * Counts this sweep against every row it did not show; null where the rows it showed twice make it say nothing. Where it newly misses
     * more than `most` rows, counting starts with it: a list that is cut short must not add to what other sweeps missed. `timed` where
     * pages go on after a time alone: then rows of the last second of a page may be skipped by every read.
     */
    missedInAll(
      pass: Pass,
      at: string,
      limits: { most: number; timed: Conclusion['timed'] },
    ): number[] | null {
      const { most, timed } = limits;
      const { resource, runId: run, counts } = pass;
      const shown = sightingsOf(db, pass, timed);
      if (shown === null) return null;
      if (shown.unseen.filter((id) => !wasAbsent.get(resource, id, run)).length > most) restart.run(resource);
      // One row alone may be anything: it may only have changed its place.
      const sweeps = readsFor(pass, Math.max(0, cameBack(pass) - 1));
      for (const id of shown.unseen) miss.run({ resource, id, at, run, still: Number(shown.isStill) });
      doubtMeetings(pass);
      const isSame = shown.isSame && counts.inserted + counts.updated === 0;
      return missed.all({ resource, run, sweeps, same: Number(isSame) });
    },
    /**
     * With how many others each of these rows went, those that somebody accepted left out: first missed by the same complete sweep, or by
     * one before it that broke off; beyond the end also those of other sweeps that would go now. What is held already is counted by
     * itself, or it would hold later deletions as well.
     */
    cohorts(resource: Resource, ids: readonly number[]): Map<number, Cohort> {
      const sizes = new Map(cohort.all(resource).map(({ first_whole, size }) => [first_whole, size]));
      const rows = ids.map((id) => ({ id, row: unaccepted.get(resource, id) }));
      const beyond = [0, 1].map((held) => rows.filter(({ row }) => row?.beyond && row.held === held).length);
      const cohortOf = (row: Unaccepted | undefined): Cohort => {
        if (!row) return { size: 0, isHeld: false };
        const atEnd = row.beyond ? (beyond[row.held] ?? 0) : 0;
        return { size: Math.max(sizes.get(row.first_whole) ?? 0, atEnd), isHeld: row.held === 1 };
      };
      return new Map(rows.map(({ id, row }) => [id, cohortOf(row)]));
    },
    /** Until somebody accepts it, or the row is seen again. Whether it was not held before. */
    hold: (resource: Resource, id: number): boolean => holdOne.run(resource, id).changes === 1,
    /** A person has accepted that the rows which are held are gone: they wait for as much evidence as any row, and the guard lets them go. */
    accept: (resource: Resource): void => void acceptHeld.run(resource),
    settled(resource: Resource, ids: readonly number[]): void {
      for (const id of ids) remove.run(resource, id);
    },
    counts: (resource: Resource): { suspects: number; held: number } =>
      count.get(resource) ?? { suspects: 0, held: 0 },
  };
}

interface Unaccepted {
  first_whole: number;
  held: number;
  beyond: number;
}

export interface Cohort {
  size: number;
  /** There were too many before, and nobody has accepted it since. */
  isHeld: boolean;
}

type NoteRow = {
  resource: Resource;
  id: number;
  at: string;
  run: number;
  reads: number;
  gapReads: number;
  endReads: number;
  page: string;
  pageBefore: string | null;
};

/** Where the page itself has every id of a range there is no other to look for; most pages of a young list are so. */
function isFull(by: KeyFamily, { above, below }: KeyRange, except: ReadonlySet<number>): boolean {
  if (by !== 'id' || above === null || below === null) return false;
  let inside = 0;
  for (const id of except) if (id > above.id && id < below.id) inside++;
  return inside >= below.id - above.id - 1;
}

type RangeReader = (range: KeyRange) => number[];

interface Readers {
  /** Live rows within a range. */
  within: Record<KeyFamily, RangeReader>;
  /** Whether a row was created in that second. */
  isOf(second: string, id: number): boolean;
  /** Rows that another read in this sweep brings nearer to a conclusion. */
  toReread(runId: number): Candidate[];
}

const LOWEST: Key = { created: '', id: -1 };
/** Beyond every id there can be, and every four-digit year. */
const HIGHEST: Key = { created: '~', id: 2 ** 53 };

function rangeReaders(db: Db, table: Resource): Readers {
  const byId = scalar(db)<[number, number], number>(`
    SELECT id FROM ${table} WHERE id > ? AND id < ? AND deleted_at IS NULL`);
  const byCreated = scalar(db)<[string, number, string, number], number>(`
    SELECT id FROM ${table} WHERE (created, id) > (?, ?) AND (created, id) < (?, ?) AND deleted_at IS NULL`);
  const created = scalar(db)<[number], string>(`SELECT created FROM ${table} WHERE id = ?`);
  // What lacks least comes first, so that rows are concluded instead of all of them waiting a little.
  // A row that is missed for the first time waits for the next sweep, unless its gap has one side only and may be none.
  const toReread = db.prepare<[number], { id: number; created: string } & Pick<Gap, 'page' | 'pageBefore'>>(`
    SELECT a.id, r.created, a.page, a.page_before AS pageBefore
      FROM absences a JOIN ${table} r ON r.id = a.id
     WHERE a.resource = '${table}' AND a.run_id = ?
       AND (a.reads = 1 AND a.gap_reads = 0 OR a.end_reads = 1
            OR max(a.sweeps, 0) + a.gap_sweeps > 0 AND (a.reads = 1 OR a.reads = 2 AND a.gap_reads = 1))
     ORDER BY max(a.sweeps, 0) + a.gap_sweeps + a.end_sweeps DESC, a.id LIMIT ${MOST_REREAD}`);
  return {
    within: {
      id: ({ above, below }) => byId.all((above ?? LOWEST).id, (below ?? HIGHEST).id),
      created({ above, below }) {
        const [low, high] = [above ?? LOWEST, below ?? HIGHEST];
        return byCreated.all(low.created, low.id, high.created, high.id);
      },
    },
    isOf: (second, id) => created.get(id)?.startsWith(second) === true,
    toReread: (runId) =>
      toReread.all(runId).map(({ id, created, ...place }) => ({ id, key: { created, id }, ...place })),
  };
}
