import { reconcile as reconcileRow } from '../src/outbox/reconcile.ts';
import type { JobDefinition } from './context.ts';
import { alone, heedGate, rowOf } from './sending.ts';

/** Finds out what became of one unclear row, by reading only. A row that has to wait longer is rung again when it is due. */
export const reconcile: JobDefinition = {
  name: 'reconcile',
  queue: 'reconcile',
  async run(context, job) {
    const id = rowOf(job);
    await heedGate(context, 'reconcile');
    return await alone(context, id, async () => {
      context.sending.signal.throwIfAborted();
      const result = await reconcileRow(context.sending, id);
      const { app, metrics, activity } = context;
      activity.lastAttemptAt = app.clock.now();
      metrics.reconcile(result);
      const log = result === 'uncertain' ? app.log.warn.bind(app.log) : app.log.info.bind(app.log);
      log({ outbox: id, result }, 'looked for an unclear post');
      return result;
    });
  },
};
