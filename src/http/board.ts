import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import type { Queue } from 'bullmq';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { Refusal } from './guard.ts';
import { CONTENT_POLICY, refuse } from './replies.ts';

const BOARD_PATH = '/queues';

/**
 * Its page says where its files are by a `base`, and its editor of job data writes style sheets as it goes, which neither a hash
 * nor a nonce can name. Scripts stay those of its files; the fonts it would fetch from elsewhere stay away, and it looks well
 * without them.
 */
const BOARD_POLICY = CONTENT_POLICY.replace("base-uri 'none'", "base-uri 'self'").replace(
  "style-src 'self'",
  "style-src 'self' 'unsafe-inline'",
);

/** The queue board; queues are shown as soon as they are open. Jobs carry ids only, so it shows no texts and no people. */
export async function addBoard(app: FastifyInstance, queues: Promise<readonly Queue[]>): Promise<void> {
  const adapter = new FastifyAdapter().setBasePath(BOARD_PATH);
  const { addQueue } = createBullBoard({
    queues: [],
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Feedback Mirror' } },
  });
  const show = (queue: Queue): void => addQueue(new BullMQAdapter(queue, { displayName: shortName(queue) }));
  // Those of a queue that cannot be opened never come; whoever opens it says why.
  queues.then((list) => list.forEach(show)).catch(() => undefined);
  // Its own handler would tell the client what went wrong inside; thrown again, the error reaches ours.
  adapter.setErrorHandler((error) => {
    throw error;
  });
  const board: FastifyPluginAsync = async (scope) => {
    scope.addHook('onRequest', async ({ method, routeOptions }, reply) => {
      void reply.header('content-security-policy', BOARD_POLICY);
      return isMaking(method, routeOptions.url ?? '') ? refuse(reply, NOT_HERE) : undefined;
    });
    await scope.register(adapter.registerPlugin());
  };
  await app.register(board, { prefix: BOARD_PATH });
}

/**
 * The board may move the jobs there are. What it could make, or change into another job, the settings may forbid: an export that is
 * off, a schedule nobody set, a list that is not swept.
 */
function isMaking(method: string, route: string): boolean {
  return /\/(add|update-data)$/.test(route) || (method === 'PATCH' && route.includes('/job-schedulers/'));
}

const NOT_HERE: Refusal = {
  status: 403,
  detail: 'Jobs come from the settings and the outbox; here they can be looked at, retried and removed.',
};

/** Queues are named after the mirror first, which is the same for all on one board. */
function shortName({ name }: Queue): string {
  return name.slice(name.indexOf('.') + 1);
}
