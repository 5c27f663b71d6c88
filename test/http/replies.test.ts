import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import Fastify from 'fastify';
import { AppError, type ErrorCode } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/log.ts';
import {
  addHeaders,
  addReplies,
  breakOff,
  canWrite,
  refuse,
  sendFile,
} from '../../src/http/server/replies.ts';

function site(t: TestContext) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ level: 'debug', format: 'json', secrets: () => [], destination });
  const app = Fastify();
  t.after(() => app.close());
  addHeaders(app);
  const replies = addReplies(app, log);
  return { app, lines, replies };
}

describe('a failure', () => {
  const STATUS: Record<ErrorCode, number> = {
    ...{ usage: 400, unauthorised: 502, unreachable: 502, throttled: 503, refused: 502, protocol: 502 },
    ...{ partial: 422, gone: 410, busy: 503, storage: 503, interrupted: 503, internal: 500 },
  };

  for (const [code, status] of Object.entries(STATUS) as [ErrorCode, number][])
    it(`of ours that is ${code} is answered with ${status}`, async (t) => {
      const { app, lines } = site(t);
      app.get('/fail', () => Promise.reject(new AppError(code, 'no such thing', { hint: 'Try it.' })));
      const { statusCode, headers, body } = await app.inject('/fail');
      assert.deepEqual([statusCode, headers['retry-after']], [status, status === 503 ? '5' : undefined]);
      const isDefect = code === 'internal';
      assert.equal(/No such thing\. Try it\./.test(body), !isDefect);
      assert.equal(lines.length, isDefect ? 1 : 0);
    });

  it('of a client keeps the status of the framework, and every other failure is a 500 without details', async (t) => {
    const { app, lines } = site(t);
    const failing = (statusCode: unknown) => () =>
      Promise.reject(Object.assign(new Error('why'), { statusCode }));
    for (const status of [399, 400, 499, 500, 503, '404', undefined]) app.get(`/${status}`, failing(status));
    const answer = async (path: string) => {
      const { statusCode, body } = await app.inject(path);
      return [statusCode, body.includes('why')];
    };
    assert.deepEqual(
      [await answer('/400'), await answer('/499')],
      [
        [400, true],
        [499, true],
      ],
    );
    for (const path of ['/399', '/500', '/503', '/404', '/undefined'])
      assert.deepEqual(await answer(path), [500, false], path);
    assert.equal(lines.length, 5);
  });
});

describe('an address without an answer', () => {
  it('is 404, and one that takes other methods is 405, compared by whole path segments', async (t) => {
    const { app } = site(t);
    for (const url of ['/rows/:id', '/rows/:id/edits', '/files/*']) app.post(url, async () => ({}));
    app.delete('/rows/:id', async () => ({}));
    const answer = async (path: string) => {
      const { statusCode, headers } = await app.inject(path);
      return [statusCode, headers.allow];
    };
    assert.deepEqual(await answer('/rows/5?x=1'), [405, 'DELETE, POST']);
    assert.deepEqual(await answer('/rows/5/edits'), [405, 'POST']);
    assert.deepEqual(await answer('/files/a/b'), [405, 'POST']);
    for (const path of ['/rows', '/rows/', '/rows/5/other', '/rows/5/edits/1', '/fil'])
      assert.deepEqual(await answer(path), [404, undefined], path);
  });

  it('is a page to a person, and a sentence to a program', async (t) => {
    const { app, replies } = site(t);
    replies.setNotFoundPage((_request, reply) => reply.type('text/html').send('<p>nothing</p>'));
    app.post('/rows', async () => ({}));
    const asked = async (url: string, accept: string) => {
      const { statusCode, body } = await app.inject({ url, headers: { accept } });
      return [statusCode, body.startsWith('<p>')];
    };
    assert.deepEqual(await asked('/none', 'text/html'), [404, true]);
    assert.deepEqual(await asked('/none', 'application/json'), [404, false]);
    assert.deepEqual(await asked('/rows', 'text/html'), [405, false]);
  });
});

describe('a file for the browser to save', () => {
  it('has a type by its end, and a name that ends no header', async (t) => {
    const { app } = site(t);
    app.get('/*', (request, reply) => sendFile(reply, decodeURIComponent(request.url.slice(1)), 'x'));
    const told = async (name: string) => {
      const { headers } = await app.inject(`/${encodeURIComponent(name)}`);
      return [String(headers['content-type']).split(';')[0], headers['content-disposition']];
    };
    assert.deepEqual(await told('posts.csv'), ['text/csv', 'attachment; filename="posts.csv"']);
    assert.deepEqual(await told('a.b.ndjson'), ['application/x-ndjson', 'attachment; filename="a.b.ndjson"']);
    assert.deepEqual(await told('a"b; c.parquet'), [
      'application/octet-stream',
      'attachment; filename="a_b__c.parquet"',
    ]);
  });
});

describe('every answer', () => {
  it('forbids caching, framing and content sniffing unless a part has its own policy', async (t) => {
    const { app } = site(t);
    app.get('/plain', async () => ({}));
    app.get('/own', async (_request, reply) =>
      reply.header('content-security-policy', 'own').header('cache-control', 'no-cache').send({}),
    );
    app.get('/kept', async (_request, reply) => reply.header('cache-control', 'max-age=9').send({}));
    app.get('/refused', async (_request, reply) =>
      refuse(reply, { status: 403, detail: 'no', headers: { a: 'b' } }),
    );
    const told = async (path: string) => {
      const { headers } = await app.inject(path);
      return [headers['cache-control'], String(headers['content-security-policy']).slice(0, 18)];
    };
    const usual = "default-src 'none'";
    assert.deepEqual(await told('/plain'), ['no-store', usual]);
    assert.deepEqual(await told('/own'), ['no-cache', 'own']);
    assert.deepEqual(await told('/kept'), ['no-store', usual]);
    const { statusCode, headers } = await app.inject('/refused');
    assert.deepEqual([statusCode, headers.a, headers.connection], [403, 'b', 'close']);
    assert.deepEqual([headers['x-frame-options'], headers['x-content-type-options']], ['DENY', 'nosniff']);
  });
});

describe('an answer that goes on', () => {
  it('is destroyed on failure so that it does not look complete, and a closed one is not written to', () => {
    const calls: string[] = [];
    const response = {
      writableLength: 0,
      end: () => calls.push('end'),
      destroy: () => calls.push('destroy'),
    };
    breakOff(response as unknown as ServerResponse);
    assert.deepEqual(calls, ['destroy']);
    const states = [
      [false, false],
      [true, false],
      [false, true],
    ] as const;
    assert.deepEqual(
      states.map(([writableEnded, destroyed]) => canWrite({ writableEnded, destroyed } as ServerResponse)),
      [true, false, false],
    );
  });
});
