import { AppError } from '../base/errors.ts';
import type { Comment, Post } from '../contract/decode.ts';
import type { Resource } from '../contract/endpoints.ts';
import type { NewPost, NewPostAsUser } from '../contract/entities.ts';
import { readConnections } from './connection.ts';
import { type CreateOutcome, type CreateRequest, create } from './create.ts';
import { linkAbort } from './exchange.ts';
import { toAppError } from './failure.ts';
import { type ClientOptions, clientContextOf } from './options.ts';
import {
  decodedPage,
  describePage,
  LISTS,
  type List,
  type Page,
  type Reject,
  type RowOf,
  readPage,
  readSearch,
} from './read.ts';
import { type WalkOptions, walkPages } from './walk.ts';

export type { CreateOutcome } from './create.ts';
export type { Auth, ClientOptions, Limits, RequestInfo } from './options.ts';
export type { Page, Reject, RowOf } from './read.ts';
export type { RetryPolicy } from './retry.ts';
export type { WalkOptions } from './walk.ts';

/** The upstream API, one method an operation. Reads are tried again where that is safe; creates are sent once. */
export interface Client {
  posts(walk?: WalkOptions): AsyncGenerator<Page<Post>, void, undefined>;
  comments(walk?: WalkOptions): AsyncGenerator<Page<Comment>, void, undefined>;
  page<R extends Resource>(resource: R, cursor: string, signal?: AbortSignal): Promise<Page<RowOf<R>>>;
  /** The most relevant posts by the upstream's own search, 50 at most. */
  search(text: string, signal?: AbortSignal): Promise<{ rows: Post[]; rejects: Reject[] }>;
  create(post: NewPost, signal?: AbortSignal): Promise<CreateOutcome>;
  createAsUser(post: NewPostAsUser, signal?: AbortSignal): Promise<CreateOutcome>;
  /** Aborts running reads and waits for running creates, which would otherwise become unclear. */
  close(): Promise<void>;
}

export function createClient(options: ClientOptions): Client {
  const context = clientContextOf(options);
  const connections = readConnections(context);
  const { dispatcher } = connections;
  const closing = new AbortController();
  const reading = untilClosed(closing.signal);
  const sending = new Set<Promise<CreateOutcome>>();

  const read = <T>(list: List<T>, cursor: string, number: number, signal?: AbortSignal, isGuess = false) =>
    reading(signal, (linked) =>
      readPage(context, dispatcher, list, { cursor, number, signal: linked, isGuess }),
    );
  const pages = <T extends { id: number }>(list: List<T>, options: WalkOptions = {}) =>
    walkPages<T>(
      (cursor, number, signal, isGuess) => read(list, cursor, number, signal, isGuess),
      options,
      (failure, { cursor, number }) =>
        toAppError(failure, describePage(list, cursor, number), context.base.host),
    );
  const send = async (request: CreateRequest, signal: AbortSignal | undefined): Promise<CreateOutcome> => {
    if (closing.signal.aborted) return { outcome: 'not-sent', reason: 'the client is closed' };
    const outcome = create(context, request, signal).finally(() => sending.delete(outcome));
    sending.add(outcome);
    return await outcome;
  };

  return {
    posts: (options) => pages(LISTS.posts, options),
    comments: (options) => pages(LISTS.comments, options),
    page: async <R extends Resource>(resource: R, cursor: string, signal?: AbortSignal) =>
      decodedPage(await read<RowOf<R>>(LISTS[resource] as unknown as List<RowOf<R>>, cursor, 1, signal)),
    search: (text, signal) => reading(signal, (linked) => readSearch(context, dispatcher, text, linked)),
    create: (post, signal) => send({ operation: 'createPost', post }, signal),
    createAsUser: (post, signal) => send({ operation: 'createPostAsUser', post }, signal),
    async close() {
      if (closing.signal.aborted) return;
      closing.abort(new AppError('interrupted', 'The client of the upstream was closed.'));
      await connections.close();
      await Promise.allSettled(sending);
    },
  };
}

/** Runs a read that ends when its caller's signal or the client's own end says so, whichever comes first. */
function untilClosed(closed: AbortSignal) {
  return async <T>(
    signal: AbortSignal | undefined,
    work: (linked: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const controller = new AbortController();
    const unlink = [linkAbort(closed, controller), linkAbort(signal, controller)];
    try {
      controller.signal.throwIfAborted();
      return await work(controller.signal);
    } finally {
      for (const letGo of unlink) letGo();
    }
  };
}
