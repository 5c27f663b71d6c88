import type { OutboxContext } from './context.ts';

/** A create that is under way when we are told to stop has this long to be answered: cut off at once, it would be unclear. */
const GRACE_MS = 8000;

export async function graced<T>(
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
  signal.addEventListener('abort', onStop, { once: true });
  try {
    return await work(extended.signal);
  } finally {
    signal.removeEventListener('abort', onStop);
    over.abort();
  }
}
