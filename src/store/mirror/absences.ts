import type { Resource } from '../../contract/endpoints.ts';
import type { Db } from '../db.ts';
import { unpackIds } from './pack.ts';
import type { Key, KeyFamily, KeyRange } from './seam.ts';

/** How many complete sweeps of an unordered list a row must be missing from before it counts as gone. */
const MISSES_TO_DELETE = 3;

export interface Absences {
  /** Live rows within a range, the given ids left out. */
  within(resource: Resource, by: KeyFamily, range: KeyRange, except: ReadonlySet<number>): number[];
  /** Rows that were seen are under no suspicion; returns whether any was. */
  clear(resource: Resource, ids: Iterable<number>): boolean;
  note(
    resource: Resource,
    ids: readonly number[],
    verdict: 'proven' | 'suspect',
    runId: number,
    at: string,
  ): void;
  /** What a sweep that starts anew must not inherit from one that was given up. */
  forgetProven(resource: Resource): void;
  proven(resource: Resource, runId: number): number[];
  /** Counts one more miss for every live row this sweep did not show; returns those missing often enough. */
  missing(resource: Resource, runId: number, at: string): number[];
  hold(resource: Resource, ids: readonly number[]): void;
  settled(resource: Resource, ids: readonly number[]): void;
  counts(resource: Resource): { suspects: number; held: number };
}

export function absences(db: Db): Absences {
  const readers = { posts: rangeReaders(db, 'posts'), comments: rangeReaders(db, 'comments') };
  const any = db
    .prepare<[string], number>('SELECT EXISTS (SELECT 1 FROM absences WHERE resource = ?)')
    .pluck();
  const remove = db.prepare('DELETE FROM absences WHERE resource = ? AND id = ?');
  const put = db.prepare(`
    INSERT INTO absences (resource, id, verdict, run_id, since) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET verdict = excluded.verdict, run_id = excluded.run_id`);
  const forget = db.prepare("DELETE FROM absences WHERE resource = ? AND verdict = 'proven' AND held = 0");
  const provenIds = db
    .prepare<[string, number], number>(
      "SELECT id FROM absences WHERE resource = ? AND verdict = 'proven' AND run_id = ?",
    )
    .pluck();
  const miss = db.prepare(`
    INSERT INTO absences (resource, id, verdict, run_id, misses, since) VALUES (?, ?, 'missing', ?, 1, ?)
    ON CONFLICT DO UPDATE SET misses = misses + 1, verdict = 'missing', run_id = excluded.run_id`);
  const missed = db
    .prepare<[string, number, number], number>(
      'SELECT id FROM absences WHERE resource = ? AND run_id = ? AND misses >= ?',
    )
    .pluck();
  const holdOne = db.prepare('UPDATE absences SET held = 1 WHERE resource = ? AND id = ?');
  const count = db.prepare<[string], { suspects: number; held: number }>(
    'SELECT count(*) - coalesce(sum(held), 0) AS suspects, coalesce(sum(held), 0) AS held FROM absences WHERE resource = ?',
  );

  return {
    within: (resource, by, range, except) =>
      isFull(by, range, except) ? [] : readers[resource][by](range).filter((id) => !except.has(id)),
    clear(resource, ids) {
      if (!any.get(resource)) return false;
      let cleared = 0;
      for (const id of ids) cleared += remove.run(resource, id).changes;
      return cleared > 0;
    },
    note(resource, ids, verdict, runId, at) {
      for (const id of ids) put.run(resource, id, verdict, runId, at);
    },
    forgetProven: (resource) => forget.run(resource),
    proven: (resource, runId) => provenIds.all(resource, runId),
    missing(resource, runId, at) {
      const unseen = unseenRows(db, resource, runId);
      if (unseen === 'some id came twice') return [];
      for (const id of unseen) miss.run(resource, id, runId, at);
      return missed.all(resource, runId, MISSES_TO_DELETE);
    },
    hold(resource, ids) {
      for (const id of ids) holdOne.run(resource, id);
    },
    settled(resource, ids) {
      for (const id of ids) remove.run(resource, id);
    },
    counts: (resource) => count.get(resource) ?? { suspects: 0, held: 0 },
  };
}

/** Where the page itself has every id of a range there is no other to look for; most pages of a young list are so. */
function isFull(by: KeyFamily, { above, below }: KeyRange, except: ReadonlySet<number>): boolean {
  if (by !== 'id' || above === null || below === null) return false;
  let inside = 0;
  for (const id of except) if (id > above.id && id < below.id) inside++;
  return inside >= below.id - above.id - 1;
}

type RangeReader = (range: KeyRange) => number[];

const LOWEST: Key = { created: '', id: -1 };
/** Beyond every id there can be, and every four-digit year. */
const HIGHEST: Key = { created: '~', id: 2 ** 53 };

function rangeReaders(db: Db, table: Resource): Record<KeyFamily, RangeReader> {
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
  return {
    id: ({ above, below }) => byId.all((above ?? LOWEST).id, (below ?? HIGHEST).id),
    created({ above, below }) {
      const [low, high] = [above ?? LOWEST, below ?? HIGHEST];
      return byCreated.all(low.created, low.id, high.created, high.id);
    },
  };
}

/**
 * Live rows that none of the sweep's pages showed. A list that shows an id twice moved while it was read, and then a row may
 * have moved past the reader as well: such a sweep says nothing about absence.
 */
function unseenRows(db: Db, resource: Resource, runId: number): number[] | 'some id came twice' {
  const seen = seenIds(db, runId);
  for (let i = 1; i < seen.length; i++) if (seen[i] === seen[i - 1]) return 'some id came twice';
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
