import type { Resource } from '../../contract/endpoints.ts';
import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import {
  type AbsenceEvidence,
  type AbsenceVerdict,
  type Learned,
  type Missing,
  NOTHING_LEARNED,
} from '../decide/absence.ts';
import type { Pass } from '../decide/types.ts';
import { listPages } from './list-pages.ts';
import { isLate, type Moments } from './moments.ts';

/** Rows that complete sweeps missed, and the rows among them that have come back. What follows from them is decided elsewhere. */
export function absences(db: Db) {
  const pages = listPages(db);
  const ids = { posts: idReader(db, 'posts'), comments: idReader(db, 'comments') };
  const sql = absenceStatements(db);
  return {
    pages,
    /** Rows that a pass shows are missing no longer; returns whether any was. A page from before a row was missed says nothing of it. */
    seen(resource: Resource, shown: Iterable<number>, when: Moments): boolean {
      if (!sql.any.get(resource)) return false;
      let cleared = 0;
      for (const id of shown) {
        const missed = sql.since.get(resource, id);
        if (missed === undefined || isLate(missed, when)) continue;
        sql.noteReturn.run(resource, id);
        cleared += sql.remove.run(resource, id).changes;
      }
      return cleared > 0;
    },
    restored(resource: Resource, rows: number): void {
      if (rows > 0) sql.countRestored.run(rows, resource);
    },
    /** Everything that a sweep which has reached the end of its list says about rows that it did not show. */
    evidence({ resource, runId, counts }: Pass, learned: Learned = NOTHING_LEARNED): AbsenceEvidence {
      const shown = pages.shownBy(resource, runId, counts.pages);
      const known = new Map(
        sql.missing.all({ resource }).map(({ id, misses, isSeen, ...row }) => {
          return [id, { ...row, misses: JSON.parse(misses) as Missing['misses'], isSeen: isSeen === 1 }];
        }),
      );
      const absent = ids[resource].liveRowsOutside(shown.index);
      const last = pages.last(resource);
      return { last, shown, absent, missing: known, restored: sql.restored.get(resource) ?? 0, learned };
    },
    /** Keeps what a sweep has shown and missed. */
    keep({ resource, runId: run, counts }: Pass, verdict: AbsenceVerdict, at: string): void {
      pages.keep(resource, run, counts.pages);
      sql.forgetReturned.run(resource);
      sql.forgetRestored.run(resource);
      for (const [id, { misses, isSeen: _, ...row }] of verdict.missing)
        sql.put.run({ resource, id, at, run, misses: JSON.stringify(misses), ...row });
    },
    settled(resource: Resource, gone: readonly number[]): void {
      for (const id of gone) sql.remove.run(resource, id);
    },
    ...heldAbsences(db),
  };
}

function absenceStatements(db: Db) {
  return {
    any: scalar(db)<[string], number>('SELECT EXISTS (SELECT 1 FROM absences WHERE resource = ?)'),
    since: scalar(db)<[string, number], string>('SELECT since FROM absences WHERE resource = ? AND id = ?'),
    noteReturn: db.prepare<[string, number]>(`
    INSERT OR REPLACE INTO returned_rows (resource, id, way, before_id, after_id)
    SELECT resource, id, way, before_id, after_id FROM absences WHERE resource = ? AND id = ?`),
    remove: db.prepare<[string, number]>('DELETE FROM absences WHERE resource = ? AND id = ?'),
    missing: db.prepare<{ resource: string }, MissingRow>(`
    SELECT id, misses, way, before_id AS before, after_id AS after, 0 AS isSeen FROM absences WHERE resource = $resource
     UNION ALL SELECT id, '{}', way, before_id, after_id, 1 FROM returned_rows WHERE resource = $resource`),
    forgetReturned: db.prepare<[string]>('DELETE FROM returned_rows WHERE resource = ?'),
    put: db.prepare<AbsenceRow>(`
    INSERT INTO absences (resource, id, since, first_run, sweeps, misses, score, way, before_id, after_id)
    VALUES ($resource, $id, $at, $run, 1, $misses, $score, $way, $before, $after)
    ON CONFLICT DO UPDATE SET sweeps = sweeps + 1, misses = excluded.misses, score = excluded.score, way = excluded.way,
      before_id = excluded.before_id, after_id = excluded.after_id`),
    restored: scalar(db)<[string], number>('SELECT restored FROM sync_state WHERE resource = ?'),
    countRestored: db.prepare('UPDATE sync_state SET restored = restored + ? WHERE resource = ?'),
    forgetRestored: db.prepare('UPDATE sync_state SET restored = 0 WHERE resource = ? AND restored > 0'),
  };
}

/** Where too many rows are gone at once, they are held until a person accepts it. */
function heldAbsences(db: Db) {
  const count = db.prepare<[string], { suspects: number; held: number }>(`
    SELECT count(*) - coalesce(sum(held), 0) AS suspects, coalesce(sum(held), 0) AS held FROM absences WHERE resource = ?`);
  const cohort = db.prepare<[string, number], { size: number; held: number }>(`
    SELECT (SELECT count(*) FROM absences b WHERE b.resource = a.resource AND b.first_run = a.first_run AND b.accepted = 0) AS size,
           held
      FROM absences a WHERE resource = ? AND id = ? AND accepted = 0`);
  const holdOne = db.prepare('UPDATE absences SET held = 1 WHERE resource = ? AND id = ? AND held = 0');
  const acceptHeld = db.prepare('UPDATE absences SET accepted = 1, held = 0 WHERE resource = ? AND held = 1');
  return {
    /**
     * Of these rows, those that went together with more than `most`, and those that are held already: a list that recovers bit by bit
     * must not delete the rest. Rows went together if the same sweep missed them first. Rows that a person has accepted do not count.
     */
    tooMany(resource: Resource, gone: readonly number[], most: number): Set<number> {
      const facts = gone.map((id) => ({ id, ...cohort.get(resource, id) }));
      return new Set(facts.filter(({ size = 0, held = 0 }) => held === 1 || size > most).map(({ id }) => id));
    },
    /** Until a person accepts it, or the row is seen again. Returns whether it was not held before. */
    hold: (resource: Resource, id: number): boolean => holdOne.run(resource, id).changes === 1,
    /** A person has accepted that the rows which are held are gone. */
    accept: (resource: Resource): void => void acceptHeld.run(resource),
    counts: (resource: Resource): { suspects: number; held: number } =>
      count.get(resource) ?? { suspects: 0, held: 0 },
  };
}

type MissingRow = Omit<Missing, 'misses' | 'isSeen'> & { id: number; misses: string; isSeen: number };
type AbsenceRow = Omit<MissingRow, 'isSeen'> & { resource: string; at: string; run: number; score: number };

/** Both statements read a small index; a condition on each row would read the whole table. */
function idReader(db: Db, table: Resource) {
  const all = scalar(db)<[], number>(`SELECT id FROM ${table}`);
  const deleted = scalar(db)<[], number>(`SELECT id FROM ${table} WHERE deleted_at IS NOT NULL`);
  return {
    liveRowsOutside(shown: { get(id: number): number }): Set<number> {
      const outside = new Set<number>();
      // One call for all ids takes half the time of a call for each, and 8 MB for a million.
      for (const id of all.all()) if (shown.get(id) < 0) outside.add(id);
      for (const id of outside.size === 0 ? [] : deleted.all()) outside.delete(id);
      return outside;
    },
  };
}
