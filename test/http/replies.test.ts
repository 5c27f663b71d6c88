import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import Fastify from 'fastify';
import { AppError, type ErrorCode } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/log.ts';
import { addHeaders, addReplies, breakOff, canWrite, sendFile } from '../../src/http/server/replies.ts';

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
