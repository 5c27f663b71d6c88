import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Clock, systemClock } from '../base/clock.ts';
import { AppError, messageOf } from '../base/errors.ts';
import { ENDPOINTS, type Operation, SEARCH_PARAMETER } from '../contract/endpoints.ts';
import { type Caller, type SandboxToken, Tokens } from './access.ts';
import { type Answer, encoded, jsonAnswer, problem } from './answer.ts';
import { readDraft } from './creating.ts';
import { Faults } from './faults.ts';
import { commit, markAnswered } from './ledger.ts';
import type { Order } from './listing.ts';
import type { PagingStyle } from './paging.ts';
import { ensureOwner } from './people.ts';
import { type ListSettings, listPage, searchResult } from './service.ts';
import { REFERENCE_TIME } from './time.ts';
import { postUrl } from './wire.ts';
import { World } from './world.ts';

export type { SandboxToken } from './access.ts';
export type { World } from './world.ts';

export interface SandboxOptions {
  host?: string | undefined;
  port?: number | undefined;
  tokens?: SandboxToken[] | undefined;
  authParam?: string | undefined;
  echoToken?: boolean | undefined;
  seed?: number | undefined;
  posts?: number | undefined;
  referenceTime?: number | undefined;
  pageSize?: number | undefined;
  paging?: PagingStyle | undefined;
  order?: Order | undefined;
  data?: string | undefined;
  live?: boolean | { everyMs: number } | undefined;
  faults?: string | undefined;
  createStatus?: number | undefined;
  searchShape?: 'envelope' | 'array' | undefined;
  clock?: Clock | undefined;
  beforeRequest?: ((request: RequestNote) => void | Promise<void>) | undefined;
}

export interface RequestNote {
  operation: Operation | null;
  method: string;
  /** Path and query, with the value of the token's parameter masked. */
  url: string;
}

export interface SandboxRequest extends RequestNote {
  /** Null while there is no answer, and for ever when there never is one. */
  status: number | null;
}

export interface Sandbox {
  url: string;
  world: World;
  faults: Faults;
  requests: SandboxRequest[];
  requestCount: number;
  revoke(token: string): void;
  allow(token: SandboxToken): void;
  close(): Promise<void>;
}

const DEFAULT_TOKEN: SandboxToken = { token: 'sandbox', email: 'owner@example.com', name: 'Sandbox Owner' };
const KEPT_REQUESTS = 10_000;

interface Exchange {
  note: SandboxRequest;
  path: string;
  query: URLSearchParams;
  receivedAt: number;
}

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const clock = options.clock ?? systemClock;
  const tokens = new Tokens();
  const world: World = new World({ ...options, clock, access: (token) => tokens.boardsOf(token, world) });
  const allow = (token: SandboxToken, since: number): void => {
    tokens.allow(token);
    ensureOwner(world.db, token.email, token.name, since);
  };
  for (const token of options.tokens ?? [DEFAULT_TOKEN])
    allow(token, options.referenceTime ?? REFERENCE_TIME);
  const authParam = options.authParam ?? 'token';
  const settings: ListSettings = {
    paging: options.paging ?? 'url',
    order: options.order ?? 'newest',
    pageSize: options.pageSize ?? 100,
    authParam,
    echoToken: options.echoToken ?? false,
    searchShape: options.searchShape ?? 'envelope',
  };
  const app = Fastify({ forceCloseConnections: true, exposeHeadRoutes: false, bodyLimit: 1024 * 1024 });
  const exchanges = new WeakMap<FastifyRequest, Exchange>();
  const requests: SandboxRequest[] = [];

  const sandbox: Sandbox = {
    url: '',
    world,
    faults: new Faults(),
    requests,
    requestCount: 0,
    revoke: (token) => tokens.revoke(token),
    allow: (token) => allow(token, clock.now()),
    async close() {
      await app.close();
      world.close();
    },
  };

  function begin(request: FastifyRequest): Exchange {
    const [path = '', search = ''] = split(request.raw.url ?? '');
    const query = new URLSearchParams(search);
    const note: SandboxRequest = {
      operation: operationOf(request.method, path, query),
      method: request.method,
      url: masked(path, search, authParam),
      status: null,
    };
    requests.push(note);
    if (requests.length > KEPT_REQUESTS) requests.shift();
    sandbox.requestCount++;
    const exchange = { note, path, query, receivedAt: clock.now() };
    exchanges.set(request, exchange);
    return exchange;
  }

  const exchangeOf = (request: FastifyRequest): Exchange => exchanges.get(request) ?? begin(request);
  const callerOf = (request: FastifyRequest): Caller | null =>
    tokens.identify(request.headers.authorization, exchangeOf(request).query.get(authParam), world);

  async function deliver(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer,
  ): Promise<FastifyReply> {
    const { status, headers, body } = await encoded(answer, request.headers['accept-encoding']);
    exchangeOf(request).note.status = status;
    return reply.code(status).headers(headers).send(body);
  }

  app.addHook('onRequest', async (request, reply) => {
    const { note } = begin(request);
    if (note.operation === null) return;
    await options.beforeRequest?.({ operation: note.operation, method: note.method, url: note.url });
    if (!callerOf(request)) {
      const challenge = { 'www-authenticate': 'Bearer' };
      return deliver(request, reply, problem(401, 'A valid API token is required.', undefined, challenge));
    }
  });

  for (const resource of ['posts', 'comments'] as const) {
    const { path } = resource === 'posts' ? ENDPOINTS.listPosts : ENDPOINTS.listComments;
    app.get(path, async (request, reply) => {
      const { note, query } = exchangeOf(request);
      const caller = callerOf(request);
      if (!caller) throw new AppError('internal', 'the caller was checked before');
      const origin = `http://${request.headers.host ?? new URL(sandbox.url).host}`;
      const asked = { resource, caller, origin, path, query };
      if (note.operation === 'searchPosts') {
        return deliver(request, reply, jsonAnswer(200, searchResult(world, settings, asked)));
      }
      const result = listPage(world, settings, asked);
      return deliver(request, reply, result.ok ? jsonAnswer(200, result.page.envelope) : result.answer);
    });
  }

  for (const asUser of [false, true]) {
    const { path } = asUser ? ENDPOINTS.createPostAsUser : ENDPOINTS.createPost;
    app.post(path, async (request, reply) => {
      const caller = callerOf(request);
      if (!caller) throw new AppError('internal', 'the caller was checked before');
      const { receivedAt } = exchangeOf(request);
      const checked = readDraft(request.body, asUser, caller, world);
      if (!checked.ok)
        return deliver(request, reply, problem(400, 'The post could not be created.', checked.errors));
      const id = commit(world.db, { ...checked.draft, received_at: receivedAt }, clock.now(), 'no');
      markAnswered(world.db, id, 'yes');
      const origin = `http://${request.headers.host ?? new URL(sandbox.url).host}`;
      const created = {
        status: 'Success',
        post_id: id,
        url: `${origin}${postUrl(checked.draft.board, id)}`,
      };
      return deliver(request, reply, jsonAnswer(options.createStatus ?? 201, created));
    });
  }

  app.setNotFoundHandler(async (request, reply) => {
    const allowed = methodsOf(exchangeOf(request).path);
    if (allowed.length === 0)
      return deliver(request, reply, problem(404, 'There is nothing at this address.'));
    const headers = { allow: allowed.join(', ') };
    const detail = `${request.method} is not possible here.`;
    return deliver(request, reply, problem(405, detail, undefined, headers));
  });
  app.setErrorHandler(async (error: Error & { statusCode?: number }, request, reply) => {
    return deliver(request, reply, problem(error.statusCode ?? 500, error.message));
  });

  sandbox.url = await listen(app, options.host ?? '127.0.0.1', options.port ?? 0);
  return sandbox;
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    throw new AppError('usage', `cannot listen on ${host}:${port}: ${messageOf(error)}`, { cause: error });
  }
}

function operationOf(method: string, path: string, query: URLSearchParams): Operation | null {
  const searching = (query.get(SEARCH_PARAMETER) ?? '').trim() !== '';
  if (method === 'GET' && path === ENDPOINTS.listPosts.path) return searching ? 'searchPosts' : 'listPosts';
  const found = Object.entries(ENDPOINTS).find(
    ([, endpoint]) => endpoint.method === method && endpoint.path === path,
  );
  return found ? (found[0] as Operation) : null;
}

function methodsOf(path: string): string[] {
  const methods = Object.values(ENDPOINTS).filter((endpoint) => endpoint.path === path);
  return [...new Set(methods.map((endpoint) => endpoint.method))];
}

function split(url: string): [string, string] {
  const mark = url.indexOf('?');
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}

function masked(path: string, search: string, authParam: string): string {
  if (search === '') return path;
  const parts = search
    .split('&')
    .map((part) =>
      new URLSearchParams(part).has(authParam) ? `${part.slice(0, part.indexOf('='))}=***` : part,
    );
  return `${path}?${parts.join('&')}`;
}
