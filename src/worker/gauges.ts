import type { JobContext } from '../../jobs/context.ts';
import { queueDepth } from './progress.ts';

/** What is a state rather than an event, read when somebody asks for the metrics: one reader a source. */
export function gauges(context: JobContext): void {
  const { app, metrics } = context;
  metrics.observe(async () => {
    const now = app.clock.now();
    const lag = app.state.lastPasses().map(({ resource, mode, finishedAt }) => ({
      resource,
      mode,
      seconds: finishedAt === null ? null : (now - finishedAt) / 1000,
    }));
    return { lag };
  });
  metrics.observe(async () => ({ outbox: await app.outbox.counts(null) }));
  metrics.observe(async () => ({ rows: (await app.store.status()).resources }));
  metrics.observe(async () => {
    const depth = await queueDepth(context);
    if (!depth) throw new Error('the queue does not answer');
    return { queues: [...depth] };
  });
}
