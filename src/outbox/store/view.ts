import { isThere } from '../../base/files.ts';
import type { Db, OpenOptions } from '../../db/open.ts';
import { openMirrorReadOnly } from '../../mirror/file/open.ts';
import { OUTBOX_STATES, type OutboxRow, type OutboxState, type StoredRow, toRow } from '../decide/types.ts';
import { outboxReader } from './reads.ts';

export type OutboxView = NonNullable<ReturnType<typeof openOutboxView>>;

interface NewestFilter {
  state: OutboxState | null;
  batch: string | null;
  before?: number | null;
  after?: number | null;
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
  if (!isThere(options.path)) return null;
  const db = openMirrorReadOnly(options);
  const reads = outboxReader(db);
  const newest = newestReader(db);
  const posts = db.prepare<[string], ViewedPost>(`
    SELECT p.id, p.title, p.content, p.url, b.slug AS board, u.email AS creator_email, u.name AS creator_name, p.created,
           p.deleted_at IS NOT NULL AS deleted, o.id AS confirms
      FROM json_each(?) j CROSS JOIN posts p ON p.id = j.value JOIN boards b ON b.id = p.board_id JOIN users u ON u.id = p.creator_id
      LEFT JOIN outbox o ON o.post_id = p.id ORDER BY j.key`);
  return {
    ...reads,
    /** The newest rows first. `before` begins below that row, and `after` ends above it. */
    newest,
    /** All rows of a batch in one state, or of all states, oldest first. */
    *rowsOf(batch: string, state: OutboxState | null): Generator<OutboxRow> {
      for (let after = 0; ; ) {
        const rows = reads.list({ batch, ...(state === null ? {} : { state }), after, limit: 500 });
        yield* rows;
        const last = rows.at(-1);
        if (!last) return;
        after = last.id;
      }
    },
    /** Posts of the mirror in the order of these ids, with the row that each of them confirms. */
    posts: (ids: readonly number[]) => posts.all(JSON.stringify([...new Set(ids)])),
    close: (): void => void db.close(),
  };
}

/** A million rows may stand in one state: each question is a walk along an index, from one end of the page to the other. */
function newestReader(db: Db): (filter: NewestFilter) => OutboxRow[] {
  const [older, newer] = [pageReader(db, 'older'), pageReader(db, 'newer')];
  return ({ state, batch, before, after, limit }) => {
    const filter = { ...(state === null ? {} : { state }), ...(batch === null ? {} : { batch }) };
    if (after) return newer({ ...filter, edge: after, limit }).reverse();
    return older({ ...filter, edge: before ?? Number.MAX_SAFE_INTEGER, limit });
  };
}

type Way = 'older' | 'newer';
type PageBounds = { state?: OutboxState; batch?: string; edge: number; limit: number };

function pageReader(db: Db, way: Way): (page: PageBounds) => OutboxRow[] {
  const all = rowsOf(db, way, [idsOf(way, [])]);
  const byBatch = rowsOf(
    db,
    way,
    OUTBOX_STATES.flatMap((state) =>
      walks(way, `batch = $batch AND state = '${state}'`, state === 'ready' ? [0, 1] : [0]),
    ),
  );
  const byState = rowsOf(db, way, walks(way, 'state = $state'));
  const byBoth = rowsOf(db, way, walks(way, 'batch = $batch AND state = $state'));
  return (page) => {
    if (page.state && page.batch !== undefined) return byBoth(page);
    if (page.state) return byState(page);
    return page.batch === undefined ? all(page) : byBatch(page);
  };
}

/** Both indexes go on with `on_hold` and `not_before`: only where those are one value do they stand in the order of ids. */
function walks(way: Way, condition: string, holds: readonly (0 | 1)[] = [0, 1]): string[] {
  return holds.flatMap((hold) =>
    ['IS NULL', 'IS NOT NULL'].map((waiting) =>
      idsOf(way, [condition, `on_hold = ${hold}`, `not_before ${waiting}`]),
    ),
  );
}

const ORDER: Record<Way, string> = { older: 'DESC', newer: 'ASC' };

function idsOf(way: Way, conditions: readonly string[]): string {
  const beyond = `id ${way === 'older' ? '<' : '>'} $edge`;
  return `SELECT id FROM outbox WHERE ${[...conditions, beyond].join(' AND ')} ORDER BY id ${ORDER[way]} LIMIT $limit`;
}

function rowsOf(db: Db, way: Way, parts: string[]): (page: PageBounds) => OutboxRow[] {
  const ids = parts.map((part) => `SELECT id FROM (${part})`).join(' UNION ALL ');
  const rows = db.prepare<PageBounds, StoredRow>(`
    SELECT * FROM outbox WHERE id IN (${ids}) ORDER BY id ${ORDER[way]} LIMIT $limit`);
  return (page) => rows.all(page).map(toRow);
}
