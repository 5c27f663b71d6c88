import type { Pass } from '../store/mirror/seam.ts';
import { compareKeys, keyOf, slotsOf } from './order.ts';
import { type AnyPage, walk, writeShown } from './pages.ts';
import type { PassContext } from './pass.ts';
import type { Memory } from './state.ts';

/** Pages in a row without anything new before a head pass believes that the rest is known. */
const QUIET_PAGES = 2;

/** Reads from the newest row down to what is known. It sees new and changed rows; it concludes nothing from absence. */
export async function head(context: PassContext, pass: Pass, memory: Memory): Promise<Memory> {
  const { client, store, signal, onPage } = context;
  let quiet = 0;
  // Nothing ahead: most passes end after two pages, and a third would be asked for in vain.
  for await (const page of walk(client, pass.resource, { signal, ahead: 0 })) {
    const { unchanged } = await writeShown(store, pass, page);
    onPage(pass);
    quiet = unchanged ? quiet + 1 : 0;
    if (quiet >= QUIET_PAGES && reaches(page, memory)) break;
  }
  return { ...memory, floor: null };
}

/** Whether the page goes down to where the mirror was whole when a pass that was cut short began. */
function reaches(page: AnyPage, { floor, order }: Memory): boolean {
  if (!floor || !order) return true;
  const last = keyOf(slotsOf(page.rows, page.rejects).at(-1), order.by);
  return last !== null && compareKeys(last, floor, order.by) <= 0;
}
