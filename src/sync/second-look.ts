import type { Page } from '../api/client.ts';
import type { Comment, Post } from '../contract/decode.ts';
import type { Key, KeyFamily, Pass } from '../store/mirror/seam.ts';
import { compareKeys, keyOf, type Order, slotsOf } from './order.ts';
import { writeShown } from './pages.ts';
import type { PassContext } from './pass.ts';
import type { Proof } from './state.ts';

/** Pages remembered for a second look. Beyond these rows are gone in bulk, which is the brake's to judge. */
export const MOST_LOOKS = 20;
/** How far a list that has grown is followed for one of them. */
const MOST_PAGES = 5;

/**
 * A gap proves absence only if the page was a whole slice of the list. A replica that lags, or a row that could not be
 * fetched and was left out in silence, breaks that without a trace. So the pages whose gaps hold candidates are read once
 * more before anything is deleted: writing them lets go of every candidate that shows. Returns whether all places were seen
 * again: the list may have moved since, and then the same page shows others.
 */
export async function lookAgain(
  context: PassContext,
  pass: Pass,
  proofs: readonly Proof[],
  order: Order | null,
): Promise<boolean> {
  // Not a second time in the log: these rows were counted when the sweep came by.
  const { pages, rows, unchanged, quarantined } = pass.counts;
  try {
    for (const proof of proofs) if (!(await seesAgain(context, pass, proof, order))) return false;
    return true;
  } finally {
    Object.assign(pass.counts, { pages, rows, unchanged, quarantined });
  }
}

async function seesAgain(
  { client, store, signal }: PassContext,
  pass: Pass,
  proof: Proof,
  order: Order | null,
): Promise<boolean> {
  const read = async (cursor: string): Promise<Page<Post | Comment>> => {
    const page: Page<Post | Comment> = await client.page(pass.resource, cursor, signal);
    await writeShown(store, pass, page);
    return page;
  };
  const first = await read(proof.cursor);
  if (!reachesUp(first, proof, order)) return false;
  let page = first;
  for (let pages = 1; page.next !== null && !reachesDown(page, proof, order); pages++) {
    if (pages === MOST_PAGES) return false;
    page = await read(page.next);
  }
  // Over several pages a row can slip from one to the other, but only where the list moved meanwhile.
  return page === first || (await read(proof.cursor)).rows[0]?.id === first.rows[0]?.id;
}

/** Rows that went away above have moved the page down: then nobody has seen again what stood at its old beginning. */
function reachesUp(page: Page<Post | Comment>, { cursor, first }: Proof, order: Order | null): boolean {
  const [top] = order ? keysOf(page, order.by) : [];
  return cursor === '' || (top !== undefined && first !== null && along(order, top, first) <= 0);
}

/** Rows that came in above have moved it up: then its old end stands on a later page. */
function reachesDown(page: Page<Post | Comment>, { last }: Proof, order: Order | null): boolean {
  const bottom = order ? keysOf(page, order.by).at(-1) : undefined;
  return bottom !== undefined && last !== null && along(order, bottom, last) >= 0;
}

function keysOf({ rows, rejects }: Page<Post | Comment>, by: KeyFamily): Key[] {
  return slotsOf(rows, rejects)
    .map((slot) => keyOf(slot, by))
    .filter((key) => key !== null);
}

/** Below 0 when the first key stands before the second in the list. */
function along(order: Order | null, a: Key, b: Key): number {
  const step = compareKeys(a, b, order?.by ?? 'id');
  return order?.direction === 'asc' ? step : -step;
}
