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
