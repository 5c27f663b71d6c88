/**
 * The promise, or after that time what `instead` gives: a value, or an Error to fail with. The promise itself goes on, and
 * its later failure is ignored.
 */
export async function within<T>(ms: number, promise: Promise<T>, instead: () => T | Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T | Error>((resolve) => {
    timer = setTimeout(() => resolve(instead()), ms);
  });
  promise.catch(() => undefined);
  try {
    const first = await Promise.race([promise, late]);
    if (first instanceof Error) throw first;
    return first;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A reader that never keeps its caller waiting: null when the answer fails or does not come in time. A read that hangs is not
 * begun a second time; the next caller waits for the same one.
 */
export function readWithin<T>(ms: number, read: () => Promise<T>): () => Promise<T | null> {
  let under: Promise<T | null> | null = null;
  const begin = async (): Promise<T | null> => {
    try {
      return await read();
    } catch {
      return null;
    }
  };
  return () => {
    under ??= begin().finally(() => {
      under = null;
    });
    return within<T | null>(ms, under, () => null);
  };
}

/** The work, or nothing as soon as the service stops: a queue whose server is away answers when it is back, not before. */
export async function unlessStopped<T>(
  signal: AbortSignal | undefined,
  work: Promise<T>,
): Promise<T | undefined> {
  if (!signal) return await work;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const stop = (): void => resolve(undefined);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
