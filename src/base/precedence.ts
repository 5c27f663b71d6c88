import { setImmediate } from 'node:timers/promises';

/**
 * Short work goes first. All sources of a process share one thread, and a long sweep always has a next page to write. It takes a turn for
 * each one: the turns come one in a round of the event loop, in the order in which they were asked for, and none while short work is under
 * way. So short work of any source waits for one page at most, and not for a page of each sweep.
 */
export interface Precedence {
  /** A head pass, a create or a request: what a person or a schedule waits for. */
  short<T>(work: () => Promise<T>): Promise<T>;
  /** The turn of a sweep: resolves when it may write its next page. */
  turn(signal: AbortSignal): Promise<void>;
}

/** What takes longer waits for its own network: a source that hangs must not stop the sweeps of the others. */
const SHORT_MS = 1000;
/** A sweep continues after so long, also beside constant short work. 10 pages a second are 3.6 million posts an hour. */
const LONGEST_WAIT_MS = 100;
const LOOK_MS = 5;

/** `now` is a monotonic clock in milliseconds, `look` the pause between two looks at what is under way. */
export function createPrecedence(
  now: () => number = () => performance.now(),
  look: () => Promise<unknown> = pause,
): Precedence {
  const underWay = new Map<symbol, number>();
  let last: Promise<void> = Promise.resolve();
  const isBusy = (at: number): boolean => [...underWay.values()].some((since) => at - since < SHORT_MS);
  const next = async (signal: AbortSignal): Promise<void> => {
    for (const since = now(); !signal.aborted; ) {
      const at = now();
      if (at - since >= LONGEST_WAIT_MS || !isBusy(at)) break;
      await look();
    }
    await setImmediate();
  };
  return {
    async short(work) {
      const key = Symbol();
      underWay.set(key, now());
      try {
        return await work();
      } finally {
        underWay.delete(key);
      }
    },
    async turn(signal) {
      last = last.then(() => next(signal));
      await last;
      signal.throwIfAborted();
    },
  };
}

function pause(): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, LOOK_MS).unref();
  return promise;
}
