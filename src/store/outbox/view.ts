import { existsSync } from 'node:fs';
import { type OpenOptions, openForReading } from '../db.ts';
import { outboxReader } from './reads.ts';
import { type StoredRow, toRow } from './rows.ts';
import type { AttemptRow, OutboxRow, OutboxState, StateCounts } from './seam.ts';

/** The outbox as a person looks at it, from a handle that cannot change it. */
export interface OutboxView {
  /** The newest rows first. */
  newest(filter: { state: OutboxState | null; batch: string | null; limit: number }): Promise<OutboxRow[]>;
  find(id: number): Promise<OutboxRow | null>;
  attempts(id: number): Promise<AttemptRow[]>;
  counts(batch: string | null): Promise<StateCounts>;
  paused(): Promise<string | null>;
  /** Posts of the mirror by id, with the row that each of them confirms. */
  posts(ids: readonly number[]): Promise<ViewedPost[]>;
  close(): Promise<void>;
}

export interface ViewedPost {
  id: number;
  title: string;
  url: string;
  board: string;
  creator_email: string | null;
  created: string;
  deleted: 0 | 1;
  confirms: number | null;
}

/** Null where there is no file yet. */
export function openOutboxView(options: OpenOptions): OutboxView | null {
  if (!existsSync(options.path)) return null;
  const db = openForReading(options);
  const reads = outboxReader(db);
  const newest = db.prepare<{ state: string | null; batch: string | null; limit: number }, StoredRow>(`
    SELECT * FROM outbox
     WHERE ($state IS NULL OR state = $state) AND ($batch IS NULL OR batch = $batch)
     ORDER BY id DESC LIMIT $limit`);
  const posts = db.prepare<[string], ViewedPost>(`
    SELECT p.id, p.title, p.url, b.slug AS board, u.email AS creator_email, p.created,
           p.deleted_at IS NOT NULL AS deleted, o.id AS confirms
      FROM posts p JOIN boards b ON b.id = p.board_id JOIN users u ON u.id = p.creator_id
      LEFT JOIN outbox o ON o.post_id = p.id
     WHERE p.id IN (SELECT value FROM json_each(?)) ORDER BY p.id`);
  return {
    newest: async (filter) => newest.all(filter).map(toRow),
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
