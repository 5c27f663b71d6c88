import type { Resource } from '../../contract/endpoints.ts';
import type { Db, OpenOptions } from '../db.ts';
import { openMirrorReadOnly } from '../open.ts';
import { readStatus } from './status.ts';
import type { MirrorStatus } from './types.ts';

/** How the mirror follows its upstream, as an operator looks at it, from a handle that cannot change it. */
export interface SyncView {
  status(): MirrorStatus;
  /** Rows that no longer show upstream, lowest id first: those that the mass-delete guard holds, or those with too little evidence yet. */
  absent(filter: AbsentFilter): AbsentRow[];
  /** Rows the upstream sent broken, newest first, without what was sent. */
  quarantine(filter: { before: number | null; limit: number }): QuarantinedRow[];
  /** What was sent, as it came; null where there is no such row. */
  quarantined(id: number): string | null;
  close(): void;
}

export interface AbsentFilter {
  resource: Resource;
  held: boolean;
  after: number;
  limit: number;
}

export interface AbsentRow {
  id: number;
  /** The title of a post, or the beginning of a comment. */
  text: string;
  since: string;
  /** Complete sweeps that count against it. */
  sweeps: number;
}

export interface QuarantinedRow {
  id: number;
  resource: Resource;
  seen_at: string;
  reason: string;
  /** Characters of what was sent. */
  size: number;
}

/** Heads come every few minutes: fewer would show none of the sweeps. */
const RUNS_SHOWN = 40;

export function openSyncView(options: OpenOptions): SyncView {
  const db = openMirrorReadOnly(options);
  const absent = { posts: absentReader(db, 'posts'), comments: absentReader(db, 'comments') };
  const quarantine = db.prepare<{ before: number; limit: number }, QuarantinedRow>(`
    SELECT id, resource, seen_at, reason, length(body) AS size FROM quarantine
     WHERE id < $before ORDER BY id DESC LIMIT $limit`);
  const body = db.prepare<[number], string>('SELECT body FROM quarantine WHERE id = ?').pluck();
  return {
    status: () => readStatus(db, options, RUNS_SHOWN),
    absent: ({ resource, ...filter }) => absent[resource](filter),
    quarantine: ({ before, limit }) => quarantine.all({ before: before ?? Number.MAX_SAFE_INTEGER, limit }),
    quarantined: (id) => body.get(id) ?? null,
    close: () => db.close(),
  };
}

/** Where the words of a row stand. */
const TEXT: Record<Resource, string> = { posts: 'title', comments: 'substr(content, 1, 200)' };

function absentReader(db: Db, resource: Resource): (filter: Omit<AbsentFilter, 'resource'>) => AbsentRow[] {
  const rows = db.prepare<{ held: number; after: number; limit: number }, AbsentRow>(`
    SELECT a.id, ${TEXT[resource]} AS text, a.since, max(a.sweeps, 0) AS sweeps
      FROM absences a JOIN ${resource} r ON r.id = a.id
     WHERE a.resource = '${resource}' AND a.held = $held AND a.id > $after ORDER BY a.id LIMIT $limit`);
  return ({ held, after, limit }) => rows.all({ held: held ? 1 : 0, after, limit });
}
