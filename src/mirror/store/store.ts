import type { Resource } from '../../contract/endpoints.ts';
import type { Busy, Lock } from '../../db/lock.ts';
import { isBusy, takeLock } from '../../db/lock.ts';
import type { Db, OpenOptions, StoreOptions } from '../../db/open.ts';
import { closeAfter, scalar } from '../../db/sql.ts';
import type { MirrorStatus } from '../decide/types.ts';
import { openMirror, openMirrorReadOnly } from '../file/open.ts';
import { columnPacker } from '../index/columns.ts';
import { passes } from './passes.ts';
import { readStatus } from './status.ts';

export type MirrorStore = ReturnType<typeof openMirrorStore>;

/** The mirror in one SQLite file: coarse operations, each a transaction of its own. */
export function openMirrorStore(options: StoreOptions) {
  const db = openMirror(options);
  // A page brings the people, boards and statuses of its rows with them. Looking up each for every row took a thirtieth of a first sweep;
  // `doctor` and every backup look at all of them.
  db.pragma('foreign_keys = OFF');
  // Each emptying of the log waits for the disk. From 16 MB on instead of 4, a first sweep of 100,000 posts takes a twentieth less time.
  db.pragma('wal_autocheckpoint = 4000');
  if (options.cacheKb !== undefined) db.pragma(`cache_size = -${options.cacheKb}`);
  const columns = columnPacker(db);
  const { text, late, ...work } = passes(db, options);
  const learned = scalar(db)<[string], string | null>('SELECT learned FROM sync_state WHERE resource = ?');
  return {
    ...work,
    /** Keeps every other process off this resource until released; the operating system releases it if we die. */
    lock: (resource: Resource): Lock | Busy =>
      takeLock(`${options.path}.${resource}.lock`, `${options.holder}, since ${new Date().toISOString()}`),
    /**
     * Brings the next rows into the full-text index, and makes what lists and reports read fast when that is done; false then. Columns
     * are packed once their list was swept: the first sweep brings the oldest rows last, and they would be packed again and again. A
     * chunk goes into both at once, while its rows are in memory.
     */
    index(swept: Resource | null = 'posts'): boolean {
      if (swept === 'comments') return columns.step(['comments']);
      return [text.step(), swept === 'posts' && columns.step()].includes(true) || late.step();
    },
    /** Forgets what reports add up: `index` makes it again from the tables. */
    forgetColumns: columns.clear,
    /** What earlier passes learned about a list, as src/mirror/sweep left it. */
    learnedOf: (resource: Resource): string | null => learned.get(resource) ?? null,
    status: () => readStatus(db, options),
    close(): void {
      optimize(db);
      db.close();
    },
  };
}

/** Statistics for the planner, of tables that changed enough to matter. Someone who is writing is not waited for: they do the same when they close. */
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
  return closeAfter(openMirrorReadOnly(options), (db) => readStatus(db, options));
}
