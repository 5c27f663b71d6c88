import type { Page, Reject } from '../api/client.ts';
import { codeOf } from '../base/errors.ts';
import { isSameMoment, toInstant } from '../contract/datetime.ts';
import type { Post } from '../contract/decode.ts';
import type { OutboxStore } from '../store/outbox/store.ts';
import type { KnownPost, MirroredPost, OutboxRow, SentAuthor } from '../store/outbox/types.ts';
import type { OutboxContext } from './context.ts';
import { isNew, type ShownPost } from './decide/whose.ts';

/** What one read of the upstream's list brought. */
export interface Listed {
  /** Posts that may be newer than the first of the rows, and that no row is bound to. */
  posts: Map<number, ShownPost>;
  /** As the list showed them. */
  raw: Map<number, Post>;
  /** Our own posts that it showed. */
  ours: Set<number>;
  authors: SentAuthor[];
  /** How many posts that the mirror knows it showed; null where it stopped before the end, because the rest is older. */
  shown: number | null;
  /** The list as it was at this time, on our clock: a cache in between may have kept it. */
  asOf: number;
}

/** From when on posts are of interest, and what was known then. */
export type Window = Parameters<typeof isNew>[0];

export function windowOf(store: OutboxStore, rows: readonly OutboxRow[]): Window {
  const sentAt = rows.map(sentAtOf).reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const known = rows.map(({ known_max_id }) => known_max_id);
  const knownMaxId = known.includes(null)
    ? null
    : known.map(Number).reduce((a, b) => Math.min(a, b), Number.MAX_SAFE_INTEGER);
  return { sentAt, knownMaxId, isListKnown: isListKnown(store, sentAt) };
}

export function sentAtOf({ first_sent_at, created_at }: OutboxRow): number {
  return Date.parse(first_sent_at ?? created_at);
}

/** Whether the whole list had been read before that moment. */
export function isListKnown(store: OutboxStore, at: number): boolean {
  const { sweptAt } = store.knowledge();
  return sweptAt !== null && Date.parse(sweptAt) < at;
}

/** Pages in a row without anything new after which the rest of a newest-first list is older still. */
const OLD_PAGES = 2;

/** Every listed post that is new since the window began. In a list that is not newest first, that takes all of it. */
export async function readWindow(context: OutboxContext, window: Window): Promise<Listed> {
  const { store, clock } = context;
  const maps = { posts: new Map(), raw: new Map(), ours: new Set<number>(), authors: [] };
  const listed: Listed = { ...maps, shown: null, asOf: clock.now() };
  const mirrored = new Set<number>();
  const isNewestFirst = orderWatch();
  let oldPages = 0;
  for await (const page of pagesOf(context)) {
    context.onPage?.();
    listed.asOf = Math.min(listed.asOf, page.receivedAt - (page.ageMs ?? 0));
    const known = store.knownPosts([...page.rows, ...page.rejects].flatMap(({ id }) => id ?? []));
    const seen = page.rows.map((post) => fromList(post, page, known.get(post.id)));
    const unread = page.rejects.map((reject, n) => fromReject(reject, -(page.number * 1e5 + n), known));
    for (const post of page.rows) listed.raw.set(post.id, post);
    for (const { id } of seen) if (known.get(id)?.first_seen_at) mirrored.add(id);
    const fresh = [...seen, ...unread].filter((post) => note(listed, post, known.get(post.id), window));
    oldPages = fresh.length === 0 ? oldPages + 1 : 0;
    if (isNewestFirst(page, listed.ours.size > 0) && oldPages >= OLD_PAGES) return listed;
  }
  return { ...listed, shown: mirrored.size };
}

/** Returns whether it is new: one of ours is as old as the first attempt of its row. */
function note(listed: Listed, post: ShownPost, known: KnownPost | undefined, window: Window): boolean {
  if (post.row === null || !known) {
    const isYoung = isNew(window, post);
    if (isYoung) listed.posts.set(post.id, post);
    return isYoung;
  }
  listed.ours.add(post.id);
  const { creator } = post;
  if (creator && known.matched !== 'cut')
    listed.authors.push({ asked: known.email, shown: creator.email, creator_id: creator.id });
  return Date.parse(known.first_sent_at ?? '') >= window.sentAt;
}

/** Of the posts that the mirror knows, so many may be gone since it last looked; where more are missing, the list is not whole. */
const MISSING = { share: 0.02, least: 2 };

/** Why a post may be there although these reads did not show it; null where they would have. */
export function whyNotWhole(store: OutboxStore, reads: readonly Listed[]): string | null {
  const shown = reads.map((read) => read.shown ?? Number.POSITIVE_INFINITY).reduce((a, b) => Math.min(a, b));
  const live = store.liveCount();
  const isWhole = live - shown <= Math.max(MISSING.least, live * MISSING.share);
  return isWhole ? null : `the list showed ${shown} of the ${live} posts that the mirror knows`;
}

/** Trouble that outlasts the client's own retries does not throw away what was read: the pass goes on at the same page. */
const RESUMPTIONS = 5;

async function* pagesOf({ client, signal }: OutboxContext): AsyncGenerator<Page<Post>, void, undefined> {
  let from = '';
  for (let left = RESUMPTIONS; ; left--) {
    try {
      for await (const page of client.posts({ signal, from })) {
        from = page.next ?? '';
        yield page;
      }
      return;
    } catch (error) {
      if (codeOf(error) !== 'unreachable' || left === 0) throw error;
    }
  }
}

function fromList(
  post: Post,
  page: Pick<Page<Post>, 'serverTime' | 'receivedAt'>,
  known: KnownPost | undefined,
): ShownPost {
  const { id, title, content, url, board, creator, created } = post;
  const ahead = page.serverTime === null ? 0 : page.serverTime - page.receivedAt;
  const date = toInstant(created);
  const createdAt = date === null ? null : Date.parse(date) - ahead;
  // A service may give the number of a deleted post to a new one: made at another time, the mirror has not seen it.
  const isOther = known?.created != null && !isSameMoment(known.created, created);
  const firstSeenAt = known?.first_seen_at && !isOther ? Date.parse(known.first_seen_at) : null;
  const { id: by, email, name } = creator;
  const author = { id: by, email, name, isTeam: creator.is_admin || creator.is_team };
  const row = known?.row ?? null;
  return { id, title, content, url, board: board.url, creator: author, createdAt, firstSeenAt, row };
}

/** One that a search found: nothing is known of the upstream's clock. */
export function fromSearch(store: OutboxStore, post: Post): ShownPost {
  const page = { serverTime: null, receivedAt: 0 };
  return fromList(post, page, store.knownPosts([post.id]).get(post.id));
}

export function fromMirror(post: MirroredPost): ShownPost {
  const { id, title, content, url, board_slug: board, created } = post;
  const { creator_id, creator_email: email, creator_name: name } = post;
  const creator = { id: creator_id, email, name, isTeam: post.is_team === 1 };
  const date = toInstant(created);
  const createdAt = date === null ? null : Date.parse(date);
  const firstSeenAt = Date.parse(post.first_seen_at);
  return { id, title, content, url, board, creator, createdAt, firstSeenAt, row: null };
}

/** A listed row that did not decode: whatever of its words can be read. One without a readable number gets one that no post has. */
function fromReject({ id, body }: Reject, standIn: number, known: Map<number, KnownPost>): ShownPost {
  let row: unknown = null;
  try {
    row = JSON.parse(body);
  } catch {
    // Cut at its limit, or no JSON at all: nothing can be read.
  }
  const text = (name: string): string => {
    const value: unknown = Reflect.get(Object(row), name);
    return typeof value === 'string' ? value : '';
  };
  const words = { title: text('title'), content: text('content'), url: text('url'), board: '' };
  const bound = id === null ? null : (known.get(id)?.row ?? null);
  return { id: id ?? standIn, ...words, creator: null, createdAt: null, firstSeenAt: null, row: bound };
}

/** Fewer rows in falling order could be chance. */
const ORDERED_ROWS = 20;
/** Numbers that a list may be sorted by, and that a new post has little of. */
const NUMBERS = ['votes_count', 'comments_count'] as const;

/**
 * Tells after each page whether the list stands newest first, by number or by date, so that nothing new can follow old rows. Rows in
 * falling order are not enough: where all posts have one vote and a new one has none, a list sorted by votes looks newest first and has
 * our post at its end. So each number must be seen to rise and to fall along the list, or a post of our own must be among the new.
 */
function orderWatch(): (page: Page<Post>, showsOurs: boolean) => boolean {
  const known = new Set<number>();
  const steps = new Map(NUMBERS.map((name) => [name, { rises: false, falls: false }]));
  let [isFallingById, isFallingByDate] = [true, true];
  let last: Post | undefined;
  return ({ rows }, showsOurs) => {
    for (const post of rows) {
      // Rows that moved down during the read come again; they say nothing new.
      if (known.has(post.id)) continue;
      known.add(post.id);
      if (last) {
        isFallingById &&= last.id > post.id;
        isFallingByDate &&= (toInstant(last.created) ?? '') >= (toInstant(post.created) ?? '');
        for (const [name, seen] of steps) {
          seen.rises ||= post[name] > last[name];
          seen.falls ||= post[name] < last[name];
        }
      }
      last = post;
    }
    const isByNumber = [...steps.values()].some(({ rises, falls }) => !(rises && falls));
    return (isFallingById || isFallingByDate) && known.size >= ORDERED_ROWS && (showsOurs || !isByNumber);
  };
}
