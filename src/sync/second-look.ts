import type { Pass } from '../store/mirror/seam.ts';
import { writeShown } from './pages.ts';
import type { PassContext } from './pass.ts';

/** Pages remembered for a second look. Beyond these rows are gone in bulk, which is the brake's to judge. */
export const MOST_LOOKS = 20;

/**
 * A gap proves absence only if the page was a whole slice of the list. A replica that lags, or a row that could not be
 * fetched and was left out in silence, breaks that without a trace. So the pages whose gaps hold candidates are read once
 * more before anything is deleted: writing them lets go of every candidate that shows.
 */
export async function lookAgain(
  { client, store, signal }: PassContext,
  pass: Pass,
  cursors: readonly string[],
): Promise<void> {
  // Not a second time in the log: these rows were counted when the sweep came by.
  const { pages, rows, unchanged, quarantined } = pass.counts;
  for (const cursor of cursors) {
    const page = await client.page(pass.resource, cursor, signal);
    await writeShown(store, pass, page);
  }
  Object.assign(pass.counts, { pages, rows, unchanged, quarantined });
}
