import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import pino from 'pino';
import type { Auth, Client } from '../../src/api/client.ts';
import { assertNoLeak } from './support/leaks.ts';
import {
  all,
  CANARY,
  clientOf,
  DRAFT,
  json,
  post,
  startSocketServer,
  startUpstream,
} from './support/upstream.ts';

const MODES: [string, Auth][] = [
  ['in a header', { kind: 'header' }],
  ['in the query', { kind: 'query', parameter: 'api_key' }],
];

/** All that the client knows of us, as an upstream would echo it. */
function secrets(request: IncomingMessage): string {
  const header = request.headers.authorization ?? '';
  const base64 = Buffer.from(`${header}${request.url}`).toString('base64');
  return `${CANARY} ${header} ${request.url} ${encodeURIComponent(CANARY)} ${base64} ${JSON.stringify(CANARY)}`;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const echo =
  (status: number, headers: (text: string) => Record<string, string> = () => ({})): Handler =>
  (request, response) => {
    const text = secrets(request);
    json(response, { detail: text, headers: request.headers }, status, headers(encodeURIComponent(text)));
  };

const page =
  (fields: (request: IncomingMessage) => object): Handler =>
  (request, response) =>
    json(response, { next: null, previous: null, results: [], ...fields(request) });

const TROUBLE: Record<string, Handler> = {
  ...Object.fromEntries(
    [200, 204, 301, 307, 400, 401, 403, 404, 408, 409, 413, 422, 425, 429, 500, 503].map((status) => [
      `an echo with ${status}`,
      echo(status, (text) => ({ location: `http://127.0.0.1:1/?${text}`, 'x-echo': text })),
    ]),
  ),
  'an echo as Retry-After': echo(429, (text) => ({ 'retry-after': text, date: text })),
  'an echo as content encoding': echo(200, (text) => ({ 'content-encoding': text })),
  'an echo as HTML': (request, response) => json(response, `<html>${secrets(request)}</html>`),
  'an echo that is cut': (request, response) => {
    response.writeHead(422, { 'content-length': '100000' });
    response.write(secrets(request));
    setImmediate(() => response.destroy());
  },
  'an echo that is no gzip': (request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(secrets(request)),
  'an echo in gzip': (request, response) =>
    response.writeHead(400, { 'content-encoding': 'gzip' }).end(gzipSync(secrets(request))),
  'an echo in bytes that are no UTF-8': (request, response) =>
    response.end(Buffer.concat([Buffer.from(secrets(request)), Buffer.of(0xff)])),
  'an echo in a row': page((request) => ({ results: [{ ...post(1), title: 5, content: secrets(request) }] })),
  'an echo as the name of a field': page((request) => ({
    results: [{ ...post(1), [secrets(request)]: '\ud800' }],
  })),
  'an echo as a deep row': page((request) => ({ results: [[[[secrets(request)]]]] })),
  'an echo as an object for next': page((request) => ({ next: { [secrets(request)]: 1 } })),
  'next to another host': page((request) => ({ next: `https://evil.example/?${secrets(request)}` })),
  'next to another path': page((request) => ({ next: `/${encodeURIComponent(secrets(request))}` })),
  'next with the token as a parameter': page(() => ({
    next: `?page=2&api_key=${encodeURIComponent(CANARY)}`,
  })),
  'next with the token under another name': page(() => ({ next: `?page=2&k=${encodeURIComponent(CANARY)}` })),
  'next with the token inside a value': page(() => ({ next: `?page=2&k=x${encodeURIComponent(CANARY)}` })),
  'next with the token as a cursor': page(() => ({ next: CANARY })),
  'next with the token in a cursor': page(() => ({
    next: Buffer.from(`{"t":"${CANARY}"}`).toString('base64'),
  })),
  'an echo as the answer to a create': (request, response) =>
    json(response, { post_id: 5, url: `http://x/?${secrets(request)}`, status: secrets(request) }),
  'an echo as the id of a create': (request, response) => json(response, { post_id: secrets(request) }),
  'an echo in headers without measure': (request, response) =>
    json(response, '{}', 200, { 'x-echo': encodeURIComponent(secrets(request)).repeat(100) }),
  'a reset': (request) => request.socket.resetAndDestroy(),
  'an end': (request) => request.socket.end(),
  'an echo that is not HTTP': (request) => request.socket.end(`HTTP/9 ${secrets(request)}\r\n\r\n`),
  'a silence': () => {},
};

/** Whatever the five operations return or throw. */
async function everything(client: Client): Promise<Record<string, unknown>> {
  const caught = async (work: () => Promise<unknown>): Promise<unknown> => {
    try {
      return await work();
    } catch (error) {
      return error;
    }
  };
  return {
    page: await caught(() => client.page('posts', '')),
    'a page by a cursor with the token': await caught(() =>
      client.page('posts', `k=${encodeURIComponent(CANARY)}x`),
    ),
    posts: await caught(() => all(client.posts({ ahead: 3 }))),
    comments: await caught(() => all(client.comments())),
    search: await caught(() => client.search('text')),
    create: await caught(() => client.create(DRAFT)),
    createAsUser: await caught(() =>
      client.createAsUser({ ...DRAFT, email: 'a@example.com', full_name: 'A' }),
    ),
  };
}

async function judge(t: TestContext, url: string, auth: Auth): Promise<void> {
  const lines: string[] = [];
  const seen: unknown[] = [];
  // A logger that masks nothing: what reaches it must already be clean.
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const limits = { idleMs: 30, createMs: 30 };
  const client = clientOf(t, url, {
    auth,
    log,
    limits,
    retry: { attempts: 2 },
    onRequest: (info) => seen.push(info),
  });
  assertNoLeak(CANARY, { ...(await everything(client)), lines, seen, client });
  assert.ok(seen.length > 0);
}

for (const [mode, auth] of MODES) {
  describe(`the token ${mode} shows nowhere`, () => {
    for (const [name, handler] of Object.entries(TROUBLE)) {
      it(`after ${name}`, async (t) => {
        const upstream = await startUpstream(t, handler);
        await judge(t, upstream.url, auth);
        assert.ok(upstream.requests.length > 0);
      });
    }

    it('is in no message where nothing listens at the address', async (t) =>
      await judge(t, 'http://127.0.0.1:1', auth));

    it('is in no message where the connection is closed at once', async (t) => {
      const upstream = await startSocketServer(t, (socket) => socket.destroy());
      await judge(t, upstream.url, auth);
    });
  });
}
