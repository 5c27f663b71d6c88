import type { Db } from '../../db/open.ts';
import { chunkEnd, scalar } from '../../db/sql.ts';
import { changeLog } from '../../mirror/log/change-log.ts';
import { type RowErasers, rowErasers } from '../../mirror/suppression/rows.ts';

export interface ExpiredCounts {
  posts: number;
  comments: number;
  outbox: number;
}

export interface RetireWalk {
  table: 'posts' | 'comments';
  after: number;
  candidates: number[];
}

/** Rows erased in one transaction; each means a few writes and a step into the text index. */
const CHUNK = 200;
/** Rows looked at in one question: some milliseconds. */
const LOOK = 20_000;

/** Deleted rows whose time is up, and then the people of whom nothing else is left. */
export function expiry(db: Db) {
  const rows = rowErasers(db);
  return { expire: expirer(db, rows), retire: retirer(db, rows) };
}

function expirer(db: Db, rows: RowErasers) {
  const changes = changeLog(db);
  const check = db.prepare('INSERT INTO users_to_check (user_id) VALUES (?) ON CONFLICT DO NOTHING');
  const sentAs = scalar(db)<[number], number>(
    'SELECT id FROM outbox WHERE post_id = ? AND erased_at IS NULL',
  );
  const lists = { posts: dueRows(db, 'posts'), comments: dueRows(db, 'comments') };
  return (before: string, at: string): { counts: ExpiredCounts; more: boolean } => {
    rows.refresh();
    for (const id of lists.posts.redate.all({ at })) changes.add('post.updated', at, id);
    for (const id of lists.comments.redate.all({ at })) changes.add('comment.updated', at, id);
    const counts: ExpiredCounts = { posts: 0, comments: 0, outbox: 0 };
    for (const table of ['posts', 'comments'] as const)
      for (const { id, creator_id } of lists[table].due.all(before, CHUNK)) {
        const subject = table === 'posts' ? 'post' : 'comment';
        // A row that has lost its words already is marked too, and the change feed tells of it.
        if (!rows[subject](id, at)) changes.add(`${subject}.erased`, at, id);
        lists[table].mark.run(at, id);
        check.run(creator_id);
        counts[table]++;
        if (table === 'comments') continue;
        const sent = sentAs.get(id);
        if (sent === undefined) continue;
        rows.outbox(sent, at);
        counts.outbox++;
      }
    const more = counts.posts === CHUNK || counts.comments === CHUNK;
    for (const id of more ? [] : rows.leftReferences(at)) {
      changes.add('post.erased', at, id);
      counts.posts++;
    }
    return { counts, more };
  };
}

function dueRows(db: Db, table: 'posts' | 'comments') {
  return {
    due: db.prepare<[string, number], { id: number; creator_id: number }>(`
      SELECT id, creator_id FROM ${table}
       WHERE deleted_at IS NOT NULL AND erased_at IS NULL AND deleted_at <= ? ORDER BY deleted_at LIMIT ?`),
    // A row that was deleted while the clock was ahead counts as deleted now. If it was first seen later than now as well, the clock is behind
    // now, and the row keeps its time.
    redate: scalar(db)<{ at: string }, number>(`
      UPDATE ${table} SET deleted_at = $at
       WHERE deleted_at IS NOT NULL AND erased_at IS NULL AND deleted_at > $at AND first_seen_at <= $at RETURNING id`),
    mark: db.prepare(`UPDATE ${table} SET erased_at = ? WHERE id = ?`),
  };
}

/** An index from authors to rows would cost a first sweep a fifth. Both tables are walked instead, and only when an author's row was erased. */
function retirer(db: Db, rows: RowErasers) {
  const toCheck = scalar(db)<[], number>('SELECT user_id FROM users_to_check ORDER BY user_id');
  const checked = db.prepare('DELETE FROM users_to_check WHERE user_id = ?');
  const ends = { posts: chunkEnd(db, 'posts'), comments: chunkEnd(db, 'comments') };
  const authors = { posts: stillThere(db, 'posts'), comments: stillThere(db, 'comments') };
  const finish = (candidates: readonly number[], asked: readonly number[], at: string): number => {
    for (const id of asked) checked.run(id);
    return candidates.filter((id) => rows.user(id, at)).length;
  };
  return (walk: RetireWalk | null, at: string): { next: RetireWalk | null; users: number } => {
    const { table, after, candidates } = walk ?? { table: 'posts', after: -1, candidates: toCheck.all() };
    if (walk === null && candidates.length === 0) return { next: null, users: 0 };
    const end = ends[table].get(after, LOOK) ?? null;
    if (end === null && table === 'posts')
      return { next: { table: 'comments', after: -1, candidates }, users: 0 };
    if (end === null) return { next: null, users: finish(candidates, toCheck.all(), at) };
    const there = new Set(authors[table].all({ after, end, ids: JSON.stringify(candidates) }));
    return { next: { table, after: end, candidates: candidates.filter((id) => !there.has(id)) }, users: 0 };
  };
}

/** Those of the given authors who have a row here that still has its words. */
function stillThere(db: Db, table: string) {
  return scalar(db)<{ after: number; end: number; ids: string }, number>(`
      SELECT DISTINCT creator_id FROM ${table}
        WHERE id > $after AND id <= $end AND erased_at IS NULL AND creator_id IN (SELECT value FROM json_each($ids))`);
}
