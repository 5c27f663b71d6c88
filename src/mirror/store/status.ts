import type { Resource } from '../../contract/endpoints.ts';
import type { Db, OpenOptions } from '../../db/open.ts';
import { readMeta, scalar } from '../../db/sql.ts';
import { readFacts } from '../decide/list-facts.ts';
import { listNotes, type MissingGroup } from '../decide/list-notes.ts';
import { type TroubleFacts, troublesOf } from '../decide/troubles.ts';
import type { MirrorStatus, ResourceStatus, RunRow } from '../decide/types.ts';
import { olderCopyOf } from '../file/older-copy.ts';
import { openMirrorReadOnly } from '../file/open.ts';
import { unreadableList } from '../suppression/list.ts';
import { troubleReader } from './troubles.ts';

const RECENT_RUNS = 10;

/** Both counts come from small indexes: asking each row whether it lives would read the whole mirror. */
export function rowCounter(db: Db): (resource: Resource) => Pick<ResourceStatus, 'live' | 'deleted'> {
  const sizes = (table: Resource) =>
    db.prepare<[], { total: number; deleted: number }>(`
      SELECT (SELECT count(*) FROM ${table}) AS total, (SELECT count(*) FROM ${table} WHERE deleted_at IS NOT NULL) AS deleted`);
  const statements = { posts: sizes('posts'), comments: sizes('comments') };
  return (resource) => {
    const { total, deleted } = statements[resource].get() as { total: number; deleted: number };
    return { live: total - deleted, deleted };
  };
}

/** How the mirror stands, from a read-only handle. */
export function readStatus(db: Db, options: OpenOptions, recentRuns = RECENT_RUNS): MirrorStatus {
  const sizes = rowCounter(db);
  const facts = troubleReader(db)();
  const upstream = readMeta(db, 'upstream') ?? '';
  const people = db
    .prepare<[], MirrorStatus['people']>(`
        SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM boards) AS boards,
              (SELECT count(*) FROM statuses) AS statuses`)
    .get() as MirrorStatus['people'];
  const runs = db
    .prepare<[number], RunRow>(`
        SELECT id, resource, mode, started_at, finished_at, outcome, pages, rows, inserted, updated, unchanged, deleted, held,
              suspects, quarantined, error
         FROM sync_runs ORDER BY id DESC LIMIT ?`)
    .all(recentRuns);
  return {
    upstream,
    troubles: troublesOf(facts, Date.now()),
    olderCopy: olderCopyOf(db, options),
    unreadableList: unreadableList(db, options),
    resources: facts.lists.map((list) => {
      const size = sizes(list.resource);
      return { ...passesOf(db, list), ...size, notes: notesOf(db, list, size.live) };
    }),
    people,
    runs,
  };
}

type ListFact = TroubleFacts['lists'][number];
type PassFacts = Pick<ResourceStatus, 'lastHeadAt' | 'suspects' | 'quarantined'> & { unfinished: number };

function passesOf(
  db: Db,
  { resource, lastSweepAt, held, lacks }: ListFact,
): Omit<ResourceStatus, 'live' | 'deleted' | 'notes'> {
  const facts = db
    .prepare<{ resource: string }, PassFacts>(`
        SELECT (SELECT finished_at FROM sync_runs WHERE resource = $resource AND mode = 'head'
                  AND outcome = 'complete' ORDER BY id DESC LIMIT 1) AS lastHeadAt,
              (SELECT count(*) FROM sync_state WHERE resource = $resource AND state IS NOT NULL) AS unfinished,
              (SELECT count(*) FROM absences WHERE resource = $resource AND held = 0) AS suspects,
              (SELECT count(*) FROM quarantine WHERE resource = $resource) AS quarantined`)
    .get({ resource }) as PassFacts;
  const isIncomplete = lacks !== null;
  return { resource, lastSweepAt, held, ...facts, unfinished: facts.unfinished > 0, isIncomplete };
}

/** What an operator should know about a list of so many rows. */
function notesOf(db: Db, { resource, lacks }: ListFact, rows: number): string[] {
  const missing = db.prepare<[string], MissingGroup>(`
    SELECT way, count(*) AS rows, min(score) AS score, min(since) AS since FROM absences WHERE resource = ? AND held = 0 GROUP BY way`);
  const learned = scalar(db)<[string], string | null>('SELECT learned FROM sync_state WHERE resource = ?');
  const facts = readFacts(learned.get(resource) ?? null);
  return listNotes({ resource, rows, facts, missing: missing.all(resource), lacks });
}

interface AbsentFilter {
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
  /** Complete sweeps that missed it. */
  sweeps: number;
  /** The share of what is needed to count it as deleted. */
  score: number;
}

export interface QuarantinedRow {
  id: number;
  resource: Resource;
  seen_at: string;
  reason: string;
  /** Characters of what was sent. */
  size: number;
}

/** Where the words of a row stand. */
const TEXT: Record<Resource, string> = { posts: 'title', comments: 'substr(content, 1, 200)' };

/** Heads come every few minutes: fewer would show none of the sweeps. */
const RUNS_SHOWN = 40;

export type SyncView = ReturnType<typeof openSyncView>;

/** How the mirror follows its upstream, as an operator looks at it, from a handle that cannot change it. */
export function openSyncView(options: OpenOptions) {
  const db = openMirrorReadOnly(options);
  const quarantine = db.prepare<{ before: number; limit: number }, QuarantinedRow>(`
    SELECT id, resource, seen_at, reason, length(body) AS size FROM quarantine
     WHERE id < $before ORDER BY id DESC LIMIT $limit`);
  const body = scalar(db)<[number], string>('SELECT body FROM quarantine WHERE id = ?');
  return {
    status: (): MirrorStatus => readStatus(db, options, RUNS_SHOWN),
    /** Rows that no longer show upstream, lowest id first: those that the mass-delete guard holds, or those with too little evidence yet. */
    absent: ({ resource, held, after, limit }: AbsentFilter): AbsentRow[] =>
      db
        .prepare<[string, number, number, number], AbsentRow>(`
          SELECT a.id, ${TEXT[resource]} AS text, a.since, a.sweeps, min(a.score, 1) AS score
            FROM absences a JOIN ${resource} r ON r.id = a.id
           WHERE a.resource = ? AND a.held = ? AND a.id > ? ORDER BY a.id LIMIT ?`)
        .all(resource, Number(held), after, limit),
    /** Rows the upstream sent broken, newest first, without what was sent. */
    quarantine: ({ before, limit }: { before: number | null; limit: number }): QuarantinedRow[] =>
      quarantine.all({ before: before ?? Number.MAX_SAFE_INTEGER, limit }),
    /** What was sent, as it came; null where there is no such row. */
    quarantined: (id: number): string | null => body.get(id) ?? null,
    close: (): void => void db.close(),
  };
}
