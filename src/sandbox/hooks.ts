import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Call } from './call.ts';
import type { ListPage, ListSource } from './service.ts';
import type { CheckedCreate, World, WorldOptions } from './world.ts';

/** Where tests take over from the service. The sandbox that ships has no hooks: it does what the API says. */
export interface Hooks {
  world?(options: WorldOptions): World;
  /** Called before the routes are added, so that hooks of the server come before the check of the token. */
  server?(app: FastifyInstance): void;
  /** What a list is read from. */
  source?(call: Call): ListSource;
  /** Answers a list with this page. */
  list?(call: Call, page: ListPage): Promise<FastifyReply>;
  /** Keeps and answers a create whose body is valid. */
  create?(call: Call, draft: CheckedCreate): Promise<FastifyReply>;
}
