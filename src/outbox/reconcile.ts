import type { Client, Page } from '../api/client.ts';
import { crashPoint } from '../base/crash.ts';
import { codeOf, messageOf } from '../base/errors.ts';
import { toInstant } from '../contract/datetime.ts';
import type { Post } from '../contract/decode.ts';
import type { OutboxRow } from '../store/outbox-seam.ts';
import { looksLike } from './match.ts';
import { AFTER_LOOKS, backoff, type OutboxContext } from './push.ts';
import { ARROWS } from './states.ts';

export type ReconcileResult = 'found' | 'send again' | 'uncertain' | 'later' | 'gone';

/** Upstream clocks are read to the second and drift; a post may seem this much older than its own request. */
const CLOCK_MARGIN_MS = 5000;

/** Finds out what became of one ambiguous row, by reading only. A list that cannot be read leaves it as it is, for later. */
export async function reconcile(context: OutboxContext, id: number): Promise<ReconcileResult> {
  const { store, clock, random } = context;
  const row = await store.find(id);
  if (row?.state !== 'ambiguous' || row.first_sent_at === null) return 'gone';
  try {
    const matches = await findMatches(context, row);
    crashPoint('reconcile:read');
    const result = await conclude(context, row, matches);
    crashPoint('reconcile:recorded');
    return result;
  } catch (error) {
    if (codeOf(error) === 'interrupted' || codeOf(error) === 'internal') throw error;
    const now = clock.now();
    const notBefore = now + backoff(row.attempts + 1, random);
    await store.move(id, ARROWS.wait, {
      now,
      notBefore,
      error: `could not look for it: ${messageOf(error)}`,
    });
    return 'later';
  }
}

async function conclude(
  { store, clock }: OutboxContext,
  row: OutboxRow,
  matches: Post[],
): Promise<ReconcileResult> {
  const now = clock.now();
  const [match, ...others] = matches;
  if (match && others.length === 0) {
    await store.move(row.id, ARROWS.found, {
      now,
      postId: match.id,
      url: match.url,
      error: null,
      looksLeft: AFTER_LOOKS,
    });
    return 'found';
  }
  if (match === undefined && row.not_found === 0) {
    await store.move(row.id, ARROWS.sendAgain, {
      now,
      notBefore: null,
      notFound: 1,
      error: 'not in the list after an unclear attempt; sent again',
    });
    return 'send again';
  }
  const error = match
    ? `${matches.length} posts could be this one`
    : 'not in the list after two unclear attempts';
  await store.move(row.id, ARROWS.giveUp, {
    now,
    notBefore: null,
    candidates: matches.map((post) => post.id),
    error,
  });
  return 'uncertain';
}

/** A row that slipped from one page to the next while we read would be missed: only two reads without it count as none. */
async function findMatches(context: OutboxContext, row: OutboxRow): Promise<Post[]> {
  for (let look = 0; look < 2; look++) {
    const posts = (await readSince(context.client, row, context.signal)).filter((post) => couldBe(row, post));
    const bound = await context.store.boundPosts(posts.map((post) => post.id));
    const matches = posts.filter((post) => !bound.has(post.id) && !row.baseline.includes(post.id));
    if (matches.length > 0) return matches;
  }
  return [];
}

function couldBe(row: OutboxRow, post: Post): boolean {
  return looksLike(row, {
    title: post.title,
    content: post.content,
    boardUrl: post.board.url,
    creatorEmail: post.creator.email,
  });
}

/** Pages wholly before the window, and rows in falling order, after which the rest of a newest-first list is older still. */
const OLD_PAGES = 2;
const ORDERED_ROWS = 20;

/** Every listed post since the row was first sent. In a list that is not newest first, that means all of it. */
async function readSince(client: Client, row: OutboxRow, signal: AbortSignal): Promise<Post[]> {
  const found = new Map<number, Post>();
  const order = orderWatch();
  let oldPages = 0;
  for await (const page of client.posts({ signal })) {
    const since = windowStart(row, page);
    const recent = page.rows.filter((post) => Date.parse(toInstant(post.created) ?? '') >= since);
    for (const post of recent) found.set(post.id, post);
    oldPages = recent.length === 0 && page.rejects.length === 0 ? oldPages + 1 : 0;
    if (order(page) && oldPages >= OLD_PAGES) break;
  }
  return [...found.values()];
}

/** The start of the first attempt on the upstream's clock, less what clocks may differ by. */
function windowStart(row: OutboxRow, { serverTime, receivedAt }: Page<Post>): number {
  const ahead = serverTime === null ? 0 : serverTime - receivedAt;
  return Date.parse(row.first_sent_at ?? row.created_at) + ahead - CLOCK_MARGIN_MS;
}

/** Tells after each page whether all rows so far stood newest first, and were enough to mean it. */
function orderWatch(): (page: Page<Post>) => boolean {
  let isFalling = true;
  let rows = 0;
  return ({ rows: posts }) => {
    rows += posts.length;
    isFalling &&= posts.every((post, i) => i === 0 || isNewer(posts[i - 1], post));
    return isFalling && rows >= ORDERED_ROWS;
  };
}

function isNewer(above: Post | undefined, below: Post): boolean {
  return (
    above !== undefined &&
    above.id > below.id &&
    (toInstant(above.created) ?? '') >= (toInstant(below.created) ?? '')
  );
}
