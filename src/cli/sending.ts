import { type Clock, systemClock } from '../base/clock.ts';
import { AppError, codeOf, messageOf } from '../base/errors.ts';
import type { StateCounts } from '../outbox/decide/types.ts';
import { sumCounts } from '../outbox/import/intake.ts';
import type { OutboxStore } from '../outbox/store/store.ts';
import type { WaitOptions } from '../service/wait.ts';
import { counted, durationText } from '../text/text.ts';
import type { Context } from './context.ts';
import { LONG_MS } from './outbox-text.ts';
import { openProgress } from './progress.ts';

/** The outbox, and the way to send from it, for commands that can do both. */
export interface OpenSending {
  store: OutboxStore;
  clock: Clock;
  /** Only if sending was opened to wait. */
  wait(options: SendingOptions): Promise<StateCounts>;
  close(): Promise<void>;
}

interface SendingOptions extends Pick<WaitOptions, 'batches'> {
  /** What a person does when the waiting ends early, as a sentence. */
  goOn: string;
}

/** Without `wait` the command needs no upstream and no token: the outbox is a file. */
export async function openSending(context: Context, purpose: string, wait: boolean): Promise<OpenSending> {
  const { openApp, openOutbox } = await import('../app.ts');
  if (!wait) {
    const store = openOutbox(context.settings, purpose);
    const refuse = (): never => {
      throw new Error('this was not opened for sending');
    };
    return { store, clock: systemClock, wait: refuse, close: async () => store.close() };
  }
  const [{ sendAndWait }, { SILENT }] = await Promise.all([
    import('../service/wait.ts'),
    import('../base/log.ts'),
  ]);
  const app = await openApp(context.settings, context.input, purpose);
  const { origins } = context.settings;
  // The command prints what became of its rows. The lines of the sender come too if a person asked for a log.
  const log = origins.logLevel === 'default' ? SILENT : app.log;
  return {
    store: app.outbox,
    clock: app.clock,
    async wait(options) {
      const { pushPerMinute } = context.settings;
      const text = await paceText(app.outbox, options.batches, pushPerMinute, app.clock.now());
      if (text !== null && !context.json) context.say(text);
      const marksBefore = app.outbox.marks();
      const bar = await openBar(context);
      const { batches, goOn } = options;
      try {
        return await sendAndWait({ ...app, log }, { batches, onProgress: bar.move, signal: context.signal });
      } catch (error) {
        throw withAdvice(error, open(app.outbox, batches), goOn);
      } finally {
        bar.stop();
        await tellLostMarks(context, marksBefore, app.outbox.marks());
      }
    },
    close: () => app.close(),
  };
}

type Marks = ReturnType<OutboxStore['marks']>;

async function tellLostMarks(context: Context, before: Marks, after: Marks): Promise<void> {
  const lost = Object.keys(after).filter((board) => after[board] === 'lost' && before[board] !== 'lost');
  if (lost.length === 0) return;
  const { lostMarkText } = await import('../outbox/send/mark.ts');
  for (const board of lost) context.remark(`Note: ${lostMarkText(board)}.`);
}

/** A progress bar over all rows that the command waits for. */
async function openBar(context: Context): Promise<{ move(counts: StateCounts): void; stop(): void }> {
  const progress = await openProgress(context);
  let move: ReturnType<typeof progress.start> | undefined;
  return {
    move({ ready, sending, ambiguous, confirmed, rejected, uncertain, cancelled }) {
      const waiting = ready + sending + ambiguous;
      const done = confirmed + rejected + uncertain + cancelled;
      move ??= progress.start({ name: 'sending', total: waiting + done, text: BAR });
      move(done, { confirmed, rejected, waiting, uncertain });
    },
    stop: () => progress.stop(),
  };
}

const BAR = '{confirmed} sent  {rejected} rejected  {waiting} waiting  {uncertain} to decide';

function open(store: OutboxStore, batches: readonly string[]): number {
  const { ready, sending, ambiguous } = sumCounts(store, batches);
  return ready + sending + ambiguous;
}

/** Shorter waits are over before anybody wonders. */
const NOTICED_MS = 3000;

/** Says how long the sending takes: a thousand posts at the usual pace take a quarter of an hour. Null for short waits. */
export async function paceText(
  store: OutboxStore,
  batches: readonly string[],
  perMinute: number,
  now: number,
): Promise<string | null> {
  const { estimateText, estimateWaiting } = await import('../outbox/send/estimate.ts');
  const [batch = null] = batches;
  const estimate = estimateWaiting(store, batches.length === 1 ? batch : null, perMinute, now);
  const why = `(PUSH_PER_MINUTE=${perMinute}). Ctrl-C stops safely at any time.`;
  if (estimate && estimate.ms >= LONG_MS) return `${estimateText(estimate)} ${why}`;
  const waitMs = (store.nextSendAt(perMinute, now) ?? now) - now;
  return estimate && waitMs >= NOTICED_MS ? `The next post leaves in ${durationText(waitMs)} ${why}` : null;
}

/** Adds to an error that the rows are safe, and what to do. A paused import waits for a person, so `goOn` is left out there. */
export function withAdvice(error: unknown, rows: number, goOn: string): unknown {
  const code = codeOf(error);
  if (code === 'internal' || code === 'storage') return error;
  const isPaused = code === 'partial';
  const hints = [
    `Nothing is lost: ${counted(rows, 'row')} ${rows === 1 ? 'waits' : 'wait'} in the outbox.`,
    ...(error instanceof AppError && (isPaused || code === 'unauthorised') ? [error.hint] : []),
    ...(isPaused ? [] : [goOn]),
  ];
  const hint = hints.join(' ');
  return new AppError(code, messageOf(error), { cause: error, hint });
}
