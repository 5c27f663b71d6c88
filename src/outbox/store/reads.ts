import { iso } from '../../base/clock.ts';
import type { Db } from '../../db/open.ts';
import { readMeta, scalar } from '../../db/sql.ts';
import {
  type AttemptRow,
  type EditRow,
  OUTBOX_STATES,
  type OutboxRow,
  type RecentSends,
  type RowFilter,
  type StateCounts,
  type StoredRow,
  toRow,
} from '../decide/types.ts';
import { batchReader } from './batches.ts';
import { dueCounter, dueReader, OF_BATCH, oldestReader, openReader, successorReader } from './due.ts';
import { paceOf } from './pace.ts';
import { boundReader, latestReader, postReader, sentLikeReader } from './posts.ts';
import { BOARD_IS_OPEN, namesOf, type RefusedBoard, refusedBoards } from './refused.ts';

export type OutboxReader = ReturnType<typeof outboxReader>;

/** The reading half of the outbox. */
export function outboxReader(db: Db) {
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const sending = db.prepare<[], StoredRow>("SELECT * FROM outbox WHERE state = 'sending' ORDER BY id");
  type Page = { state: string | null; batch: string | null; after: number; limit: number };
  const page = db.prepare<Page, StoredRow>(`
    SELECT * FROM outbox
     WHERE id > $after AND ($state IS NULL OR state = $state) AND ($batch IS NULL OR batch = $batch)
     ORDER BY id LIMIT $limit`);
  // Each by its index, also where the last statistics are those of an outbox of fifty rows: then SQLite would rather read all of them.
  const unclear = db.prepare<[], StoredRow>(`
    SELECT o.* FROM (
      SELECT id FROM outbox WHERE state = 'sending'
      UNION ALL SELECT id FROM outbox WHERE state = 'ambiguous'
      UNION ALL SELECT id FROM outbox WHERE state = 'uncertain'
      UNION ALL SELECT id FROM outbox WHERE state = 'ready' AND was_ambiguous = 1
    ) c CROSS JOIN outbox o ON o.id = c.id WHERE o.erased_at IS NULL AND o.first_sent_at IS NOT NULL ORDER BY o.id`);

  return {
    /** Whether nothing more happens by itself to these rows. */
    isOver: openReader(db),
    /** What is due now, oldest first, at most `limit` rows and none with the words of one under way; of one batch where named, except ambiguous rows. */
    due: dueReader(db),
    /** How many rows could go on now, ambiguous ones among them, counted up to a thousand. */
    countDue: dueCounter(db),
    ...postReader(db),
    ...boundReader(db),
    /** Sent rows that have the words or the mark of one of these posts, or show one as their second; after a sweep also those whose post has the same words. */
    sentLike: sentLikeReader(db),
    ...batchReader(db),
    /** When the next post may leave, whatever process sends it; null where it may now. */
    nextSendAt: paceOf(db).nextSendAt,
    /** Rows left in `sending` by a sender that died; only for the process that holds the sender's lock. */
    orphans: () => sending.all().map(toRow),
    find(id: number): OutboxRow | null {
      const row = byId.get(id);
      return row ? toRow(row) : null;
    },
    list: ({ state, batch, after: from, limit }: RowFilter): OutboxRow[] =>
      page.all({ state: state ?? null, batch: batch ?? null, after: from ?? 0, limit }).map(toRow),
    /** When the oldest row came that is neither sent nor given up; null where there is none. */
    oldestUnsentAt: oldestReader(db),
    /** Rows that may have left a post that is not bound to them: on their way, ambiguous, about to be sent again, or with a person. */
    unclear: () => unclear.all().map(toRow),
    /** Whether another row, one with other words, waits to go to the same board in the same way, and may go any time. */
    hasSuccessor: successorReader(db),
    /** The latest posts that an answer named, latest first. */
    latestSent: latestReader(db),
    ...pastReader(db),
    ...notesReader(db),
    ...holdReader(db),
    ...queueReader(db),
  };
}

/** What was done with a row. */
function pastReader(db: Db) {
  const tries = db.prepare<[number], AttemptRow>(`
    SELECT n, started_at, deadline_at, ended_at, outcome, http_status, post_id, error
      FROM outbox_attempts WHERE outbox_id = ? ORDER BY n`);
  const edits = db.prepare<[number], Omit<EditRow, 'before'> & { before: string }>(`
    SELECT n, edited_at, before FROM outbox_edits WHERE outbox_id = ? ORDER BY n`);
  return {
    attempts: (id: number): AttemptRow[] => tries.all(id),
    /** What the row said before each edit by a person. */
    edits: (id: number): EditRow[] =>
      edits.all(id).map(({ before, ...edit }) => ({ ...edit, before: JSON.parse(before) })),
  };
}

/** What the outbox notes about the service, in the table `meta`. */
function notesReader(db: Db) {
  return {
    /** Whether the service keeps the marks of posts, by board; a board of which that is not known yet is left out. */
    marks: (): Record<string, 'kept' | 'lost'> => JSON.parse(readMeta(db, 'push_marks') ?? '{}'),
    mirrorId: () => readMeta(db, 'mirror_id') ?? '',
    /** Posts that were first seen before have been compared with all sent rows; null before the first time. */
    checkedUntil(): number | null {
      const at = readMeta(db, 'posts_checked_until');
      return at === undefined ? null : Date.parse(at);
    },
    paused: () => readMeta(db, 'push_paused') ?? null,
  };
}

/** What keeps rows from being sent. */
function holdReader(db: Db) {
  const held = scalar(db)<{ ids: string; refused: string }, number>(`
    SELECT id FROM outbox WHERE id IN (SELECT value FROM json_each($ids))
       AND (state = 'cancelled' OR (state = 'ready' AND (on_hold = 1 OR NOT ${BOARD_IS_OPEN})))`);
  const goesOn = scalar(db)<{ batch: string; refused: string }, number>(`
    SELECT EXISTS (SELECT 1 FROM outbox WHERE ${OF_BATCH} (state IN ('sending', 'ambiguous') OR state = 'ready' AND ${BOARD_IS_OPEN}))`);
  const boards = refusedBoards(db);
  return {
    /** Boards that the upstream lets this token not post to, and that rows wait for. */
    refusedBoards: boards.wanted,
    /** Why nothing more of the batch is sent for now, where that is so: all its rows that are not done are for refused boards. */
    refusedBoardOf(batch: string, now: number): RefusedBoard | null {
      const closed = boards.closed(now);
      const [first = null] = closed;
      return first && goesOn.get({ batch, refused: namesOf(closed) }) === 0 ? first : null;
    },
    /** Those of the rows that are not to be sent, or not yet: a person held their import or cancelled them, or their board is refused. */
    heldAmong: (ids: readonly number[], now: number): number[] =>
      held.all({ ids: JSON.stringify(ids), refused: namesOf(boards.closed(now)) }),
  };
}

/** How many rows there are of each state, how many may be sent, and how fast the last ones went. */
function queueReader(db: Db) {
  // Two statements, for one with a condition that may be none would read every row for the sake of one batch.
  const count = db.prepare<[], { state: keyof StateCounts; n: number }>(`
    SELECT state, count(*) AS n FROM outbox GROUP BY state`);
  const countBatch = db.prepare<[string], { state: keyof StateCounts; n: number }>(`
    SELECT state, count(*) AS n FROM outbox WHERE batch = ? GROUP BY state`);
  const free = scalar(db)<[], number>("SELECT count(*) FROM outbox WHERE state = 'ready' AND on_hold = 0");
  const freeBefore = scalar(db)<[string], number>(`
    SELECT count(*) FROM outbox WHERE state = 'ready' AND on_hold = 0
       AND id < (SELECT min(id) FROM outbox WHERE batch = ? AND state = 'ready')`);
  // Those that were tried before wait for a time that was set for them.
  const firstFree = scalar(db)<[], string>(`
    SELECT changed_at FROM outbox WHERE state = 'ready' AND on_hold = 0 AND not_before IS NULL ORDER BY id LIMIT 1`);
  // Each took the time since the one before it, or since it was there to be sent: accepted, and its import resumed where it was paused.
  const recent = db.prepare<[string], { posts: number; ms: number | null; last: string | null }>(`
    SELECT count(*) AS posts, max(ended_at) AS last,
           round(sum(1000 * (unixepoch(ended_at, 'subsec') - unixepoch(max(coalesce(before, started_at), created_at, resumed_at), 'subsec')))) AS ms
      FROM (SELECT a.started_at, a.ended_at, o.created_at, lag(a.ended_at) OVER (ORDER BY a.ended_at) AS before,
                   iif(b.per_minute IS NULL AND b.next_at <= a.started_at, b.next_at, '') AS resumed_at
              FROM outbox_attempts a JOIN outbox o ON o.id = a.outbox_id LEFT JOIN batches b ON b.batch = o.batch
             WHERE a.outcome = 'confirmed' AND a.ended_at >= ?)`);
  return {
    counts(batch: string | null): StateCounts {
      const counts = Object.fromEntries(OUTBOX_STATES.map((state) => [state, 0])) as StateCounts;
      const found = batch === null ? count.all() : countBatch.all(batch);
      for (const { state, n } of found) counts[state] = n;
      return counts;
    },
    /** Rows that are ready and not held. */
    countFree: () => free.get() ?? 0,
    /** Since when the first of them waits, apart from rows that were tried before. */
    firstFreeAt(): number | null {
      const at = firstFree.get();
      return at === undefined ? null : Date.parse(at);
    },
    /** Those of them that are sent before the first row of this batch that is ready. */
    countFreeBefore: (batch: string) => freeBefore.get(batch) ?? 0,
    /** How many posts were confirmed since then, and until when the upstream wants no calls. */
    recentSends(since: number): RecentSends {
      const { posts = 0, ms = null, last = null } = recent.get(iso(since)) ?? {};
      const closed = readMeta(db, 'upstream_closed');
      const closedUntil = closed === undefined ? null : (JSON.parse(closed) as { until: number }).until;
      return { posts, ms: ms ?? 0, last: last === null ? null : Date.parse(last), closedUntil };
    },
  };
}
