import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import type { TestContext } from 'node:test';
import { ENDPOINTS } from '../../src/contract/endpoints.ts';
import type { CommentWire, PostWire } from '../../src/contract/entities.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';

export const POSTS = ENDPOINTS.listPosts.path;
export const COMMENTS = ENDPOINTS.listComments.path;
export const CREATE = ENDPOINTS.createPost.path;
export const AS_USER = ENDPOINTS.createPostAsUser.path;

/** A sandbox that is closed when the test ends. Small, unless the test says otherwise. */
export async function open(t: TestContext, options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ posts: 12, ...options });
  t.after(() => sandbox.close());
  return sandbox;
}

/** Any server of this API: the sandbox, or a mirror of it. */
export type Server = Pick<Sandbox, 'url'>;

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** False when the connection ended before the body did. */
  complete: boolean;
}

export interface Call {
  method?: string;
  token?: string | null;
  headers?: OutgoingHttpHeaders;
  /** Sent as JSON unless it is text or bytes already. */
  body?: unknown;
}

/** One request on a connection of its own, with no library in between that would hide trouble. */
export function call(server: Server, target: string, options: Call = {}): Promise<Reply> {
  const { method = options.body === undefined ? 'GET' : 'POST', token = 'sandbox', body } = options;
  const headers: OutgoingHttpHeaders = { accept: 'application/json' };
  if (token !== null) headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  return new Promise((resolve, reject) => {
    const url = new URL(target, server.url);
    const outgoing = request(url, { method, agent: false, headers: { ...headers, ...options.headers } });
    outgoing.on('error', reject).on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      // A cut body is what some tests are about; they look at `complete`.
      incoming.on('error', () => undefined);
      incoming.on('close', () => {
        const { statusCode: status = 0, headers: received, complete } = incoming;
        resolve({ status, headers: received, body: Buffer.concat(chunks), complete });
      });
    });
    outgoing.end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
  });
}

export interface Envelope<T> {
  next: unknown;
  previous: unknown;
  results: T[];
}

export interface Problem {
  detail: string;
  errors?: Record<string, string[]>;
}

export function json<T = unknown>(reply: Reply): T {
  return JSON.parse(reply.body.toString()) as T;
}

export async function posts(
  server: Server,
  target: string = POSTS,
  options?: Call,
): Promise<Envelope<PostWire>> {
  return json(await call(server, target, options));
}

export async function comments(
  server: Server,
  target: string = COMMENTS,
  options?: Call,
): Promise<Envelope<CommentWire>> {
  return json(await call(server, target, options));
}

export function create(server: Server, post: Record<string, unknown> = {}, options?: Call): Promise<Reply> {
  const body = { board: 'bugs', title: 'A title', content: 'Some content.', ...post };
  return call(server, CREATE, { body, ...options });
}

/** Where the next request goes for any form of `next`, the way a client that knows the style would read it. */
export function follow(path: string, link: unknown): string {
  if (typeof link === 'number') return `${path}?page=${link}`;
  const text = String(link);
  if (text.startsWith('http://')) return text.slice(text.indexOf('/', 'http://'.length));
  if (text.startsWith('/')) return text;
  return text.startsWith('?') ? path + text : `${path}?cursor=${text}`;
}

/** Every page from the first to the end, or to the start when it goes backwards. */
export async function walk(
  server: Server,
  path: string = POSTS,
  direction: 'next' | 'previous' = 'next',
  from = path,
): Promise<{ ids: number[]; pages: number; last: string }> {
  const ids: number[] = [];
  let target = from;
  for (let pages = 1; pages < 1000; pages++) {
    const page = await posts(server, target);
    const here = page.results.map((row) => row.id);
    if (direction === 'next') ids.push(...here);
    else ids.unshift(...here);
    if (page[direction] === null) return { ids, pages, last: target };
    target = follow(path, page[direction]);
  }
  throw new Error('the walk does not end');
}
