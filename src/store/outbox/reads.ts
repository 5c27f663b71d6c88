import type { Db } from '../db.ts';
import { listDelayReader } from './list-delay.ts';
import { type StoredRow, toRow } from './rows.ts';
import {
  type AttemptRow,
  type Due,
  type MirroredPost,
  type Next,
  OUTBOX_STATES,
  type OutboxRow,
  type RowFilter,
  type StateCounts,
  type Words,
} from './seam.ts';
import { textQuery } from './text-query.ts';

/** The reading half of the outbox. */
export interface OutboxReader {
  orphans(): OutboxRow[];
  isOver(batch: string | null): boolean;
  next(now: number, batch: string | null): Next;
  due(now: number, limit: number): Due;
  find(id: number): OutboxRow | null;
  list(filter: RowFilter): OutboxRow[];
  attempts(id: number): AttemptRow[];
  counts(batch: string | null): StateCounts;
  lookalikes(words: Words): MirroredPost[];
  boundPosts(ids: readonly number[]): Set<number>;
  hasLaterPost(ids: readonly number[], row: OutboxRow): boolean;
  accountedFor(ids: readonly number[], row: OutboxRow): Set<number>;
  hasSuccessor(row: OutboxRow): boolean;
  worstListDelay(): number;
  toLookAfter(): OutboxRow[];
  paused(): string | null;
}

export function outboxReader(db: Db): OutboxReader {
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const sending = db.prepare<[], StoredRow>("SELECT * FROM outbox WHERE state = 'sending' ORDER BY id");
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
  // Two statements, for one with a condition that may be none would read every row for the sake of one batch.
  const count = db.prepare<[], { state: keyof StateCounts; n: number }>(
    'SELECT state, count(*) AS n FROM outbox GROUP BY state',
  );
  const countBatch = db.prepare<[string], { state: keyof StateCounts; n: number }>(
    'SELECT state, count(*) AS n FROM outbox WHERE batch = ? GROUP BY state',
  );
  const after = db.prepare<[], StoredRow>(`
    SELECT * FROM outbox o
     WHERE looks_left > 0 AND state NOT IN ('ready', 'sending', 'ambiguous') AND NOT ${TWIN_UNDER_WAY} ORDER BY id`);
  const readPause = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'push_paused'").pluck();

  return {
    ...dueReader(db),
    due: allDueReader(db),
    ...boundReader(db),
    orphans: () => sending.all().map(toRow),
    find(id) {
      const row = byId.get(id);
      return row ? toRow(row) : null;
    },
    list: ({ state, batch, after: from, limit }) =>
      page.all({ state: state ?? null, batch: batch ?? null, after: from ?? 0, limit }).map(toRow),
    attempts: (id) => tries.all(id),
    counts(batch) {
      const counts = Object.fromEntries(OUTBOX_STATES.map((state) => [state, 0])) as StateCounts;
      const found = batch === null ? count.all() : countBatch.all(batch);
      for (const { state, n } of found) counts[state] = n;
      return counts;
    },
    lookalikes: lookalikeReader(db),
    hasSuccessor: successorReader(db),
    worstListDelay: listDelayReader(db),
    toLookAfter: () => after.all().map(toRow),
    paused: () => readPause.get() ?? null,
  };
}

const TWIN_UNDER_WAY = `EXISTS (
  SELECT 1 FROM outbox t WHERE t.twin_key = o.twin_key AND t.id <> o.id AND t.state IN ('sending', 'ambiguous'))`;

function successorReader(db: Db): OutboxReader['hasSuccessor'] {
  const exists = db
    .prepare<Pick<OutboxRow, 'board' | 'kind' | 'twin_key'>, number>(
      `SELECT EXISTS (SELECT 1 FROM outbox o
         WHERE state = 'ready' AND board = $board AND kind = $kind AND twin_key <> $twin_key AND NOT ${TWIN_UNDER_WAY})`,
    )
    .pluck();
  return ({ board, kind, twin_key }) => exists.get({ board, kind, twin_key }) === 1;
}

/**
 * Asked once or twice for every row that is sent: each question is one step into an index, however many rows wait. A row that waited
 * for its time goes before those that were never tried: behind a long import it would wait for days, and all that was posted
 * meanwhile would have to be read if it became unclear.
 */
function dueReader(db: Db): Pick<OutboxReader, 'isOver' | 'next'> {
  const open = { all: openQuery(db, ''), batch: openQuery(db, 'batch = $batch AND') };
  const ready = { all: readyQueries(db, ''), batch: readyQueries(db, 'batch = $batch AND') };
  const settled = db
    .prepare<{ at: string }, number>(
      "SELECT id FROM outbox WHERE state = 'ambiguous' AND not_before <= $at ORDER BY not_before, id LIMIT 1",
    )
    .pluck();
  const settling = db
    .prepare<[], string | null>("SELECT min(not_before) FROM outbox WHERE state = 'ambiguous'")
    .pluck();
  return {
    isOver: (batch) => (batch === null ? open.all.get({}) : open.batch.get({ batch })) === 0,
    next(now, batch) {
      const at = new Date(now).toISOString();
      const question = batch === null ? { at } : { at, batch };
      const { atOnce, due, later } = batch === null ? ready.all : ready.batch;
      const next = {
        ready: due.get(question) ?? atOnce.get(question) ?? null,
        settled: settled.get({ at }) ?? null,
      };
      if (next.ready !== null || next.settled !== null) return { ...next, at: null };
      const times = [later.get(question), settling.get()].flatMap((time) => (time ? [Date.parse(time)] : []));
      return { ...next, at: times.length === 0 ? null : Math.min(...times) };
    },
  };
}

function openQuery(db: Db, of: string) {
  return db
    .prepare<{ batch?: string }, number>(
      `SELECT EXISTS (SELECT 1 FROM outbox WHERE ${of} state IN ('ready', 'sending', 'ambiguous'))`,
    )
    .pluck();
}

function readyQueries(db: Db, of: string) {
  const one = (which: string) =>
    db.prepare<{ at: string; batch?: string }, number>(`
      SELECT id FROM outbox o WHERE ${of} state = 'ready' AND ${which} AND NOT ${TWIN_UNDER_WAY}
       ORDER BY not_before, id LIMIT 1`);
  const first = `SELECT min(not_before) FROM outbox WHERE ${of} state = 'ready' AND not_before > $at`;
  return {
    atOnce: one('not_before IS NULL').pluck(),
    due: one('not_before <= $at').pluck(),
    later: db.prepare<{ at: string; batch?: string }, string | null>(first).pluck(),
  };
}

/** The same order as `next`, for whoever hands out many rows at a time. */
function allDueReader(db: Db): OutboxReader['due'] {
  type Row = { id: number; since: string };
  const select = (which: string) =>
    db.prepare<{ at: string; limit: number }, Row>(`
      SELECT id, coalesce(not_before, created_at) AS since FROM outbox o
       WHERE ${which} ORDER BY not_before, id LIMIT $limit`);
  const waited = select(`state = 'ready' AND not_before <= $at AND NOT ${TWIN_UNDER_WAY}`);
  const untried = select(`state = 'ready' AND not_before IS NULL AND NOT ${TWIN_UNDER_WAY}`);
  const settled = select("state = 'ambiguous' AND not_before <= $at");
  const later = db
    .prepare<{ at: string }, string | null>(
      `SELECT min(at) FROM (SELECT min(not_before) AS at FROM outbox WHERE state = 'ready' AND not_before > $at
                            UNION ALL SELECT min(not_before) FROM outbox WHERE state = 'ambiguous' AND not_before > $at)`,
    )
    .pluck();
  return (now, limit) => {
    const at = new Date(now).toISOString();
    const ready = waited.all({ at, limit });
    if (ready.length < limit) ready.push(...untried.all({ at, limit: limit - ready.length }));
    const unclear = settled.all({ at, limit });
    const times = [...ready, ...unclear].map(({ since }) => Date.parse(since));
    const next = later.get({ at });
    return {
      ready: ready.map(({ id }) => id),
      settled: unclear.map(({ id }) => id),
      since: times.length === 0 ? null : Math.min(...times),
      at: next ? Date.parse(next) : null,
    };
  };
}

function boundReader(db: Db): Pick<OutboxReader, 'boundPosts' | 'hasLaterPost' | 'accountedFor'> {
  const isBound = db.prepare<[number], number>('SELECT 1 FROM outbox WHERE post_id = ?').pluck();
  const isLater = db
    .prepare<{ post: number } & Pick<OutboxRow, 'id' | 'board' | 'kind'>, number>(
      `SELECT 1 FROM outbox
        WHERE post_id = $post AND board = $board AND kind = $kind
          AND first_sent_at > (SELECT max(started_at) FROM outbox_attempts WHERE outbox_id = $id)`,
    )
    .pluck();
  const isShown = db
    .prepare<{ post: number; twin: string; id: number }, number>(
      `SELECT EXISTS (SELECT 1 FROM outbox o
         WHERE twin_key = $twin AND id <> $id
           AND (duplicate_of = $post OR EXISTS (SELECT 1 FROM json_each(o.candidates) WHERE value = $post)))`,
    )
    .pluck();
  return {
    boundPosts: (ids) => new Set(ids.filter((id) => isBound.get(id) === 1)),
    hasLaterPost: (ids, { id, board, kind }) =>
      ids.some((post) => isLater.get({ post, id, board, kind }) === 1),
    accountedFor: (ids, { id, twin_key: twin }) =>
      new Set(ids.filter((post) => isBound.get(post) === 1 || isShown.get({ post, twin, id }) === 1)),
  };
}

/** By the full-text index, which is there anyway; a title without a single word has to be searched for row by row. */
function lookalikeReader(db: Db): (words: Words) => MirroredPost[] {
  const columns = `SELECT p.id, p.title, p.content, p.url, b.slug AS board_slug, u.email AS creator_email, p.created
                     FROM posts p JOIN boards b ON b.id = p.board_id JOIN users u ON u.id = p.creator_id`;
  const byWords = db.prepare<[string], MirroredPost>(`
    ${columns} WHERE p.id IN (SELECT rowid FROM posts_text WHERE posts_text MATCH ?)`);
  const unindexed = db.prepare<[string], MirroredPost>(`
    ${columns}
    WHERE p.id > CAST((SELECT value FROM meta WHERE key = 'text_indexed_to') AS INTEGER) AND trim(p.title) = trim(?)`);
  const byTitle = db.prepare<[string], MirroredPost>(`${columns} WHERE trim(p.title) = trim(?)`);
  return ({ given, title, content }) => {
    const query = textQuery(title, content);
    return query === null ? byTitle.all(given) : [...byWords.all(query), ...unindexed.all(given)];
  };
}
