import { toInstant } from '../../contract/datetime.ts';
import type { Post } from '../../contract/decode.ts';
import type { KnownPost, OutboxRow, SentAuthor, SentPost } from '../decide/types.ts';
import { isNew, type ShownPost, type Window } from '../decide/whose.ts';
import type { OutboxContext } from './context.ts';

/** What was read of the upstream for a question. */
export interface Listed {
  /** Posts that are new since the first of the rows was sent, and that no row is bound to; also those that a search found. */
  posts: Map<number, ShownPost>;
  /** Our own posts, and whom they show as their author. */
  ours: Map<number, SentAuthor>;
  /** Why the list may have posts that it did not show; null where it has none. */
  whyNotWhole: string | null;
  /** The list as it was at this time, on our clock: a cache in between may have kept it. */
  asOf: number;
}

export function nothingListed(): Listed {
  const empty = { posts: new Map(), ours: new Map() };
  return { ...empty, whyNotWhole: 'the list was not read', asOf: Number.POSITIVE_INFINITY };
}

/** From when on posts are of interest, and what was known then. */
export function windowOf(rows: readonly OutboxRow[]): Window {
  const sentAt = Math.min(...rows.map(({ first_sent_at }) => Date.parse(first_sent_at ?? '')));
  const known = rows.map((row) => row.known_max_id);
  return { sentAt, known_max_id: known.includes(null) ? null : Math.min(...known.map(Number)) };
}

/** If so many rows stand in falling order, and so many of them are old, the rest of the list is older. */
const OLD_ROWS = 20;
/** Of the posts that the mirror knows, so many may be gone since it last looked. */
const MISSING = { share: 0.02, least: 2 };

/** Adds every listed post that is new since the window began. Returns whether the list is newest first: only then it is not read to its end. */
export async function readWindow(context: OutboxContext, window: Window, listed: Listed): Promise<boolean> {
  const { store, client, signal, onPage, observe } = context;
  const shown = new Map<number, Post>();
  let [oldRows, mirrored, unreadable] = [0, 0, 0];
  let end: ReturnType<typeof endOf>;
  for await (const page of client.posts({ signal, ahead: 0 })) {
    onPage?.();
    listed.asOf = Math.min(listed.asOf, page.receivedAt - (page.ageMs ?? 0));
    const known = store.knownPosts(page.rows.map(({ id }) => id));
    for (const post of page.rows) {
      if (!shown.has(post.id) && known.get(post.id)?.first_seen_at) mirrored++;
      shown.set(post.id, post);
      if (isOld(listed, post, known.get(post.id), window)) oldRows++;
    }
    unreadable += page.rejects.filter(({ id }) => id === null || id > (window.known_max_id ?? -1)).length;
    end = oldRows >= OLD_ROWS ? endOf([...shown.values()]) : undefined;
    if (end) break;
  }
  const live = store.liveCount(end);
  observe?.([...shown.values()]);
  listed.whyNotWhole = null;
  if (live - mirrored > Math.max(MISSING.least, live * MISSING.share))
    listed.whyNotWhole = `the list showed ${mirrored} of the ${live} posts that the mirror knows`;
  if (unreadable > 0) listed.whyNotWhole = 'the list showed new posts that cannot be read';
  return end !== undefined;
}

/** Returns whether the post is old. A post of ours is as old as the last attempt of its row. */
function isOld(listed: Listed, post: Post, known: KnownPost | undefined, window: Window): boolean {
  // A service may give the number of a deleted post to a new one: made at another time, the mirror has not seen it.
  const isSeen = known?.created && timeOf(known.created) === timeOf(post.created);
  const seenAt = Date.parse(known?.sent_at ?? ((isSeen && known.first_seen_at) || '')) || null;
  const shown = { ...fromList(post), firstSeenAt: seenAt };
  if (known && known.row !== null) {
    const { id: creator_id, email } = post.creator;
    if (known.matched !== 'part') listed.ours.set(post.id, { asked: known.email, shown: email, creator_id });
  } else if (isNew(window, shown)) listed.posts.set(post.id, shown);
  return !isNew(window, shown);
}

/** All posts with a higher number and a later date were shown, by a list that falls by one of them. Equal dates are no order. */
function endOf(posts: readonly Post[]): { id: number; created: string } | undefined {
  const falls = <T>(keys: readonly T[]): boolean =>
    keys.every((key, n) => n === 0 || (keys[n - 1] ?? key) >= key) && new Set(keys).size >= OLD_ROWS;
  const [ids, dates] = [posts.map(({ id }) => id), posts.map(({ created }) => toInstant(created) ?? '')];
  if (falls(ids)) return { id: ids.at(-1) ?? 0, created: '' };
  return falls(dates) ? { id: 0, created: dates.at(-1) ?? '' } : undefined;
}

/** A list that was read this long after the last attempt is enough. The time grows eightfold with each attempt, to nine minutes after the fourth. */
const ENOUGH_MS = 1000;

/** Why the read may not have shown the post of this row; null where it would have. */
export function whyUnread(
  { asOf, whyNotWhole, ours }: Listed,
  { not_before, not_found, kind, board }: OutboxRow,
  lastSentAt: number,
  sent: readonly SentPost[],
): string | null {
  if (asOf < Date.parse(not_before ?? '')) return 'a cache in between showed an older list';
  if (whyNotWhole !== null) return whyNotWhole;
  const alike = sent.filter((post) => post.kind === kind && post.board === board);
  if (alike.some(({ id, sentAt }) => Date.parse(sentAt) > lastSentAt && ours.has(id))) return null;
  // A list that does not show what was sent the same way, and was answered with a number, does not show this row's post either.
  const isBehind = alike[0]?.isMirrored === 0 && !ours.has(alike[0].id);
  if (isBehind) return 'the list does not show the post that was sent last to the same board';
  const isEnough = Math.abs(asOf - lastSentAt) >= ENOUGH_MS * 8 ** not_found;
  return isEnough ? null : 'the list shows no post that was sent later to the same board';
}

export function fromList({ creator, board, created, ...post }: Post): ShownPost {
  const { id: creator_id, email, name, is_admin, is_team } = creator;
  const author = { creator_id, email, name, is_team: is_admin || is_team ? 1 : 0 } as const;
  return { ...post, ...author, board: board.url, createdAt: timeOf(created), firstSeenAt: null };
}

function timeOf(created: string): number | null {
  return Date.parse(toInstant(created) ?? '') || null;
}
