import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { systemClock } from '../base/clock.ts';
import { cannotListen, WITHOUT_SCHEMAS } from '../base/listen.ts';
import { ensureOwner, type SandboxToken, Tokens } from './access.ts';
import type { Hooks } from './hooks.ts';
import { startLife } from './live.ts';
import { checkOptions, checkToken, DEFAULT_TOKEN, listSettings, type SandboxOptions } from './options.ts';
import { addRoutes, type SandboxService } from './routes.ts';
import { REFERENCE_TIME } from './seed.ts';
import { World, type WorldOptions } from './world.ts';

export type { SandboxToken } from './access.ts';
export type { SandboxOptions } from './options.ts';

export interface Sandbox {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly world: World;
  revoke(token: string): void;
  allow(token: SandboxToken): void;
  close(): Promise<void>;
}

const BODY_LIMIT = 1024 * 1024;

/** Starts the whole feedback service on its own. */
export async function startSandbox(options: SandboxOptions = {}, hooks: Hooks = {}): Promise<Sandbox> {
  checkOptions(options);
  const { seed = 1, tokens: list = [DEFAULT_TOKEN], clock = systemClock } = options;
  const tokens = new Tokens();
  const world = openWorld(options, hooks);
  const allow = (token: SandboxToken, since: number): void => {
    checkToken(token);
    tokens.allow(token);
    ensureOwner(world.db, token.email, token.name, since);
  };

  const app = build({ world, tokens, settings: listSettings(options), clock, hooks });
  const url = await opened();
  const life = typeof options.live === 'object' ? options.live : { everyMs: 1000 };
  const stopLife = options.live ? startLife(world, seed, life) : () => {};
  let closed: Promise<void> | undefined;
  return {
    url,
    world,
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
    await app.close();
    world.close();
  }
}

function openWorld(options: WorldOptions, hooks: Hooks): World {
  return hooks.world?.(options) ?? new World(options);
}

function build(service: SandboxService): FastifyInstance {
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
  service.hooks.server?.(app);
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
