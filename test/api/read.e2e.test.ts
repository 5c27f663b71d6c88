import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { RequestInfo } from '../../src/api/client.ts';
import { AppError, type ErrorCode } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { fakeClock } from '../support/clock.ts';
import { until } from '../support/until.ts';
import {
  clientOf,
  envelope,
  failureOf,
  json,
  post,
  startSocketServer,
  startUpstream,
} from './support/upstream.ts';

async function appError(promise: Promise<unknown>): Promise<AppError> {
  const error = await failureOf(promise);
  assert.ok(error instanceof AppError, String(error));
  return error;
}

describe('a read', () => {
  it('sends the token as a header, asks for JSON and for gzip', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, envelope([1])));
    await clientOf(t, upstream.url, { token: () => new Secret('abc') }).page('posts', '');
    const [request] = upstream.requests;
    assert.equal(request?.url, '/api/v1/posts/');
    assert.equal(request?.headers.authorization, 'Bearer abc');
    assert.equal(request?.headers.accept, 'application/json');
    assert.equal(request?.headers['accept-encoding'], 'gzip');
  });

  it('sends the token as a parameter where that is set, and then not as a header', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, envelope([1])));
    const auth = { kind: 'query', parameter: 'api key' } as const;
    await clientOf(t, upstream.url, { auth, token: () => new Secret('a&b=c') }).page('comments', 'page=2');
    const [request] = upstream.requests;
    assert.equal(request?.url, '/api/v1/comments/?page=2&api%20key=a%26b%3Dc');
    assert.equal(request?.headers.authorization, undefined);
  });

  it('asks for the token anew each time, so that a new one needs no restart', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, envelope([1])));
    let token = 'first';
    const client = clientOf(t, upstream.url, { token: () => new Secret(token) });
    await client.page('posts', '');
    token = 'second';
    await client.page('posts', '');
    const sent = upstream.requests.map(({ headers }) => headers.authorization);
    assert.deepEqual(sent, ['Bearer first', 'Bearer second']);
  });

  it('keeps the path of a base URL that has one', async (t) => {
    const upstream = await startUpstream(t, (_, response) =>
      json(response, envelope([1], '/tenant/api/v1/posts/?page=2')),
    );
    const page = await clientOf(t, `${upstream.url}/tenant/`).page('posts', '');
    assert.equal(upstream.requests[0]?.url, '/tenant/api/v1/posts/');
    assert.equal(page.next, 'page=2');
  });

  it('gives rows, rejects, cursors, the time of the upstream and the size', async (t) => {
    const rows = [post(1), { ...post(2), title: 5 }, 'nonsense', post(4)];
    const body = JSON.stringify({ next: 3, previous: null, results: rows });
    const date = 'Thu, 01 Jan 2026 00:00:00 GMT';
    const upstream = await startUpstream(t, (_, response) => json(response, body, 200, { date }));
    const page = await clientOf(t, upstream.url).page('posts', 'page=2');
    assert.deepEqual(
      page.rows.map(({ id }) => id),
      [1, 4],
    );
    assert.deepEqual(
      page.rejects.map(({ index, id }) => [index, id]),
      [
        [1, 2],
        [2, null],
      ],
    );
    assert.match(page.rejects[0]?.reason ?? '', /title/);
    assert.deepEqual(JSON.parse(page.rejects[0]?.body ?? ''), rows[1]);
    const { number, cursor, next, serverTime, bytes } = page;
    assert.deepEqual(
      { number, cursor, next, serverTime, bytes },
      {
        number: 1,
        cursor: 'page=2',
        next: 'page=3',
        serverTime: Date.parse(date),
        bytes: body.length,
      },
    );
  });

  for (const [which, agoMs] of [
    ['of the upstream, to which the time in a cache is counted', 90_000],
    ['of the cache itself, which has counted that', 0],
  ] as const)
    it(`takes a date for that ${which}`, async (t) => {
      const now = Date.parse('2026-01-01T00:00:00Z');
      const date = new Date(now - agoMs).toUTCString();
      const upstream = await startUpstream(t, (_, response) =>
        json(response, envelope([1]), 200, { date, age: '90' }),
      );
      const { serverTime, ageMs } = await clientOf(t, upstream.url, { clock: fakeClock(now) }).page(
        'posts',
        '',
      );
      assert.deepEqual([serverTime, ageMs], [now, 90_000]);
    });

  it('cuts the body of a reject at 64 KiB, between characters', async (t) => {
    const upstream = await startUpstream(t, (_, response) =>
      json(response, { next: null, results: [{ id: 'x', content: 'ü'.repeat(100_000) }] }),
    );
    const { rejects } = await clientOf(t, upstream.url).page('posts', '');
    const body = rejects[0]?.body ?? '';
    assert.ok(Buffer.byteLength(body) <= 65_536 && Buffer.byteLength(body) > 65_500);
    assert.ok(!body.includes('\ufffd'));
  });

  it('is refused before it is parsed where it is nested deeper than 64 levels', async (t) => {
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    const upstream = await startUpstream(t, (request, response) =>
      json(
        response,
        `{"next":null,"results":[{"id":1,"x":${nested(request.url?.includes('deep') ? 5_000_000 : 61)}}]}`,
      ),
    );
    const client = clientOf(t, upstream.url);
    assert.equal((await client.page('posts', '')).rejects.length, 1);
    const refused = await appError(client.page('posts', 'deep=1'));
    assert.equal(refused.code, 'protocol');
    assert.match(refused.message, /more than 64 levels deep/);
  });

  it('reads `results: null` as an empty page', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, { next: null, results: null }));
    assert.deepEqual((await clientOf(t, upstream.url).page('posts', '')).rows, []);
  });

  it('refuses a cursor that is none, before any request', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, envelope([1])));
    const client = clientOf(t, upstream.url);
    for (const cursor of ['a b', 'page=2#x', 'page=2\r\nX: y', 'p=ä']) {
      assert.equal((await appError(client.page('posts', cursor))).code, 'usage');
    }
    assert.equal(upstream.connections(), 0);
  });
});

describe('a search', () => {
  for (const [shape, wrap] of [
    ['an envelope', (rows: unknown[]) => ({ next: null, previous: null, results: rows })],
    ['a bare list', (rows: unknown[]) => rows],
  ] as const) {
    it(`reads ${shape}, 50 rows at most`, async (t) => {
      const rows = Array.from({ length: 60 }, (_, i) => post(i + 1));
      const upstream = await startUpstream(t, (_, response) => json(response, wrap([{}, ...rows])));
      const found = await clientOf(t, upstream.url).search('größe & more');
      assert.equal(found.rows.length + found.rejects.length, 50);
      assert.equal(found.rejects.length, 1);
      const asked = new URL(upstream.requests[0]?.url ?? '', upstream.url);
      assert.equal(asked.searchParams.get('search'), 'größe & more');
    });
  }

  it('refuses words with broken Unicode as a mistake of the caller', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, []));
    assert.equal((await appError(clientOf(t, upstream.url).search('a\ud800'))).code, 'usage');
  });
});

describe('the answer of the upstream', () => {
  const verdicts: [number, ErrorCode, number][] = [
    [301, 'protocol', 1],
    [302, 'protocol', 1],
    [304, 'protocol', 1],
    [307, 'protocol', 1],
    [308, 'protocol', 1],
    [400, 'refused', 1],
    [401, 'unauthorised', 1],
    [403, 'unauthorised', 1],
    [404, 'refused', 1],
    [409, 'refused', 1],
    [422, 'refused', 1],
    [408, 'unreachable', 5],
    [425, 'unreachable', 5],
    [429, 'throttled', 5],
    [500, 'unreachable', 5],
    [502, 'unreachable', 5],
    [503, 'unreachable', 5],
    [504, 'unreachable', 5],
  ];
  for (const [status, code, requests] of verdicts) {
    it(`${status} makes a read fail as '${code}' after ${requests}`, async (t) => {
      const upstream = await startUpstream(t, (_, response) =>
        json(response, { detail: 'no\nmore' }, status, { location: `http://127.0.0.1:1/` }),
      );
      const error = await appError(clientOf(t, upstream.url).page('posts', 'page=7'));
      assert.equal(error.code, code);
      assert.equal(upstream.requests.length, requests);
      const host = new URL(upstream.url).host;
      assert.ok(error.message.startsWith(`Listing posts from page=7, at ${host} failed`), error.message);
      const shown =
        status < 400
          ? ', a redirect to http://127\\.0\\.0\\.1:1\\.$'
          : ' \\(application/json, \\d+ bytes, sha256 ';
      assert.match(error.message, new RegExp(`answered ${status}${shown}`));
      assert.doesNotMatch(error.message, /more/);
      if (requests > 1) assert.match(error.message, /\(5 attempts\)/);
      if (code === 'unauthorised') assert.match(error.hint ?? '', /FEEDBACK_API_TOKEN/);
    });
  }

  it('says where a redirect pointed, without what people may have written', async (t) => {
    const places: [string, RegExp][] = [
      ['https://ada:pw@new.example/ada/api/v1/posts/?ada=1', /302, a redirect to https:\/\/new\.example\.$/],
      ['https://[::1]/ada', /302, a redirect\.$/],
      ['mailto:ada@new.example', /302, a redirect\.$/],
      ['//ada/', /302, a redirect\.$/],
      ['/ada', /302, a redirect on the same host\.$/],
      ['/v2/posts/?ada=1', /302, a redirect on the same host\.$/],
      ['https://new.example/api/v2/posts/', /302, a redirect to https:\/\/new\.example\.$/],
      ['/accounts/login/?next=ada', /302, a redirect on the same host\.$/],
    ];
    for (const [location, place] of places) {
      const upstream = await startUpstream(t, (_, response) => json(response, '', 302, { location }));
      const client = clientOf(t, upstream.url);
      const error = await appError(client.page('posts', ''));
      assert.match(error.message, place);
      assert.match(error.hint ?? '', /FEEDBACK_BASE_URL/);
      const outcome = await client.create({ board: 'b', title: 't', content: 'c' });
      assert.equal(outcome.outcome, 'unknown');
      assert.doesNotMatch(JSON.stringify([error.message, error.hint, outcome]), /ada|pw/);
    }
  });

  it('may come right after a while', async (t) => {
    const upstream = await startUpstream(t, (_, response, n) =>
      n < 4 ? json(response, '', 500 + n) : json(response, envelope([1])),
    );
    const clock = fakeClock();
    const seen: RequestInfo[] = [];
    const client = clientOf(t, upstream.url, {
      clock,
      random: () => 1,
      onRequest: (info) => seen.push(info),
    });
    assert.equal((await client.page('posts', '')).rows.length, 1);
    assert.deepEqual(clock.slept, [500, 1000, 2000]);
    assert.deepEqual(
      seen.map(({ status, retry }) => [status, retry]),
      [
        [501, false],
        [502, true],
        [503, true],
        [200, true],
      ],
    );
    assert.ok(seen.every(({ operation }) => operation === 'listPosts'));
  });

  const notPages: [string, string, ErrorCode, number][] = [
    ['HTML', '<html>Bad gateway</html>', 'unreachable', 5],
    ['nothing', '', 'unreachable', 5],
    ['half of a JSON text', '{"next": null, "resu', 'unreachable', 5],
    ['a bare list', '[]', 'protocol', 1],
    ['null', 'null', 'protocol', 1],
    ['an envelope without next', '{"results": []}', 'protocol', 1],
    ['an envelope without results', '{"next": null}', 'protocol', 1],
    ['an envelope whose results are an object', '{"next": null, "results": {}}', 'protocol', 1],
    ['an envelope with a strange next', '{"next": false, "results": []}', 'protocol', 1],
  ];
  for (const [name, body, code, requests] of notPages) {
    it(`${name} is no page: '${code}' after ${requests}`, async (t) => {
      const upstream = await startUpstream(t, (_, response) => json(response, body));
      assert.equal((await appError(clientOf(t, upstream.url).page('posts', ''))).code, code);
      assert.equal(upstream.requests.length, requests);
    });
  }

  it('with more rows than allowed is no page, with as many it is', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, envelope([1, 2, 3, 4])));
    const { rows } = await clientOf(t, upstream.url, { limits: { maxRows: 4 } }).page('posts', '');
    assert.equal(rows.length, 4);
    const error = await appError(clientOf(t, upstream.url, { limits: { maxRows: 3 } }).page('posts', ''));
    assert.equal(error.code, 'protocol');
    assert.match(error.message, /4 rows/);
  });
});

describe('a failing network', () => {
  it('is tried five times and then named, with the host and the last trouble', async (t) => {
    const upstream = await startSocketServer(t, (socket) => socket.destroy());
    const clock = fakeClock();
    const error = await appError(clientOf(t, upstream.url, { clock }).page('posts', ''));
    assert.equal(error.code, 'unreachable');
    assert.equal(upstream.connections(), 5);
    assert.equal(clock.slept.length, 4);
    assert.match(
      error.message,
      new RegExp(`127\\.0\\.0\\.1:${upstream.port} failed \\(5 attempts\\): the connection`),
    );
    assert.ok(error.cause instanceof Error);
  });

  it('may be a port where nobody listens', async (t) => {
    const error = await appError(clientOf(t, 'http://127.0.0.1:1').page('posts', ''));
    assert.equal(error.code, 'unreachable');
    assert.match(error.message, /refused/);
    assert.equal(Reflect.get(error.cause as object, 'code'), 'ECONNREFUSED');
  });

  it('may cut an answer in two, and the next try brings it whole', async (t) => {
    const body = JSON.stringify(envelope([1, 2]));
    const upstream = await startSocketServer(t, (socket, n) => {
      const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`;
      if (n === 1) socket.end(head + body.slice(0, 50));
      else socket.end(head + body);
    });
    assert.equal((await clientOf(t, upstream.url).page('posts', '')).rows.length, 2);
    assert.equal(upstream.connections(), 2);
  });

  it('leaves the number of attempts to the setting', async (t) => {
    const upstream = await startSocketServer(t, (socket) => socket.destroy());
    await appError(clientOf(t, upstream.url, { retry: { attempts: 2 } }).page('posts', ''));
    assert.equal(upstream.connections(), 2);
  });
});

describe('an upstream that asks us to wait', () => {
  const asked = async (t: TestContext, status: number, retryAfter: string, requests = 2) => {
    const clock = fakeClock();
    const upstream = await startUpstream(t, (_, response, n) =>
      n < requests
        ? json(response, '', status, { 'retry-after': retryAfter })
        : json(response, envelope([1])),
    );
    const client = clientOf(t, upstream.url, { clock, random: () => 1 });
    return { clock, upstream, client };
  };

  for (const status of [429, 503]) {
    it(`by ${status} is obeyed to the second`, async (t) => {
      const { clock, client } = await asked(t, status, '17');
      await client.page('posts', '');
      assert.deepEqual(clock.slept, [17_000]);
    });

    it(`by ${status} in a way nobody can follow meets our own backoff`, async (t) => {
      const { clock, client } = await asked(t, status, 'yesterday');
      await client.page('posts', '');
      assert.deepEqual(clock.slept, [500]);
    });

    it(`by ${status} for longer than we may wait fails as 'throttled' and says until when`, async (t) => {
      const { clock, client, upstream } = await asked(t, status, '600');
      const error = await appError(client.page('posts', ''));
      assert.equal(error.code, 'throttled');
      assert.match(error.message, /2026-01-01T00:10:00\.000Z/);
      assert.deepEqual(clock.slept, []);
      assert.equal(upstream.requests.length, 1);
    });
  }

  it('says until when even where there is no other try left', async (t) => {
    const upstream = await startUpstream(t, (_, response) =>
      json(response, '', 429, { 'retry-after': '600' }),
    );
    const error = await appError(clientOf(t, upstream.url, { retry: { attempts: 1 } }).page('posts', ''));
    assert.equal(error.code, 'throttled');
    assert.match(error.message, /2026-01-01T00:10:00\.000Z/);
  });

  it('by any other status is not heard', async (t) => {
    const { clock, client } = await asked(t, 500, '17');
    await client.page('posts', '');
    assert.deepEqual(clock.slept, [500]);
  });

  for (const status of [429, 503]) {
    it(`by ${status} is obeyed by every other read too${status === 503 ? ', and by creates' : ''}`, async (t) => {
      const { clock, client, upstream } = await asked(t, status, '600');
      await appError(client.page('posts', ''));
      assert.equal((await appError(client.page('comments', ''))).code, 'throttled');
      assert.equal((await appError(client.search('x'))).code, 'throttled');
      assert.equal(upstream.connections(), 1);
      const outcome = await client.create({ board: 'b', title: 't', content: 'c' });
      if (status === 429) return assert.notEqual(outcome.outcome, 'throttled', 'reads are limited apart');
      assert.deepEqual(
        { ...outcome, reason: '' },
        {
          outcome: 'throttled',
          httpStatus: null,
          retryAt: Date.parse('2026-01-01T00:10:00Z'),
          reason: '',
        },
      );
      assert.equal(upstream.connections(), 1);
      clock.advance(600_000);
      assert.equal((await client.page('comments', '')).rows.length, 0);
    });

    it(`by ${status} with a time of its own does not use up the retries meant for an outage`, async (t) => {
      const { clock, client } = await asked(t, status, '1', 4);
      for (let i = 0; i < 20; i++) await client.page('posts', '');
      assert.deepEqual(clock.slept, [1000, 1000, 1000]);
    });
  }
});

describe('a read that is called off', () => {
  const reason = new Error('enough');

  it('never starts when it was called off before', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, envelope([1])));
    assert.equal(
      await failureOf(clientOf(t, upstream.url).page('posts', '', AbortSignal.abort(reason))),
      reason,
    );
    assert.equal(upstream.connections(), 0);
  });

  it('ends at once while the upstream thinks', async (t) => {
    const controller = new AbortController();
    const upstream = await startUpstream(t, () => controller.abort(reason));
    assert.equal(await failureOf(clientOf(t, upstream.url).page('posts', '', controller.signal)), reason);
    assert.equal(upstream.requests.length, 1);
    await until('every connection is closed', () => upstream.open() === 0);
  });

  it('ends at once while the connection is still being made', async (t) => {
    const controller = new AbortController();
    const upstream = await startSocketServer(t, () => controller.abort(reason));
    const limits = { connectMs: 3_600_000 };
    const client = clientOf(t, upstream.url.replace('http:', 'https:'), { limits });
    assert.equal(await failureOf(client.page('posts', '', controller.signal)), reason);
    await client.close();
    await until('every connection is closed', () => upstream.open() === 0);
  });

  it('ends at once in the middle of a body', async (t) => {
    const controller = new AbortController();
    const upstream = await startUpstream(t, (_, response) => {
      response.write('{"next":');
      setImmediate(() => controller.abort(reason));
    });
    assert.equal(await failureOf(clientOf(t, upstream.url).page('posts', '', controller.signal)), reason);
    await until('every connection is closed', () => upstream.open() === 0);
  });

  it('ends at once while it waits for its next try', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, '', 500));
    const controller = new AbortController();
    const clock = {
      now: () => 0,
      monotonic: () => 0,
      idle: () => 0,
      sleep: (_: number, signal?: AbortSignal) =>
        new Promise<void>((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
          controller.abort(reason);
        }),
    };
    assert.equal(
      await failureOf(clientOf(t, upstream.url, { clock }).page('posts', '', controller.signal)),
      reason,
    );
    assert.equal(upstream.requests.length, 1);
  });

  it('ends when the client is closed, and nothing starts afterwards', async (t) => {
    const upstream = await startUpstream(t, () => {});
    const client = clientOf(t, upstream.url);
    const running = failureOf(client.page('posts', ''));
    await until('the request has come', () => upstream.requests.length >= 1);
    await client.close();
    const error = await running;
    assert.ok(error instanceof AppError && error.code === 'interrupted');
    assert.equal((await appError(client.search('x'))).code, 'interrupted');
    assert.deepEqual(await client.create({ board: 'b', title: 't', content: 'c' }), {
      outcome: 'not-sent',
      reason: 'the client is closed',
    });
    await until('every connection is closed', () => upstream.open() === 0);
  });
});
