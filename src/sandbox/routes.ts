import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Clock } from '../base/clock.ts';
import { checkBody, type FieldErrors, isEmail } from '../contract/draft.ts';
import { ENDPOINTS, type Resource } from '../contract/endpoints.ts';
import { takeJsonOnly } from '../contract/json.ts';
import type { Caller, Tokens } from './access.ts';
import { jsonAnswer, problemAnswer, type SandboxAnswer, sendAnswer, unauthorised } from './answer.ts';
import { type Call, callOf, methodsOf, originOf } from './call.ts';
import type { Hooks } from './hooks.ts';
import {
  type ListResult,
  type ListSettings,
  listPage,
  type SandboxListRequest,
  searchPage,
} from './service.ts';
import type { CheckedCreate, World } from './world.ts';

/** Everything a request can touch. */
export interface SandboxService {
  world: World;
  tokens: Tokens;
  settings: ListSettings;
  clock: Clock;
  hooks: Hooks;
}

/** Puts the five operations on the server. */
export function addRoutes(app: FastifyInstance, service: SandboxService): void {
  const { clock } = service;
  takeJsonOnly(app);
  app.addHook('onRequest', (request, reply) => admit(service, callOf(request, reply)));
  app.get(ENDPOINTS.listPosts.path, (request, reply) => list(service, callOf(request, reply), 'posts'));
  app.get(ENDPOINTS.listComments.path, (request, reply) => list(service, callOf(request, reply), 'comments'));
  app.post(ENDPOINTS.createPost.path, (request, reply) => create(service, callOf(request, reply), false));
  app.post(ENDPOINTS.createPostAsUser.path, (request, reply) =>
    create(service, callOf(request, reply), true),
  );
  app.setNotFoundHandler((request, reply) => {
    const call = callOf(request, reply);
    return sendAnswer(nothing(call), call, clock);
  });
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) =>
    sendAnswer(problemAnswer(error.statusCode ?? 500, error.message), callOf(request, reply), clock),
  );
}

function nothing({ request, path }: Call): SandboxAnswer {
  const allowed = methodsOf(path);
  if (allowed.length === 0) return problemAnswer(404, 'There is nothing at this address.');
  return problemAnswer(405, `${request.method} is not possible here.`, undefined, {
    allow: allowed.join(', '),
  });
}

/** Refuses a request of the API without a valid token, before its body is read. */
async function admit(service: SandboxService, call: Call): Promise<unknown> {
  if (call.operation === null || callerOf(service, call)) return undefined;
  return sendAnswer(unauthorised(), call, service.clock);
}

function callerOf({ tokens, settings }: SandboxService, { request, query }: Call): Caller | null {
  return tokens.identify(request.headers.authorization, query.get(settings.authParam));
}

async function list(service: SandboxService, call: Call, resource: Resource): Promise<FastifyReply> {
  const { world, settings, clock, hooks } = service;
  const { path } = resource === 'posts' ? ENDPOINTS.listPosts : ENDPOINTS.listComments;
  const asked: SandboxListRequest = {
    resource,
    origin: originOf(call.request),
    path,
    query: call.query,
  };
  const source = hooks.source?.(call) ?? world;
  const result: ListResult =
    call.operation === 'searchPosts'
      ? { ok: true, page: searchPage(source, settings, asked) }
      : listPage(source, settings, asked);
  if (!result.ok) return sendAnswer(result.answer, call, clock);
  return hooks.list?.(call, result.page) ?? sendAnswer(jsonAnswer(200, result.page.envelope), call, clock);
}

async function create(service: SandboxService, call: Call, asUser: boolean): Promise<FastifyReply> {
  const { world, clock, hooks } = service;
  const caller = callerOf(service, call);
  if (!caller) return sendAnswer(unauthorised(), call, clock);
  const checked = readDraft(call.request.body, asUser, caller, world);
  if (!checked.ok)
    return sendAnswer(problemAnswer(400, 'The post was not created.', checked.errors), call, clock);
  return (
    hooks.create?.(call, checked.draft) ??
    sendAnswer(createdAnswer(call, world.create(checked.draft)), call, clock)
  );
}

export function createdAnswer(
  { request }: Call,
  { id, url }: { id: number; url: string },
  status = 201,
): SandboxAnswer {
  return jsonAnswer(status, { status: 'Success', post_id: id, url: `${originOf(request)}${url}` });
}

type DraftResult = { ok: true; draft: CheckedCreate } | { ok: false; errors: FieldErrors };

/** Checks the body of a create and says what is wrong with each field. Without a customer it is the token's owner's. */
function readDraft(body: unknown, asUser: boolean, caller: Caller, world: World): DraftResult {
  const checked = checkBody(body, asUser, (field, text) => complaintOf(field, text, world));
  if (!checked.ok) return checked;
  const { email, full_name, ...post } = checked.post;
  const owner = { email: caller.email.trim(), name: caller.name.trim() };
  return {
    ok: true,
    draft: { ...post, email: email ?? owner.email, full_name: full_name ?? owner.name, owner },
  };
}

/** More lenient than our own rules for a draft: a service takes control characters, and may strip them. */
function complaintOf(field: string, text: string, world: World): string | null {
  if (!text.isWellFormed()) return 'Not valid text.';
  if (field !== 'content' && text.trim() === '') return 'This field may not be blank.';
  if (field === 'email' && !isEmail(text)) return 'Not a valid e-mail address.';
  return field !== 'board' || world.boardOf(text) ? null : `There is no board "${text}".`;
}
