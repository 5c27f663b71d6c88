import type { Client, CreateOutcome, Page } from '../../src/api/client.ts';
import { AppError } from '../../src/base/errors.ts';
import type { Post } from '../../src/contract/decode.ts';
import type { NewPost, NewPostAsUser } from '../../src/contract/entities.ts';
import type { Random } from '../../src/sandbox/random.ts';
import type { FakeClock } from '../support/clock.ts';
import { BOARDS, type Manner, mannerOf, simulatedPost } from './simulated-post.ts';

/** A post that the upstream made, with the request that asked for it: what the simulation is judged by. */
export interface LedgerLine {
  id: number;
  asked: Asked;
  committedAt: number;
  visibleAt: number;
  manner: Manner;
}

export type Asked = NewPost & Partial<NewPostAsUser>;

export interface Trouble {
  /** Share of the creates after which nobody knows. */
  ambiguous: number;
  /** Longest time between a request and its effect, and between that and the list. */
  commitLateMs: number;
  visibleLateMs: number;
  /** Shares of creates that are clearly not done. */
  rejected: number;
  throttled: number;
  notSent: number;
  unauthorised: number;
  /** Share of list pages that cannot be read, also after the client's own retries. */
  unreadable: number;
  /** How much later than ours its clock is. */
  clockAheadMs: number;
  createMs: number;
  /** Share of the posts that are rewritten, moved or shown under another name. */
  rewritten: number;
}

export interface SimulatedUpstream {
  client: Client;
  ledger: LedgerLine[];
  /** How often each kind of outcome was given. */
  given: Map<string, number>;
  /** Someone else writes a post. */
  stranger(): void;
  /** Lets everything take effect that is still under way. */
  settleAll(): void;
}

const PAGE_SIZE = 100;

/** Commits and does not say so, or does nothing and does not say so. */
const UNCLEAR = [
  ['answer lost', true],
  ['request lost', false],
  ['5xx after the commit', true],
  ['5xx before the commit', false],
  ['time-out, committed', true],
  ['time-out, lost', false],
] as const;

export function simulatedUpstream(clock: FakeClock, random: Random, trouble: Trouble): SimulatedUpstream {
  const ledger: LedgerLine[] = [];
  const given = new Map<string, number>();
  const visible: Post[] = [];
  let pending: { asked: Asked; dueAt: number; visibleAfter: number }[] = [];
  let hidden: { post: Post; visibleAt: number }[] = [];
  let lastId = 1000;

  const settle = (now: number): void => {
    const due = pending.filter(({ dueAt }) => dueAt <= now).sort((a, b) => a.dueAt - b.dueAt);
    if (due.length > 0) pending = pending.filter(({ dueAt }) => dueAt > now);
    for (const { asked, dueAt, visibleAfter } of due) commit(asked, dueAt, visibleAfter);
    for (const { post, visibleAt } of hidden) if (visibleAt <= now) show(post);
    if (hidden.some(({ visibleAt }) => visibleAt <= now))
      hidden = hidden.filter(({ visibleAt }) => visibleAt > now);
  };
  const show = (post: Post): void => {
    let at = visible.length;
    while ((visible[at - 1]?.id ?? 0) > post.id) at--;
    visible.splice(at, 0, post);
  };
  const commit = (asked: Asked, at: number, visibleAfter: number): number => {
    lastId += 1 + random.int(3);
    const manner = mannerOf(random, trouble.rewritten);
    const post = simulatedPost(lastId, asked, at + trouble.clockAheadMs, manner, random);
    ledger.push({ id: lastId, asked, committedAt: at, visibleAt: at + visibleAfter, manner });
    hidden.push({ post, visibleAt: at + visibleAfter });
    return lastId;
  };
  const visibleAfter = (): number => (random.chance(0.5) ? random.int(trouble.visibleLateMs + 1) : 0);
  const count = (kind: string): void => void given.set(kind, (given.get(kind) ?? 0) + 1);

  const unclear = (asked: Asked): CreateOutcome => {
    const [reason, commits] = random.pick(UNCLEAR);
    count(reason);
    const dueAt = clock.now() + (random.chance(0.5) ? random.int(trouble.commitLateMs + 1) : 0);
    if (commits) pending.push({ asked, dueAt, visibleAfter: visibleAfter() });
    if (reason.startsWith('time-out')) clock.advance(trouble.createMs);
    const httpStatus = reason.startsWith('5xx') ? 503 : null;
    return { outcome: 'unknown', reason, httpStatus, serverTime: null };
  };
  const clear = (asked: Asked): CreateOutcome => {
    const draw = random.next();
    const { rejected, throttled, notSent, unauthorised } = trouble;
    if (draw < rejected)
      return { outcome: 'rejected', httpStatus: 400, reason: 'no such thing', serverTime: null };
    if (draw < rejected + throttled)
      return {
        outcome: 'throttled',
        httpStatus: 429,
        retryAt: clock.now() + random.int(60_000),
        reason: 'slow down',
      };
    if (draw < rejected + throttled + notSent) return { outcome: 'not-sent', reason: 'connection refused' };
    if (draw < rejected + throttled + notSent + unauthorised)
      return { outcome: 'unauthorised', httpStatus: 401, reason: 'who are you' };
    const postId = commit(asked, clock.now(), visibleAfter());
    return { outcome: 'confirmed', postId, url: `/p/${postId}`, httpStatus: 201, serverTime: clock.now() };
  };
  const create = async (asked: Asked): Promise<CreateOutcome> => {
    clock.advance(50 + random.int(400));
    settle(clock.now());
    const outcome = random.chance(trouble.ambiguous) ? unclear(asked) : clear(asked);
    if (outcome.outcome !== 'unknown') count(outcome.outcome);
    // The mirror may be brought up to date between an effect and its answer.
    await clock.meanwhile();
    return outcome;
  };
  const page = (cursor: string): Page<Post> => {
    clock.advance(20 + random.int(200));
    settle(clock.now());
    if (random.chance(trouble.unreadable)) throw new AppError('unreachable', 'the list could not be read');
    const offset = cursor === '' ? 0 : Number(cursor);
    const end = Math.max(0, visible.length - offset);
    const rows = visible.slice(Math.max(0, end - PAGE_SIZE), end).reverse();
    const next = end > PAGE_SIZE ? String(offset + PAGE_SIZE) : null;
    const now = clock.now();
    const serverTime = Math.floor((now + trouble.clockAheadMs) / 1000) * 1000;
    return {
      rows,
      rejects: [],
      number: 1,
      cursor,
      next,
      serverTime,
      receivedAt: now,
      bytes: 0,
    };
  };

  return {
    ledger,
    given,
    stranger() {
      const title = random.pick([`A stranger's ${lastId}`, `Dark mode ${lastId}`, 'Export everything']);
      const by = `stranger${random.int(300)}`;
      const who = { email: `${by}@elsewhere.example`, full_name: by };
      const asked = { board: random.pick(BOARDS), title, content: 'Something else.', ...who };
      pending.push({ asked, dueAt: clock.now(), visibleAfter: 0 });
    },
    settleAll: () => settle(Number.POSITIVE_INFINITY),
    client: {
      create,
      createAsUser: create,
      async *posts({ from = '' } = {}) {
        for (let cursor: string | null = from; cursor !== null; ) {
          const read = page(cursor);
          yield read;
          cursor = read.next;
        }
      },
      page: async (_resource, cursor) => page(cursor) as never,
      comments: () => {
        throw new Error('the simulation has no comments');
      },
      search: async () => ({ rows: [], rejects: [] }),
      close: async () => {},
    },
  };
}
