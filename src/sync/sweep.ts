import type { KeyFamily, Pass, PassCounts, PassEnd } from '../store/mirror/seam.ts';
import { boundaryHolds } from './boundary.ts';
import { type Gaps, gapsOf } from './gaps.ts';
import { indexAll } from './index-all.ts';
import { compareKeys, keyOf, orderFrom, type Slot, slotsOf, withPage } from './order.ts';
import { paceOf } from './pace.ts';
import { type AnyPage, rowsOf, walk } from './pages.ts';
import type { PassContext } from './pass.ts';
import { lookAgain, MOST_LOOKS } from './second-look.ts';
import type { Memory, Proof, Reach, SweepState } from './state.ts';

/** A sweep under way. `state` is where a resumed one would start, `counts` what it would start with: they move on with each page. */
export interface Sweep {
  pass: Pass;
  memory: Memory;
  state: SweepState;
  counts: PassCounts;
}

/** Walks the whole list and returns what its completion allows to conclude. */
export async function sweep(context: PassContext, under: Sweep): Promise<Conclusion> {
  const { client, signal, ahead, onPage } = context;
  const from = under.state.cursor;
  const { resource } = under.pass;
  const pace = paceOf(context.clock);
  let isIndexed = resource !== 'posts';
  let last = under.state;
  for await (const page of walk(client, resource, { from, signal, ahead })) {
    const hasTime = pace.arrived();
    last = await sweepPage(context, under, page);
    onPage(under.pass);
    // From now on rows are indexed as they come: they can be searched at once, and nothing is left for the end.
    if (hasTime && !isIndexed) await indexAll(context);
    isIndexed ||= hasTime;
    pace.done();
  }
  const isOnlyPage = last.previous?.cursor === '' && !last.evidence.unknownRows;
  const allowed = isOnlyPage ? 'proven' : await conclusion(context, under, last);
  const memory = lessons(last, under.memory);
  const isSure = allowed !== 'proven' || (await lookAgain(context, under.pass, last.proofs, memory.order));
  return { conclude: isSure ? allowed : 'nothing', memory };
}

export interface Conclusion {
  conclude: PassEnd['conclude'];
  memory: Memory;
}

/** Writes one page and returns the state after it. */
async function sweepPage(context: PassContext, under: Sweep, page: AnyPage): Promise<SweepState> {
  const { pass, memory, state } = under;
  const slots = slotsOf(page.rows, page.rejects);
  const next = advance(state, slots, page);
  const { suspects, proven } = await context.store.applyPage({
    pass,
    page: rowsOf(pass.resource, page),
    rejects: page.rejects,
    observedAt: page.receivedAt,
    absence: absenceShownBy(slots, page, { state, next, memory }),
    keepIds: state.keepIds,
    // After the last page there is nothing to resume: a kill before the conclusion reads that page again.
    state: page.next === null ? null : JSON.stringify(next),
  });
  if (proven > 0) next.proofs = withProof(next.proofs, proofOf(next.previous, page.next === null));
  if (page.next !== null) Object.assign(under, { state: next, counts: { ...pass.counts } });
  if (suspects.length > 0)
    await settleSuspects(context, pass, suspects, [state.previous, page.cursor, slots[0]]);
  return next;
}

function advance(state: SweepState, slots: Slot[], page: AnyPage): SweepState {
  const evidence = withPage(state.evidence, slots);
  const [first, last] = [slots[0], slots.at(-1)];
  const by = byOf(state);
  return {
    ...state,
    cursor: page.next ?? '',
    previous: {
      cursor: page.cursor,
      lastId: last?.id ?? null,
      key: keyOf(last, by),
      reach: reachOf(slots, by),
    },
    firstId: state.previous === null ? (first?.id ?? null) : state.firstId,
    evidence: { ...evidence, overlaps: evidence.overlaps || overlaps(state, first) },
  };
}

function reachOf(slots: readonly Slot[], by: KeyFamily): Reach {
  const isKnown = (slot: Slot): boolean => keyOf(slot, by) !== null;
  return { first: keyOf(slots.find(isKnown), by), last: keyOf(slots.findLast(isKnown), by) };
}

/** The page that was just read, as one to be read again. */
export function proofOf(previous: SweepState['previous'], isLast = false): Proof | null {
  if (!previous) return null;
  const { cursor, reach } = previous;
  return { cursor, first: reach.first, last: isLast ? null : reach.last };
}

export function withProof(proofs: readonly Proof[], proof: Proof | null): Proof[] {
  if (!proof || proofs.some(({ cursor }) => cursor === proof.cursor)) return [...proofs];
  return [...proofs, proof].slice(0, MOST_LOOKS);
}

function byOf({ evidence }: SweepState): KeyFamily {
  return evidence.created === 'unread' ? 'id' : 'created';
}

/** Whether a page begins with rows that the page before had already passed, in the direction seen so far. */
function overlaps(state: SweepState, first: Slot | undefined): boolean {
  const by = byOf(state);
  const [previous, key] = [state.previous?.key, keyOf(first, by)];
  const direction = state.evidence[by];
  if (!previous || !key || (direction !== 'desc' && direction !== 'asc')) return false;
  const step = compareKeys(key, previous, by);
  return direction === 'desc' ? step >= 0 : step <= 0;
}

function absenceShownBy(
  slots: Slot[],
  page: AnyPage,
  { state, next, memory }: { state: SweepState; next: SweepState; memory: Memory },
): Gaps | null {
  const by = byOf(state);
  const seen = next.evidence[by];
  const direction = seen === 'none' && memory.order?.by === by ? memory.order.direction : seen;
  return gapsOf(slots, {
    by,
    direction: direction === 'unread' ? 'none' : direction,
    isFirst: state.previous === null,
    isLast: page.next === null,
    previous: state.previous?.key ?? null,
  });
}

async function settleSuspects(
  { client, store, clock, signal }: PassContext,
  pass: Pass,
  ids: number[],
  [before, cursor, first]: [SweepState['previous'], string, Slot | undefined],
): Promise<void> {
  if (!before || before.lastId === null || first === null) return;
  const boundary = {
    resource: pass.resource,
    before: { cursor: before.cursor, lastId: before.lastId },
    after: { cursor, firstId: first?.id },
  };
  if (await boundaryHolds(client, boundary, signal))
    await store.noteAbsent({ pass, ids, verdict: 'proven', now: clock.now() });
}

async function conclusion(
  { client, signal }: PassContext,
  { pass, memory }: Sweep,
  last: SweepState,
): Promise<PassEnd['conclude']> {
  const { evidence } = last;
  const order = orderFrom(evidence, memory.order);
  const unordered = last.keepIds && !evidence.unknownRows ? 'missing' : 'nothing';
  if (!order || order.strength === 'weak' || order.by !== byOf(last)) return unordered;
  if (order.strength === 'strong') return 'proven';
  // Some number that could be the order was the same in all neighbours. If it were the order, the first change would have moved a
  // row, most likely to the top: so the list must not have moved at all, nor have seemed to.
  if (evidence.overlaps) return unordered;
  const { rows } = await client.page(pass.resource, '', signal);
  return (rows[0]?.id ?? null) === last.firstId ? 'proven' : unordered;
}

function lessons({ evidence }: SweepState, memory: Memory): Memory {
  const order = orderFrom(evidence, memory.order);
  const tryCreated = order === null && evidence.id === 'mixed' && evidence.created === 'unread';
  return { order, tryCreated, floor: null };
}
