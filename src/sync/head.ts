import type { Conclusion, Pass } from '../store/mirror/types.ts';
import { compareKeys, keyOf, noEvidence, type Slot, slotsOf, withPage } from './order.ts';
import { type PassContext, walk, writePage } from './pages.ts';
import { type Learned, NOTHING_LEARNED } from './state.ts';

/** Pages in a row without anything new before a head pass believes that the rest is known. */
const QUIET_PAGES = 2;

/**
 * Reads from the newest row down to what is known. It sees new and changed rows; it concludes nothing from absence. Rows out of order
 * on the first pages are the first sign of a list that is sorted by votes or by last activity after all.
 */
export async function head(
  context: PassContext,
  pass: Pass,
  learned: Learned,
): Promise<{ learned: Learned; conclusion: Conclusion | null }> {
  const { client, signal, onPage } = context;
  const by = learned.order?.by ?? 'id';
  let evidence = noEvidence(pass.resource, by === 'created');
  let quiet = 0;
  // Nothing ahead: most passes end after two pages, and a third would be asked for in vain.
  for await (const page of walk(client, pass.resource, { signal, ahead: 0 })) {
    const { unchanged } = writePage(context, pass, page);
    onPage(pass);
    const slots = slotsOf(pass.resource, page);
    evidence = withPage(evidence, slots);
    quiet = unchanged ? quiet + 1 : 0;
    if (quiet >= QUIET_PAGES && reaches(slots, learned)) break;
  }
  if (evidence[by] !== 'asc' && evidence[by] !== 'mixed')
    return { learned: { ...learned, highWater: null }, conclusion: null };
  const why = 'the newest rows stand out of order; the next sweeps find out what order the list has';
  return {
    learned: NOTHING_LEARNED,
    conclusion: { rule: 'none', why, sweeps: null, moved: false, sameEnd: false, timed: null },
  };
}

/** Whether the page goes down to where the mirror was whole when an interrupted pass began. */
function reaches(slots: readonly Slot[], { highWater, order }: Learned): boolean {
  if (!highWater || !order) return true;
  const last = keyOf(slots.at(-1), order.by);
  return last !== null && compareKeys(last, highWater, order.by) <= 0;
}
