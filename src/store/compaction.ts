import { randomUUID } from 'node:crypto';
import type { Db } from './db.ts';

/**
 * SQLite moves rows between pages and leaves the old copies in the unused part of a page, secure_delete or not: 0.5 % of the pages in a
 * trial. Only rewriting the file takes them out; this mark says that it is due, also after a crash.
 */
export function noteUnclean(db: Db): void {
  db.prepare(
    "INSERT INTO meta (key, value) VALUES ('unclean', $mark) ON CONFLICT DO UPDATE SET value = excluded.value",
  ).run({ mark: randomUUID() });
}

/** Rewrites the file and empties the write-ahead log; false when the log could not be emptied because somebody was reading. */
export function compact(db: Db): boolean {
  const mark = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'unclean'").pluck().get();
  db.exec('VACUUM');
  const [{ busy } = { busy: 1 }] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  if (busy !== 0) return false;
  // Whatever was erased meanwhile has put another mark there.
  db.prepare("DELETE FROM meta WHERE key = 'unclean' AND value = ?").run(mark ?? '');
  return true;
}
