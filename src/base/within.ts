/**
 * The promise, or after that time what `instead` gives: a value, or an Error to fail with. The promise itself goes on, and
 * its later failure is nobody's any more.
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
