import type { Db } from './db.ts';
import { type StoredRow, toRow } from './outbox-rows.ts';
import {
  type AttemptRow,
  type MirroredPost,
  type Next,
  OUTBOX_STATES,
  type OutboxRow,
  type RowFilter,
  type StateCounts,
} from './outbox-seam.ts';
import { textQuery } from './text-query.ts';

/** The reading half of the outbox. */
export interface OutboxReader {
  orphans(): OutboxRow[];
  next(now: number, batch: string | null): Next;
  find(id: number): OutboxRow | null;
  list(filter: RowFilter): OutboxRow[];
  attempts(id: number): AttemptRow[];
  counts(batch: string | null): StateCounts;
  lookalikes(title: string): MirroredPost[];
  boundPosts(ids: readonly number[]): Set<number>;
  worstListDelay(): number;
  toLookAfter(): OutboxRow[];
  paused(): string | null;
}

export function outboxReader(db: Db): OutboxReader {
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const sending = db.prepare<[], StoredRow>("SELECT * FROM outbox WHERE state = 'sending' ORDER BY id");
  const due = db.prepare<{ state: string; at: string; batch: string | null }, { id: number }>(`
    SELECT id FROM outbox o
     WHERE state = $state AND (not_before IS NULL OR not_before <= $at) AND ($batch IS NULL OR batch = $batch)
       AND NOT ($state = 'ready' AND EXISTS (
             SELECT 1 FROM outbox t WHERE t.twin_key = o.twin_key AND t.id <> o.id AND t.state IN ('sending', 'ambiguous')))
     ORDER BY not_before, id LIMIT 1`);
  const earliest = db
    .prepare<{ at: string; batch: string | null }, string | null>(
      `SELECT min(not_before) FROM outbox
        WHERE state IN ('ready', 'ambiguous') AND not_before > $at AND ($batch IS NULL OR batch = $batch)`,
    )
    .pluck();
  const page = db.prepare<
    { state: string | null; batch: string | null; after: number; limit: number },
    StoredRow
  >(`
    SELECT * FROM outbox
     WHERE id > $after AND ($state IS NULL OR state = $state) AND ($batch IS NULL OR batch = $batch)
     ORDER BY id LIMIT $limit`);
  const tries = db.prepare<[number], AttemptRow>(`
    SELECT n, started_at, deadline_at, ended_at, outcome, http_status, post_id, error
      FROM outbox_attempts WHERE outbox_id = ? ORDER BY n`);
  const count = db.prepare<{ batch: string | null }, { state: keyof StateCounts; n: number }>(
    'SELECT state, count(*) AS n FROM outbox WHERE $batch IS NULL OR batch = $batch GROUP BY state',
  );
  const isBound = db.prepare<[number], number>('SELECT 1 FROM outbox WHERE post_id = ?').pluck();
  // A pass over the newest posts that began after the confirmation and did not show the post proves that it was not listed yet.
  const delay = db
    .prepare<[], number | null>(
      `SELECT max((julianday(r.started_at) - julianday(o.changed_at)) * 86400000)
         FROM outbox o
         JOIN posts p ON p.id = o.post_id
         JOIN sync_runs r ON r.resource = 'posts' AND r.outcome = 'complete'
                         AND r.started_at > o.changed_at AND r.finished_at < p.first_seen_at
        WHERE o.state = 'confirmed'`,
    )
    .pluck();
  const after = db.prepare<[], StoredRow>('SELECT * FROM outbox WHERE looks_left > 0 ORDER BY id');
  const readPause = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'push_paused'").pluck();
  const similar = lookalikeReader(db);

  return {
    orphans: () => sending.all().map(toRow),
    next(now, batch) {
      const at = new Date(now).toISOString();
      const ready = due.get({ state: 'ready', at, batch })?.id ?? null;
      const settled = due.get({ state: 'ambiguous', at, batch })?.id ?? null;
      const later = ready === null && settled === null ? (earliest.get({ at, batch }) ?? null) : null;
      return { ready, settled, at: later === null ? null : Date.parse(later) };
    },
    find(id) {
      const row = byId.get(id);
      return row ? toRow(row) : null;
    },
    list: ({ state, batch, after: from, limit }) =>
      page.all({ state: state ?? null, batch: batch ?? null, after: from ?? 0, limit }).map(toRow),
    attempts: (id) => tries.all(id),
    counts(batch) {
      const counts = Object.fromEntries(OUTBOX_STATES.map((state) => [state, 0])) as StateCounts;
      for (const { state, n } of count.all({ batch })) counts[state] = n;
      return counts;
    },
    lookalikes: similar,
    boundPosts: (ids) => new Set(ids.filter((id) => isBound.get(id) === 1)),
    worstListDelay: () => Math.max(0, Math.round(delay.get() ?? 0)),
    toLookAfter: () => after.all().map(toRow),
    paused: () => readPause.get() ?? null,
  };
}

/** By the full-text index, which is there anyway; a title without a single word has to be searched for row by row. */
function lookalikeReader(db: Db): (title: string) => MirroredPost[] {
  const columns = `SELECT p.id, p.title, p.content, b.slug AS board_slug, u.email AS creator_email, p.created
                     FROM posts p JOIN boards b ON b.id = p.board_id JOIN users u ON u.id = p.creator_id`;
  const byWords = db.prepare<[string], MirroredPost>(`
    ${columns} WHERE p.id IN (SELECT rowid FROM posts_text WHERE posts_text MATCH ?)`);
  const unindexed = db.prepare<[string], MirroredPost>(`
    ${columns}
    WHERE p.id > CAST((SELECT value FROM meta WHERE key = 'text_indexed_to') AS INTEGER) AND trim(p.title) = trim(?)`);
  const byTitle = db.prepare<[string], MirroredPost>(`${columns} WHERE trim(p.title) = trim(?)`);
  return (title) => {
    const query = textQuery(title, 'title');
    return query === null ? byTitle.all(title) : [...byWords.all(query), ...unindexed.all(title)];
  };
}
