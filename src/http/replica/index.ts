import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { SCHEMAS } from '../../base/program.ts';
import { ENDPOINTS } from '../../contract/endpoints.ts';
import { takeJsonOnly } from '../../contract/json.ts';
import type { OutboxStore } from '../../outbox/store/store.ts';
import type { ReplicaReads } from '../../replica/replica.ts';
import { API_TOKEN_PARAMETER } from '../server/guard.ts';
import { createThroughOutbox, list, OUTBOX_PATH, problem, publicRow } from './operations.ts';

export interface ReplicaDeps {
  reads: ReplicaReads;
  outbox: OutboxStore;
  clock: Clock;
  /** The base URL of the upstream, for addresses it gave relative to itself; null where it has none that others could use. */
  upstream: string | null;
  /** The query parameter that carries the token where the upstream takes it there: its clients send it here too. */
  tokenParameter?: string | null;
  /** Has an accepted post sent at once; the sender finds it by itself unless given. */
  dispatch?: () => void;
  /** Asks for a read of the upstream's newest posts, for one that was just confirmed; none is asked for unless given. */
  readNewest?: () => Promise<void>;
  /** How long a create whose post is confirmed waits until the lists show it; 3 s. */
  listedMs?: number;
  /** How long a create waits for the upstream's word; 25 s, less than most clients wait. */
  waitMs?: number;
  pageSize?: number;
}

/** The upstream's API, served from the mirror: lists and search from the copy, creates through the outbox. */
export function replica({
  reads,
  outbox,
  clock,
  upstream,
  tokenParameter = null,
  dispatch = () => undefined,
  readNewest = async () => undefined,
  listedMs = 3000,
  waitMs = 25_000,
  pageSize = 100,
}: ReplicaDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    takeJsonOnly(app);
    const tokenParameters = [API_TOKEN_PARAMETER, ...(tokenParameter === null ? [] : [tokenParameter])];
    const reading = { reads, pageSize, tokenParameters };
    const creates = { store: outbox, clock, random: Math.random, waitMs, dispatch, readNewest, listedMs };
    const deps = { ...creates, reads, upstream };
    const hold = holdUntilAnswered(app);
    const creating = (asUser: boolean) => (request: FastifyRequest, reply: FastifyReply) =>
      hold(reply, (signal) => createThroughOutbox(deps, request, reply, { asUser, signal }));
    // HEAD is no method of this API.
    const withoutHead = { exposeHeadRoute: false };
    app.get(ENDPOINTS.listPosts.path, withoutHead, (request, reply) =>
      list(reading, request, reply, 'posts'),
    );
    app.get(ENDPOINTS.listComments.path, withoutHead, (request, reply) =>
      list(reading, request, reply, 'comments'),
    );
    app.post(ENDPOINTS.createPost.path, creating(false));
    app.post(ENDPOINTS.createPostAsUser.path, creating(true));
    app.get<{ Params: { id: string } }>(`${OUTBOX_PATH}:id`, withoutHead, async ({ params }, reply) => {
      const row = /^\d{1,15}$/.test(params.id) ? await outbox.find(Number(params.id)) : null;
      return row ? publicRow(row) : problem(reply, 404, 'The outbox has no such row.');
    });
    app.get('/api/v1/openapi.json', withoutHead, (_request, reply) =>
      reply
        .type('application/json; charset=utf-8')
        .send(readFileSync(new URL('openapi.json', SCHEMAS), 'utf8')),
    );
  };
}

/**
 * Closing the server ends every connection: whoever waits for a create is first told that it is safe in the outbox, or would have to
 * guess.
 */
function holdUntilAnswered(app: FastifyInstance) {
  const closing = new AbortController();
  const inside = new Set<Promise<void>>();
  app.addHook('preClose', async () => {
    closing.abort();
    await Promise.all(inside);
  });
  return async <T>(reply: FastifyReply, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const answered = new Promise<void>((resolve) => reply.raw.once('close', () => resolve()));
    inside.add(answered);
    void answered.then(() => inside.delete(answered));
    return await work(closing.signal);
  };
}
