import { TRANSITIONS } from '../decide/states.ts';
import type { OutboxRow } from '../decide/types.ts';
import type { Verdict } from '../decide/whose.ts';
import type { OutboxContext } from './context.ts';
import { ask, conclude, type ReconcileResult } from './reconcile.ts';
import { postpone } from './settle.ts';
import { type Listed, nothingListed, readWindow, windowOf } from './window.ts';

/** Why a row that was once unclear does not go out again now. */
export type ResendHindrance = 'adopted' | 'uncertain' | 'not due';

/** What came into the mirror since the row was reconciled may be its post: the same question as there, once more. */
export async function checkBeforeResend(
  context: OutboxContext,
  row: OutboxRow,
): Promise<ResendHindrance | null> {
  const { store, clock } = context;
  let listed = nothingListed();
  try {
    if (isReleased(row)) listed = await lookedFor(context, row);
  } catch (error) {
    postpone(context, row, TRANSITIONS.defer, error);
    return 'not due';
  }
  const verdictAmong = (rows: OutboxRow[]): Verdict | undefined =>
    ask(store, clock.now(), rows, listed).verdicts.get(row.id);
  // Alone it has the fewest posts to be compared with, and most rows need no more.
  const verdict = verdictAmong([row])?.posts.length ? verdictAmong(store.unclear()) : undefined;
  if (!verdict?.posts.length) return recheck(context, row);
  return HINDRANCES[conclude(context, row, verdict) ?? 'later'];
}

const HINDRANCES: Record<ReconcileResult, ResendHindrance> = {
  found: 'adopted',
  uncertain: 'uncertain',
  later: 'not due',
  'send again': 'not due',
};

/** A person has let it go, and no list was read for it since: its post may have come, or an older copy not know of it. */
function isReleased({ state, was_ambiguous, not_found }: OutboxRow): boolean {
  return state === 'ready' && was_ambiguous && not_found === 0;
}

const looks = new WeakMap<object, { at: number; listed: Promise<Listed> }>();

/** One read of the list serves all rows that were let go before it. */
async function lookedFor(context: OutboxContext, row: OutboxRow): Promise<Listed> {
  const { store, clock } = context;
  const last = looks.get(store);
  const now = clock.now();
  const age = now - (last?.at ?? 0);
  if (last && Date.parse(row.changed_at) < last.at && age >= 0 && age < LEAST_STALE_MS)
    return await last.listed;
  const others = store.unclear().filter((other) => isReleased(other) && other.id !== row.id);
  const read = nothingListed();
  const listed = readWindow(context, windowOf([row, ...others]), read).then(() => read);
  looks.set(store, { at: now, listed });
  listed.catch(() => looks.delete(store));
  return await listed;
}

/** So many times as long as a row settles, nothing that the list shows later than expected has to be feared. */
const STALE_SETTLES = 5;
/** At one post a minute a row waits almost as long for its turn. It must not need another read with each turn. */
const LEAST_STALE_MS = 180_000;

/** Where a pause or a rate limit lies between the read of the list that did not show the row's post, and now, it is read once more. */
function recheck({ store, clock, settleMs }: OutboxContext, row: OutboxRow): ResendHindrance | null {
  const now = clock.now();
  const age = now - Date.parse(row.changed_at);
  if (row.not_found === 0 || (age >= 0 && age <= Math.max(LEAST_STALE_MS, STALE_SETTLES * settleMs)))
    return null;
  const error = 'it could not be sent again at once: looked for once more';
  store.move(row.id, TRANSITIONS.recheck, { now, notBefore: now, notFound: row.not_found - 1, error });
  return 'not due';
}
