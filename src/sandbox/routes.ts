import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '../contract/endpoints.ts';
import { parseBody } from '../contract/json.ts';
import { type Answer, problem, unauthorised } from './answer.ts';
import { slept } from './delivery.ts';
import { methodsOf } from './exchange.ts';
import { answer, callerOf, create, giveInstead, list, type Service } from './handlers.ts';

/** Puts the five operations on the server, each with the trouble that was scripted for it. */
export function addRoutes(app: FastifyInstance, service: Service): void {
  takeJsonOnly(app);
  app.addHook('onRequest', (request, reply) => receive(service, request, reply));
  app.get(ENDPOINTS.listPosts.path, (request, reply) => list(service, request, reply, 'posts'));
  app.get(ENDPOINTS.listComments.path, (request, reply) => list(service, request, reply, 'comments'));
  app.post(ENDPOINTS.createPost.path, (request, reply) => create(service, request, reply, false));
  app.post(ENDPOINTS.createPostAsUser.path, (request, reply) => create(service, request, reply, true));
  app.setNotFoundHandler((request, reply) =>
    answer(service, request, reply, nothingHere(request.method, service.log.of(request).path)),
  );
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) =>
    answer(service, request, reply, problem(error.statusCode ?? 500, error.message)),
  );
}

function nothingHere(method: string, path: string): Answer {
  const allowed = methodsOf(path);
  if (allowed.length === 0) return problem(404, 'There is nothing at this address.');
  return problem(405, `${method} is not possible here.`, undefined, { allow: allowed.join(', ') });
}

/** Before the body is read: what a test wants to happen first, then trouble at the door, then the token. */
async function receive(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const exchange = service.log.of(request);
  const { operation, method, url } = exchange.note;
  if (operation === null) return undefined;
  await service.beforeRequest?.({ operation, method, url });
  exchange.trouble = service.faults.meet(operation);
  await delay(service, request);
  const fault = exchange.trouble.first('instead');
  if (fault) return giveInstead(service, request, reply, fault);
  return callerOf(service, request) ? undefined : answer(service, request, reply, unauthorised());
}

async function delay({ clock, closing, log }: Service, request: FastifyRequest): Promise<void> {
  let ms = 0;
  log.of(request).trouble?.each('delay', ({ rule }) => {
    ms += rule.ms ?? 100;
    return true;
  });
  if (ms > 0) await slept(clock, ms, closing);
}

/** Fastify would take text as well, and would replace broken UTF-8 without a word. */
function takeJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => parseBody(body),
  );
}
