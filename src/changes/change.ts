import type { Db } from '../db/open.ts';
import { scalar } from '../db/sql.ts';
import type { ChangeType, Subject } from '../mirror/log/change-log.ts';
import { pastReader } from './past.ts';

/** A change as the table holds it. */
export interface StoredChange {
  n: number;
  at: string;
  type: ChangeType;
  id: number;
  version: number | null;
  detail: string | null;
}

type Value = string | number | boolean | null;
export type Values = Record<string, Value>;

/** A change as consumers get it. */
export interface Change {
  /** Where several services are mirrored, which one it happened in. */
  source?: string;
  number: number;
  /** The number, with what tells this change from another one of that number: see `positionOf`. */
  position: string;
  type: ChangeType;
  /** When the mirror observed it. */
  time: string;
  post_id?: number;
  comment_id?: number;
  user_id?: number;
  board_id?: number;
  status_id?: number;
  outbox_id?: number;
  run_id?: number;
  /** What changed, as it was and as it became then. */
  before?: Values;
  after?: Values;
  /** The present state of the post. Left out if the mirror does not have it. */
  post?: PostNow;
  /** The present state of the comment, without its text. */
  comment?: Values;
  outbox?: Values;
  /** Of a pass: the list, and what there is to say. */
  sync?: Values;
}

interface PostNow {
  id: number;
  title: string;
  url: string;
  board_id: number;
  board: string;
  board_slug: string;
  status_id: number;
  status: string;
  votes_count: number;
  comments_count: number;
  creator_id: number;
  created: string;
  deleted: boolean;
}

/**
 * A position names the change that a consumer read last, not only its number: `1042-m4k2x9a0` ends with when that change was observed.
 * A mirror that was put back to an earlier state gives the same numbers to other changes. Then the position does not fit, and
 * the consumer starts again from a snapshot; one that had read no further than the copy goes on as if nothing had happened.
 */
export function positionOf({ n, at }: Pick<StoredChange, 'n' | 'at'>): string {
  return `${n}-${Date.parse(at).toString(36)}`;
}

/** Returns a function that says what a stored change was, from the history and the rows as they are now. */
export function changeReader(db: Db): (stored: StoredChange) => Change {
  const about: Record<Subject, (stored: StoredChange) => Partial<Change>> = {
    post: postChanges(db),
    comment: commentChanges(db),
    user: ({ id }) => ({ user_id: id }),
    board: ({ id, detail }) => ({ board_id: id, ...namesIn(detail) }),
    status: ({ id, detail }) => ({ status_id: id, ...namesIn(detail) }),
    outbox: outboxChanges(db),
    sync: passChanges(db),
  };
  return (stored) => {
    const { n: number, type, at: time } = stored;
    const subject = type.split('.', 1)[0] as Subject;
    return { number, position: positionOf(stored), type, time, ...about[subject](stored) };
  };
}

function namesIn(detail: string | null): Pick<Change, 'before' | 'after'> {
  const { before, after } = JSON.parse(detail ?? '{}') as { before?: string; after?: string };
  return before === undefined || after === undefined
    ? {}
    : { before: { name: before }, after: { name: after } };
}

/** What the history tells about a post, or a comment, at one moment. */
type State = Values;

interface Numbered {
  n: number;
}

/**
 * States of a row around a change: the version it replaced, and the one after that. A version has only those texts that differ from the
 * next one; so a text is that of the first version from there on that has one, or else what the row has now.
 */
function historyReader(
  db: Db,
  table: 'post' | 'comment',
  plain: readonly string[],
  texts: readonly string[],
) {
  const columns = plain.join(', ');
  const [rows, versions, key] = [`${table}s`, `${table}_versions`, `${table}_id`];
  const from = db.prepare<[number, number], State & Numbered>(`
    SELECT n, ${columns} FROM ${versions} WHERE ${key} = ? AND n >= ? ORDER BY n LIMIT 1`);
  const now = db.prepare<[number], State>(`SELECT ${columns} FROM ${rows} WHERE id = ?`);
  const text = texts.map((name) => ({
    name,
    at: scalar(db)<{ id: number; n: number }, string>(`
        SELECT coalesce((SELECT ${name} FROM ${versions} WHERE ${key} = $id AND n >= $n AND ${name} IS NOT NULL ORDER BY n LIMIT 1),
                         (SELECT ${name} FROM ${rows} WHERE id = $id))`),
  }));
  const textsAt = (id: number, n: number): State =>
    Object.fromEntries(text.map(({ name, at }) => [name, at.get({ id, n }) ?? null]));
  const stateFrom = (id: number, n: number): State => {
    const { n: _, ...state } = from.get(id, n) ?? { n: 0, ...now.get(id) };
    return { ...state, ...textsAt(id, n) };
  };
  return {
    before: (id: number, version: number) => stateFrom(id, version),
    after: (id: number, version: number | null) => stateFrom(id, (version ?? 0) + 1),
  };
}

/** Only what differs. */
function differing(before: State, after: State, fields: readonly string[]): Pick<Change, 'before' | 'after'> {
  const changed = fields.filter((field) => before[field] !== after[field]);
  if (changed.length === 0) return {};
  const pick = (state: State): Values =>
    Object.fromEntries(changed.map((field) => [field, state[field] ?? null]));
  return { before: pick(before), after: pick(after) };
}

/** Which part of a post's history each type tells of. */
const POST_FIELDS: Partial<Record<ChangeType, readonly string[]>> = {
  'post.edited': ['title', 'content'],
  'post.status_changed': ['status_id', 'status'],
  'post.votes_changed': ['votes_count'],
  'post.moved': ['board_id', 'board'],
  'post.updated': ['comments_count'],
};

function postChanges(db: Db): (stored: StoredChange) => Partial<Change> {
  const post = postReader(db);
  const history = historyReader(
    db,
    'post',
    ['board_id', 'status_id', 'votes_count', 'comments_count'],
    ['title', 'content'],
  );
  const past = pastReader(db);
  return ({ n, type, id, version }) => {
    const named = (state: State): State => ({
      ...state,
      board: past.board(Number(state.board_id), n)?.name ?? null,
      status: past.status(Number(state.status_id), n),
    });
    const facts = { post_id: id, ...post(id) };
    if (type === 'post.created') return { ...facts, after: named(history.after(id, null)) };
    const fields = POST_FIELDS[type];
    if (!fields || version === null) return facts;
    return {
      ...facts,
      ...differing(named(history.before(id, version)), named(history.after(id, version)), fields),
    };
  };
}

function postReader(db: Db): (id: number) => Pick<Change, 'post'> {
  const find = db.prepare<[number], PostNow>(`
    SELECT p.id, p.title, p.url, p.board_id, b.name AS board, b.slug AS board_slug, p.status_id, s.name AS status,
           p.votes_count, p.comments_count, p.creator_id, p.created, p.deleted_at IS NOT NULL AS deleted
      FROM posts p JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id WHERE p.id = ?`);
  return (id) => {
    const found = find.get(id);
    return found ? { post: { ...found, deleted: Boolean(found.deleted) } } : {};
  };
}

const COMMENT_FIELDS = [
  'post_id',
  'creator_id',
  'kind',
  'status',
  'likes_count',
  'highlighted',
  'internal',
] as const;

function commentChanges(db: Db): (stored: StoredChange) => Partial<Change> {
  const post = postReader(db);
  const history = historyReader(db, 'comment', COMMENT_FIELDS, ['content']);
  const find = db.prepare<[number], { post_id: number; deleted: number } & Values>(`
    SELECT ${COMMENT_FIELDS.join(', ')}, created, deleted_at IS NOT NULL AS deleted FROM comments WHERE id = ?`);
  return ({ type, id, version }) => {
    const now = find.get(id);
    if (!now) return { comment_id: id };
    const comment = { id, ...now, deleted: Boolean(now.deleted) };
    const facts = { comment_id: id, post_id: now.post_id, ...post(now.post_id), comment };
    if (type === 'comment.created') return { ...facts, after: history.after(id, null) };
    const fields = type === 'comment.edited' ? ['content'] : type === 'comment.updated' ? COMMENT_FIELDS : [];
    if (version === null || fields.length === 0) return facts;
    return { ...facts, ...differing(history.before(id, version), history.after(id, version), fields) };
  };
}

function outboxChanges(db: Db): (stored: StoredChange) => Partial<Change> {
  const post = postReader(db);
  const find = db.prepare<[number], { post_id: number | null } & Values>(`
    SELECT batch, board, state, attempts, post_id FROM outbox WHERE id = ?`);
  return ({ id, detail }) => {
    const { before, after, count } = JSON.parse(detail ?? '{}') as {
      before?: string;
      after?: string;
      count?: number;
    };
    const outbox = { ...find.get(id), ...(count === undefined ? {} : { count }) };
    const postId = outbox.post_id ?? null;
    return {
      outbox_id: id,
      ...(typeof postId === 'number' ? { post_id: postId, ...post(postId) } : {}),
      ...(before === undefined || after === undefined
        ? {}
        : { before: { state: before }, after: { state: after } }),
      outbox,
    };
  };
}

/** The log of passes has the reason of a failed pass, as long as the log is kept. */
function passChanges(db: Db): (stored: StoredChange) => Partial<Change> {
  const error = scalar(db)<[number], string | null>('SELECT error FROM sync_runs WHERE id = ?');
  return ({ type, id, detail }) => {
    const sync = JSON.parse(detail ?? '{}') as Values;
    return { run_id: id, sync: type === 'sync.failed' ? { ...sync, error: error.get(id) ?? null } : sync };
  };
}
