import type pg from 'pg';
import { inMirror } from '../chaos/invariants/file.ts';

/** A row of the import file. Without an address it is the owner's. */
export interface Draft {
  title: string;
  content: string;
  email: string;
}

/** What became of an import, judged by the database of the service. */
export interface Account {
  rows: number;
  /** Rows that once had no clear answer. */
  unclear: number;
  /** Rows of the file that ended neither as their post nor with a person. */
  lost: number;
  /** Posts beyond the rows of the file that no row names. */
  doubledInSilence: number;
  /** Posts beyond the rows of the file that a row names. */
  doubledAndNamed: number;
  /** Rows confirmed by a post that is not theirs. */
  wrongPost: number;
  /** Rows whose `duplicate_of` is not a second post of theirs. */
  falseDuplicates: number;
  leftToPerson: number;
  /** Rows that are still on their way. */
  unfinished: number;
}

export interface OutboxRow extends Draft {
  state: string;
  post_id: number | null;
  duplicate_of: number | null;
  candidates: string;
  was_ambiguous: number;
  last_error: string | null;
}

export interface Post extends Draft {
  id: number;
}

export const OWNER = 'owner@example.com';

/** Rows and posts with the same words by the same person are one group: which of them is whose cannot be told, and need not be. */
function groupOf({ email, title, content }: Draft): string {
  return JSON.stringify([email.toLowerCase() || OWNER, title, content]);
}

export function readOutbox(mirror: string): OutboxRow[] {
  return inMirror(mirror, (db) =>
    db
      .prepare<[], OutboxRow>(
        `SELECT title, content, coalesce(email, '') AS email, state, post_id, duplicate_of, candidates, was_ambiguous, last_error
           FROM outbox`,
      )
      .all(),
  );
}

/** What the program says about the rows that it leaves to a person, the most frequent first. */
export function reasons(rows: readonly OutboxRow[]): string {
  const left = rows.filter(({ state }) => state === 'uncertain');
  const alike = Map.groupBy(left, ({ last_error }) => (last_error ?? '').replace(/\d+/g, 'N'));
  const sorted = [...alike].sort(([, a], [, b]) => b.length - a.length);
  return sorted.map(([reason, list]) => `${list.length} x ${reason}`).join('; ');
}

export function isUnderWay({ state }: { state: string }): boolean {
  return ['ready', 'sending', 'ambiguous'].includes(state);
}

export async function readPosts(db: pg.Pool): Promise<Post[]> {
  const { rows } = await db.query<Post>(
    'SELECT p.id::int, p.title, p.content, u.email FROM feedback_post p JOIN feedback_user u ON u.id = p.creator_id',
  );
  return rows;
}

export function accountFor(
  drafts: readonly Draft[],
  rows: readonly OutboxRow[],
  posts: readonly Post[],
): Account {
  const groupOfPost = new Map(posts.map((post) => [post.id, groupOf(post)]));
  const isOther = (row: OutboxRow, post: number | null): boolean =>
    post !== null && groupOfPost.has(post) && groupOfPost.get(post) !== groupOf(row);
  const count = (isSo: (row: OutboxRow) => boolean): number => rows.filter(isSo).length;
  return {
    rows: drafts.length,
    unclear: count((row) => row.was_ambiguous === 1),
    lost: drafts.length - rows.length + count((row) => isLost(row, groupOfPost)),
    ...doubles(rows, posts),
    wrongPost: count((row) => isOther(row, row.post_id)),
    falseDuplicates: count((row) => isOther(row, row.duplicate_of)),
    leftToPerson: count(({ state }) => state === 'uncertain'),
    unfinished: count(isUnderWay),
  };
}

function isLost({ state, post_id }: OutboxRow, posts: ReadonlyMap<number, string>): boolean {
  if (state === 'confirmed') return post_id === null || !posts.has(post_id);
  return state === 'rejected' || state === 'cancelled';
}

function doubles(
  rows: readonly OutboxRow[],
  posts: readonly Post[],
): Pick<Account, 'doubledInSilence' | 'doubledAndNamed'> {
  const named = new Set(rows.flatMap(namedBy));
  const rowsOf = Map.groupBy(rows, groupOf);
  let [doubledInSilence, doubledAndNamed] = [0, 0];
  for (const [group, made] of Map.groupBy(posts, groupOf)) {
    const asked = rowsOf.get(group)?.length ?? 0;
    const surplus = asked === 0 ? 0 : Math.max(0, made.length - asked);
    const silent = Math.min(surplus, made.filter(({ id }) => !named.has(id)).length);
    doubledInSilence += silent;
    doubledAndNamed += surplus - silent;
  }
  return { doubledInSilence, doubledAndNamed };
}

/** Candidates count where `outbox list` names them: while a person is asked about them, and as further second posts. */
function namedBy({ post_id, duplicate_of, candidates, state }: OutboxRow): (number | null)[] {
  const isTold = state === 'uncertain' || duplicate_of !== null;
  return [post_id, duplicate_of, ...(isTold ? (JSON.parse(candidates) as number[]) : [])];
}
