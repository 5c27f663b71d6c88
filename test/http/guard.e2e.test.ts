import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { fakeClock } from '../support/clock.ts';
import { ask, bearer, detailOf, say, statusOf } from './client.ts';
import { open, type Running, TOKEN } from './service.ts';

/** A part that changes something, and remembers how often. */
function counting() {
  const changes: unknown[] = [];
  const part: Parameters<typeof open>[1] = {
    parts: [
      (app) => {
        app.post('/change', async ({ body }) => ({ changes: changes.push(body ?? null) }));
      },
    ],
  };
  return { changes, part };
}

const JSON_TYPE = { 'content-type': 'application/json' };

describe('the header Host', () => {
  const hostile = ['evil.com', 'localhost.evil.com', '127.0.0.1.evil.com', '', 'localhost'];
  for (const host of hostile)
    it(`is refused when it says "${host}"`, async (t) => {
      const http = await open(t);
      const answer = await say(http, 'GET /healthz HTTP/1.1', `Host: ${host}`, 'Connection: close');
      assert.match(answer, /^HTTP\/1\.1 421 /);
      assert.doesNotMatch(answer, /"ok"|access-control/i);
    });

  it('is refused when it is missing, in any version of HTTP', async (t) => {
    const http = await open(t);
    assert.equal(statusOf(await say(http, 'GET /healthz HTTP/1.1', 'Connection: close')), 400);
    assert.equal(statusOf(await say(http, 'GET /healthz HTTP/1.0')), 400);
  });

  it('is refused when it is there twice, in either order', async (t) => {
    const http = await open(t);
    const [ours, other] = [`Host: 127.0.0.1:${http.port}`, 'Host: evil.com'];
    for (const [one, two] of [
      [ours, other],
      [other, ours],
      [ours, ours],
    ] as const)
      assert.equal(statusOf(await say(http, 'GET /healthz HTTP/1.1', one, two, 'Connection: close')), 400);
  });

  it('does not help a target that names a host itself', async (t) => {
    const http = await open(t);
    const host = `Host: 127.0.0.1:${http.port}`;
    const targets = ['http://evil.com/healthz', `http://127.0.0.1:${http.port}/healthz`, '*', 'healthz'];
    for (const target of targets) {
      const answer = await say(http, `GET ${target} HTTP/1.1`, host, 'Connection: close');
      assert.equal(statusOf(answer), 400, target);
      assert.doesNotMatch(answer, /"ok"/);
    }
  });

  it('is fine in every spelling of this machine', async (t) => {
    const http = await open(t);
    for (const host of [`127.0.0.1:${http.port}`, `localhost:${http.port}`, `[::1]:${http.port}`])
      assert.equal((await ask(http, '/healthz', { headers: { host } })).status, 200);
  });

  it('is looked at also where the router cannot read the path', async (t) => {
    const http = await open(t, { token: TOKEN });
    const own = await ask(http, '/%zz', { headers: bearer(TOKEN) });
    assert.equal(own.status, 400);
    assert.equal((await ask(http, '/%zz')).status, 401);
    assert.equal((await ask(http, '/%zz', { headers: { host: 'evil.com' } })).status, 421);
    assert.equal(own.headers['x-content-type-options'], 'nosniff');
  });
});

describe('a change', () => {
  const site = (value: string) => ({ 'sec-fetch-site': value });
  const strangers: [string, (http: Running) => Record<string, string>][] = [
    ['another origin', () => ({ origin: 'https://evil.com' })],
    ['another port of this machine', ({ port }) => ({ origin: `http://127.0.0.1:${port + 1}` })],
    ['another name of this machine', ({ port }) => ({ origin: `http://localhost:${port}` })],
    ['an origin that hides itself', () => ({ origin: 'null' })],
    ['an empty origin', () => ({ origin: '' })],
    ['another site, whatever the origin says', ({ url }) => ({ origin: url, ...site('cross-site') })],
    ['another site without an origin', () => site('cross-site')],
    ['a neighbour of the same site', () => site('same-site')],
  ];
  for (const [who, headersFor] of strangers)
    it(`from ${who} is refused`, async (t) => {
      const { changes, part } = counting();
      const http = await open(t, part);
      const headers = { ...JSON_TYPE, ...headersFor(http) };
      const reply = await ask(http, '/change', { method: 'POST', headers, body: '{}' });
      assert.equal(reply.status, 403);
      assert.match(detailOf(reply), /pages of this service/);
      assert.deepEqual(changes, []);
    });

  it('from our own page, or from a program, is made', async (t) => {
    const { changes, part } = counting();
    const http = await open(t, part);
    for (const from of [{}, { origin: http.url, ...site('same-origin') }, site('none')])
      assert.equal(
        (await ask(http, '/change', { method: 'POST', headers: { ...JSON_TYPE, ...from }, body: '{}' }))
          .status,
        200,
      );
    assert.equal(changes.length, 3);
  });

  it('is JSON or nothing: what a form can send is refused', async (t) => {
    const { changes, part } = counting();
    const http = await open(t, part);
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/csv',
    ];
    for (const type of types) {
      const call = { method: 'POST', headers: { 'content-type': type }, body: '{"a":1}' };
      assert.equal((await ask(http, '/change', call)).status, 415, type);
    }
    assert.equal((await ask(http, '/change', { method: 'POST', body: '{"a":1}' })).status, 415);
    for (const encoding of ['gzip', 'br']) {
      const headers = { ...JSON_TYPE, 'content-encoding': encoding };
      const refused = await ask(http, '/change', { method: 'POST', headers, body: '{"a":1}' });
      assert.deepEqual([refused.status, refused.headers['accept-encoding']], [415, 'identity']);
    }
    assert.deepEqual(changes, []);
    assert.equal((await ask(http, '/change', { method: 'POST' })).status, 200);
  });

  it('is not allowed by a preflight from another origin', async (t) => {
    const { part } = counting();
    const http = await open(t, part);
    const headers = { origin: 'https://evil.com', 'access-control-request-method': 'POST' };
    const reply = await ask(http, '/change', { method: 'OPTIONS', headers });
    assert.equal(reply.status, 405);
    assert.ok(!Object.keys(reply.headers).some((name) => name.startsWith('access-control')));
  });
});

/** Everything that answers without it; of POST /login the tests of the login tell. */
const OPEN = ['/healthz', '/login', '/login.css'].flatMap((path) => [`GET ${path}`, `HEAD ${path}`]);

describe('the token', () => {
  it('is required on every route but /healthz and the login, also for unknown paths', async (t) => {
    const { changes, part } = counting();
    const http = await open(t, { ...part, token: TOKEN });
    assert.ok(http.routes.length >= 5);
    const asked = http.routes.flatMap(({ url, methods }) => methods.map((method) => [method, url] as const));
    assert.ok(asked.some(([, url]) => url === '/metrics'));
    for (const [method, url] of [
      ...asked.filter(([method, url]) => `${method} ${url}` !== 'POST /login'),
      ['GET', '/nowhere'],
      ['GET', '/'],
      ['GET', '/metrics/../healthz'],
    ] as const) {
      const reply = await ask(http, url.replaceAll('*', 'x').replaceAll(':', ''), { method });
      const isOpen = OPEN.includes(`${method} ${url}`);
      assert.equal(reply.status, isOpen ? 200 : 401, `${method} ${url}`);
      if (!isOpen) assert.equal(reply.headers['www-authenticate'], 'Bearer realm="feedback-mirror"');
    }
    assert.deepEqual(changes, []);
  });

  it('opens every route when it is right', async (t) => {
    const http = await open(t, { token: TOKEN });
    for (const path of ['/readyz', '/metrics'])
      assert.equal((await ask(http, path, { headers: bearer(TOKEN) })).status, 200, path);
    assert.equal(
      (await ask(http, '/readyz', { headers: { authorization: `bearer  ${TOKEN}` } })).status,
      200,
    );
  });

  it('opens nothing when it is nearly right, or elsewhere', async (t) => {
    const http = await open(t, { token: TOKEN, clock: fakeClock() });
    const wrong = [`${TOKEN}x`, TOKEN.slice(1), TOKEN.slice(0, -1), TOKEN.toUpperCase(), '', 'Bearer'];
    const headers = [
      ...wrong.map((token) => bearer(token)),
      { authorization: TOKEN },
      { authorization: `Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}` },
      { cookie: `token=${TOKEN}` },
    ];
    for (const given of headers) assert.equal((await ask(http, '/readyz', { headers: given })).status, 401);
    assert.equal((await ask(http, `/readyz?token=${TOKEN}`)).status, 401);
  });

  it('opens the feedback API also as the query parameter that its clients may use', async (t) => {
    const part = (app: FastifyInstance): void =>
      void app.get('/api/v1/posts/', async () => ({ results: [] }));
    const http = await open(t, { token: TOKEN, clock: fakeClock(), parts: [part] });
    assert.equal((await ask(http, `/api/v1/posts/?search=x&token=${TOKEN}`)).status, 200);
    for (const query of ['', '?token=', `?token=${TOKEN.slice(0, -1)}`, `?key=${TOKEN}`])
      assert.equal((await ask(http, `/api/v1/posts/${query}`)).status, 401, query);
  });

  it('keeps query strings out of every log line', async (t) => {
    const http = await open(t, { token: TOKEN });
    await ask(http, `/readyz?token=${TOKEN}`, { headers: bearer(TOKEN) });
    await ask(http, `/nowhere?q=${TOKEN}`, { headers: bearer(TOKEN) });
    assert.ok(http.lines.some(({ path }) => path === '/readyz'));
    assert.ok(!JSON.stringify(http.lines).includes(TOKEN));
  });
});
