import type { Page } from '../api/client.ts';
import { toInstant } from '../contract/datetime.ts';
import type { Post } from '../contract/decode.ts';
import type { OutboxRow } from '../store/outbox/seam.ts';
import type { OutboxContext } from './context.ts';
import { orderWatch } from './list-order.ts';
import { likeness, looksLike } from './match.ts';

/** What the upstream's list says about a row that may have left a post. */
export interface Look {
  /** Posts that can be this row's, and nobody else's. */
  matches: Post[];
  /** A listed row that could not be read, and so might be it. */
  isHidden: boolean;
  /** The list shows another post of ours, sent after this row's last attempt the same way to the same board: it is up to date. */
  isCurrent: boolean;
}

/** Only two reads without it count as none: a row that slips from one page to the next while we read is missed by one of them. */
export async function look(context: OutboxContext, row: OutboxRow): Promise<Look> {
  const first = await readSince(context, row);
  if (first.matches.length > 0) return first;
  const second = await readSince(context, row);
  return {
    matches: second.matches,
    isHidden: first.isHidden || second.isHidden,
    isCurrent: first.isCurrent && second.isCurrent,
  };
}

/** Pages wholly before the window after which the rest of a newest-first list is older still. */
const OLD_PAGES = 2;

/** Every listed post since the row was first sent. In a list that is not newest first, that means all of it. */
async function readSince(context: OutboxContext, row: OutboxRow): Promise<Look> {
  const order = orderWatch();
  const isLike = likeness(row);
  const found = new Map<number, Post>();
  const seen = { isHidden: false, isCurrent: false };
  let oldPages = 0;
  for await (const page of context.client.posts({ signal: context.signal })) {
    const recent = since(row, page);
    for (const post of recent) if (isLike(seenPost(post))) found.set(post.id, post);
    seen.isHidden ||= page.rejects.some((reject) => mayHide(row, reject));
    seen.isCurrent ||= await context.store.hasLaterPost(
      recent.map((post) => post.id),
      row,
    );
    oldPages = recent.length === 0 && page.rejects.length === 0 ? oldPages + 1 : 0;
    if (order(page, seen.isCurrent) && oldPages >= OLD_PAGES) break;
  }
  const bound = await context.store.boundPosts([...found.keys()]);
  const matches = [...found.values()].filter(({ id }) => !bound.has(id) && !row.baseline.includes(id));
  return { matches, ...seen };
}

function seenPost({ title, content, board, creator }: Post) {
  return { title, content, boardUrl: board.url, creatorEmail: creator.email };
}

/** Times are cut to the second or the minute, and clocks drift: a post may seem this much older than its own request. */
const CLOCK_MARGIN_MS = 65_000;
/** A time without a zone may be a local one, and a clock nobody can read may show anything near. */
const ZONE_MARGIN_MS = 15 * 3_600_000;

/** The posts of a page that were made since the row was first sent, on the upstream's clock. */
function since(row: OutboxRow, { rows, serverTime, receivedAt }: Page<Post>): Post[] {
  const ahead = serverTime === null ? -ZONE_MARGIN_MS : serverTime - receivedAt;
  const start = Date.parse(row.first_sent_at ?? row.created_at) + ahead;
  return rows.filter(({ created }) => Date.parse(toInstant(created) ?? '') >= start - marginOf(created));
}

function marginOf(created: string): number {
  return /(z|[+-]\d\d(:?\d\d)?)$/i.test(created.slice(16)) ? CLOCK_MARGIN_MS : ZONE_MARGIN_MS;
}

/** A row of the list that did not decode, and whose title is this one's or cannot be told. */
function mayHide(row: OutboxRow, { id, body }: { id: number | null; body: string }): boolean {
  if (id !== null && row.baseline.includes(id)) return false;
  const title = titleIn(body);
  return title === null || looksLike({ ...row, content: '' }, titleOnly(row, title));
}

function titleOnly(row: OutboxRow, title: string) {
  return { title, content: '', boardUrl: row.board, creatorEmail: row.email };
}

function titleIn(body: string): string | null {
  try {
    const title: unknown = Reflect.get(Object(JSON.parse(body)), 'title');
    return typeof title === 'string' ? title : null;
  } catch {
    return null;
  }
}
