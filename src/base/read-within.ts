import { within } from './within.ts';

/**
 * A reader that never keeps its caller waiting: null when the answer fails or does not come in time. A read that hangs is not
 * begun a second time; whoever asks next waits for the same one.
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
