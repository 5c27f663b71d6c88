import { iso } from '../../base/clock.ts';
import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import { ENDED } from '../../mirror/decide/types.ts';
import {
  type DoubtfulRow,
  type Knowledge,
  type KnownPost,
  type SentAlike,
  type SentAuthor,
  type SentPost,
  type StoredRow,
  toRow,
} from '../decide/types.ts';
import { earliestDate, type ShownPost, type Window } from '../decide/whose.ts';

/** So many sent posts tell whether a list shows what is sent. */
const LATEST_SENT = 500;

export function latestReader(db: Db) {
  const latest = db.prepare<[], SentPost>(`
    SELECT a.post_id AS id, o.board, o.kind, a.started_at AS sentAt, EXISTS (SELECT 1 FROM posts WHERE id = a.post_id) AS isMirrored
      FROM (SELECT * FROM outbox_attempts WHERE outcome = 'confirmed' ORDER BY ended_at DESC LIMIT ${LATEST_SENT}) a
      JOIN outbox o ON o.id = a.outbox_id
     WHERE o.erased_at IS NULL AND a.post_id IS NOT NULL
     ORDER BY a.ended_at DESC`);
  return (): SentPost[] => latest.all();
}

export function boundReader(db: Db) {
  const isBound = scalar(db)<[number], number>('SELECT 1 FROM outbox WHERE post_id = ?');
  // The latest rows whose post the mirror knows: an account may change hands, and what was sent long ago says nothing about today.
  const authors = db.prepare<[], SentAuthor & { post_id: number }>(`
    SELECT o.email AS asked, u.email AS shown, p.creator_id, o.post_id
      FROM (SELECT email, post_id FROM outbox
             WHERE post_id IS NOT NULL AND coalesce(matched, 'same') IN ('same', 'marked', 'exact', 'person') ORDER BY post_id DESC LIMIT 500) o
      JOIN posts p ON p.id = o.post_id JOIN users u ON u.id = p.creator_id`);
  return {
    /** Those of the given posts that already confirm some row. */
    boundPosts: (ids: readonly number[]): Set<number> => new Set(ids.filter((id) => isBound.get(id) === 1)),
    /** Whom the upstream shows as the creator of our latest posts; only of those whose row is certain. */
    sentAuthors: (): (SentAuthor & { post_id: number })[] => authors.all(),
  };
}

/** A second post of one request is made within so long of the first. */
const TWINS_APART = '+2 minutes';

export function sentLikeReader(db: Db) {
  const isSent =
    "(+o.state = 'confirmed' OR (o.was_ambiguous = 1 AND +o.state IN ('rejected', 'cancelled'))) AND o.erased_at IS NULL";
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const byHash = scalar(db)<[string], number>(`SELECT id FROM outbox o WHERE content_hash = ? AND ${isSent}`);
  const byMark = scalar(db)<[string], number>(`
    SELECT o.id FROM outbox o, json_each(?) m WHERE o.mark IS NOT NULL AND instr(o.mark, m.value) > 0 AND ${isSent}`);
  const checked = scalar(db)<[], number>(`SELECT id FROM outbox o WHERE checks_left > 0 AND ${isSent}`);
  const moment = (sign: string): string =>
    `strftime('%Y-%m-%dT%H:%M:%fZ', p.created, '${TWINS_APART.replace('+', sign)}')`;
  type OwnPost = { row: number; title: string; content: string; board: string };
  const told = db.prepare<[string], OwnPost>(`
    SELECT o.id AS row, q.title, q.content, b.slug AS board
      FROM outbox o JOIN posts q ON q.id = o.post_id JOIN boards b ON b.id = q.board_id
     WHERE o.duplicate_of IS NOT NULL AND ${isSent}
       AND EXISTS (SELECT 1 FROM json_each(o.candidates) c JOIN json_each(?) j ON c.value = j.value)`);
  const twins = db.prepare<[string], OwnPost>(`
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
    const own = [...told.all(mirrored), ...(areSwept ? twins.all(mirrored) : [])];
    for (const { row, ...shown } of own) found.set(row, shown);
    for (const { hash } of posts) for (const id of byHash.all(hash)) found.set(id, {});
    if (marks.length > 0) for (const id of byMark.all(list(marks))) found.set(id, {});
    return [...found].flatMap(([id, shown]) => {
      const row = byId.get(id);
      return row ? [{ row: toRow(row), shown, author: author.get(id) ?? null }] : [];
    });
  };
}

/** Doubtful posts are looked for among the rows with the highest post ids: a service reuses only its highest ids. */
const LATEST = 2000;

export function postReader(db: Db) {
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const ms = (column: string) => `CAST(round(1000 * unixepoch(${column}, 'subsec')) AS INTEGER)`;
  const columns = `SELECT p.id, p.title, p.content, p.url, b.slug AS board, p.creator_id, u.email, u.name, u.is_admin OR u.is_team AS is_team,
                          ${ms('p.created')} AS createdAt, ${ms('p.first_seen_at')} AS firstSeenAt
                     FROM posts p JOIN boards b ON b.id = p.board_id JOIN users u ON u.id = p.creator_id`;
  const doubtful = db.prepare<[], ShownPost & { row: number }>(`
    SELECT o.row, ${columns.slice('SELECT '.length)}
      JOIN (SELECT id AS row, post_id, title, content, matched, erased_at FROM outbox WHERE post_id IS NOT NULL ORDER BY post_id DESC LIMIT ${LATEST}) o
        ON o.post_id = p.id
     WHERE (o.title, o.content) <> (p.title, p.content) AND o.matched IS NOT 'person' AND o.erased_at IS NULL AND p.deleted_at IS NULL`);
  const unbound = 'NOT EXISTS (SELECT 1 FROM outbox o WHERE o.post_id = p.id)';
  const since = db.prepare<{ knownMaxId: number | null; created: string }, ShownPost>(`
    ${columns} WHERE p.id > $knownMaxId AND ${unbound} UNION ${columns} WHERE p.created >= $created AND ${unbound}`);
  const known = db.prepare<[string], KnownPost & { id: number }>(`
    SELECT j.value AS id, p.first_seen_at, coalesce(p.created_raw, p.created) AS created, o.email, o.matched, o.id AS row,
           (SELECT max(started_at) FROM outbox_attempts WHERE outbox_id = o.id) AS sent_at
      FROM json_each(?) j LEFT JOIN posts p ON p.id = j.value LEFT JOIN outbox o ON o.post_id = j.value
     WHERE p.id IS NOT NULL OR o.id IS NOT NULL`);
  const live = scalar(db)<[], number>(`
    SELECT (SELECT count(*) FROM posts) - (SELECT count(*) FROM posts WHERE deleted_at IS NOT NULL)`);
  const liveSince = scalar(db)<{ id: number; created: string }, number>(`
    SELECT count(*) FROM posts WHERE id >= $id AND created > $created AND deleted_at IS NULL`);
  return {
    /** Posts of the mirror, also deleted ones, that confirm no row and have a higher id or a date since then. */
    postsSince: (window: Window): ShownPost[] =>
      since.all({ knownMaxId: window.known_max_id, created: iso(earliestDate(window)) }),
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
    knowledge: knowledgeReader(db),
  };
}

function knowledgeReader(db: Db): () => Knowledge {
  const firstSweep = scalar(db)<[], number>(`
    SELECT 1 FROM sync_runs WHERE resource = 'posts' AND mode = 'sweep' AND ${ENDED} ORDER BY id LIMIT 1`);
  // Each is the end of an index; with a condition SQLite would walk over all of it.
  const [bound, listed] = ['max(post_id) FROM outbox', 'max(id) FROM posts'].map((which) =>
    scalar(db)<[], number | null>(`SELECT ${which}`),
  );
  const lastRun = scalar(db)<[], string>(`
    SELECT started_at FROM sync_runs WHERE +resource = 'posts' AND ${ENDED} ORDER BY id DESC LIMIT 1`);
  return () => {
    const readAt = lastRun.get();
    const isSwept = firstSweep.get() !== undefined;
    const ids = [bound?.get(), isSwept ? listed?.get() : null].filter((id) => typeof id === 'number');
    return {
      maxId: ids.length === 0 ? null : Math.max(...ids),
      readAt: readAt === undefined ? null : Date.parse(readAt),
    };
  };
}
