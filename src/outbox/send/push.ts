import type { Client, CreateOutcome } from '../../api/client.ts';
import { crashPoint } from '../../base/crash.ts';
import { codeOf } from '../../base/errors.ts';
import { TRANSITIONS } from '../decide/states.ts';
import type { OutboxRow, Refusal } from '../decide/types.ts';
import type { OutboxContext } from './context.ts';
import { recordOutcome } from './ended.ts';
import { highestListed } from './highest-listed.ts';
import { contentAsSent, markFor, readBack } from './mark.ts';
import { adaptPace, currentPace } from './pace.ts';
import { holdBack, stopWhereUnreadable } from './pause.ts';
import { checkBeforeResend, type ResendHindrance } from './resend.ts';

export type PushResult =
  /** `note`: a sentence to tell once. */
  | { sent: true; row: OutboxRow; outcome: CreateOutcome['outcome']; note: string | null }
  | { sent: false; reason: Hindrance };

/** Why nothing went out. */
type Hindrance = Refusal['refused'] | ResendHindrance;

/**
 * Sends one row, once. What happens after the claim is written down, or the next sender finds the row as an orphan. The next row may go
 * as soon as the service has answered this one: the disk writes the answer while the next row is on its way.
 */
export async function push(
  context: OutboxContext,
  id: number,
  letNextGo: () => Promise<void> = async () => undefined,
): Promise<PushResult> {
  const { store, client, clock, signal, createMs } = context;
  const perMinute = currentPace(context);
  signal.throwIfAborted();
  const hindrance = await hindranceTo(context, id);
  if (hindrance !== null) return { sent: false, reason: hindrance };
  const listedMaxId = await highestListed(context);
  signal.throwIfAborted();
  const now = clock.now();
  const deadline = now + createMs;
  const waiting = store.find(id);
  const mark = waiting && markFor(context, waiting);
  const transition = TRANSITIONS.claim;
  const claimed = store.claim({ id, transition, now, deadline, listedMaxId, mark, perMinute });
  if ('refused' in claimed) return { sent: false, reason: claimed.refused };
  crashPoint('push:claimed');
  const outcome = await graced(context, (extended) => send(client, claimed, extended));
  crashPoint('push:answered');
  const ended = { outcome, at: clock.now(), deadline };
  adaptPace(context, outcome);
  if (outcome.outcome === 'confirmed') await letNextGo();
  const row = await written(context, () => {
    if (outcome.outcome === 'unauthorised') holdBack(context, claimed, outcome.httpStatus);
    stopWhereUnreadable(context, outcome);
    return recordOutcome(context, claimed, ended);
  });
  crashPoint('push:recorded');
  // An answer that names a post which cannot be this row's leaves the row unclear.
  const isBelieved = outcome.outcome !== 'confirmed' || row?.state !== 'ambiguous';
  // A command stops with its last answer.
  const readBackOf = (of: OutboxRow) => graced(context, (signal) => readBack({ ...context, signal }, of));
  const note = row && isBelieved ? await readBackOf(row) : null;
  return { sent: true, row: row ?? claimed, outcome: isBelieved ? outcome.outcome : 'unknown', note };
}

/** An attempt is claimed only when a request can leave, and a row that was once unclear only when no post could be its own. */
async function hindranceTo(context: OutboxContext, id: number): Promise<Hindrance | null> {
  const { store, clock, gate } = context;
  const refusal = store.refusal(id, clock.now());
  if (refusal) return refusal.refused;
  if (context.mayLeave?.() === false) return 'not due';
  if (gate.closedUntil(clock.now()) !== null) return 'rate limit';
  const row = store.find(id);
  if (!row) return 'gone';
  return row.was_ambiguous ? await checkBeforeResend(context, row) : null;
}

async function send(client: Client, row: OutboxRow, signal: AbortSignal): Promise<CreateOutcome> {
  const { board, title, email, full_name } = row;
  const content = contentAsSent(row);
  if (email === null) return await client.create({ board, title, content }, signal);
  return await client.createAsUser({ board, title, content, email, full_name: full_name ?? '' }, signal);
}

/** How long requests may wait for their answer while the process stops. A create that is cut off would be unclear. */
const GRACE_MS = 8000;

async function graced<T>(
  { clock, signal }: OutboxContext,
  work: (extended: AbortSignal) => Promise<T>,
): Promise<T> {
  const [extended, over] = [new AbortController(), new AbortController()];
  const onStop = (): void => {
    clock.sleep(GRACE_MS, over.signal).then(
      () => extended.abort(signal.reason),
      () => undefined,
    );
  };
  if (signal.aborted) onStop();
  else signal.addEventListener('abort', onStop, { once: true });
  try {
    return await work(extended.signal);
  } finally {
    signal.removeEventListener('abort', onStop);
    over.abort();
  }
}

const TRY_AGAIN_MS = 1000;

/** Troubles of the disk, and another program that keeps the file for itself. */
const PASSING: ReadonlySet<string> = new Set(['storage', 'busy']);

/** An answer that cannot be written is kept. It is written as soon as there is space, or the file is free. */
async function written<T>({ clock, signal }: OutboxContext, write: () => T): Promise<T> {
  for (;;) {
    try {
      return write();
    } catch (error) {
      if (!PASSING.has(codeOf(error)) || signal.aborted) throw error;
      await clock.sleep(TRY_AGAIN_MS, signal);
    }
  }
}
