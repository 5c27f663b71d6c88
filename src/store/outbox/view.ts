import { existsSync } from 'node:fs';
import type { Db, OpenOptions } from '../db.ts';
import { openMirrorReadOnly } from '../open.ts';
import { outboxReader } from './reads.ts';
import { OUTBOX_STATES, type OutboxRow, type OutboxState, type StoredRow, toRow } from './types.ts';

export type OutboxView = NonNullable<ReturnType<typeof openOutboxView>>;

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

/** The outbox as a person looks at it, from a handle that cannot change it; null where there is no file yet. */
export function openOutboxView(options: OpenOptions) {
  if (!existsSync(options.path)) return null;
  const db = openMirrorReadOnly(options);
  const reads = outboxReader(db);
  const newest = newestReader(db);
  const posts = db.prepare<[string], ViewedPost>(`
    SELECT p.id, p.title, p.content, p.url, b.slug AS board, u.email AS creator_email, u.name AS creator_name, p.created,
           p.deleted_at IS NOT NULL AS deleted, o.id AS confirms
      FROM posts p JOIN boards b ON b.id = p.board_id JOIN users u ON u.id = p.creator_id
      LEFT JOIN outbox o ON o.post_id = p.id
     WHERE p.id IN (SELECT value FROM json_each(?)) ORDER BY p.id`);
  const { find, attempts, counts, paused } = reads;
  return {
    find,
    attempts,
    counts,
    paused,
    /** The newest rows first; `before` goes on below that row. */
    newest,
    /** Posts of the mirror by id, with the row that each of them confirms. */
    posts: (ids: readonly number[]) => posts.all(JSON.stringify(ids)),
    close: (): void => void db.close(),
  };
}

/** A million rows may stand in one state: each question is a walk down an index, from the newest row to the last one wanted. */
function newestReader(db: Db): (filter: NewestFilter) => OutboxRow[] {
  const all = newestOf(db, ['SELECT id FROM outbox WHERE id < $before ORDER BY id DESC LIMIT $limit']);
  const byBatch = newestOf(
    db,
    OUTBOX_STATES.flatMap((state) => walks(`batch = $batch AND state = '${state}'`)),
  );
  const byState = newestOf(db, walks('state = $state'));
  const byBoth = newestOf(db, walks('batch = $batch AND state = $state'));
  return ({ state, batch, before, limit }) => {
    const page = { before: before ?? Number.MAX_SAFE_INTEGER, limit };
    if (state !== null && batch !== null) return byBoth({ ...page, state, batch });
    if (state !== null) return byState({ ...page, state });
    return batch !== null ? byBatch({ ...page, batch }) : all(page);
  };
}

/** Both indexes go on with `not_before`, and only where that is one value do they stand in the order of ids: few rows wait for a time. */
function walks(condition: string): string[] {
  return ['IS NULL', 'IS NOT NULL'].map(
    (waiting) => `
      SELECT id FROM outbox WHERE ${condition} AND not_before ${waiting} AND id < $before ORDER BY id DESC LIMIT $limit`,
  );
}

function newestOf(db: Db, parts: string[]): (page: Record<string, string | number>) => OutboxRow[] {
  const ids = parts.map((part) => `SELECT id FROM (${part})`).join(' UNION ALL ');
  const rows = db.prepare<Record<string, string | number>, StoredRow>(
    `SELECT * FROM outbox WHERE id IN (${ids}) ORDER BY id DESC LIMIT $limit`,
  );
  return (page) => rows.all(page).map(toRow);
}
