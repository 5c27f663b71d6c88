import type { Resource } from '../../contract/endpoints.ts';
import type { Db, OpenOptions } from '../db.ts';
import { isBusy, takeLock } from '../lock.ts';
import { openMirror, openMirrorReadOnly } from '../open.ts';
import { factsIndex } from './facts-index.ts';
import { passes } from './passes.ts';
import type { Key, KeyFamily, MirrorStatus, MirrorStore } from './seam.ts';
import { readStatus } from './status.ts';

export interface SqliteStoreOptions extends OpenOptions {
  /** Said to whoever finds a lock taken: `process 4711 (sync)`. */
  holder: string;
}

/** The mirror in one SQLite file. Its work is synchronous; the promises are for the seam's sake. */
export function openSqliteStore(options: SqliteStoreOptions): MirrorStore {
  const db = openMirror(options);
  const makeFacts = factsIndex(db);
  const work = passes(db, options);
  return {
    lock: async (resource) =>
      takeLock(lockPath(options.path, resource), `${options.holder}, since ${new Date().toISOString()}`),
    beginPass: async (start) => work.begin(start),
    applyPage: async (page) => work.apply(page),
    toReread: async (pass) => work.toReread(pass),
    finishPass: async (end) => work.finish(end),
    async index() {
      if (work.text.step()) return true;
      makeFacts();
      return false;
    },
    learnedOf: async (resource) => readLearned(db, resource),
    newestKey: async (resource, by) => newestKey(db, resource, by),
    status: async () => readStatus(db, options),
    async close() {
      optimize(db);
      db.close();
    },
  };
}

/**
 * Without statistics the planner guesses; this looks only at tables that changed enough to matter. Someone who is writing just now
 * is not waited for: they will do the same when they close.
 */
function optimize(db: Db): void {
  db.pragma('busy_timeout = 0');
  try {
    db.pragma('optimize');
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}

/** How the mirror stands, without being able to change it. */
export function readMirrorStatus(options: OpenOptions): MirrorStatus {
  const db = openMirrorReadOnly(options);
  try {
    return readStatus(db, options);
  } finally {
    db.close();
  }
}

function lockPath(path: string, resource: Resource): string {
  return `${path}.${resource}.lock`;
}

function readLearned(db: Db, resource: Resource): string | null {
  return (
    db
      .prepare<[string], string | null>('SELECT learned FROM sync_state WHERE resource = ?')
      .pluck()
      .get(resource) ?? null
  );
}

function newestKey(db: Db, resource: Resource, by: KeyFamily): Key | null {
  const order = by === 'id' ? 'id' : 'created DESC, id';
  const sql = `SELECT created, id FROM ${resource} WHERE deleted_at IS NULL ORDER BY ${order} DESC LIMIT 1`;
  return db.prepare<[], Key>(sql).get() ?? null;
}
