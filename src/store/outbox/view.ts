import { existsSync } from 'node:fs';
import { type Db, type OpenOptions, openForReading } from '../db.ts';
import { outboxReader } from './reads.ts';
import { type StoredRow, toRow } from './rows.ts';
import type { AttemptRow, OutboxRow, OutboxState, StateCounts } from './seam.ts';

/** The outbox as a person looks at it, from a handle that cannot change it. */
export interface OutboxView {
  /** The newest rows first; `before` goes on below that row. */
  newest(filter: NewestFilter): Promise<OutboxRow[]>;
  find(id: number): Promise<OutboxRow | null>;
  attempts(id: number): Promise<AttemptRow[]>;
  counts(batch: string | null): Promise<StateCounts>;
  paused(): Promise<string | null>;
  /** Posts of the mirror by id, with the row that each of them confirms. */
  posts(ids: readonly number[]): Promise<ViewedPost[]>;
  close(): Promise<void>;
}

export interface NewestFilter {
  state: OutboxState | null;
  batch: string | null;
  before?: number | null;
  limit: number;
}

export interface ViewedPost {
  id: number;
  title: string;
  content: string;
  url: string;
  board: string;
  creator_email: string | null;
  creator_name: string | null;
  created: string;
  deleted: 0 | 1;
  confirms: number | null;
}

/** Null where there is no file yet. */
export function openOutboxView(options: OpenOptions): OutboxView | null {
  if (!existsSync(options.path)) return null;
  const db = openForReading(options);
  const reads = outboxReader(db);
  const newest = newestReader(db);
  const posts = db.prepare<[string], ViewedPost>(`
    SELECT p.id, p.title, p.content, p.url, b.slug AS board, u.email AS creator_email, u.name AS creator_name, p.created,
           p.deleted_at IS NOT NULL AS deleted, o.id AS confirms
      FROM posts p JOIN boards b ON b.id = p.board_id JOIN users u ON u.id = p.creator_id
      LEFT JOIN outbox o ON o.post_id = p.id
     WHERE p.id IN (SELECT value FROM json_each(?)) ORDER BY p.id`);
  return {
    newest: async (filter) => newest(filter),
    find: async (id) => reads.find(id),
    attempts: async (id) => reads.attempts(id),
    counts: async (batch) => reads.counts(batch),
    paused: async () => reads.paused(),
    posts: async (ids) => posts.all(JSON.stringify(ids)),
    async close() {
      db.close();
    },
  };
}

/**
 * The ids come out of an index that holds nothing else, sorted as they are found, and only the rows shown are read: asking each row of
 * a million for its state would read all their texts.
 */
function newestReader(db: Db): (filter: NewestFilter) => OutboxRow[] {
  const statement = (...conditions: string[]) =>
    db.prepare<Record<string, string | number>, StoredRow>(`
      SELECT * FROM outbox WHERE id IN (
        SELECT id FROM outbox WHERE ${[...conditions, 'id < $before'].join(' AND ')} ORDER BY id DESC LIMIT $limit)
       ORDER BY id DESC`);
  const all = statement();
  const byState = statement('state = $state');
  const byBatch = statement('batch = $batch');
  const byBoth = statement('batch = $batch', 'state = $state');
  return ({ state, batch, before, limit }) => {
    const page = { before: before ?? Number.MAX_SAFE_INTEGER, limit };
    if (state !== null && batch !== null) return byBoth.all({ ...page, state, batch }).map(toRow);
    if (state !== null) return byState.all({ ...page, state }).map(toRow);
    return (batch !== null ? byBatch.all({ ...page, batch }) : all.all(page)).map(toRow);
  };
}
