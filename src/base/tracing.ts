import { tracingChannel } from 'node:diagnostics_channel';

/**
 * Pieces of work that somebody may want to follow, told on a channel of Node: as long as nobody listens, telling costs next to nothing
 * and no package is loaded. src/app/tracing.ts listens where the settings name a collector.
 */
export interface Work {
  name: string;
  attributes: Attributes;
  /** What the work failed with. */
  error?: unknown;
}

/** Numbers, states and kinds: never a text, a name, an address or a token. */
export type Attributes = Record<string, string | number | boolean>;

export const WORK = tracingChannel<unknown, Work>('feedback-mirror:work');

/** Does the work, and tells when it begins and ends. What is known only at the end is told with the function it gets. */
export async function traced<T>(
  name: string,
  attributes: Attributes,
  work: (tell: (more: Attributes) => void) => Promise<T>,
): Promise<T> {
  if (!WORK.hasSubscribers) return await work(() => undefined);
  const told: Work = { name, attributes: { ...attributes } };
  return await WORK.tracePromise(() => work((more) => Object.assign(told.attributes, more)), told);
}
