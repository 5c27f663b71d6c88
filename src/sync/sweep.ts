import { isFinerIn } from '../api/next.ts';
import { pagesBefore } from '../api/walk.ts';
import { AppError } from '../base/errors.ts';
import type { Resource } from '../contract/endpoints.ts';
import { BEHIND_CACHE, type Conclusion } from '../store/mirror/types.ts';
import { absenceShownBy, skippedSecond } from './gaps.ts';
import {
  byOf,
  type Evidence,
  isSameOrder,
  keyOf,
  type Order,
  orderFrom,
  type Slot,
  shadowOf,
  slotsOf,
  withPage,
  withSeam,
} from './order.ts';
import { paceOf } from './pace.ts';
import { type AnyPage, indexAll, type PassContext, walk, writePage } from './pages.ts';
import { type Reread, reread, unlessGone } from './reread.ts';
import { isUnsteady, type Learned, STRICT_SWEEPS, type Sweep, type SweepState } from './state.ts';

export interface SweepEnd {
  /** Null where the sweep stopped at rows that were read shortly before. */
  conclusion: Conclusion | null;
  learned: Learned;
  /** Where this process began to read. */
  began: Beginning;
}

/** The first page that a process read: its place, and the ids of its rows. */
export interface Beginning {
  cursor: string;
  ids: ReadonlySet<number>;
}

/** Before which nothing counts as read: the list is read to its end once more. */
export const NOWHERE: Beginning = { cursor: '', ids: new Set() };

/**
 * Walks the whole list and says what its completion allows to conclude. With `until`, where this process began to read before, it goes
 * down to there only: from there on everything has been read, and the same command concludes nothing twice.
 */
export async function sweep(context: PassContext, under: Sweep, until: Beginning | null): Promise<SweepEnd> {
  const { onPage } = context;
  const { resource } = under.pass;
  const pace = paceOf(context.clock);
  let isIndexed = resource !== 'posts';
  let last = under.state;
  // Some services show every page of a walk as the list was when the walk began. What follows an interruption is therefore taken to be as
  // old as that, and changes no row that another pass has seen to change since. Where it would, the list is read once more to its end.
  const stoppedAt = last.receivedAt ?? null;
  let began: Beginning | null = null;
  let isLate = false;
  let before: ReadonlySet<number> | null = null;
  const cursors: string[] = [];
  for await (const page of walkFrom(context, resource, last.cursor)) {
    const hasTime = pace.arrived();
    if (began === null) refuseLostPlace(last, page);
    const isNext = await readSkipped(context, under, page);
    const written = sweepPage(context, under, page, { before, isNext, stoppedAt });
    last = written.state;
    isLate ||= written.isLate;
    before = idsOf(page);
    onPage(under.pass);
    // From now on rows are indexed as they come: they can be searched at once, and nothing is left for the end.
    if (hasTime && !isIndexed) await indexAll(context, null);
    isIndexed ||= hasTime;
    pace.done();
    began ??= { cursor: page.cursor, ids: before };
    if (page.cursor !== '') cursors.push(page.cursor);
    if (until && page.rows.some(({ id }) => until.ids.has(id)) && isSameWalk(cursors, until.cursor)) break;
  }
  if (began === null || isLate) began = NOWHERE;
  if (until) return { conclusion: null, learned: { ...under.learned, highWater: null }, began };
  const again = await reread(context, under, last, [...(before ?? [])]);
  const { conclusion, learned } = concluded(last, again, under.learned);
  // A sweep that read copies from before the last one that counts is one with it.
  const readAt = last.isCached ? under.learned.readAt : context.clock.now();
  return { conclusion, learned: { ...learned, ...(readAt !== undefined && { readAt }) }, began };
}

/**
 * Whether a place belongs to this walk. Some services write the moment at which a walk began into every `next`, and show the list as it
 * was then: what followed a place of an earlier walk was read as it was before this command. What two cursors of a walk have in common is
 * such a moment, or the same in every walk.
 */
function isSameWalk(cursors: readonly string[], place: string): boolean {
  if (cursors.includes(place)) return true;
  const [one, other] = cursors.slice(-2).map((cursor) => cursor.split('&'));
  if (!one || !other) return false;
  const parts = place.split('&');
  return one.every((part) => !other.includes(part) || parts.includes(part));
}

/** The upstream has forgotten where an interrupted sweep stopped, or the list has become shorter than that. */
export class LostPlace extends AppError {
  constructor() {
    super('protocol', 'the list has no rows at the place where the sweep was interrupted; it begins again');
  }
}

/** A cursor that was kept may have run out, whatever the upstream says of it: where the start of the list is served, that is it. */
async function* walkFrom(
  { client, signal, ahead }: PassContext,
  resource: Resource,
  from: string,
): AsyncGenerator<AnyPage, void, undefined> {
  let isResumed = from !== '';
  try {
    for await (const page of walk(client, resource, { from, signal, ahead })) {
      isResumed = false;
      yield page;
    }
  } catch (error) {
    const isServed = isResumed && (await client.page(resource, '', signal).catch(() => null)) !== null;
    throw isServed ? new LostPlace() : error;
  }
}

/** A place to resume at came from a page that said there was more: an end there, without a row, is no end of this sweep. */
function refuseLostPlace({ cursor }: SweepState, { rows, rejects, next }: AnyPage): void {
  if (cursor !== '' && next === null && rows.length + rejects.length === 0) throw new LostPlace();
}

/** How far back the rows are looked for that pages skipped when they became larger. */
const MOST_SKIPPED = 50;

/**
 * Pages by number that become larger while they are read, as in a deployment, skip rows: page 3 of a hundred begins where page 5 of fifty
 * would. Those are read from the pages before it, down to the last row that was shown. Services that leave rows out of their pages look
 * the same, and cost one request for each page that is larger than all before it. Tells whether the page before this one now ends with
 * that row.
 */
async function readSkipped(context: PassContext, { pass, state }: Sweep, page: AnyPage): Promise<boolean> {
  const { client, signal } = context;
  const size = page.rows.length + page.rejects.length;
  const isBeyondEnd = size === 0 && page.next === null;
  if (!state.previous || (!isBeyondEnd && size <= (state.previous.size ?? size))) return false;
  // Not a second time in the log: most of these rows were counted when the sweep came by.
  const { pages, rows, unchanged, quarantined } = pass.counts;
  let left = MOST_SKIPPED;
  let isNext = false;
  let ids = page.rows.map(({ id }) => id);
  for (const cursor of pagesBefore(page.cursor, state.previous.cursor)) {
    if (left-- === 0 || (state.lastId !== null && ids.includes(state.lastId))) break;
    const before = await client.page(pass.resource, cursor, signal).catch(unlessGone);
    if (!before) break;
    if (left === MOST_SKIPPED - 1) isNext = lastIdOf(slotsOf(pass.resource, before)) === state.lastId;
    writePage(context, pass, before);
    Object.assign(pass.counts, { pages, rows, unchanged, quarantined });
    ids = before.rows.map(({ id }) => id);
  }
  return isNext;
}

function lastIdOf(slots: readonly Slot[]): number | null {
  return slots.findLast((slot) => slot !== null)?.id ?? null;
}

function idsOf({ rows }: AnyPage): ReadonlySet<number> {
  return new Set(rows.map(({ id }) => id));
}

/** What the process has read of the sweep before a page, and when the one before it stopped. */
interface Read {
  /** Null before its first page: until then the list may have moved by any number of rows. */
  before: ReadonlySet<number> | null;
  /** The page before this one, read once more, ends where this one begins. */
  isNext: boolean;
  stoppedAt: number | null;
}

/** Writes one page and returns the state after it. */
function sweepPage(
  context: PassContext,
  under: Sweep,
  page: AnyPage,
  { before, isNext, stoppedAt }: Read,
): { state: SweepState; isLate: boolean } {
  const { pass, learned, state } = under;
  const slots = slotsOf(pass.resource, page);
  const within = withPage(state.evidence, slots);
  const key = state.previous?.key ?? null;
  const evidence = before ? withSeam(within, slots, { key, ids: before }) : within;
  const by = byOf(evidence);
  const last = slots.at(-1);
  const largest = Math.max(slots.length, state.previous?.size ?? 0);
  const isHole = slots.length === 0 && page.next !== null && state.previous !== null;
  const next: SweepState = {
    ...state,
    cursor: page.next ?? '',
    // A page without rows in the middle of the list may have lost them all, or leave them out for now.
    previous:
      isHole && state.previous
        ? { ...state.previous, isAcross: true }
        : { cursor: page.cursor, key: keyOf(last, by), created: last?.created ?? null, size: largest },
    evidence,
    first: state.keepIds ? (state.first ?? page.rows.map(({ id }) => id).join()) : null,
    moved: state.moved || isHole || page.repeated !== undefined,
    ...((state.isTimed || skippedSecond(page, state.previous) !== null) && { isTimed: true }),
    ...((state.isFiner || isFinerIn(page.cursor, state.previous?.created ?? '')) && { isFiner: true }),
    ...((state.isCached || isFromBefore(learned, page)) && { isCached: true }),
    lastId: lastIdOf(slots) ?? state.lastId,
    receivedAt: page.receivedAt,
  };
  const { isLate } = writePage(context, pass, page, {
    absence: absenceShownBy(slots, page, {
      evidence,
      order: learned.order,
      previous: state.previous,
      isNext,
    }),
    keepIds: state.keepIds,
    ageMs: Math.max(page.ageMs ?? 0, stoppedAt === null ? 0 : page.receivedAt - stoppedAt),
    // After the last page there is nothing to resume: a kill before the conclusion reads that page again.
    state: page.next === null ? null : JSON.stringify(next),
  });
  if (page.next !== null) Object.assign(under, { state: next, counts: { ...pass.counts } });
  return { state: next, isLate };
}

/** Sweeps that read the same copies of a cache are one: what slid between two copies is missing from each. */
function isFromBefore({ readAt }: Learned, { receivedAt, ageMs = 0 }: AnyPage): boolean {
  return ageMs > 0 && receivedAt - ageMs < (readAt ?? 0);
}

function concluded(
  last: SweepState,
  { evidence, isStable }: Reread,
  learned: Learned,
): Pick<SweepEnd, 'conclusion' | 'learned'> {
  const order = orderFrom(evidence, learned.order);
  const unsteady = isUnsteady(order, learned);
  const steady = unsteady ? null : order;
  const strict = order ? (isSameOrder(order, learned.order) ? learned.strict + 1 : 1) : 0;
  const isOnlyPage = last.previous?.cursor === '' && !evidence.unknownRows;
  const tryCreated = order === null && evidence.id === 'mixed' && evidence.created === 'unread';
  const numbers = order && evidence.numbers;
  const { moved, lastId: end } = last;
  const rule = last.isCached
    ? CACHED
    : steady || isOnlyPage
      ? proof(steady, strict, evidence)
      : unordered(last.keepIds, isStable, evidence, order);
  return {
    conclusion: { ...rule, moved, sameEnd: end === learned.end, timed: timedOf(last) },
    learned: { order, strict, ...(unsteady && { unsteady }), numbers, tryCreated, highWater: null, end },
  };
}

type Ruled = Omit<Conclusion, 'moved' | 'sameEnd' | 'timed'>;

function timedOf({ isTimed, isFiner }: SweepState): Conclusion['timed'] {
  if (!isTimed) return null;
  return isFiner ? 'finer' : 'exact';
}

const CACHED: Ruled = {
  rule: 'none',
  why: BEHIND_CACHE,
  sweeps: null,
};

function proof(order: Order | null, strict: number, evidence: Evidence): Ruled {
  if (!order) return { rule: 'proof', why: 'the whole list fits one page', sweeps: 2 };
  const shadow = shadowOf(evidence);
  const by = order.by === 'id' ? 'id' : 'creation time';
  const start = order.direction === 'desc' ? 'newest' : 'oldest';
  const caution = shadow ? `; ${shadow} runs along with it, so that three sweeps are needed` : '';
  return {
    rule: 'proof',
    why: `the list stands strictly by ${by}, ${start} first${caution}`,
    sweeps: strict < STRICT_SWEEPS ? null : shadow ? 3 : 2,
  };
}

function unordered(
  keepsIds: boolean,
  isStable: boolean,
  { unknownRows, id }: Evidence,
  order: Order | null,
): Ruled {
  const why = order
    ? 'the order of the list changes from sweep to sweep'
    : id === 'none'
      ? 'no page has two rows, so that the order of the list does not show'
      : 'the list has no strict order by id or creation time';
  const none = (reason: string): Ruled => ({ rule: 'none', why: `${why}${reason}`, sweeps: null });
  if (unknownRows) return none(', and rows came whose id cannot be read');
  if (!keepsIds) return none(', as far as one sweep shows; the next ones find out');
  if (!isStable) return none(', and its end changed while the last sweep read it');
  return { rule: 'three sweeps', why, sweeps: 3 };
}
