import type { Client, CreateOutcome } from '../../api/client.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { StateCounts } from '../../store/outbox/types.ts';
import { drive } from '../drive.ts';
import type { OutboxContext } from '../push.ts';

export interface WaitOptions {
  /** Whose rows are waited for; each is driven until nothing more happens by itself. */
  batches: readonly string[];
  perMinute: number;
  /** How long the upstream may be out of reach before this is given up. */
  patienceMs: number;
  /** Called now and then with how the rows of all batches stand. */
  onLook?: ((counts: StateCounts) => void | Promise<void>) | undefined;
}

const LOOK_MS = 500;

/** Sends the rows of these batches and waits for them, or watches another sender do so. Returns how they stand in the end. */
export async function waitFor(context: OutboxContext, options: WaitOptions): Promise<StateCounts> {
  const { clock, store } = context;
  const stop = new AbortController();
  const giveUp = (reason: string): void => stop.abort(outOfReach(options.patienceMs, reason));
  const patient: OutboxContext = {
    ...context,
    client: timed(context.client, clock, options.patienceMs, giveUp),
    signal: AbortSignal.any([context.signal, stop.signal]),
  };
  const ended = new AbortController();
  const counts = (): Promise<StateCounts> => sumCounts(store, options.batches);
  const looking = look(async () => options.onLook?.(await counts()), clock, ended.signal);
  try {
    for (const batch of options.batches) await drive(patient, { batch, perMinute: options.perMinute });
  } finally {
    ended.abort();
    await looking;
  }
  return await counts();
}

/** Looking is for the eyes only: what fails here fails again, and is said, when the work is done. */
async function look(once: () => Promise<void>, clock: Clock, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await once().catch(() => undefined);
    await clock.sleep(LOOK_MS, ended).catch(() => undefined);
  }
}

export async function sumCounts(
  store: { counts(batch: string | null): StateCounts },
  batches: readonly string[],
): Promise<StateCounts> {
  const each = await Promise.all(batches.map((batch) => store.counts(batch)));
  const sum: StateCounts = {
    ready: 0,
    sending: 0,
    confirmed: 0,
    rejected: 0,
    ambiguous: 0,
    uncertain: 0,
    cancelled: 0,
  };
  for (const counts of each)
    for (const [state, n] of Object.entries(counts)) sum[state as keyof StateCounts] += n;
  return sum;
}

function outOfReach(patienceMs: number, reason: string): AppError {
  const since = patienceMs >= 1000 ? ` for ${Math.round(patienceMs / 1000)} s` : '';
  return new AppError('unreachable', `the upstream could not be reached${since}: ${reason}`);
}

/** A client whose creates are watched: nothing but failures to connect for so long, and it is no use to go on. */
function timed(client: Client, clock: Clock, ms: number, giveUp: (reason: string) => void): Client {
  let since: number | null = null;
  const noted = (outcome: CreateOutcome): CreateOutcome => {
    if (outcome.outcome !== 'not-sent') since = null;
    else {
      since ??= clock.now();
      if (clock.now() - since >= ms) giveUp(outcome.reason);
    }
    return outcome;
  };
  return {
    ...client,
    create: async (post, signal) => noted(await client.create(post, signal)),
    createAsUser: async (post, signal) => noted(await client.createAsUser(post, signal)),
  };
}
