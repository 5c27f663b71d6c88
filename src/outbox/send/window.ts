import type { Reject } from '../../api/client.ts';
import { toInstant } from '../../contract/datetime.ts';
import type { Post } from '../../contract/decode.ts';
import type { KnownPost, MirroredPost, OutboxRow, SentAuthor } from '../decide/types.ts';
import { isNew, type ShownPost } from '../decide/whose.ts';
import type { OutboxStore } from '../store/store.ts';
import type { OutboxContext } from './context.ts';

/** What one read of the upstream's list brought. */
export interface Listed {
  /** Posts as the list showed them, in its order. */
  raw: Map<number, Post>;
  /** Those that are new since the first of the rows was sent, and that no row is bound to. */
  posts: Map<number, ShownPost>;
  /** Our own posts, and whom they show as their author. */
  ours: Set<number>;
  authors: SentAuthor[];
  /** How many posts that the mirror knows it showed. */
  mirrored: number;
  /** Where the read of a newest-first list ended, because everything else is older; null where it went to the end. */
  end: ListEnd | null;
  /** The list as it was at this time, on our clock: a cache in between may have kept it. */
  asOf: number;
}

/** All posts with a higher number and a later date were to be shown. */
interface ListEnd {
  id: number;
  created: string;
}

/** From when on posts are of interest, and what was known then. */
type Window = Parameters<typeof isNew>[0];

export function windowOf(store: OutboxStore, rows: readonly OutboxRow[]): Window {
  const sentAt = Math.min(...rows.map(sentAtOf));
  const known = rows.map(({ known_max_id }) => known_max_id);
  const knownMaxId = known.includes(null) ? null : Math.min(...known.map(Number));
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

/** So many rows in falling order, and so many old ones in a row, are no chance: the rest of the list is older. */
const OLD_ROWS = 20;

/** Every listed post that is new since the window began. In a list that is not newest first, that takes all of it. */
export async function readWindow(context: OutboxContext, window: Window): Promise<Listed> {
  const { store, client, signal, clock, onPage } = context;
  const empty = { raw: new Map(), posts: new Map(), ours: new Set<number>(), authors: [], mirrored: 0 };
  const listed: Listed = { ...empty, end: null, asOf: clock.now() };
  let oldRows = 0;
  for await (const page of client.posts({ signal })) {
    onPage?.();
    listed.asOf = Math.min(listed.asOf, page.receivedAt - (page.ageMs ?? 0));
    const known = store.knownPosts([...page.rows, ...page.rejects].flatMap(({ id }) => id ?? []));
    for (const post of page.rows) {
      if (!listed.raw.has(post.id) && known.get(post.id)?.first_seen_at) listed.mirrored++;
      listed.raw.set(post.id, post);
    }
    const unread = page.rejects.map((reject, n) => fromReject(reject, -(page.number * 1e5 + n)));
    for (const post of [...page.rows.map(fromList), ...unread])
      oldRows = note(listed, post, known.get(post.id), window) ? 0 : oldRows + 1;
    listed.end = oldRows >= OLD_ROWS ? endOf([...listed.raw.values()]) : null;
    if (listed.end !== null) break;
  }
  return listed;
}

/** Returns whether it is new: one of ours is as old as the first attempt of its row. */
function note(listed: Listed, post: ShownPost, known: KnownPost | undefined, window: Window): boolean {
  if (known && known.row !== null) {
    listed.ours.add(post.id);
    if (post.creator && known.matched !== 'part')
      listed.authors.push({ asked: known.email, shown: post.creator.email, creator_id: post.creator.id });
    return Date.parse(known.first_sent_at ?? '') >= window.sentAt;
  }
  // A service may give the number of a deleted post to a new one: made at another time, the mirror has not seen it.
  const isSeen = known?.first_seen_at && known.created && timeOf(known.created) === post.createdAt;
  const shown = { ...post, firstSeenAt: isSeen ? Date.parse(known.first_seen_at ?? '') : null };
  if (!isNew(window, shown)) return false;
  listed.posts.set(post.id, shown);
  return true;
}

/** The end of a list that falls by number or by date; null where it does neither. */
function endOf(posts: readonly Post[]): ListEnd | null {
  const falls = (of: (post: Post) => number | string): boolean =>
    posts.every((post, n) => n === 0 || of(posts[n - 1] ?? post) > of(post));
  const dateOf = ({ created }: Post): string => toInstant(created) ?? '';
  const last = posts.at(-1);
  if (last && falls(({ id }) => id)) return { id: last.id, created: '' };
  return last && falls(dateOf) ? { id: 0, created: dateOf(last) } : null;
}

/** Of the posts that the mirror knows, so many may be gone since it last looked; where more are missing, the list is not whole. */
const MISSING = { share: 0.02, least: 2 };

/** Why a post may be there although these reads did not show it; null where they would have. */
export function whyNotWhole(store: OutboxStore, reads: readonly Listed[]): string | null {
  if (reads.length === 0) return 'the list was not read';
  for (const { mirrored, end } of reads) {
    const live = store.liveCount(end ?? undefined);
    if (live - mirrored > Math.max(MISSING.least, live * MISSING.share))
      return `the list showed ${mirrored} of the ${live} posts that the mirror knows`;
  }
  return null;
}

export function fromList({ creator, board, created, ...post }: Post): ShownPost {
  const { id, email, name, is_admin, is_team } = creator;
  const author = { id, email, name, isTeam: is_admin || is_team };
  return { ...post, board: board.url, creator: author, createdAt: timeOf(created), firstSeenAt: null };
}

export function fromMirror(post: MirroredPost): ShownPost {
  const { board_slug: board, creator_id: id, creator_email: email, creator_name: name } = post;
  const creator = { id, email, name, isTeam: post.is_team === 1 };
  const seen = { createdAt: timeOf(post.created), firstSeenAt: Date.parse(post.first_seen_at) };
  return { ...post, board, creator, ...seen };
}

/** A listed row that did not decode: whatever of its words can be read. One without a readable number gets one that no post has. */
function fromReject({ id, body }: Reject, standIn: number): ShownPost {
  const text = (name: string): string => {
    const value = new RegExp(`"${name}":\\s*("(?:[^"\\\\]|\\\\.)*")`).exec(body)?.[1] ?? '""';
    return String(JSON.parse(value));
  };
  const words = { title: text('title'), content: text('content'), url: text('url'), board: '' };
  return { id: id ?? standIn, ...words, creator: null, createdAt: null, firstSeenAt: null };
}

function timeOf(created: string): number | null {
  const date = toInstant(created);
  return date === null ? null : Date.parse(date);
}
