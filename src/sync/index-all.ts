import type { PassContext } from './pass.ts';

/** Every row into the indexes, in steps, with a turn for everything else in between. */
export async function indexAll({ store, signal }: Pick<PassContext, 'store' | 'signal'>): Promise<void> {
  while (await store.index()) {
    signal.throwIfAborted();
    await new Promise(setImmediate);
  }
}
