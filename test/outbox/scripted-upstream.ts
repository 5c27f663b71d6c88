import type { Client, CreateOutcome, Page, Reject } from '../../src/api/client.ts';
import { AppError } from '../../src/base/errors.ts';
import type { Post } from '../../src/contract/decode.ts';
import type { FakeClock } from '../support/clock.ts';
import { aPost } from '../support/rows.ts';

/** An upstream that does what a test tells it, one request at a time. */
export interface ScriptedUpstream {
  client: Client;
  /** The list, newest first unless the test puts it otherwise. */
  posts: Post[];
  /** Rows of the first page that do not decode. */
  rejects: Reject[];
  /** What the next creates come to; without any left, they are confirmed. */
  outcomes: CreateOutcome[];
  /** What happens while a create is under way. */
  duringCreate: (asked: object) => void | Promise<void>;
  /** What happens before a page is given, with its number. */
  beforePage: (page: number) => void;
  /** The error of the next reads. */
  readError: AppError | null;
  pageSize: number;
  /** What every `next` says besides the place, after the last row of its page. */
  tail: (last: Post | undefined) => string;
  /** How much later than ours its clock is; null when it does not say. */
  aheadMs: number | null;
  created: object[];
  pagesRead: number;
  /** Puts a post at the top of the list, as the upstream would make it now. */
  publish(changes?: Record<string, unknown>): Post;
}

export function confirmed(postId: number): CreateOutcome {
  return { outcome: 'confirmed', postId, url: `/p/${postId}`, httpStatus: 201, serverTime: null };
}

export function unknown(reason = 'the answer was cut'): CreateOutcome {
  return { outcome: 'unknown', reason, httpStatus: null, serverTime: null };
}

export function scriptedUpstream(clock: FakeClock): ScriptedUpstream {
  let lastId = 1000;
  const create = async (asked: object): Promise<CreateOutcome> => {
    upstream.created.push(asked);
    await upstream.duringCreate(asked);
    return upstream.outcomes.shift() ?? confirmed(++lastId);
  };
  const page = (cursor: string): Page<Post> => {
    if (upstream.readError) throw upstream.readError;
    upstream.pagesRead++;
    const offset = Number.parseInt(cursor || '0', 10);
    const number = offset / upstream.pageSize + 1;
    upstream.beforePage(number);
    const end = offset + upstream.pageSize;
    const serverTime = upstream.aheadMs === null ? null : clock.now() + upstream.aheadMs;
    const rejects = cursor === '' ? upstream.rejects : [];
    const rows = upstream.posts.slice(offset, end);
    const next = end < upstream.posts.length ? `${end}${upstream.tail(rows.at(-1))}` : null;
    return {
      rows,
      rejects,
      number,
      cursor,
      next,
      serverTime,
      receivedAt: clock.now(),
      bytes: 0,
    };
  };
  const upstream: ScriptedUpstream = {
    posts: [],
    rejects: [],
    outcomes: [],
    duringCreate: () => {},
    beforePage: () => {},
    readError: null,
    pageSize: 100,
    tail: () => '',
    aheadMs: 0,
    created: [],
    pagesRead: 0,
    publish(changes = {}) {
      const created = new Date(clock.now() + (upstream.aheadMs ?? 0)).toISOString();
      const post = aPost(++lastId, { created, ...changes });
      upstream.posts.unshift(post);
      return post;
    },
    client: {
      create,
      createAsUser: create,
      async *posts({ from = '' } = {}) {
        const shown = new Set<number>();
        for (let cursor: string | null = from; cursor !== null; ) {
          const read = page(cursor);
          const repeated = new Set<number>(read.rows.map(({ id }) => id).filter((id) => shown.has(id)));
          for (const { id } of read.rows) shown.add(id);
          yield repeated.size > 0 ? { ...read, repeated } : read;
          cursor = read.next;
        }
      },
      page: async (_resource, cursor) => page(cursor) as never,
      comments: () => {
        throw new AppError('internal', 'there are no comments here');
      },
      search: async () => ({ rows: [], rejects: [] }),
      close: async () => {},
    },
  };
  return upstream;
}
