import { createRequire, registerHooks } from 'node:module';
import type { Queue } from 'bullmq';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { missingPackage } from '../../base/program.ts';
import type { HttpRefusal } from './guard.ts';
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

/** The queue board, whose packages a plain install leaves out. */
export async function addBoard(
  app: FastifyInstance,
  queues: Promise<readonly Queue[]>,
  mount = '',
): Promise<void> {
  try {
    await app.register(await openBoard(queues, mount));
  } catch (error) {
    const missing = missingPackage(error);
    if (missing === null) throw error;
    const refusal = { status: 501, detail: `The queue board is not installed. ${missing.hint}` };
    for (const path of [BOARD_PATH, `${BOARD_PATH}/*`]) app.all(path, (_, reply) => refuse(reply, refusal));
  }
}

/** Jobs carry ids only, so it shows no texts and no people. */
async function openBoard(queues: Promise<readonly Queue[]>, mount: string): Promise<FastifyPluginAsync> {
  const [{ createBullBoard }, { BullMQAdapter }, { FastifyAdapter }] = await withOurQueues(() =>
    Promise.all([
      import('@bull-board/api'),
      import('@bull-board/api/bullMQAdapter'),
      import('@bull-board/fastify'),
    ]),
  );
  const adapter = new FastifyAdapter().setBasePath(mount + BOARD_PATH);
  const { addQueue } = createBullBoard({
    queues: [],
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'Feedback Mirror',
        miscLinks: [{ text: 'Back to the dashboard', url: `${mount}/sync` }],
        hideDocsLink: true,
        // Two queues have workers in the sending process only. The board of another process would show none.
        showWorkers: false,
      },
    },
  });
  const show = (queue: Queue): void => {
    const shown = new BullMQAdapter(queue);
    // Its lists show the name alone, whatever other name is to be displayed.
    shown.getName = () => queueName(queue);
    shown.setFormatter('name', jobWords);
    addQueue(shown);
  };
  // If the queue cannot be opened, no queues come. The process that opens it reports why.
  queues.then((list) => list.forEach(show)).catch(() => undefined);
  // The board's own error handler shows internals to the client. Thrown again, the error reaches our handler.
  adapter.setErrorHandler((error) => {
    throw error;
  });
  return async (scope) => {
    scope.addHook('onRequest', async ({ method, routeOptions }, reply) => {
      void reply.header('content-security-policy', BOARD_POLICY);
      return isMaking(method, routeOptions.url ?? '') ? refuse(reply, NOT_HERE) : undefined;
    });
    await scope.register(adapter.registerPlugin(), { prefix: BOARD_PATH });
  };
}

/** The board asks for bullmq beside itself. Installed globally, or in the image, ours is not there; another one would not know our queues. */
async function withOurQueues<T>(load: () => Promise<T>): Promise<T> {
  const ours = createRequire(import.meta.url).resolve('bullmq');
  const hooks = registerHooks({
    resolve: (name, context, next) => next(name === 'bullmq' ? ours : name, context),
  });
  try {
    return await load();
  } finally {
    hooks.deregister();
  }
}

/**
 * The board may move the jobs there are. What it could make, or change into another job, the settings may forbid: an export that is
 * off, a schedule nobody set, a list that is not swept.
 */
function isMaking(method: string, route: string): boolean {
  return /\/(add|update-data)$/.test(route) || (method === 'PATCH' && route.includes('/job-schedulers/'));
}

const NOT_HERE: HttpRefusal = {
  status: 403,
  detail: 'Jobs come from the settings and the outbox; here they can be looked at, retried and removed.',
};

/** What a job does, in words; one without words is shown by its name. */
function jobWords({ name, data }: { name?: string; data?: unknown }): string {
  const { resource, outbox, webhook } = Object(data) as Record<string, unknown>;
  const words: Record<string, string> = {
    dispatch: 'Look for rows that are due',
    'sync-head': `Read the newest ${resource}`,
    'sync-sweep': `Read all ${resource}`,
    push: `Send row ${outbox}`,
    reconcile: `Look for the post of row ${outbox}`,
    deliver: `Tell the webhook ${webhook}`,
    maintenance: 'Nightly maintenance',
    export: 'Scheduled export',
  };
  return words[name ?? ''] ?? name ?? '';
}

/** Queues are named after the mirror first, which is the same for all on one board. */
function queueName({ name }: Queue): string {
  return name.slice(name.indexOf('.') + 1);
}
