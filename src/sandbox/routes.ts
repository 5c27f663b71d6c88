import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { checkBody, type FieldErrors, isEmail } from '../contract/draft.ts';
import { ENDPOINTS, type Resource } from '../contract/endpoints.ts';
import { takeJsonOnly } from '../contract/json.ts';
import type { Caller, Tokens } from './access.ts';
import {
  type Answer,
  type Call,
  faultAnswer,
  hang,
  jsonAnswer,
  type Manner,
  mannerOf,
  problem,
  reset,
  send,
  slept,
  unauthorised,
  type Wire,
} from './answer.ts';
import { type Exchange, methodsOf, type RequestLog, type RequestNote } from './exchange.ts';
import type { FaultRule } from './fault-kinds.ts';
import type { Faults, Trouble } from './faults.ts';
import { type Answered, boardOf, type Creation, commit, markAnswered, postpone } from './ledger.ts';
import {
  type ListRequest,
  type ListSettings,
  listPage,
  type PageResult,
  type Replica,
  type Source,
  searchPage,
} from './service.ts';
import { pageAnswer, spoilBody, spoilPage } from './spoil.ts';
import type { World } from './world.ts';

/** Puts the five operations on the server, each with the trouble that was scripted for it. */
export function addRoutes(app: FastifyInstance, service: Service): void {
  takeJsonOnly(app);
  const callOf = (request: FastifyRequest, reply: FastifyReply): ApiCall => {
    return { service, request, reply, exchange: service.log.of(request) };
  };
  app.addHook('onRequest', (request, reply) => receive(callOf(request, reply)));
  app.get(ENDPOINTS.listPosts.path, (request, reply) => list(callOf(request, reply), 'posts'));
  app.get(ENDPOINTS.listComments.path, (request, reply) => list(callOf(request, reply), 'comments'));
  app.post(ENDPOINTS.createPost.path, (request, reply) => create(callOf(request, reply), false));
  app.post(ENDPOINTS.createPostAsUser.path, (request, reply) => create(callOf(request, reply), true));
  app.setNotFoundHandler((request, reply) => answerNothing(callOf(request, reply)));
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) =>
    answer(callOf(request, reply), problem(error.statusCode ?? 500, error.message)),
  );
}

interface ApiCall extends Call {
  service: Service;
  exchange: Exchange;
}

function answerNothing(call: ApiCall): Promise<FastifyReply> {
  const allowed = methodsOf(call.exchange.path);
  if (allowed.length === 0) return answer(call, problem(404, 'There is nothing at this address.'));
  const why = `${call.request.method} is not possible here.`;
  return answer(call, problem(405, why, undefined, { allow: allowed.join(', ') }));
}

/** Before the body is read: what a test wants to happen first, then a fault that takes the place of the answer, then the token. */
async function receive(call: ApiCall): Promise<unknown> {
  const { service, exchange } = call;
  const { operation, method, url } = exchange.note;
  if (operation === null) return undefined;
  await service.beforeRequest?.({ operation, method, url });
  exchange.trouble = service.faults.meet(operation);
  await delay(service, exchange.trouble);
  const fault = exchange.trouble.first('instead');
  if (fault) return giveInstead(call, fault);
  return callerOf(call) ? undefined : answer(call, unauthorised());
}

async function delay({ clock, closing }: Wire, trouble: Trouble): Promise<void> {
  let ms = 0;
  trouble.each('delay', ({ rule }) => {
    ms += rule.ms ?? 100;
    return true;
  });
  if (ms > 0) await slept(clock, ms, closing);
}

/** Everything a request can touch. */
export interface Service extends Wire {
  world: World;
  replica: Replica;
  tokens: Tokens;
  faults: Faults;
  settings: ListSettings;
  createStatus: number;
  log: RequestLog;
  beforeRequest: ((request: RequestNote) => void | Promise<void>) | undefined;
}

function callerOf({ service: { tokens, settings, world }, request, exchange }: ApiCall): Caller | null {
  const inQuery = exchange.query.get(settings.authParam);
  return tokens.identify(request.headers.authorization, inQuery, world);
}

function answer(call: ApiCall, what: Answer, manner: Manner = 'whole'): Promise<FastifyReply> {
  call.exchange.note.status = what.status;
  return send(call.service, call, what, manner);
}

/** What a fault does in place of the answer: another answer, silence, or the end of the connection. */
function giveInstead(call: ApiCall, rule: FaultRule): FastifyReply | Promise<FastifyReply> {
  const { service, request } = call;
  const way = rule.answer ?? rule.kind;
  if (way === 'reset' || way === 'reset-after') return reset(call);
  if (way === 'hang' || way === 'hang-after') return hang(service, call, closeAfter(rule));
  return answer(call, faultAnswer(rule, request, service.clock.now()));
}

/** A late commit's time is that of the commit, not of the silence. */
function closeAfter(rule: FaultRule): number | undefined {
  return rule.kind === 'late-commit' ? undefined : rule.ms;
}

async function list(call: ApiCall, resource: Resource): Promise<FastifyReply> {
  const { service, request, exchange } = call;
  const { settings } = service;
  const { note, query, trouble } = exchange;
  const caller = callerOf(call);
  if (!caller || !trouble) return answer(call, unauthorised());
  const { path } = resource === 'posts' ? ENDPOINTS.listPosts : ENDPOINTS.listComments;
  const asked: ListRequest = { resource, caller, origin: originOf(request), path, query };
  const source = sourceOf(service, trouble);
  const searching = note.operation === 'searchPosts';
  const result: PageResult = searching
    ? { ok: true, page: searchPage(source, settings, asked) }
    : listPage(source, settings, asked);
  if (!result.ok) return answer(call, result.answer);
  const { page } = result;
  trouble.each('page', (active) => spoilPage(page, active, trouble.operation));
  const flat = searching && settings.searchShape === 'array';
  const spoilt = spoil(pageAnswer(flat ? page.envelope.results : page.envelope), trouble);
  return answer(call, spoilt.answer, spoilt.manner);
}

/** The world, or the copy of it that the scripted trouble has this request served from. */
function sourceOf({ world, replica }: Service, trouble: Trouble): Source {
  const stale = trouble.first('read');
  return stale ? replica.source(stale.ms) : world;
}

/** What the scripted trouble makes of a good answer and of its way out. */
function spoil(good: Answer, trouble: Trouble): { answer: Answer; manner: Manner; intact: boolean } {
  let spoilt = good;
  trouble.each('body', ({ rule }) => {
    spoilt = spoilBody(spoilt, rule);
    return true;
  });
  const manner = mannerOf(trouble.first('send'));
  return { answer: spoilt, manner, intact: spoilt === good && manner !== 'cut' };
}

async function create(call: ApiCall, asUser: boolean): Promise<FastifyReply> {
  const { world, clock } = call.service;
  const { receivedAt, trouble } = call.exchange;
  const caller = callerOf(call);
  if (!caller || !trouble) return answer(call, unauthorised());
  const checked = readDraft(call.request.body, asUser, caller, world);
  if (!checked.ok) return answer(call, problem(400, 'The post was not created.', checked.errors));
  const { creation, late } = timed({ ...checked.draft, received_at: receivedAt }, trouble);
  if (late) {
    const answered = late.answer === undefined || late.answer === 'status' ? 'error' : 'no';
    postpone(world, creation, clock.now() + (late.ms ?? 1000), answered);
    return giveInstead(call, late);
  }
  return confirm(call, commit(world, creation, clock.now(), 'no'), trouble);
}

type DraftResult = { ok: true; draft: Omit<Creation, 'received_at'> } | { ok: false; errors: FieldErrors };

/** Checks the body of a create and says what is wrong with each field. Without a customer it is the token's owner's. */
function readDraft(body: unknown, asUser: boolean, caller: Caller, world: World): DraftResult {
  const checked = checkBody(body, asUser, (field, text) => complaintOf(field, text, caller, world));
  if (!checked.ok) return checked;
  const { email, full_name, ...post } = checked.post;
  const owner = { email: caller.email.trim(), name: caller.name.trim() };
  return {
    ok: true,
    draft: { ...post, email: email ?? owner.email, full_name: full_name ?? owner.name, owner },
  };
}

/** More lenient than our own rules for a draft: a service takes control characters, and may strip them. */
function complaintOf(field: string, text: string, caller: Caller, world: World): string | null {
  if (!text.isWellFormed()) return 'Not valid text.';
  if (field !== 'content' && text.trim() === '') return 'This field may not be blank.';
  if (field === 'email' && !isEmail(text)) return 'Not a valid e-mail address.';
  return field !== 'board' || reaches(caller, text, world) ? null : `There is no board "${text}".`;
}

/** A board out of reach is answered like one that does not exist: nobody learns of it. */
function reaches(caller: Caller, given: string, world: World): boolean {
  const board = boardOf(world, given);
  return board !== undefined && (caller.boards === null || caller.boards.includes(board.id));
}

/** When the create takes effect and when it shows, as the trouble has it. */
function timed(creation: Creation, trouble: Trouble): { creation: Creation; late: FaultRule | undefined } {
  let late: FaultRule | undefined;
  let visibleAfter = 0;
  trouble.each('create', ({ rule }) => {
    if (rule.kind === 'late-visible') visibleAfter = rule.ms ?? 1000;
    else late ??= rule;
    return true;
  });
  return { creation: { ...creation, visibleAfter }, late };
}

/** The post is there: says so, unless the trouble has it otherwise. */
async function confirm(call: ApiCall, id: number, trouble: Trouble): Promise<FastifyReply> {
  const { service, request, reply } = call;
  const after = trouble.first('after');
  if (after && after.kind !== 'no-id') {
    if (after.kind === 'status-after') markAnswered(service.world, id, 'error');
    return giveInstead(call, after);
  }
  const good = after
    ? jsonAnswer(200, { status: 'Success' })
    : jsonAnswer(service.createStatus, {
        status: 'Success',
        post_id: id,
        url: `${originOf(request)}${service.world.post(id).url}`,
      });
  const { answer: spoilt, manner, intact } = spoil(good, trouble);
  note(service.world, reply, id, intact && !after ? 'yes' : 'partial');
  return answer(call, spoilt, manner);
}

/** Noted before it is sent, so that whoever has the answer finds it in the ledger; taken back when it never left. */
function note(world: World, reply: FastifyReply, id: number, answered: Answered): void {
  markAnswered(world, id, answered);
  if (answered !== 'yes') return;
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished && world.db.open) markAnswered(world, id, 'no');
  });
}

/** As the client wrote it, so that links lead back the way it came. */
function originOf(request: FastifyRequest): string {
  const { localAddress, localPort } = request.raw.socket;
  return `http://${request.headers.host ?? `${localAddress}:${localPort}`}`;
}
