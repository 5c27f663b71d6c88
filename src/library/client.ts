import { createClient, type Page as ReadPage } from '../api/client.ts';
import { Secret } from '../base/secret.ts';
import type { Comment, NewPost, NewPostAsUser, Post } from './types.ts';

export type { Board, Comment, NewPost, NewPostAsUser, Post, Status, User } from './types.ts';

export interface ConnectOptions {
  /** What is before `/api/v1/`; https, or http on loopback. */
  baseUrl: string;
  /** A function is asked for every request, so that a new token takes effect at once. */
  token: string | (() => string);
  /** The query parameter that carries the token, for a service that takes it so; a Bearer header unless given. */
  tokenParameter?: string;
}

/** One page of a list, decoded. */
export interface Page<T> {
  rows: T[];
  /** Rows that do not decode, each with the reason. */
  rejects: { id: number | null; reason: string }[];
}

/** What is known about a create after one attempt. Only `not-sent` and `throttled` are safe to send again. */
export type CreateOutcome =
  | { outcome: 'confirmed'; postId: number; url: string | null }
  | { outcome: 'rejected'; httpStatus: number; reason: string }
  | { outcome: 'throttled'; retryAt: number; reason: string }
  | { outcome: 'unauthorised'; httpStatus: number; reason: string }
  | { outcome: 'not-sent'; reason: string }
  | { outcome: 'unknown'; reason: string };

/** The feedback service. Reads are retried where that is safe. A create is sent once. */
export interface FeedbackClient {
  posts(signal?: AbortSignal): AsyncGenerator<Page<Post>, void, undefined>;
  comments(signal?: AbortSignal): AsyncGenerator<Page<Comment>, void, undefined>;
  /** The most relevant posts by the service's own search, 50 at most. */
  search(text: string, signal?: AbortSignal): Promise<Post[]>;
  create(post: NewPost, signal?: AbortSignal): Promise<CreateOutcome>;
  createAsUser(post: NewPostAsUser, signal?: AbortSignal): Promise<CreateOutcome>;
  /** Ends running reads, and waits for running creates. */
  close(): Promise<void>;
}

/** Opens a client with the limits and retries that the program itself uses. Nothing is requested yet. */
export function connect({ baseUrl, token, tokenParameter }: ConnectOptions): FeedbackClient {
  const client = createClient({
    baseUrl,
    auth: tokenParameter === undefined ? { kind: 'header' } : { kind: 'query', parameter: tokenParameter },
    token: () => new Secret(typeof token === 'string' ? token : token()),
  });
  return {
    posts: (signal) => pages(client.posts(signal ? { signal } : {})),
    comments: (signal) => pages(client.comments(signal ? { signal } : {})),
    search: async (text, signal) => (await client.search(text, signal)).rows,
    create: (post, signal) => client.create(post, signal),
    createAsUser: (post, signal) => client.createAsUser(post, signal),
    close: () => client.close(),
  };
}

async function* pages<T>(read: AsyncIterable<ReadPage<T>>): AsyncGenerator<Page<T>, void, undefined> {
  for await (const { rows, rejects } of read)
    yield { rows, rejects: rejects.map(({ id, reason }) => ({ id, reason })) };
}
