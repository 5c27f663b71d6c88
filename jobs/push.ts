import { type PushResult, push as pushRow } from '../src/outbox/push.ts';
import { type JobContext, type JobDefinition, RunAgain } from './context.ts';
import { alone, heedGate, holdQueue, rowOf } from './sending.ts';

/** Sends one row. The outbox has the last word: whatever the queue believes, a row that is not ready does not go out. */
export const push: JobDefinition = {
  name: 'push',
  queue: 'push',
  async run(context, job) {
    const id = rowOf(job);
    await heedGate(context, 'push');
    return await alone(context, id, async () => {
      const result = await pushRow(context.sending, id);
      if (!result.sent) {
        if (result.reason === 'rate limit') await heedGate(context, 'push');
        return result.reason;
      }
      context.activity.lastAttemptAt = context.app.clock.monotonic();
      return await judge(context, result);
    });
  },
};

type Sent = PushResult & { sent: true };

async function judge(context: JobContext, { row, outcome }: Sent): Promise<string> {
  const { app, metrics } = context;
  metrics.push(outcome);
  const facts = { outbox: row.id, attempt: row.attempts, outcome, post: row.post_id };
  const wait = row.not_before === null ? 0 : Date.parse(row.not_before) - app.clock.now();
  switch (outcome) {
    case 'confirmed':
      app.log.info(facts, 'sent');
      return outcome;
    case 'rejected':
      app.log.warn(facts, 'the upstream refused a post; see "feedback-mirror outbox"');
      return outcome;
    case 'unknown':
      app.log.warn({ ...facts, waitMs: wait }, 'unclear whether a post arrived; it will be looked for');
      return outcome;
    case 'unauthorised':
      app.log.error(facts, 'the upstream refused the token: sending is paused until it takes one again');
      return outcome;
    case 'throttled':
      app.log.warn({ ...facts, waitMs: wait }, 'the upstream asked us to slow down');
      return await holdQueue(context, 'push', wait);
    case 'not-sent':
      app.log.warn({ ...facts, waitMs: wait }, 'the upstream could not be reached; nothing was sent');
      throw new RunAgain('not sent', wait);
  }
}
