import type { Job } from 'bullmq';
import type { Webhooks } from '../src/app/webhooks.ts';
import { isDue } from '../src/base/clock.ts';
import { codeOf } from '../src/base/errors.ts';
import type { Webhook } from '../src/contract/telling.ts';
import type { QueueBackend } from '../src/queue/backend.ts';
import { counted } from '../src/text/text.ts';
import { deliver, LONGEST_RETRY_MS } from '../src/webhooks/deliver.ts';
import type { JobContext, JobDefinition } from './context.ts';
import { RunAgain } from './push.ts';

/** Tells one endpoint what it was not told yet. Where an attempt fails, BullMQ runs the job again when the next one is due. */
export const deliverWebhook: JobDefinition = {
  name: 'deliver',
  async run(context, job) {
    const { app, activity, signal } = context;
    const endpoint = endpointOf(app.webhooks, job);
    if (!app.webhooks || !endpoint || activity.webhooks.has(endpoint.id)) return 'nothing to do here';
    activity.webhooks.add(endpoint.id);
    try {
      const { delivered, lost, retryMs, disabledWhy } = await deliver(
        { ...app.webhooks.deps, signal },
        endpoint,
      );
      const facts = { webhook: endpoint.id, host: endpoint.host, delivered };
      if (lost > 0)
        app.log.error(
          { event: 'webhook.lost', ...facts, lost },
          `webhook ${endpoint.id} can no longer be told of ${counted(lost, 'change')}: CHANGES_KEEP was over`,
        );
      if (disabledWhy !== null)
        app.log.error(
          { event: 'webhook.disabled', ...facts },
          `webhook ${endpoint.id} is disabled: ${disabledWhy}`,
        );
      if (retryMs === null) return { delivered };
      app.log.warn(
        { event: 'webhook.failed', ...facts, retryMs },
        `webhook ${endpoint.id} did not take a change; it is tried again`,
      );
      throw new RunAgain('not delivered', retryMs);
    } catch (error) {
      if (codeOf(error) === 'interrupted') return 'stopped';
      throw error;
    } finally {
      activity.webhooks.delete(endpoint.id);
    }
  },
};

function endpointOf(webhooks: Webhooks | null, job: Job): Webhook | undefined {
  const id: unknown = Reflect.get(Object(job.data), 'webhook');
  return webhooks?.endpoints.find((endpoint) => endpoint.id === id);
}

/**
 * Enqueues a job for each endpoint that is behind. The mirror knows which; whatever the queue loses is enqueued again. As long as one
 * is behind it is asked again: a job that is just ending keeps the next one of the same id out of the queue.
 */
export function webhookDispatcher({ app, backend, activity }: JobContext): () => Promise<void> {
  const { webhooks, clock } = app;
  let seen: number | null = null;
  return async () => {
    const version = webhooks?.deps.feed.version() ?? 0;
    if (!webhooks || version === seen) return;
    const { store } = webhooks.deps;
    let isWaiting = false;
    for (const { id } of webhooks.endpoints) {
      const { position, disabled_at, not_before } = store.state(id);
      if (disabled_at !== null || store.lag(position) === 0) continue;
      isWaiting = true;
      const due = not_before === null || isDue(Date.parse(not_before), clock.now(), LONGEST_RETRY_MS);
      if (due && !activity.webhooks.has(id)) await enqueue(backend, id);
    }
    seen = isWaiting ? null : version;
  };
}

/** A job that waits for a later attempt is run now: a person has enabled the endpoint, or the clock was set. */
async function enqueue(backend: QueueBackend, webhook: string): Promise<void> {
  const queue = backend.queue('webhooks');
  const jobId = `webhook-${webhook}`;
  const job = await queue.getJob(jobId);
  if (job && (await job.isDelayed())) await job.promote();
  else
    await queue.add(
      'deliver',
      { webhook },
      { jobId, attempts: ATTEMPTS, backoff: { type: 'custom' }, ...GONE_AT_ONCE },
    );
}

/** While a job of an id is kept, none of that id can be added. */
const GONE_AT_ONCE = { removeOnComplete: true, removeOnFail: true };

/** The mirror counts the attempts that matter; the queue must not give up before it does. */
const ATTEMPTS = 50;
