import type { Resource } from '../../contract/endpoints.ts';
import type { Db } from '../../db/open.ts';
import type { Pass, PassCounts, PassEnd, PassMode, PassSummary } from '../decide/types.ts';
import type { listPages } from './list-pages.ts';
import { notePass } from './troubles.ts';

interface Unfinished extends PassCounts {
  id: number;
  resumed: number;
  started_at: string;
  state: string;
}

const NO_COUNTS: PassCounts = { pages: 0, rows: 0, inserted: 0, updated: 0, unchanged: 0, quarantined: 0 };

/** The log of passes and the checkpoint of the sweep under way. */
export function runLog(db: Db, pages: ReturnType<typeof listPages>) {
  const saveState = db.prepare('UPDATE sync_state SET state = ? WHERE resource = ?');
  const saveCounts = db.prepare(`
    UPDATE sync_runs SET pages = ?, rows = ?, inserted = ?, updated = ?, unchanged = ?, quarantined = ? WHERE id = ?`);
  const conclude = db.prepare(`
    UPDATE sync_runs SET finished_at = ?, outcome = ?, deleted = ?, held = ?, suspects = ?, error = ? WHERE id = ?`);
  const closeState = db.prepare('UPDATE sync_state SET run_id = NULL, state = NULL WHERE resource = ?');
  const saveLearned = db.prepare(`
    INSERT INTO sync_state (resource, learned) VALUES (?, ?) ON CONFLICT DO UPDATE SET learned = excluded.learned`);

  const writeCounts = ({ counts, runId }: Pass): void => {
    const { pages, rows, inserted, updated, unchanged, quarantined } = counts;
    saveCounts.run(pages, rows, inserted, updated, unchanged, quarantined, runId);
  };

  return {
    ...passStarter(db, pages),
    checkpoint(pass: Pass, state: string): void {
      saveState.run(state, pass.resource);
      writeCounts(pass);
    },
    finish(
      { pass, outcome, error = null, code = 'internal', keepState = null, learned }: PassEnd,
      { deleted, held, suspects }: { deleted: number; held: number; suspects: number },
      at: string,
    ): PassSummary {
      conclude.run(at, outcome, deleted, held, suspects, error, pass.runId);
      writeCounts(pass);
      if (outcome !== 'interrupted')
        notePass(db, pass, outcome === 'failed' ? { code, at, error: error ?? '' } : null);
      if (keepState !== null) saveState.run(keepState, pass.resource);
      else if (pass.mode === 'sweep') {
        closeState.run(pass.resource);
        pages.drop(pass.resource);
      }
      if (learned !== undefined) saveLearned.run(pass.resource, learned);
      const { counts, state: _, ...run } = pass;
      return { ...run, outcome, ...counts, deleted, held, suspects, error, finishedAt: at };
    },
  };
}

/** Begins a pass, or goes on with an interrupted sweep. */
function passStarter(db: Db, pages: ReturnType<typeof listPages>) {
  const insert = db.prepare(`
    INSERT INTO sync_runs (resource, mode, started_at, outcome) VALUES (?, ?, ?, 'running')`);
  const open = db.prepare(`
    INSERT INTO sync_state (resource, run_id) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET run_id = excluded.run_id, state = NULL`);
  const unfinished = db.prepare<[string], Unfinished>(`
    SELECT r.id, r.resumed, r.started_at, r.pages, r.rows, r.inserted, r.updated, r.unchanged, r.quarantined, s.state
      FROM sync_state s JOIN sync_runs r ON r.id = s.run_id
     WHERE s.resource = ? AND s.state IS NOT NULL`);
  const reopen = db.prepare(`
    UPDATE sync_runs SET outcome = 'running', finished_at = NULL, error = NULL, resumed = resumed + 1 WHERE id = ?`);
  const close = db.prepare(`
    UPDATE sync_runs SET outcome = 'interrupted', finished_at = coalesce(finished_at, ?)
     WHERE resource = ? AND mode = ? AND outcome = 'running'`);
  return {
    start(resource: Resource, mode: PassMode, at: string): Pass {
      close.run(at, resource, mode);
      const runId = Number(insert.run(resource, mode, at).lastInsertRowid);
      if (mode === 'sweep') open.run(resource, runId);
      return { runId, resource, mode, resumed: 0, startedAt: at, state: null, counts: { ...NO_COUNTS } };
    },
    /** The interrupted sweep of this resource, or null. */
    resume(resource: Resource): Pass | null {
      const found = unfinished.get(resource);
      if (!found) return null;
      reopen.run(found.id);
      pages.dropFrom(found.id, found.pages);
      const { id, resumed, started_at, state, ...counts } = found;
      const pass = { runId: id, resource, mode: 'sweep', startedAt: started_at } as const;
      return { ...pass, resumed: resumed + 1, state, counts };
    },
    /** Closes a sweep that will not be resumed. */
    abandon(resource: Resource, at: string): void {
      close.run(at, resource, 'sweep');
      pages.drop(resource);
    },
  };
}
