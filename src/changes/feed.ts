import { AppError } from '../base/errors.ts';
import type { Resource } from '../contract/endpoints.ts';
import type { Db, OpenOptions } from '../db/open.ts';
import { dataVersion, readMeta, scalar } from '../db/sql.ts';
import { openMirrorReadOnly } from '../mirror/file/open.ts';
import { CHANGE_TYPES, type ChangeType, type Subject } from '../mirror/log/change-log.ts';
import { type Change, changeReader, positionOf, type StoredChange } from './change.ts';
import { pastReader } from './past.ts';

export interface FeedHead {
  /** Tells this mirror from every other. */
  mirror: string;
  /** The position from which a consumer continues after a snapshot. */
  position: string;
  /** The oldest change that is kept; null where there is none. */
  oldest: number | null;
  /** Lists whose first sweep is not complete: their rows are in no change yet. */
  notMirrored: Resource[];
}

export interface ChangeQuery {
  limit: number;
  /** Types, or groups of them such as `post.*`; all where it is left out. */
  types?: readonly string[] | undefined;
  /** Boards by name, short name or number; all, and what belongs to no board, where it is left out. */
  boards?: readonly string[] | undefined;
}

export interface ChangePage {
  changes: Change[];
  /** Where the next page begins, also where nothing on the way was wanted. */
  next: string;
  isLast: boolean;
}

export type ChangeFeed = ReturnType<typeof openChangeFeed>;

/** The reading half of the change feed. `source` names one of several, and is in every change that is read. */
export function openChangeFeed(options: OpenOptions, source: string | null = null) {
  const db = openMirrorReadOnly(options);
  return { ...changeFeed(db, source), close: (): void => void db.close() };
}

/** Changes looked at in one go while a filter leaves most of them out. */
const LOOK = 1000;

/** The reading half of the change feed: everything after a position, oldest first. */
export function changeFeed(db: Db, source: string | null = null) {
  const positions = feedPositions(db);
  const readUnnamed = changeReader(db);
  const read = (row: StoredChange): Change =>
    source === null ? readUnnamed(row) : { source, ...readUnnamed(row) };
  const isOnBoard = boardFilter(db);
  const stored = db.prepare<[number, string, number], StoredChange>(`
    SELECT n, at, type, id, version, detail FROM changes
     WHERE n > ? AND type IN (SELECT value FROM json_each(?)) ORDER BY n LIMIT ?`);
  const one = db.prepare<[number], StoredChange>(`
    SELECT n, at, type, id, version, detail FROM changes WHERE n = ?`);
  const notMirrored = scalar(db)<[], Resource>('SELECT resource FROM feed_lists WHERE start IS NULL');

  const after = (since: string, { limit, types, boards }: ChangeQuery): ChangePage => {
    let from = positions.check(since);
    const [wanted, head, step] = [JSON.stringify(typesOf(types)), positions.head(), boards ? LOOK : limit];
    const changes: Change[] = [];
    const upTo = (n: number): ChangePage => ({ changes, next: positions.of(n), isLast: n === head });
    for (;;) {
      const rows = stored.all(from, wanted, step);
      for (const row of rows) {
        from = row.n;
        const change = read(row);
        if (!boards || isOnBoard(row, change, boards)) changes.push(change);
        if (changes.length === limit) return upTo(from);
      }
      if (rows.length < step) return upTo(head);
    }
  };

  return {
    /** A consumer that waits for news asks this, and not the table. */
    version: dataVersion(db),
    head: db.transaction(
      (): FeedHead => ({
        mirror: readMeta(db, 'mirror_id') ?? '',
        position: positions.of(positions.head()),
        oldest: positions.oldest(),
        notMirrored: notMirrored.all(),
      }),
    ),
    /** The same position as a change of now, with `now` for the last one; fails with `gone` where `after` would. */
    resolve: db.transaction((since: string) => positions.of(positions.check(since))),
    /** What came after a position, as of one moment. Fails with `gone` where the feed does not continue from there. */
    after: db.transaction(after),
    /** One change in the form that `after` gives. Null if there is no change with that number. */
    find(number: number): Change | null {
      const row = one.get(number);
      return row ? read(row) : null;
    },
  };
}

/**
 * By the board that the post it is about was on then, also the one it came from; a row of the outbox has the board it goes to. What
 * happens later changes nothing about it: a webhook that failed must find the same changes when it is tried again.
 */
function boardFilter(db: Db) {
  const past = pastReader(db);
  return (stored: StoredChange, { post_id, before, outbox }: Change, wanted: readonly string[]): boolean => {
    const { n, type } = stored;
    const post = type.startsWith('comment.') ? past.postOfComment(stored) : (post_id ?? null);
    const boards = [post === null ? null : past.boardOfPost(post, n), before?.board_id ?? null];
    const names = boards.flatMap((id) =>
      typeof id === 'number' ? Object.values(past.board(id, n) ?? {}) : [],
    );
    const known = [...names, outbox?.board ?? ''].map((name) => String(name).toLowerCase());
    return wanted.some((name) => known.includes(name.toLowerCase()));
  };
}

/** Every type that is meant; a name that means none is refused. */
export function typesOf(names: readonly string[] | undefined): readonly ChangeType[] {
  if (!names || names.length === 0) return CHANGE_TYPES;
  return names.flatMap((name) => {
    const prefix = name.endsWith('.*') ? name.slice(0, -1) : null;
    const meant = CHANGE_TYPES.filter((type) => (prefix ? type.startsWith(prefix) : type === name));
    if (meant.length > 0) return meant;
    throw new AppError('usage', `there is no change of the type "${name}"`, {
      hint: `Types are ${CHANGE_TYPES.join(', ')}; post.* is every change of a post.`,
    });
  });
}

const POSITION = /^(?<number>\d{1,15})(?:-(?<stamp>[0-9a-z]{1,12}))?$/;

function feedPositions(db: Db) {
  const find = db.prepare<[number], Pick<StoredChange, 'n' | 'at'>>('SELECT n, at FROM changes WHERE n = ?');
  const last = scalar(db)<[], number | null>('SELECT max(n) FROM changes');
  const first = scalar(db)<[], number | null>('SELECT min(n) FROM changes');
  const head = (): number => last.get() ?? 0;
  return {
    head,
    oldest: () => first.get() ?? null,
    of(n: number): string {
      const row = find.get(n);
      return row ? positionOf(row) : String(n);
    },
    /** The number of the last change that a consumer at this position has read. */
    check(since: string): number {
      if (since === 'now') return head();
      if (since === '') return Math.max(0, (first.get() ?? 1) - 1);
      const { number, stamp } = POSITION.exec(since)?.groups ?? {};
      if (number === undefined)
        throw new AppError('usage', `"${since}" is no position of the change feed`, {
          hint: 'Give the number or the position of the last change you have.',
        });
      const n = Number(number);
      if (n > head()) throw gone(`the feed ends at ${head()}: this mirror is an older copy, or another one`);
      if (n < (first.get() ?? 1) - 1)
        throw gone(`changes up to ${(first.get() ?? 1) - 1} are not kept any more`);
      const row = find.get(n);
      if (stamp !== undefined && (!row || positionOf(row) !== since))
        throw gone(`change ${n} is another one here: this mirror was put back to an earlier state`);
      return n;
    },
  };
}

function gone(why: string): AppError {
  return new AppError('gone', `the feed does not continue from there: ${why}`, {
    hint: 'Start again from a snapshot: take the position first, then read the tables or an export, then follow from it.',
  });
}

/** Rows that changed, each once, to be read as they are now; also authors, whom comments of a first sweep show without a change. */
export interface TouchedRows {
  next: string;
  isLast: boolean;
  ids: Record<Exclude<Subject, 'sync'>, number[]>;
  /** Those of them of which the past was changed, too: their texts were erased from the history. */
  erased: Record<'post' | 'comment', number[]>;
  /** Lists whose first sweep was completed: all of their rows are new. */
  mirrored: Resource[];
}

/** For a consumer that keeps copies of the rows and not of their story. Call it in the transaction that then reads the rows. */
export function touchedRows(db: Db): (since: string, limit: number) => TouchedRows {
  const positions = feedPositions(db);
  const stored = db.prepare<[number, number], StoredChange>(`
    SELECT n, at, type, id, version, detail FROM changes WHERE n > ? ORDER BY n LIMIT ?`);
  const authorsOf = (table: Resource) =>
    scalar(db)<[string], number>(`
      SELECT DISTINCT creator_id FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`);
  const authors = { posts: authorsOf('posts'), comments: authorsOf('comments') };
  return (since, limit) => {
    const rows = stored.all(positions.check(since), limit);
    const ids: TouchedRows['ids'] = { post: [], comment: [], user: [], board: [], status: [], outbox: [] };
    const erased: TouchedRows['erased'] = { post: [], comment: [] };
    const mirrored: Resource[] = [];
    for (const { type, id, detail } of rows) {
      const subject = type.split('.', 1)[0] as Subject;
      const facts = detail === null ? {} : (JSON.parse(detail) as { count?: number; list?: Resource });
      if (type === 'post.erased' || type === 'comment.erased') erased[subject as 'post' | 'comment'].push(id);
      if (subject !== 'sync') for (let i = 0; i < (facts.count ?? 1); i++) ids[subject].push(id + i);
      else if (type === 'sync.mirrored' && facts.list) mirrored.push(facts.list);
    }
    const end = rows.at(-1);
    ids.user.push(
      ...authors.posts.all(JSON.stringify(ids.post)),
      ...authors.comments.all(JSON.stringify(ids.comment)),
    );
    for (const subject of Object.keys(ids) as (keyof typeof ids)[]) ids[subject] = [...new Set(ids[subject])];
    return {
      next: end ? positionOf(end) : positions.of(positions.check(since)),
      isLast: rows.length < limit,
      ids,
      erased,
      mirrored,
    };
  };
}
