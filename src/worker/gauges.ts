import type { WorkContext } from '../../jobs/context.ts';
import { pastOrNull } from '../base/clock.ts';
import { type OpenQueue, queueDepth } from './progress.ts';

/** What is a state rather than an event, read when somebody asks for the metrics: one reader a source. */
export function gauges({ app, metrics }: WorkContext, queue: () => OpenQueue | null): void {
  metrics.observe(async () => {
    const now = app.clock.now();
    const lag = app.state.lastPasses().map(({ resource, mode, finishedAt }) => {
      const ended = pastOrNull(finishedAt, now);
      return { resource, mode, seconds: ended === null ? null : (now - ended) / 1000 };
    });
    return { lag };
  });
  metrics.observe(async () => ({ outbox: await app.outbox.counts(null) }));
  metrics.observe(async () => ({ rows: (await app.store.status()).resources }));
  metrics.observe(async () => {
    const open = queue();
    const depth = open && (await queueDepth(open));
    if (!depth) throw new Error('the queue does not answer');
    return { queues: [...depth] };
  });
}
