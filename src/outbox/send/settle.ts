import { CLOCK_STEP_MS, iso } from '../../base/clock.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { TRANSITIONS } from '../decide/states.ts';
import type { OutboxRow, Transition, Unclear } from '../decide/types.ts';
import type { OutboxContext } from './context.ts';

/**
 * One read of the list serves every row that has settled, so the first to settle waits this long for the others. While rows are sent, a
 * read goes through all that came since its first attempt: each minute less between two reads costs pages that were read before.
 */
const LONGEST_WAIT_MS = { sending: 300_000, idle: 60_000 };

/** When the next read of the list is due. Where no row is sent, the read comes when the last row has settled, if that is sooner. */
export function reconcileAt({ first, last }: Unclear, isSending: boolean): number {
  return isSending ? first + LONGEST_WAIT_MS.sending : Math.min(last, first + LONGEST_WAIT_MS.idle);
}

/** By the monotonic clock, until when the rows settle that this process has sent. */
const settling = new WeakMap<object, Map<number, number>>();

/**
 * An unclear attempt is left to settle from the last moment at which it can have left this machine: its deadline, or later, where
 * the process was frozen or died without having said a word.
 */
export function settleFrom(
  { store, clock, settleMs }: OutboxContext,
  id: number,
  from: number,
): { notBefore: number; wasAmbiguous: true } {
  const notBefore = from + settleMs;
  const rows = settling.get(store) ?? new Map<number, number>();
  settling.set(store, rows.set(id, clock.monotonic() + notBefore - clock.now()));
  return { notBefore, wasAmbiguous: true };
}

/** On its way, or not settled: a post may still prove to be its own. */
export function isUnderWay({ state, not_before, changed_at }: OutboxRow, now: number): boolean {
  if (state !== 'ambiguous') return state === 'sending';
  // A change in the future was made by a clock that was ahead: the time it set counts as come.
  return not_before !== null && not_before > iso(now) && changed_at <= iso(now);
}

/** Whether an ambiguous row can be looked for. Where the clock was moved meanwhile, it settles all the same. */
export function hasSettled({ store, clock, settleMs }: OutboxContext, row: OutboxRow): boolean {
  const now = clock.now();
  if (isUnderWay(row, now)) return false;
  const isSetBack = Date.parse(row.changed_at) > now;
  const left = isSetBack ? settleMs : (settling.get(store)?.get(row.id) ?? 0) - clock.monotonic();
  if (left <= CLOCK_STEP_MS && !isSetBack) {
    settling.get(store)?.delete(row.id);
    return true;
  }
  const error = `the clock was ${isSetBack ? 'set back' : 'put ahead'}: it settles all the same`;
  store.move(row.id, TRANSITIONS.recheck, { now, notBefore: now + left, error });
  return false;
}

const FIRST_WAIT_MS = 2000;
const LAST_WAIT_MS = 300_000;

/** The list could not be read: the row is left where it is until later. A refused token also pauses sending. */
export function postpone(
  { store, clock, gate, random }: OutboxContext,
  row: OutboxRow,
  transition: Transition,
  error: unknown,
): void {
  const [now, code] = [clock.now(), codeOf(error)];
  if (code === 'interrupted' || code === 'internal' || code === 'storage') throw error;
  if (code === 'unauthorised') store.setPaused(`the upstream refused the token for reading at ${iso(now)}`);
  const notBefore = Math.max(now + backoff(row, now, random), gate.closedUntil(now, 'reads') ?? 0);
  store.move(row.id, transition, {
    now,
    notBefore,
    error: `could not look for it: ${messageOf(error)}`,
  });
}

/** The longer a row has been waiting, the less another minute matters. With equal jitter. */
export function backoff(row: OutboxRow, now: number, random: () => number): number {
  const waited = Math.max(0, now - Date.parse(row.first_sent_at ?? row.created_at));
  const most = Math.min(LAST_WAIT_MS, Math.max(FIRST_WAIT_MS, waited / 10));
  return most / 2 + (random() * most) / 2;
}
