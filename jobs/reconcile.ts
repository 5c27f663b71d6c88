import { reconcile as reconcileAll } from '../src/outbox/reconcile.ts';
import type { JobDefinition } from './context.ts';
import { RECONCILE } from './dispatch.ts';
import { alone, heedGate } from './sending.ts';

/** Finds out what became of every unclear row that has settled, by reading only. Rows that have to wait longer are due again later. */
export const reconcile: JobDefinition = {
  name: 'reconcile',
  queue: 'reconcile',
  async run(context) {
    await heedGate(context, 'reconcile');
    return await alone(context, RECONCILE, async () => {
      context.sending.signal.throwIfAborted();
      const { app, metrics, activity } = context;
      const onPage = (): void => {
        activity.lastAttemptAt = app.clock.monotonic();
      };
      onPage();
      const results = await reconcileAll({ ...context.sending, onPage });
      const counts: Record<string, number> = {};
      for (const [id, result] of results) {
        metrics.reconcile(result);
        counts[result] = (counts[result] ?? 0) + 1;
        if (result === 'uncertain')
          app.log.warn(
            { event: 'reconcile.uncertain', outbox: id },
            'only a person can tell what became of a post',
          );
      }
      if (results.size > 0)
        app.log.info({ event: 'reconcile.completed', ...counts }, 'reconciled unclear posts');
      return counts;
    });
  },
};
