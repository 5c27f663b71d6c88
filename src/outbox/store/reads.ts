import { iso } from '../../base/clock.ts';
import type { Db } from '../../db/open.ts';
import { readMeta, scalar } from '../../db/sql.ts';
import { ENDED } from '../../mirror/decide/types.ts';
import {
  type AttemptRow,
  type DoubtfulRow,
  type Due,
  type EditRow,
  type Knowledge,
  type KnownPost,
  type MirroredPost,
  OUTBOX_STATES,
  type OutboxRow,
  type RecentSends,
  type RowFilter,
  type SentAlike,
  type SentAuthor,
  type SentPost,
  type StateCounts,
  type StoredRow,
  toRow,
  type Unclear,
} from '../decide/types.ts';
import { batchReader } from './batches.ts';
import { paceOf } from './pace.ts';
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
  const tries = db.prepare<[number], AttemptRow>(`
    SELECT n, started_at, deadline_at, ended_at, outcome, http_status, post_id, error
      FROM outbox_attempts WHERE outbox_id = ? ORDER BY n`);
  const edits = db.prepare<[number], Omit<EditRow, 'before'> & { before: string }>(`
    SELECT n, edited_at, before FROM outbox_edits WHERE outbox_id = ? ORDER BY n`);
  // Two statements, for one with a condition that may be none would read every row for the sake of one batch.
  const count = db.prepare<[], { state: keyof StateCounts; n: number }>(`
    SELECT state, count(*) AS n FROM outbox GROUP BY state`);
  const countBatch = db.prepare<[string], { state: keyof StateCounts; n: number }>(`
    SELECT state, count(*) AS n FROM outbox WHERE batch = ? GROUP BY state`);
  // Each by its index, also where the last statistics are those of an outbox of fifty rows: then SQLite would rather read all of them.
  const unclear = db.prepare<[], StoredRow>(`
    SELECT o.* FROM (
      SELECT id FROM outbox WHERE state = 'sending'
      UNION ALL SELECT id FROM outbox WHERE state = 'ambiguous'
      UNION ALL SELECT id FROM outbox WHERE state = 'uncertain'
      UNION ALL SELECT id FROM outbox WHERE state = 'ready' AND was_ambiguous = 1
    ) c CROSS JOIN outbox o ON o.id = c.id WHERE o.erased_at IS NULL AND o.first_sent_at IS NOT NULL ORDER BY o.id`);
  const free = scalar(db)<[], number>("SELECT count(*) FROM outbox WHERE state = 'ready' AND on_hold = 0");
  const freeBefore = scalar(db)<[string], number>(`
    SELECT count(*) FROM outbox WHERE state = 'ready' AND on_hold = 0
       AND id < (SELECT min(id) FROM outbox WHERE batch = ? AND state = 'ready')`);
  const held = scalar(db)<{ ids: string; refused: string }, number>(`
    SELECT id FROM outbox WHERE id IN (SELECT value FROM json_each($ids))
       AND (state = 'cancelled' OR (state = 'ready' AND (on_hold = 1 OR NOT ${BOARD_IS_OPEN})))`);
  const goesOn = scalar(db)<{ batch: string; refused: string }, number>(`
    SELECT EXISTS (SELECT 1 FROM outbox WHERE ${OF_BATCH} (state IN ('sending', 'ambiguous') OR state = 'ready' AND ${BOARD_IS_OPEN}))`);
  const boards = refusedBoards(db);
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
    /** Whether nothing more happens by itself to these rows. */
    isOver: openReader(db),
    /** What is due now, oldest first, at most `limit` rows and none with the words of one under way; of one batch where named, except ambiguous rows. */
    due: dueReader(db),
    /** How many rows could go on now, ambiguous ones among them, counted up to a thousand. */
    countDue: dueCounter(db),
    ...postReader(db),
    ...boundReader(db),
    /** Sent rows that have the words or the mark of one of these posts; after a sweep also those whose own post shows the same words. */
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
    attempts: (id: number): AttemptRow[] => tries.all(id),
    /** When the oldest row came that is neither sent nor given up; null where there is none. */
    oldestUnsentAt: oldestReader(db),
    /** What the row said before each time a person mended it. */
    edits: (id: number): EditRow[] =>
      edits.all(id).map(({ before, ...edit }) => ({ ...edit, before: JSON.parse(before) })),
    counts(batch: string | null): StateCounts {
      const counts = Object.fromEntries(OUTBOX_STATES.map((state) => [state, 0])) as StateCounts;
      const found = batch === null ? count.all() : countBatch.all(batch);
      for (const { state, n } of found) counts[state] = n;
      return counts;
    },
    /** Rows that may have left a post that is not bound to them: on their way, ambiguous, about to be sent again, or with a person. */
    unclear: () => unclear.all().map(toRow),
    /** Whether another row, one with other words, waits to go to the same board in the same way, and may go any time. */
    hasSuccessor: successorReader(db),
    /** The latest posts that an answer named, latest first. */
    latestSent: latestReader(db),
    /** Whether the service keeps the marks of posts, by board; a board of which that is not known yet is left out. */
    marks: (): Record<string, 'kept' | 'lost'> => JSON.parse(readMeta(db, 'push_marks') ?? '{}'),
    mirrorId: () => readMeta(db, 'mirror_id') ?? '',
    /** Posts that were first seen before have been compared with all sent rows; null before the first time. */
    checkedUntil(): number | null {
      const at = readMeta(db, 'posts_checked_until');
      return at === undefined ? null : Date.parse(at);
    },
    paused: () => readMeta(db, 'push_paused') ?? null,
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

const TWIN_UNDER_WAY = `EXISTS (
  SELECT 1 FROM outbox t WHERE t.content_hash = o.content_hash AND t.id <> o.id AND t.state IN ('sending', 'ambiguous'))`;

function successorReader(db: Db) {
  const exists = scalar(db)<Pick<OutboxRow, 'board' | 'kind' | 'content_hash'>, number>(`
      SELECT EXISTS (SELECT 1 FROM outbox o
         WHERE state = 'ready' AND on_hold = 0 AND board = $board AND kind = $kind AND content_hash <> $content_hash AND NOT ${TWIN_UNDER_WAY})`);
  return ({ board, kind, content_hash }: OutboxRow): boolean =>
    exists.get({ board, kind, content_hash }) === 1;
}

/** Enough to know by whether a list shows what is sent. */
const LATEST_SENT = 500;

function latestReader(db: Db) {
  const latest = db.prepare<[], SentPost>(`
    SELECT a.post_id AS id, o.board, o.kind, a.started_at AS sentAt, EXISTS (SELECT 1 FROM posts WHERE id = a.post_id) AS isMirrored
      FROM (SELECT * FROM outbox_attempts WHERE outcome = 'confirmed' ORDER BY ended_at DESC LIMIT ${LATEST_SENT}) a
      JOIN outbox o ON o.id = a.outbox_id
     WHERE o.erased_at IS NULL AND a.post_id IS NOT NULL
     ORDER BY a.ended_at DESC`);
  return (): SentPost[] => latest.all();
}

/** A change that lies in the future was made by a clock that was ahead: the time it set says nothing, and counts as come. */
const DUE = '(not_before <= $at OR changed_at > $at)';

function unclearReader(db: Db): (now: number) => Unclear | null {
  // Each is one step into the index; min and max in one query would walk over all of them.
  const ends = ['ASC', 'DESC'].map((direction) =>
    db.prepare<[], { not_before: string | null }>(`
      SELECT not_before FROM outbox WHERE state = 'ambiguous' AND on_hold = 0 ORDER BY not_before ${direction} LIMIT 1`),
  );
  const ahead = scalar(db)<{ at: string }, number>(`
    SELECT EXISTS (SELECT 1 FROM outbox WHERE state = 'ambiguous' AND on_hold = 0 AND not_before > $at AND changed_at > $at)`);
  return (now) => {
    const [first, last] = ends.map((end) => end.get());
    if (!first || !last) return null;
    if (ahead.get({ at: iso(now) }) === 1) return { first: now, last: now };
    const timeOf = (time: string | null): number => (time === null ? now : Date.parse(time));
    return { first: timeOf(first.not_before), last: timeOf(last.not_before) };
  };
}

function openReader(db: Db): (batch: string | null) => boolean {
  const isOpen = (of: string) =>
    scalar(db)<{ batch?: string }, number>(`
      SELECT EXISTS (SELECT 1 FROM outbox WHERE ${of} state IN ('ready', 'sending', 'ambiguous'))`);
  const [all, one] = [isOpen(''), isOpen(OF_BATCH)];
  return (batch) => (batch === null ? all.get({}) : one.get({ batch })) === 0;
}

/** Rows that were never tried stand in the order they came in, so their first one is the oldest; of the others there are few. */
function oldestReader(db: Db): () => number | null {
  const oldest = scalar(db)<[], string | null>(`
      SELECT min(created_at) FROM (
        SELECT * FROM (SELECT created_at FROM outbox WHERE state = 'ready' AND on_hold = 0 AND not_before IS NULL ORDER BY id LIMIT 1)
        UNION ALL SELECT created_at FROM outbox WHERE state = 'ready' AND on_hold = 0 AND not_before IS NOT NULL
        UNION ALL SELECT created_at FROM outbox WHERE state IN ('sending', 'ambiguous'))`);
  return () => {
    const at = oldest.get();
    return at ? Date.parse(at) : null;
  };
}

const OF_BATCH = 'batch = $batch AND';

/** Counting further tells nobody more. */
const MOST_COUNTED = 1000;

function dueCounter(db: Db): (now: number) => number {
  const boards = refusedBoards(db);
  const counted = scalar(db)<{ at: string; refused: string }, number>(`
      SELECT count(*) FROM (SELECT 1 FROM outbox o WHERE state IN ('ready', 'ambiguous') AND on_hold = 0 AND (not_before IS NULL OR ${DUE})
                                AND (state = 'ambiguous' OR ${BOARD_IS_OPEN}) AND NOT ${TWIN_UNDER_WAY} LIMIT ${MOST_COUNTED})`);
  return (now) => counted.get({ at: iso(now), refused: namesOf(boards.closed(now)) }) ?? 0;
}

/**
 * Each question is a few steps into an index, however many rows wait. A row that waited for its time goes before those that were
 * never tried: behind a long import it would wait for days, and all that was posted meanwhile would have to be read if it became
 * unclear.
 */
function dueReader(db: Db): (now: number, limit: number, batch?: string | null) => Due {
  const ready = { all: readyQueries(db, ''), batch: readyQueries(db, OF_BATCH) };
  const unclear = unclearReader(db);
  const boards = refusedBoards(db);
  return (now, limit, batch = null) => {
    const at = iso(now);
    const closed = boards.closed(now);
    const which = { at, refused: namesOf(closed), ...(batch === null ? {} : { batch }) };
    const { waited, untried, later } = batch === null ? ready.all : ready.batch;
    const rows = waited.all({ ...which, limit });
    if (rows.length < limit) rows.push(...untried.all({ ...which, limit: limit - rows.length }));
    const settling = unclear(now);
    const times = rows.map(({ since }) => Date.parse(since));
    if (settling && settling.first <= now) times.push(settling.first);
    const next = [later.get(which) ?? [], ...closed.map(({ until }) => until)].flat().sort()[0];
    return {
      ready: rows.map(({ id }) => id),
      unclear: settling,
      since: times.length === 0 ? null : Math.min(...times),
      at: next ? Date.parse(next) : null,
    };
  };
}

function readyQueries(db: Db, of: string) {
  type Which = { at: string; refused: string; batch?: string };
  const select = (which: string) =>
    db.prepare<Which & { limit: number }, { id: number; since: string }>(`
      SELECT id, iif(not_before <= $at, not_before, min(created_at, $at)) AS since FROM outbox o
       WHERE ${of} state = 'ready' AND on_hold = 0 AND ${which} AND ${BOARD_IS_OPEN} AND NOT ${TWIN_UNDER_WAY} ORDER BY not_before, id LIMIT $limit`);
  const first = `SELECT min(not_before) FROM outbox WHERE ${of} state = 'ready' AND on_hold = 0 AND not_before > $at AND changed_at <= $at`;
  return {
    waited: select(`not_before IS NOT NULL AND ${DUE}`),
    untried: select('not_before IS NULL'),
    later: scalar(db)<Which, string | null>(first),
  };
}

function boundReader(db: Db) {
  const isBound = scalar(db)<[number], number>('SELECT 1 FROM outbox WHERE post_id = ?');
  const alike = scalar(db)<{ hash: string; id: number }, number>(`
      SELECT id FROM outbox WHERE content_hash = $hash AND id <> $id AND state NOT IN ('proposed', 'rejected', 'cancelled') LIMIT 1`);
  // The latest rows whose post the mirror knows: an account may change hands, and what was sent long ago says nothing about today.
  const authors = db.prepare<[], SentAuthor & { post_id: number }>(`
    SELECT o.email AS asked, u.email AS shown, p.creator_id, o.post_id
      FROM (SELECT email, post_id FROM outbox
             WHERE post_id IS NOT NULL AND coalesce(matched, 'same') IN ('same', 'marked', 'exact', 'person') ORDER BY post_id DESC LIMIT 500) o
      JOIN posts p ON p.id = o.post_id JOIN users u ON u.id = p.creator_id`);
  return {
    /** Those of the given posts that already confirm some row. */
    boundPosts: (ids: readonly number[]): Set<number> => new Set(ids.filter((id) => isBound.get(id) === 1)),
    /** A row that was sent, or is to be, with the content hash of this one; null where there is none. */
    sentAlike: ({ id, content_hash: hash }: Pick<OutboxRow, 'id' | 'content_hash'>): number | null =>
      alike.get({ hash, id }) ?? null,
    /** Whom the upstream shows as the creator of our latest posts; only of those whose row is certain. */
    sentAuthors: (): (SentAuthor & { post_id: number })[] => authors.all(),
  };
}

/** A second post of one request is made within so long of the first. */
const TWINS_APART = '+2 minutes';

function sentLikeReader(db: Db) {
  const isSent =
    "(+o.state = 'confirmed' OR (o.was_ambiguous = 1 AND +o.state IN ('rejected', 'cancelled'))) AND o.erased_at IS NULL";
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const byHash = scalar(db)<[string], number>(`SELECT id FROM outbox o WHERE content_hash = ? AND ${isSent}`);
  const byMark = scalar(db)<[string], number>(`
    SELECT o.id FROM outbox o, json_each(?) m WHERE o.mark IS NOT NULL AND instr(o.mark, m.value) > 0 AND ${isSent}`);
  const checked = scalar(db)<[], number>(`SELECT id FROM outbox o WHERE checks_left > 0 AND ${isSent}`);
  const moment = (sign: string): string =>
    `strftime('%Y-%m-%dT%H:%M:%fZ', p.created, '${TWINS_APART.replace('+', sign)}')`;
  const twins = db.prepare<[string], { row: number; title: string; content: string; board: string }>(`
    SELECT o.id AS row, q.title, q.content, b.slug AS board
      FROM json_each(?) j JOIN posts p ON p.id = j.value
      JOIN posts q ON q.created BETWEEN ${moment('-')} AND ${moment('+')} AND q.id <> p.id
                  AND (q.creator_id, q.board_id, q.title, q.content) = (p.creator_id, p.board_id, p.title, p.content)
      JOIN boards b ON b.id = q.board_id JOIN outbox o ON o.post_id = q.id WHERE ${isSent}`);
  const author = db.prepare<[number], SentAuthor>(`
    SELECT o.email AS asked, u.email AS shown, p.creator_id FROM outbox o JOIN posts p ON p.id = o.post_id JOIN users u ON u.id = p.creator_id
     WHERE o.id = ? AND coalesce(o.matched, '') <> 'part'`);
  return (
    posts: readonly { id: number; hash: string; marks: readonly string[] }[],
    areSwept: boolean,
  ): SentAlike[] => {
    const list = (values: readonly (string | number)[]): string => JSON.stringify(values);
    const marks = posts.flatMap((post) => post.marks);
    const found = new Map<number, SentAlike['shown']>();
    const mirrored = list(posts.map(({ id }) => id));
    if (areSwept) for (const id of checked.all()) found.set(id, {});
    if (areSwept) for (const { row, ...shown } of twins.all(mirrored)) found.set(row, shown);
    for (const { hash } of posts) for (const id of byHash.all(hash)) found.set(id, {});
    if (marks.length > 0) for (const id of byMark.all(list(marks))) found.set(id, {});
    return [...found].flatMap(([id, shown]) => {
      const row = byId.get(id);
      return row ? [{ row: toRow(row), shown, author: author.get(id) ?? null }] : [];
    });
  };
}

/** Numbers are given anew at their upper end: further down nobody has to look. */
const LATEST = 2000;

function postReader(db: Db) {
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const columns = `SELECT p.id, p.title, p.content, p.url, b.slug AS board_slug, p.creator_id, u.email AS creator_email, u.name AS creator_name,
                          u.is_admin OR u.is_team AS is_team, p.created, p.first_seen_at
                     FROM posts p JOIN boards b ON b.id = p.board_id JOIN users u ON u.id = p.creator_id`;
  const doubtful = db.prepare<[], MirroredPost & { row: number }>(`
    SELECT o.row, ${columns.slice('SELECT '.length)}
      JOIN (SELECT id AS row, post_id, title, content, matched, erased_at FROM outbox WHERE post_id IS NOT NULL ORDER BY post_id DESC LIMIT ${LATEST}) o
        ON o.post_id = p.id
     WHERE (o.title, o.content) <> (p.title, p.content) AND o.matched IS NOT 'person' AND o.erased_at IS NULL AND p.deleted_at IS NULL`);
  const unbound = 'NOT EXISTS (SELECT 1 FROM outbox o WHERE o.post_id = p.id)';
  // By what there is an index for, and by the feed: first_seen_at has none, and one of a million entries would slow down every first sweep.
  const told = `
    SELECT id FROM changes
     WHERE n > coalesce((SELECT n FROM changes WHERE at < $created ORDER BY n DESC LIMIT 1), 0) AND type = 'post.created'`;
  const since = db.prepare<{ knownMaxId: number | null; created: string; local: string }, MirroredPost>(`
    ${columns} WHERE p.id > $knownMaxId AND ${unbound}
    UNION ${columns} WHERE p.created >= $local AND ($knownMaxId IS NULL OR max(p.created, p.first_seen_at) >= $created) AND ${unbound}
    UNION ${columns} WHERE p.id IN (${told}) AND ${unbound}`);
  const known = db.prepare<[string], KnownPost & { id: number }>(`
    SELECT j.value AS id, p.first_seen_at, coalesce(p.created_raw, p.created) AS created, o.first_sent_at, o.email, o.matched, o.id AS row
      FROM json_each(?) j LEFT JOIN posts p ON p.id = j.value LEFT JOIN outbox o ON o.post_id = j.value
     WHERE p.id IS NOT NULL OR o.id IS NOT NULL`);
  const firstSweep = scalar(db)<[], string | null>(`
    SELECT finished_at FROM sync_runs WHERE resource = 'posts' AND mode = 'sweep' AND ${ENDED} ORDER BY id LIMIT 1`);
  // Each is the end of an index; with a condition SQLite would walk over all of it.
  const [bound, listed] = ['max(post_id) FROM outbox', 'max(id) FROM posts'].map((which) =>
    scalar(db)<[], number | null>(`SELECT ${which}`),
  );
  const live = scalar(db)<[], number>(`
    SELECT (SELECT count(*) FROM posts) - (SELECT count(*) FROM posts WHERE deleted_at IS NOT NULL)`);
  const liveSince = scalar(db)<{ id: number; created: string }, number>(`
    SELECT count(*) FROM posts WHERE id >= $id AND created > $created AND deleted_at IS NULL`);
  const lastRun = scalar(db)<[], string>(`
    SELECT started_at FROM sync_runs WHERE resource = 'posts' AND ${ENDED} ORDER BY id DESC LIMIT 1`);
  return {
    /** Posts of the mirror, also deleted ones, that confirm no row and have a higher id, were made since or first seen since. */
    postsSince({ knownMaxId, created }: { knownMaxId: number | null; created: number }): MirroredPost[] {
      const [slow, local] = [iso(created - MOST_SLOW_MS), iso(created - MOST_LOCAL_MS)];
      return since.all({ knownMaxId, created: slow, local });
    },
    /** What the mirror and the outbox know of these posts; those of which they know nothing are left out. */
    knownPosts: (ids: readonly number[]): Map<number, KnownPost> =>
      new Map(known.all(JSON.stringify(ids)).map(({ id, ...post }) => [id, post])),
    /** Of the rows with the highest numbers of posts, those whose post has other words than were sent. */
    doubtfulRows: (): DoubtfulRow[] =>
      doubtful.all().flatMap(({ row, ...post }) => {
        const found = byId.get(row);
        return found ? [{ row: toRow(found), post }] : [];
      }),
    /** Posts that the mirror has and that are not known to be gone; only those from a number and after a date, where given. */
    liveCount: (since?: { id: number; created: string }) =>
      (since === undefined ? live.get() : liveSince.get(since)) ?? 0,
    /** What is known of the upstream's posts before one is sent. */
    knowledge(): Knowledge {
      const readAt = lastRun.get();
      const sweptAt = firstSweep.get() ?? null;
      const ids = [bound?.get(), sweptAt === null ? null : listed?.get()].filter(
        (id) => typeof id === 'number',
      );
      return {
        maxId: ids.length === 0 ? null : Math.max(...ids),
        readAt: readAt === undefined ? null : Date.parse(readAt),
        sweptAt,
      };
    },
  };
}

/** The upstream's clock may be behind by so much. */
const MOST_SLOW_MS = 2 * 3_600_000;
/** Its times may be local ones, or only days. Posts that say so are new where no id tells that, or where the mirror has just seen them first. */
const MOST_LOCAL_MS = 40 * 3_600_000;
