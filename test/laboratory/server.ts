import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { jsonAnswer, jsonTextAnswer, type SandboxAnswer } from '../../src/sandbox/answer.ts';
import { type Call, callOf } from '../../src/sandbox/call.ts';
import type { Hooks } from '../../src/sandbox/hooks.ts';
import type { SandboxOptions as PlainOptions } from '../../src/sandbox/options.ts';
import { createdAnswer } from '../../src/sandbox/routes.ts';
import { type Sandbox as PlainSandbox, startSandbox as startPlain } from '../../src/sandbox/server.ts';
import type { ListPage, ListSource } from '../../src/sandbox/service.ts';
import type { CheckedCreate } from '../../src/sandbox/world.ts';
import { faultAnswer, hang, type Manner, mannerOf, reset, sendAs, slept, type Wire } from './answers.ts';
import { type BehaviourOptions, checkBehaviour, shown } from './behaviour.ts';
import type { FaultRule } from './fault-kinds.ts';
import { Faults, type Trouble } from './faults.ts';
import { type Answered, type Creation, commit, markAnswered, postpone } from './ledger.ts';
import { Replica } from './replica.ts';
import { RequestLog, type RequestNote, type SandboxRequest } from './requests.ts';
import { spoilBody, spoilPage, withHugeId } from './spoil.ts';
import { World } from './world.ts';

export type { Order } from '../../src/sandbox/listing.ts';
export type { PagingStyle } from '../../src/sandbox/paging.ts';
export type { SandboxToken } from '../../src/sandbox/server.ts';
export type { Behaviour } from './behaviour.ts';
export type { FaultKind, FaultRule, Faults } from './faults.ts';
export type { LedgerEntry } from './ledger.ts';
export type { RequestNote, SandboxRequest } from './requests.ts';
export type { World } from './world.ts';

export interface SandboxOptions extends PlainOptions, Omit<BehaviourOptions, 'order'> {
  faults?: string | readonly FaultRule[] | undefined;
  /** Whether links repeat a token that came in the query. */
  echoToken?: boolean | undefined;
  createStatus?: number | undefined;
  searchShape?: 'envelope' | 'array' | undefined;
  /** Called before each request of the API is handled: the place to move the world between two requests. */
  beforeRequest?: ((request: RequestNote) => void | Promise<void>) | undefined;
}

export interface Sandbox extends PlainSandbox {
  readonly world: World;
  readonly faults: Faults;
  /** The latest 10,000. */
  readonly requests: SandboxRequest[];
  readonly requestCount: number;
}

/** The sandbox as the fault laboratory runs it: it fails and rewrites as its options say, and keeps a ledger of what was created. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  checkBehaviour(options);
  const laboratory = new Laboratory(options);
  const sandbox = await startPlain(options, laboratory);
  const { faults, log } = laboratory;
  return {
    ...sandbox,
    world: laboratory.opened.world,
    faults,
    requests: log.requests,
    get requestCount() {
      return log.count;
    },
    async close() {
      laboratory.close();
      await sandbox.close();
    },
  };
}

/** What happened to one request before its route ran. */
interface Arrival {
  receivedAt: number;
  trouble: Trouble;
}

class Laboratory implements Hooks, Wire {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly #closing = new AbortController();
  readonly #options: SandboxOptions;
  readonly #arrivals = new WeakMap<object, Arrival>();
  #isStale = false;
  #opened: { world: World; replica: Replica } | null = null;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.clock = options.clock ?? systemClock;
    this.log = new RequestLog(options.authParam ?? 'token');
    this.faults = new Faults(options.faults ?? '', options.seed ?? 1, (rules) => {
      this.#isStale = rules.some(({ kind }) => kind === 'stale');
      if (this.#isStale) this.#opened?.replica.catchUp();
    });
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get opened(): { world: World; replica: Replica } {
    if (!this.#opened) throw new Error('the sandbox has not made its world yet');
    return this.#opened;
  }

  close(): void {
    this.#closing.abort();
    this.#opened?.replica.close();
  }

  world(options: ConstructorParameters<typeof World>[0]): World {
    const world = new World({ ...this.#options, ...options });
    const replica = new Replica(world);
    if (this.#isStale) replica.catchUp();
    this.#opened = { world, replica };
    return world;
  }

  server(app: FastifyInstance): void {
    this.log.watch(app);
    app.addHook('onRequest', (request, reply) => this.#receive(callOf(request, reply)));
  }

  /** What a test wants to happen first, then a delay, then a fault that takes the place of the answer. */
  async #receive(call: Call): Promise<unknown> {
    const { operation, request } = call;
    if (operation === null) return undefined;
    const receivedAt = this.clock.now();
    const note = this.log.of(request);
    if (note) await this.#options.beforeRequest?.({ operation, method: note.method, url: note.url });
    const trouble = this.faults.meet(operation);
    this.#arrivals.set(request, { receivedAt, trouble });
    let ms = 0;
    trouble.each('delay', ({ rule }) => {
      ms += rule.ms ?? 100;
      return true;
    });
    if (ms > 0) await slept(this.clock, ms, this.closing);
    const fault = trouble.first('instead');
    return fault && this.#giveInstead(call, fault);
  }

  /** The world, or the copy of it that the scripted trouble has this request served from. */
  source(call: Call): ListSource {
    const { world, replica } = this.opened;
    const stale = this.#arrivalOf(call).trouble.first('read');
    if (stale) return replica.source(stale.ms);
    const { db, draws, behaviour } = world;
    return { db, draws, order: behaviour.order, settle: () => world.settle() };
  }

  async list(call: Call, page: ListPage): Promise<FastifyReply> {
    const { trouble } = this.#arrivalOf(call);
    const { envelope } = page;
    const resource = trouble.operation === 'listComments' ? 'comments' : 'posts';
    envelope.results =
      envelope.results?.map((row) => shown(row as never, resource, this.opened.world.behaviour)) ?? null;
    if (this.#options.echoToken) echoToken(call, page, this.#options.authParam ?? 'token');
    trouble.each('page', (active) => spoilPage(page, active, trouble.operation));
    const isFlat = trouble.operation === 'searchPosts' && this.#options.searchShape === 'array';
    const text = withHugeId(JSON.stringify(isFlat ? envelope.results : envelope));
    const { answer, manner } = spoil(jsonTextAnswer(200, text), trouble);
    return sendAs(this, call, answer, manner);
  }

  async create(call: Call, draft: CheckedCreate): Promise<FastifyReply> {
    const { world } = this.opened;
    const { receivedAt, trouble } = this.#arrivalOf(call);
    const { creation, late } = timed({ ...draft, received_at: receivedAt }, trouble);
    if (late) {
      const answered = late.answer === undefined || late.answer === 'status' ? 'error' : 'no';
      postpone(world, creation, this.clock.now() + (late.ms ?? 1000), answered);
      return this.#giveInstead(call, late);
    }
    return this.#confirm(call, commit(world, creation, this.clock.now(), 'no'), trouble);
  }

  /** The post is there: says so, unless the trouble has it otherwise. */
  async #confirm(call: Call, post: { id: number; url: string }, trouble: Trouble): Promise<FastifyReply> {
    const { world } = this.opened;
    const after = trouble.first('after');
    if (after && after.kind !== 'no-id') {
      if (after.kind === 'status-after') markAnswered(world, post.id, 'error');
      return this.#giveInstead(call, after);
    }
    const good = after
      ? jsonAnswer(200, { status: 'Success' })
      : createdAnswer(call, post, this.#options.createStatus);
    const { answer, manner, intact } = spoil(good, trouble);
    note(world, call.reply, post.id, intact && !after ? 'yes' : 'partial');
    return sendAs(this, call, answer, manner);
  }

  /** What a fault does in place of the answer: another answer, silence, or the end of the connection. */
  #giveInstead(call: Call, rule: FaultRule): FastifyReply | Promise<FastifyReply> {
    const way = rule.answer ?? rule.kind;
    if (way === 'reset' || way === 'reset-after') return reset(call);
    if (way === 'hang' || way === 'hang-after') return hang(this, call, closeAfter(rule));
    return sendAs(this, call, faultAnswer(rule, call, this.clock.now()), 'whole');
  }

  #arrivalOf({ request }: Call): Arrival {
    const arrival = this.#arrivals.get(request);
    if (!arrival) throw new Error('this request did not come through the server');
    return arrival;
  }
}

/** A late commit's time is that of the commit, not of the silence. */
function closeAfter(rule: FaultRule): number | undefined {
  return rule.kind === 'late-commit' ? undefined : rule.ms;
}

/** Links are texts, but for a bare page number. */
function echoToken({ query }: Call, { envelope }: ListPage, authParam: string): void {
  const token = query.get(authParam);
  if (token === null) return;
  const withToken = (link: unknown): unknown =>
    typeof link === 'string' && link.includes('?')
      ? `${link}&${new URLSearchParams({ [authParam]: token })}`
      : link;
  envelope.next = withToken(envelope.next);
  envelope.previous = withToken(envelope.previous);
}

/** What the scripted trouble makes of a good answer and of its way out. */
function spoil(
  good: SandboxAnswer,
  trouble: Trouble,
): { answer: SandboxAnswer; manner: Manner; intact: boolean } {
  let answer = good;
  trouble.each('body', ({ rule }) => {
    answer = spoilBody(answer, rule);
    return true;
  });
  const manner = mannerOf(trouble.first('send'));
  return { answer, manner, intact: answer === good && manner !== 'cut' };
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

/** Noted before it is sent, so that a client that has the answer finds it in the ledger; taken back when it never left. */
function note(world: World, reply: FastifyReply, id: number, answered: Answered): void {
  markAnswered(world, id, answered);
  if (answered !== 'yes') return;
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished && world.db.open) markAnswered(world, id, 'no');
  });
}
