import { TRANSITIONS } from '../decide/states.ts';
import type { OutboxRow } from '../decide/types.ts';
import type { Verdict } from '../decide/whose.ts';
import type { OutboxContext } from './context.ts';
import { ask, conclude, type ReconcileResult } from './reconcile.ts';
import { postpone } from './settle.ts';
import { type Listed, nothingListed, readWindow, windowOf } from './window.ts';

/** Why a row that was once unclear does not go out again now. */
export type ResendHindrance = 'adopted' | 'uncertain' | 'not due';

/** A post may have come into the mirror since the row was reconciled: the table of `whose.ts` decides once more. */
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
  // A row alone is compared with the fewest posts, and most rows need no more.
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

/** A person sent the row again, and the list was not read for it since. Its post may have come meanwhile, and a restored copy may not know of it. */
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

/** A read of the list stays good for so many times PUSH_SETTLE. */
const STALE_SETTLES = 5;
/** A read stays good for at least this long: at one post a minute a row waits almost as long for its turn, and would need a read for each turn. */
const LEAST_STALE_MS = 180_000;

/** The read that did not show the row's post may be old, as after a pause or a rate limit: then the list is read once more. */
function recheck({ store, clock, settleMs }: OutboxContext, row: OutboxRow): ResendHindrance | null {
  const now = clock.now();
  const age = now - Date.parse(row.changed_at);
  if (row.not_found === 0 || (age >= 0 && age <= Math.max(LEAST_STALE_MS, STALE_SETTLES * settleMs)))
    return null;
  const error = 'it could not be sent again at once: looked for once more';
  store.move(row.id, TRANSITIONS.recheck, { now, notBefore: now, notFound: row.not_found - 1, error });
  return 'not due';
}
