import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as aTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { ClientOptions, CreateOutcome } from '../../src/api/client.ts';
import { freshConnection } from '../../src/api/connection.ts';
import { clientContextOf } from '../../src/api/options.ts';
import { createRateLimit } from '../../src/api/rate-limit.ts';
import { Secret } from '../../src/base/secret.ts';
import { fakeClock } from '../support/clock.ts';
import { until } from '../support/until.ts';
import { CANARY, clientOf, DRAFT, json, startSocketServer, startUpstream } from './support/upstream.ts';

const CREATED = { status: 'Success', post_id: 42, url: 'https://example.com/p/42' };
const NOW = Date.parse('2026-01-01T00:00:00Z');

/** What a create makes of one raw answer, after which the server may keep the connection or end it. */
async function answered(t: TestContext, raw: string, end = true, options: Partial<ClientOptions> = {}) {
  const upstream = await startSocketServer(t, (socket) => {
    socket.once('data', () => (end ? socket.end(raw) : socket.write(raw)));
  });
  const outcome = await clientOf(t, upstream.url, options).create(DRAFT);
  assert.ok(upstream.connections() <= 1, 'a create is sent once');
  return outcome;
}

const http = (status: number, body: string, headers = ''): string =>
  `HTTP/1.1 ${status} X\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;

function kind(outcome: CreateOutcome): string {
  return 'httpStatus' in outcome ? `${outcome.outcome} ${outcome.httpStatus}` : outcome.outcome;
}

describe('a create', () => {
  it('sends the documented fields and is confirmed by the id', async (t) => {
    const bodies: string[] = [];
    const upstream = await startUpstream(t, (request, response) => {
      request.setEncoding('utf8').on('data', (chunk: string) => bodies.push(chunk));
      request.on('end', () => json(response, CREATED, 201, { date: 'Thu, 01 Jan 2026 00:00:05 GMT' }));
    });
    const client = clientOf(t, upstream.url, { token: () => new Secret('abc') });
    const person = { ...DRAFT, email: 'ada@example.com', full_name: 'Ada' };
    const confirmed = {
      outcome: 'confirmed',
      postId: 42,
      url: 'https://example.com/p/42',
      httpStatus: 201,
      serverTime: NOW + 5_000,
    };
    assert.deepEqual(await client.create(DRAFT), confirmed);
    assert.deepEqual(await client.createAsUser(person), confirmed);
    assert.deepEqual(
      bodies.map((body) => JSON.parse(body)),
      [DRAFT, person],
    );
    const [first, second] = upstream.requests;
    assert.equal(`${first?.method} ${first?.url}`, 'POST /api/v1/posts/create/');
    assert.equal(`${second?.method} ${second?.url}`, 'POST /api/v1/posts/create/as-user/');
    assert.equal(first?.headers['content-type'], 'application/json');
    assert.equal(first?.headers.authorization, 'Bearer abc');
  });

  it('puts the token in the query where that is set', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, CREATED));
    const auth = { kind: 'query', parameter: 'key' } as const;
    await clientOf(t, upstream.url, { auth, token: () => new Secret('abc') }).create(DRAFT);
    assert.equal(upstream.requests[0]?.url, '/api/v1/posts/create/?key=abc');
  });

  it('asks when it has its connection whether it may leave, and sends no byte otherwise', async (t) => {
    let received = 0;
    const upstream = await startSocketServer(t, (socket) => {
      socket.on('data', (chunk) => {
        received += chunk.length;
      });
    });
    // As with a process that is frozen while it connects.
    const client = clientOf(t, upstream.url, { mayLeave: () => upstream.connections() === 0 });
    const outcome = await client.create(DRAFT);
    assert.equal(kind(outcome), 'not-sent');
    assert.equal(upstream.connections(), 1);
    assert.equal(received, 0);
  });

  it('has a connection of its own, which is closed afterwards', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, CREATED));
    const client = clientOf(t, upstream.url);
    for (let i = 1; i <= 3; i++) {
      await client.create(DRAFT);
      assert.equal(upstream.connections(), i);
    }
    await until('every connection is closed', () => upstream.open() === 0);
  });

  it('is a success with the documented status and a number, whatever url it shows', async (t) => {
    for (const url of ['', ',"url":null', ',"url":5']) {
      const outcome = await answered(t, http(201, `{"status":"Success","post_id":7${url}}`));
      const known = { outcome: 'confirmed', postId: 7, url: null, httpStatus: 201, serverTime: null };
      assert.deepEqual(outcome, known);
    }
  });

  for (const [what, status, body] of [
    ['no status', 200, '{"post_id":7}'],
    ['another status', 200, '{"status":"queued","post_id":7}'],
    ['202 and the number of a job', 202, '{"status":"Success","post_id":7}'],
    ['no number', 201, '{"status":"Success"}'],
  ] as const)
    it(`is unclear with ${what}`, async (t) => {
      const outcome = await answered(t, http(status, body));
      assert.equal(outcome.outcome, 'unknown');
      assert.ok(!('isIdUnreadable' in outcome));
    });

  for (const id of ['"a7"', '9007199254740993', '-4'])
    it(`is unclear, and says that the number cannot be read, with the number ${id}`, async (t) => {
      const outcome = await answered(t, http(201, `{"status":"Success","post_id":${id}}`));
      assert.ok('isIdUnreadable' in outcome);
    });
});

describe('a refusal in the place of the service', () => {
  for (const status of [400, 404, 405, 410, 415, 422])
    it(`is no refusal: ${status} with a page of a proxy`, async (t) => {
      const outcome = await answered(t, http(status, '<html>no such site</html>'));
      assert.partialDeepStrictEqual(outcome, { outcome: 'not-sent', httpStatus: status });
    });

  it('is one where the request is too large, in any form', async (t) => {
    assert.equal((await answered(t, http(413, '<html>too large</html>'))).outcome, 'rejected');
  });

  it('holds creates back, longer each time, and no read', async (t) => {
    const clock = fakeClock();
    const rateLimit = createRateLimit(clock);
    const upstream = await startUpstream(t, (_request, response) => {
      response.writeHead(404, { 'content-type': 'text/html' });
      response.end('<html></html>');
    });
    const client = clientOf(t, upstream.url, { clock, rateLimit });
    const waits: number[] = [];
    for (let n = 0; n < 3; n++) {
      await client.create(DRAFT);
      const wait = (rateLimit.closedUntil(clock.now()) ?? 0) - clock.now();
      assert.equal(rateLimit.closedUntil(clock.now(), 'reads'), null);
      waits.push(wait);
      clock.advance(wait);
    }
    assert.deepEqual(waits, [1000, 2000, 4000]);
  });
});

describe('the outcome of a create', () => {
  for (const status of [400, 404, 405, 410, 413, 415, 422]) {
    it(`is 'rejected' by ${status} with a whole body`, async (t) => {
      const outcome = await answered(t, http(status, '{"title":["too\\nlong"]}'));
      assert.equal(kind(outcome), `rejected ${status}`);
      assert.match(
        outcome.outcome === 'rejected' ? outcome.reason : '',
        /^the upstream answered 4\d\d: title: too long$/,
      );
    });

    it(`is 'unknown' by ${status} with a body cut short`, async (t) => {
      const outcome = await answered(t, `HTTP/1.1 ${status} X\r\ncontent-length: 100\r\n\r\n{"title"`);
      assert.equal(kind(outcome), `unknown ${status}`);
    });
  }

  for (const status of [401, 403]) {
    it(`is 'unauthorised' by ${status}`, async (t) => {
      assert.equal(kind(await answered(t, http(status, '{"detail":"no"}'))), `unauthorised ${status}`);
    });
  }

  for (const status of [301, 302, 303, 307, 308, 402, 406, 408, 409, 418, 425, 500, 501, 502, 503, 504]) {
    it(`is 'unknown' by ${status}`, async (t) => {
      const elsewhere = 'location: http://127.0.0.1:1/\r\nretry-after: 5\r\n';
      assert.equal(kind(await answered(t, http(status, '{}', elsewhere))), `unknown ${status}`);
    });
  }

  const unclear: [string, string][] = [
    ['has no body', http(200, '')],
    ['is 204', 'HTTP/1.1 204 X\r\n\r\n'],
    ['is not JSON', http(200, '<html>created</html>')],
    ['is null', http(200, 'null')],
    ['is a list', http(200, '[{"post_id":1}]')],
    ['has no id', http(200, '{"status":"Success"}')],
    ['has its id as a text', http(200, '{"post_id":"42"}')],
    ['has a fraction for an id', http(200, '{"post_id":4.5}')],
    ['has a negative id', http(200, '{"post_id":-1}')],
    ['has nothing for an id', http(200, '{"post_id":0}')],
    ['has an id beyond 2^53', http(200, '{"post_id":9007199254740993}')],
    ['is cut short', 'HTTP/1.1 200 X\r\ncontent-length: 100\r\n\r\n{"post_id":42'],
    ['is broken UTF-8', 'HTTP/1.1 200 X\r\ncontent-length: 15\r\n\r\n{"post_id":42}\xff'],
    ['has two encodings', http(200, '{"post_id":42}', 'content-encoding: gzip, br\r\n')],
  ];
  for (const [name, raw] of unclear) {
    it(`is 'unknown' when the success ${name}`, async (t) => {
      assert.match(kind(await answered(t, raw)), /^unknown 20\d$/);
    });
  }

  it("is 'unknown' when the success is a bomb", async (t) => {
    const bomb = gzipSync(Buffer.alloc(12 * 1024 * 1024, ' '));
    const upstream = await startUpstream(t, (_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    assert.equal(kind(await clientOf(t, upstream.url).create(DRAFT)), 'unknown 200');
  });

  it("is 'unknown' when the headers are without measure", async (t) => {
    assert.equal(
      kind(await answered(t, http(200, '{"post_id":1}', `x: ${'y'.repeat(20_000)}\r\n`))),
      'unknown null',
    );
  });

  it("is 'unknown' when the answer is not HTTP", async (t) => {
    assert.equal(kind(await answered(t, 'SSH-2.0-OpenSSH_9.9\r\n')), 'unknown null');
  });

  it("is 'unknown' when the connection ends without an answer", async (t) => {
    const upstream = await startSocketServer(t, (socket) => socket.once('data', () => socket.destroy()));
    assert.equal(kind(await clientOf(t, upstream.url).create(DRAFT)), 'unknown null');
    assert.equal(upstream.connections(), 1);
  });

  it('is never more than its connection can tell when that ends the moment it stands', async (t) => {
    const upstream = await startSocketServer(t, (socket) => socket.resetAndDestroy());
    const outcome = await clientOf(t, upstream.url).create(DRAFT);
    // Whether the kernel lets the client see the connection before its end is a matter of microseconds.
    assert.ok(['unknown null', 'not-sent'].includes(kind(outcome)), kind(outcome));
    assert.equal(upstream.connections(), 1);
  });

  it("is 'unknown' when the answer takes too long", async (t) => {
    const upstream = await startUpstream(t, () => {});
    const outcome = await clientOf(t, upstream.url, { limits: { createMs: 900 } }).create(DRAFT);
    assert.equal(kind(outcome), 'unknown null');
    assert.match(outcome.outcome === 'unknown' ? outcome.reason : '', /not complete after 900 ms/);
    await until('every connection is closed', () => upstream.open() === 0);
  });

  it("is 'unknown' when the body takes too long, and then with its status", async (t) => {
    const raw = 'HTTP/1.1 200 X\r\ncontent-length: 100\r\n\r\n{';
    assert.equal(kind(await answered(t, raw, false, { limits: { createMs: 3000 } })), 'unknown 200');
  });

  it("is 'unknown' when it is called off under way", async (t) => {
    const controller = new AbortController();
    const upstream = await startUpstream(t, () => controller.abort(new Error('enough')));
    const outcome = await clientOf(t, upstream.url).create(DRAFT, controller.signal);
    assert.deepEqual(outcome, {
      outcome: 'unknown',
      reason: 'it was called off',
      httpStatus: null,
      serverTime: null,
    });
  });

  it("is 'not-sent' when it was called off before", async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, CREATED));
    const outcome = await clientOf(t, upstream.url).create(DRAFT, AbortSignal.abort());
    assert.equal(outcome.outcome, 'not-sent');
    assert.equal(upstream.connections(), 0);
  });

  it("is 'not-sent' when nobody listens", async (t) => {
    const outcome = await clientOf(t, 'http://127.0.0.1:1').create(DRAFT);
    assert.deepEqual(outcome, { outcome: 'not-sent', reason: 'the connection was refused' });
  });

  it("is 'not-sent' when the token cannot be had or cannot be sent", async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, CREATED));
    const missing = (): Secret => {
      throw new Error('the token file is gone');
    };
    for (const token of [missing, () => new Secret('a\r\nb'), () => new Secret('')]) {
      assert.equal((await clientOf(t, upstream.url, { token }).create(DRAFT)).outcome, 'not-sent');
    }
    assert.equal(upstream.connections(), 0);
  });
});

describe('a create that is throttled', () => {
  it('says when to come back, and closes the rate limit for everyone', async (t) => {
    const upstream = await startUpstream(t, (_, response) =>
      json(response, 'slow down', 429, { 'retry-after': '30' }),
    );
    const clock = fakeClock();
    const client = clientOf(t, upstream.url, { clock });
    const { reason, ...first } = { reason: '', ...(await client.create(DRAFT)) };
    assert.deepEqual(first, { outcome: 'throttled', httpStatus: 429, retryAt: NOW + 30_000 });
    assert.match(reason, /^the upstream answered 429 \(application\/json, 9 bytes, sha256 [0-9a-f]{12}\)$/);
    assert.equal(kind(await client.create(DRAFT)), 'throttled null');
    assert.equal(upstream.requests.length, 1);
    clock.advance(30_000);
    assert.equal(kind(await client.create(DRAFT)), 'throttled 429');
  });

  it('waits from a second on, twice as long each time, where the upstream names no time', async (t) => {
    let isOpen = false;
    const upstream = await startUpstream(t, (_, response) => json(response, CREATED, isOpen ? 201 : 429));
    const clock = fakeClock();
    const client = clientOf(t, upstream.url, { clock });
    const waits: number[] = [];
    const meet = async (): Promise<void> => {
      const outcome = await client.create(DRAFT);
      const wait = outcome.outcome === 'throttled' ? outcome.retryAt - clock.now() : 0;
      waits.push(wait);
      clock.advance(wait);
    };
    for (let n = 0; n < 7; n++) await meet();
    isOpen = true;
    await meet();
    isOpen = false;
    await meet();
    assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 0, 1000]);
  });

  it('waits no longer of its own accord for waits that the upstream named before', async (t) => {
    const upstream = await startUpstream(t, (_, response, n) =>
      json(response, 'slow down', 429, n < 3 ? { 'retry-after': '5' } : {}),
    );
    const clock = fakeClock();
    const client = clientOf(t, upstream.url, { clock });
    for (let n = 0; n < 2; n++) {
      await client.create(DRAFT);
      clock.advance(5000);
    }
    const last = await client.create(DRAFT);
    assert.equal(last.outcome === 'throttled' && last.retryAt - clock.now(), 1000);
  });

  it('does not connect at all while the rate limit is closed, also after a restart', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, CREATED));
    const clock = fakeClock();
    const store = { read: () => ({ askedAt: NOW, until: NOW + 5_000 }), write: () => {} };
    const rateLimit = createRateLimit(clock, { store });
    const outcome = await clientOf(t, upstream.url, { clock, rateLimit }).create(DRAFT);
    assert.equal(kind(outcome), 'throttled null');
    assert.equal(upstream.connections(), 0);
  });
});

describe('the reason of a create', () => {
  it('is one short line without the token, whatever the upstream says', async (t) => {
    const echo = `Bearer ${CANARY}\r\n\u0000\u2028${'x'.repeat(5_000)}`;
    const outcome = await answered(t, http(422, JSON.stringify({ detail: echo })));
    const reason = outcome.outcome === 'rejected' ? outcome.reason : '';
    assert.ok(reason.length < 400 && !reason.includes(CANARY) && reason.includes('[secret]'), reason);
    assert.doesNotMatch(reason, /[\p{Cc}\p{Zl}]/u);
  });
});

describe('the words of a rejection', () => {
  it('have no half of the token where they are cut', async (t) => {
    const detail = `${'x'.repeat(280)} ${CANARY}`;
    const upstream = await startUpstream(t, (_, response) => json(response, { detail }, 422));
    const outcome = await clientOf(t, upstream.url).create(DRAFT);
    assert.equal(
      outcome.outcome === 'rejected' && outcome.reason,
      `the upstream answered 422: ${'x'.repeat(280)} [secret]`,
    );
  });
});

describe('counting requests', () => {
  it('cannot change what became of them, even where it fails', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, CREATED));
    const onRequest = (): never => {
      throw new Error('the counter is broken');
    };
    assert.equal((await clientOf(t, upstream.url, { onRequest }).create(DRAFT)).outcome, 'confirmed');
  });
});

describe('the connection of a create', () => {
  it('is made once, whatever the library wants to send again', async (t) => {
    const upstream = await startUpstream(t, (_, response) =>
      json(response, CREATED, 201, { connection: 'close' }),
    );
    const token = () => new Secret(CANARY);
    const context = clientContextOf({ baseUrl: upstream.url, auth: { kind: 'header' }, token });
    const { dispatcher, close } = freshConnection(context);
    t.after(close);
    const send = () => dispatcher.request({ origin: upstream.url, path: '/', method: 'POST', body: '{}' });
    await (await send()).body.text();
    await assert.rejects(send(), /a create is sent on one connection only/);
    assert.equal(upstream.connections(), 1);
  });
});

describe('closing the client', () => {
  it('waits for a create under way', async (t) => {
    const answer = Promise.withResolvers<void>();
    const upstream = await startUpstream(t, (_, response) => {
      void answer.promise.then(() => json(response, CREATED));
    });
    const client = clientOf(t, upstream.url);
    const sending = client.create(DRAFT);
    await until('the request has come', () => upstream.requests.length >= 1);
    let isClosed = false;
    const closing = client.close().then(() => {
      isClosed = true;
    });
    for (let turn = 0; turn < 100; turn++) await aTurn();
    assert.equal(isClosed, false);
    answer.resolve();
    await closing;
    assert.equal((await sending).outcome, 'confirmed');
  });

  it('leaves no create to be sent', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, CREATED));
    const client = clientOf(t, upstream.url);
    await client.close();
    assert.deepEqual(await client.create(DRAFT), { outcome: 'not-sent', reason: 'the client is closed' });
    assert.equal(upstream.connections(), 0);
  });
});
