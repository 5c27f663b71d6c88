import type { Resource } from '../../contract/endpoints.ts';
import type { Db } from '../db.ts';
import { unpackIds } from './pack.ts';
import type { Absence, Candidate, Conclusion, Gap, Key, KeyFamily, KeyRange, Pass } from './types.ts';

/** Sweeps that are enough however little each of them proves. */
const SWEEPS_TO_DELETE = 3;
/** Rows that one sweep reads again; a list that lost more is read again in full by the next sweeps anyway. */
const MOST_REREAD = 5000;

/** Evidence that rows are gone, kept for each row over several sweeps. */
export interface Absences {
  /** Notes live rows within the gaps of a page, the given ids left out; returns how many. */
  note(pass: Pass, absence: Absence, except: ReadonlySet<number>, at: string): number;
  /** Nothing speaks against rows that were seen; returns whether anything did. */
  clear(resource: Resource, ids: Iterable<number>): boolean;
  toReread(pass: Pass): { total: number; candidates: Candidate[] };
  /** Takes back what speaks against any row: it came from an order that proved to be none. */
  reset(resource: Resource): void;
  /** Counts this sweep against the rows it missed twice; returns those against which enough speaks. */
  missedInGaps(pass: Pass, sweeps: Conclusion['sweeps']): number[];
  /** Counts this sweep against every row it did not show; null where it showed an id twice and says nothing. */
  missedInAll(pass: Pass, at: string): number[] | null;
  /** How many rows went together with each of these: first missed by the same sweep, and accepted by nobody. */
  cohorts(resource: Resource, ids: readonly number[]): Map<number, number>;
  hold(resource: Resource, ids: readonly number[]): void;
  /** A person has accepted that all these rows are gone, also those against which too little speaks yet; returns the held ones. */
  accept(resource: Resource): number[];
  settled(resource: Resource, ids: readonly number[]): void;
  counts(resource: Resource): { suspects: number; held: number };
}

export function absences(db: Db): Absences {
  const readers = { posts: rangeReaders(db, 'posts'), comments: rangeReaders(db, 'comments') };
  const count = db.prepare<[string], { suspects: number; held: number }>(
    'SELECT count(*) - coalesce(sum(held), 0) AS suspects, coalesce(sum(held), 0) AS held FROM absences WHERE resource = ?',
  );
  const any = db
    .prepare<[string], number>('SELECT EXISTS (SELECT 1 FROM absences WHERE resource = ?)')
    .pluck();
  const remove = db.prepare('DELETE FROM absences WHERE resource = ? AND id = ?');
  const put = db.prepare<NoteRow>(`
    INSERT INTO absences (resource, id, since, first_run, run_id, reads, gap_reads, page, page_before)
    VALUES ($resource, $id, $at, $run, $run, 1, $gapReads, $page, $pageBefore)
    ON CONFLICT DO UPDATE SET
      reads = iif(run_id = excluded.run_id, reads, 0) + 1,
      gap_reads = iif(run_id = excluded.run_id, gap_reads, 0) + excluded.gap_reads,
      run_id = excluded.run_id, page = excluded.page, page_before = excluded.page_before`);
  const clearAll = db.prepare('UPDATE absences SET sweeps = 0, gap_sweeps = 0, held = 0 WHERE resource = ?');
  const countSweep = db.prepare(`
    UPDATE absences SET sweeps = sweeps + (reads >= 2), gap_sweeps = gap_sweeps + (gap_reads >= 1)
     WHERE resource = ? AND run_id = ?`);
  // Three reads with a neighbour on each side, in two sweeps: a page leaves a row out in silence at times, but not the same row three
  // times. A gap with one side is less, because a list may be cut short, lag or move: then two reads in each of two sweeps, one of them
  // with two sides; or in each of three; or in each of two where nothing else changed, because then the list did not move.
  const enough = db
    .prepare<{ resource: string; run: number; sweeps: number; quiet: number }, number>(`
    SELECT id FROM absences
     WHERE resource = $resource AND run_id = $run AND reads >= 2
       AND (gap_reads >= 2 AND gap_sweeps >= $sweeps
            OR sweeps >= $sweeps AND gap_sweeps >= 1
            OR sweeps >= 2 AND $quiet
            OR sweeps >= ${SWEEPS_TO_DELETE})`)
    .pluck();
  const firstMissed = db
    .prepare<[string, number], number>(
      'SELECT EXISTS (SELECT 1 FROM absences WHERE resource = ? AND first_run = ?)',
    )
    .pluck();
  const miss = db.prepare(`
    INSERT INTO absences (resource, id, since, first_run, run_id, sweeps) VALUES ($resource, $id, $at, $run, $run, 1)
    ON CONFLICT DO UPDATE SET sweeps = sweeps + 1, run_id = excluded.run_id`);
  const missed = db
    .prepare<[string, number], number>(
      `SELECT id FROM absences WHERE resource = ? AND run_id = ? AND sweeps >= ${SWEEPS_TO_DELETE}`,
    )
    .pluck();
  const cohort = db.prepare<[string], { first_run: number; size: number }>(
    'SELECT first_run, count(*) AS size FROM absences WHERE resource = ? AND accepted = 0 GROUP BY first_run',
  );
  const firstRun = db.prepare<[string, number], { first_run: number; accepted: number }>(
    'SELECT first_run, accepted FROM absences WHERE resource = ? AND id = ?',
  );
  const holdOne = db.prepare('UPDATE absences SET held = 1 WHERE resource = ? AND id = ?');
  const acceptAll = db.prepare('UPDATE absences SET accepted = 1 WHERE resource = ?');
  const held = db
    .prepare<[string], number>('SELECT id FROM absences WHERE resource = ? AND held = 1')
    .pluck();

  const noteGap = (pass: Pass, { page, pageBefore, twoSided }: Gap, ids: number[], at: string): number => {
    const { resource, runId: run } = pass;
    for (const id of ids) put.run({ resource, id, at, run, gapReads: twoSided ? 1 : 0, page, pageBefore });
    return ids.length;
  };

  return {
    note(pass, { by, gaps }, except, at) {
      let noted = 0;
      for (const gap of gaps) {
        if (isFull(by, gap.range, except)) continue;
        const ids = readers[pass.resource].within[by](gap.range).filter((id) => !except.has(id));
        noted += noteGap(pass, gap, ids, at);
      }
      return noted;
    },
    clear(resource, ids) {
      if (!any.get(resource)) return false;
      let cleared = 0;
      for (const id of ids) cleared += remove.run(resource, id).changes;
      return cleared > 0;
    },
    toReread({ resource, runId }) {
      const { suspects, held: kept } = count.get(resource) ?? { suspects: 0, held: 0 };
      const total = suspects + kept;
      return { total, candidates: total === 0 ? [] : readers[resource].toReread(runId) };
    },
    reset: (resource) => clearAll.run(resource),
    missedInGaps({ resource, runId: run, counts }, sweeps) {
      countSweep.run(resource, run);
      if (sweeps === null) return [];
      const isQuiet = counts.inserted + counts.updated === 0 && !firstMissed.get(resource, run);
      return enough.all({ resource, run, sweeps, quiet: isQuiet ? 1 : 0 });
    },
    missedInAll({ resource, runId: run }, at) {
      const unseen = unseenRows(db, resource, run);
      if (unseen === null) return null;
      for (const id of unseen) miss.run({ resource, id, at, run });
      return missed.all(resource, run);
    },
    cohorts(resource, ids) {
      const sizes = new Map(cohort.all(resource).map(({ first_run, size }) => [first_run, size]));
      const sizeOf = (id: number): number => {
        const row = firstRun.get(resource, id);
        return row && row.accepted === 0 ? (sizes.get(row.first_run) ?? 0) : 0;
      };
      return new Map(ids.map((id) => [id, sizeOf(id)]));
    },
    hold(resource, ids) {
      for (const id of ids) holdOne.run(resource, id);
    },
    accept(resource) {
      acceptAll.run(resource);
      return held.all(resource);
    },
    settled(resource, ids) {
      for (const id of ids) remove.run(resource, id);
    },
    counts: (resource) => count.get(resource) ?? { suspects: 0, held: 0 },
  };
}

type NoteRow = {
  resource: Resource;
  id: number;
  at: string;
  run: number;
  gapReads: number;
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
  /** Rows that another read in this sweep brings nearer to a conclusion. */
  toReread(runId: number): Candidate[];
}

const LOWEST: Key = { created: '', id: -1 };
/** Beyond every id there can be, and every four-digit year. */
const HIGHEST: Key = { created: '~', id: 2 ** 53 };

function rangeReaders(db: Db, table: Resource): Readers {
  const byId = db
    .prepare<[number, number], number>(
      `SELECT id FROM ${table} WHERE id > ? AND id < ? AND deleted_at IS NULL`,
    )
    .pluck();
  const byCreated = db
    .prepare<[string, number, string, number], number>(
      `SELECT id FROM ${table} WHERE (created, id) > (?, ?) AND (created, id) < (?, ?) AND deleted_at IS NULL`,
    )
    .pluck();
  // What lacks least comes first, so that rows are concluded instead of all of them waiting a little.
  // A row that is missed for the first time waits for the next sweep, unless its gap has one side only and may be none.
  const toReread = db.prepare<[number], { id: number; created: string } & Pick<Gap, 'page' | 'pageBefore'>>(`
    SELECT a.id, r.created, a.page, a.page_before AS pageBefore
      FROM absences a JOIN ${table} r ON r.id = a.id
     WHERE a.resource = '${table}' AND a.run_id = ?
       AND (a.reads = 1 AND a.gap_reads = 0 OR a.sweeps + a.gap_sweeps > 0 AND (a.reads = 1 OR a.reads = 2 AND a.gap_reads = 1))
     ORDER BY a.sweeps + a.gap_sweeps DESC, a.id LIMIT ${MOST_REREAD}`);
  return {
    within: {
      id: ({ above, below }) => byId.all((above ?? LOWEST).id, (below ?? HIGHEST).id),
      created({ above, below }) {
        const [low, high] = [above ?? LOWEST, below ?? HIGHEST];
        return byCreated.all(low.created, low.id, high.created, high.id);
      },
    },
    toReread: (runId) =>
      toReread.all(runId).map(({ id, created, ...place }) => ({ id, key: { created, id }, ...place })),
  };
}

/**
 * Live rows that none of the sweep's pages showed. A list that shows an id twice moved while it was read, and then a row may
 * have moved past the reader as well: such a sweep says nothing about absence, and null is returned.
 */
function unseenRows(db: Db, resource: Resource, runId: number): number[] | null {
  const seen = seenIds(db, runId);
  for (let i = 1; i < seen.length; i++) if (seen[i] === seen[i - 1]) return null;
  const unseen: number[] = [];
  let at = 0;
  for (const id of db
    .prepare<[], number>(`SELECT id FROM ${resource} WHERE deleted_at IS NULL ORDER BY id`)
    .pluck()
    .iterate()) {
    while (at < seen.length && (seen[at] ?? 0) < id) at++;
    if (seen[at] !== id) unseen.push(id);
  }
  return unseen;
}

function seenIds(db: Db, runId: number): Float64Array {
  const pages = db.prepare<[number], Buffer>('SELECT ids FROM sweep_pages WHERE run_id = ?').pluck();
  let total = 0;
  for (const page of pages.iterate(runId)) for (const _ of unpackIds(page)) total++;
  const ids = new Float64Array(total);
  let at = 0;
  for (const page of pages.iterate(runId)) for (const id of unpackIds(page)) ids[at++] = id;
  return ids.sort();
}
