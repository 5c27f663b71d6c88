import { randomUUID } from 'node:crypto';
import { fileId } from '../base/files.ts';
import { RESOURCES, type Resource } from '../contract/endpoints.ts';
import type { Db, OpenOptions } from '../db/open.ts';
import { scalar, writeMeta } from '../db/sql.ts';
import { ENDED, type PassMode } from '../mirror/decide/types.ts';
import { openMirror } from '../mirror/file/open.ts';
import { troubleReader } from '../mirror/store/troubles.ts';

export type MirrorFileState = 'in place' | 'removed' | 'replaced';

/** In milliseconds since the epoch. */
interface Closing {
  askedAt: number;
  until: number;
}

export interface LastPass {
  resource: Resource;
  mode: PassMode;
  /** Null where there was none. */
  startedAt: number | null;
  finishedAt: number | null;
  /** A sweep was interrupted and waits to be resumed. */
  unfinished: boolean;
}

/** The last sweep of a list. Its times are null where there was none. */
export function lastSweep(passes: readonly LastPass[], resource: Resource): LastPass {
  const none = {
    resource,
    mode: 'sweep',
    startedAt: null,
    finishedAt: null,
    unfinished: false,
  } as const;
  return passes.find((pass) => pass.resource === resource && pass.mode === 'sweep') ?? none;
}

export interface SweepUnderWay {
  runId: number;
  pages: number;
  startedAt: number;
}

type CallKind = 'reads' | 'creates';
const CLOSED: Record<CallKind, string> = { creates: 'upstream_closed', reads: 'upstream_closed_reads' };

export type ServiceState = ReturnType<typeof openServiceState>;

/**
 * What the processes of one mirror tell each other through its file. It is read before every request, so each question takes a step or two
 * in an index. The answers are no promises: nothing can happen between an answer and the decision that follows from it.
 */
export function openServiceState(options: OpenOptions) {
  const db = openMirror(options);
  // A handful of rows of one small table; the rest of the file is read over other connections.
  db.pragma('cache_size = -500');
  const note = scalar(db)<[string], string>('SELECT value FROM meta WHERE key = ?');
  // Two processes may hear of different times: the later one holds, whichever process writes last. One that was asked for after the moment at
  // hand was written while the clock was ahead, and goes.
  const noteLater = db.prepare(`
    INSERT INTO meta (key, value) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value
      WHERE value ->> 'until' < excluded.value ->> 'until' OR value ->> 'askedAt' > excluded.value ->> 'askedAt'`);
  const lastPass = lastPassReader(db);
  const underWay = db.prepare<[string], { id: number; pages: number; started_at: string }>(`
    SELECT id, pages, started_at FROM sync_runs
     WHERE resource = ? AND mode = 'sweep' AND outcome = 'running' ORDER BY id DESC LIMIT 1`);
  const inserted = scalar(db)<{ resource: Resource; since: string }, number>(`
    SELECT coalesce(sum(inserted), 0) FROM sync_runs WHERE resource = $resource AND started_at >= $since
       AND id > (SELECT min(id) FROM sync_runs
                  WHERE resource = $resource AND mode = 'sweep' AND outcome IN ('complete', 'incomplete'))`);
  return {
    /** Whether what is written is still in the file that other programs open. */
    mirrorFile: fileWatch(options.path),
    /** What the mirror knows of troubles with its upstream. */
    troubles: troubleReader(db),
    /** Made once; keeps mirrors apart that share a queue. */
    mirrorId: note.get('mirror_id') ?? '',
    /** When the upstream last asked for no calls of this kind, and until when; null when it never did. */
    closing(kind: CallKind): Closing | null {
      const text = note.get(CLOSED[kind]);
      return text === undefined ? null : (JSON.parse(text) as Closing);
    },
    noteClosing: (kind: CallKind, closing: Closing): void =>
      void noteLater.run(CLOSED[kind], JSON.stringify(closing)),
    lastHousekeepingAt(): number | null {
      const text = note.get('housekeeping_at');
      return text === undefined ? null : Number(text);
    },
    noteHousekeeping: (now: number): void => writeMeta(db, 'housekeeping_at', String(now)),
    /** What sessions of browsers are signed with, and those that ended before their time; each is forgotten when that time has come. */
    endedSessions: endedSessionsIn(db),
    /** The last complete pass of each list and kind. */
    lastPasses: (): LastPass[] =>
      RESOURCES.flatMap((resource) => [lastPass(resource, 'sweep'), lastPass(resource, 'head')]),
    /** Rows of a list that passes since then brought. Those of the first sweep are not new. */
    insertedSince: (resource: Resource, since: number): number =>
      inserted.get({ resource, since: new Date(since).toISOString() }) ?? 0,
    /** A sweep that some process says it is at; it may have died since. */
    sweepUnderWay(resource: Resource): SweepUnderWay | null {
      const row = underWay.get(resource);
      return row ? { runId: row.id, pages: row.pages, startedAt: Date.parse(row.started_at) } : null;
    },
    close: (): void => void db.close(),
  };
}

/**
 * An open file that is removed or replaced takes what is written to it as before, and is lost when it is closed. The log ahead of it is
 * as much of the mirror as the file itself.
 */
function fileWatch(path: string): () => MirrorFileState {
  const opened = [path, `${path}-wal`]
    .map((name) => ({ name, file: fileId(name) }))
    .filter(({ file }) => file !== null);
  return () => {
    const now = opened.map(({ name }) => fileId(name));
    if (now.includes(null)) return 'removed';
    return opened.every(({ file }, i) => file === now[i]) ? 'in place' : 'replaced';
  };
}

const ENDED_SESSION = 'ended_session:';

export type EndedSessions = ReturnType<typeof endedSessionsIn>;

function endedSessionsIn(db: Db) {
  const find = db.prepare('SELECT 1 FROM meta WHERE key = ?');
  const write = db.prepare('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const forget = db.prepare(`
    DELETE FROM meta WHERE key GLOB '${ENDED_SESSION}*' AND CAST(value AS INTEGER) <= ?`);
  const made = scalar(db)<[string], string>(`
    INSERT INTO meta (key, value) VALUES ('session_key', ?) ON CONFLICT DO UPDATE SET value = value RETURNING value`);
  return {
    /** Made once: without it an attacker who guesses at the token could sign sessions elsewhere and try them here. */
    key: (): string => made.get(randomUUID()) ?? '',
    has: (id: string): boolean => find.get(`${ENDED_SESSION}${id}`) !== undefined,
    add(id: string, until: number, now: number): void {
      forget.run(now);
      write.run(`${ENDED_SESSION}${id}`, String(until));
    },
  };
}

function lastPassReader(db: Db): (resource: Resource, mode: PassMode) => LastPass {
  const ended = db.prepare<[string, string], { started_at: string; finished_at: string }>(`
    SELECT started_at, finished_at FROM sync_runs
     WHERE resource = ? AND mode = ? AND ${ENDED} ORDER BY id DESC LIMIT 1`);
  const unfinished = scalar(db)<[string], number>(`
    SELECT count(*) FROM sync_state WHERE resource = ? AND state IS NOT NULL`);
  return (resource, mode) => {
    const found = ended.get(resource, mode);
    return {
      resource,
      mode,
      startedAt: found ? Date.parse(found.started_at) : null,
      finishedAt: found ? Date.parse(found.finished_at) : null,
      unfinished: mode === 'sweep' && unfinished.get(resource) === 1,
    };
  };
}
