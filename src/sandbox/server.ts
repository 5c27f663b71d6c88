import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { cannotListen, WITHOUT_SCHEMAS } from '../base/listen.ts';
import { ensureOwner, type SandboxToken, Tokens } from './access.ts';
import { RequestLog, type SandboxRequest } from './exchange.ts';
import { Faults } from './faults.ts';
import { startLife } from './live.ts';
import { checkOptions, checkToken, DEFAULT_TOKEN, listSettings, type SandboxOptions } from './options.ts';
import { addRoutes, type Service } from './routes.ts';
import { REFERENCE_TIME } from './seed.ts';
import { Replica } from './service.ts';
import { World } from './world.ts';

export type { SandboxToken } from './access.ts';
export type { Behaviour } from './behaviour.ts';
export type { RequestNote, SandboxRequest } from './exchange.ts';
export type { FaultKind, FaultRule, Faults } from './faults.ts';
export type { LedgerEntry } from './ledger.ts';
export type { Order } from './listing.ts';
export type { SandboxOptions } from './options.ts';
export type { PagingStyle } from './paging.ts';
export type { World } from './world.ts';

export interface Sandbox {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly world: World;
  readonly faults: Faults;
  /** The latest 10,000. */
  readonly requests: SandboxRequest[];
  readonly requestCount: number;
  revoke(token: string): void;
  allow(token: SandboxToken): void;
  close(): Promise<void>;
}

const BODY_LIMIT = 1024 * 1024;

/** Starts the whole feedback service on its own. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  checkOptions(options);
  const { seed = 1, tokens: list = [DEFAULT_TOKEN], clock = systemClock } = options;
  const tokens = new Tokens();
  const world: World = new World({ ...options, access: (token) => tokens.boardsOf(token, world) });
  const replica = new Replica(world);
  const faults = new Faults(options.faults ?? '', seed, (rules) => {
    if (rules.some(({ kind }) => kind === 'stale')) replica.catchUp();
  });
  const allow = (token: SandboxToken, since: number): void => {
    checkToken(token, world);
    tokens.allow(token);
    ensureOwner(world.db, token.email, token.name, since);
  };

  const closing = new AbortController();
  const settings = listSettings(options);
  const log = new RequestLog(settings.authParam, clock);
  const { createStatus = 201, beforeRequest } = options;
  const app = build({
    world,
    replica,
    tokens,
    faults,
    settings,
    createStatus,
    log,
    beforeRequest,
    clock,
    closing: closing.signal,
  });
  const url = await opened();
  const life = typeof options.live === 'object' ? options.live : { everyMs: 1000 };
  const stopLife = options.live ? startLife(world, seed, life) : () => {};
  let closed: Promise<void> | undefined;
  return {
    url,
    world,
    faults,
    requests: log.requests,
    get requestCount() {
      return log.count;
    },
    revoke: (token) => tokens.revoke(token),
    allow: (token) => allow(token, clock.now()),
    close() {
      closed ??= shut();
      return closed;
    },
  };

  async function opened(): Promise<string> {
    try {
      for (const token of list) allow(token, options.referenceTime ?? REFERENCE_TIME);
      return await listen(app, options);
    } catch (error) {
      world.close();
      throw error;
    }
  }

  async function shut(): Promise<void> {
    stopLife();
    closing.abort(new AppError('interrupted', 'the sandbox is closing'));
    await app.close();
    replica.close();
    world.close();
  }
}

function build(service: Service): FastifyInstance {
  const app = Fastify({
    // Closing does not wait for clients that hold a connection open, nor for one that is left hanging.
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: WITHOUT_SCHEMAS },
    bodyLimit: BODY_LIMIT,
    frameworkErrors: (error, _request, reply) => {
      void (reply as FastifyReply).code(error.statusCode ?? 400).send({ detail: error.message });
    },
  });
  addRoutes(app, service);
  return app;
}

async function listen(
  app: FastifyInstance,
  { host = '127.0.0.1', port = 0 }: SandboxOptions,
): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    throw cannotListen(error, { host, port }, { host: 'The host', port: '--port' });
  }
}
