import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';

/**
 * Pieces of work that somebody may want to follow, told on a channel of Node: as long as there is no listener, telling costs next to nothing
 * and no package is loaded. src/app/tracing.ts listens where the settings name a collector.
 */
export interface Work {
  name: string;
  attributes: WorkAttributes;
  error?: unknown;
}

/** Numbers, states and kinds: never a text, a name, an address or a token. */
type WorkAttributes = Record<string, string | number | boolean>;

export const WORK_CHANNEL = tracingChannel<unknown, Work>('feedback-mirror:work');

/** Does the work, and tells when it begins and ends. What is known only at the end is told with the function it gets. */
export async function traced<T>(
  name: string,
  attributes: WorkAttributes,
  work: (tell: (more: WorkAttributes) => void) => Promise<T>,
): Promise<T> {
  if (!WORK_CHANNEL.hasSubscribers) return await work(() => undefined);
  const begun: Work = { name, attributes: { ...attributes } };
  return await WORK_CHANNEL.tracePromise(() => work((more) => Object.assign(begun.attributes, more)), begun);
}

const SOURCE = new AsyncLocalStorage<string>();

/** Everything that the work begins, however much later, is work of this source. */
export function inSource<T>(name: string, work: () => T): T {
  return SOURCE.run(name, work);
}

/** Which source the work at hand is for; undefined where there is one without a name. */
export function currentSource(): string | undefined {
  return SOURCE.getStore();
}
