import type { OpenOptions } from '../db/open.ts';
import { dataVersion, scalar } from '../db/sql.ts';
import { ENDED } from '../mirror/decide/types.ts';
import { openMirrorReadOnly } from '../mirror/file/open.ts';
import { rowCounter } from '../mirror/store/status.ts';
import type { StateCounts } from '../outbox/decide/types.ts';
import { outboxReader } from '../outbox/store/reads.ts';

export interface MirrorStats {
  /** When the last complete pass of any list ended. */
  updatedAt: string | null;
  live: { posts: number; comments: number };
  outbox: StateCounts;
  /** Deletions that wait to be accepted. */
  held: number;
  running: RunningPass[];
}

interface RunningPass {
  resource: string;
  mode: string;
  since: string;
  pages: number;
  rows: number;
}

export type LiveStatsReader = ReturnType<typeof openLiveStats>;

/** The few numbers that people watch, cheap enough to be asked every second. */
export function openLiveStats(options: OpenOptions) {
  const db = openMirrorReadOnly(options);
  const size = rowCounter(db);
  const outbox = outboxReader(db);
  const updatedAt = scalar(db)<[], string | null>(`
    SELECT max(finished_at) FROM sync_runs WHERE ${ENDED}`);
  const held = scalar(db)<[], number>('SELECT count(*) FROM absences WHERE held = 1');
  const running = db.prepare<[], RunningPass>(`
    SELECT resource, mode, started_at AS since, pages, rows FROM sync_runs WHERE outcome = 'running' ORDER BY id`);
  return {
    /** Changes whenever any connection has written to the file. */
    version: dataVersion(db),
    read: (): MirrorStats => ({
      updatedAt: updatedAt.get() ?? null,
      live: { posts: size('posts').live, comments: size('comments').live },
      outbox: outbox.counts(null),
      held: held.get() ?? 0,
      running: running.all(),
    }),
    close: (): void => void db.close(),
  };
}
