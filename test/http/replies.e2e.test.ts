import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { HttpPart } from '../../src/http/server/site.ts';
import { ask, bearer, detailOf } from './client.ts';
import { open, TOKEN } from './service.ts';

const troubles: HttpPart = (app) => {
  app.get('/defect', async () => {
    throw new Error('the password is hunter2');
  });
  app.get('/busy', async () => {
    throw new AppError('busy', 'another process sends', { hint: 'Wait for it.' });
  });
  app.get('/limit', async () => {
    throw new AppError('partial', 'the statement was stopped after 5 s, its limit');
  });
  app.get('/things/:id', async () => ({}));
  app.delete('/things/:id', async () => ({}));
};

describe('every reply', () => {
  it('keeps browsers from framing, guessing, storing and telling', async (t) => {
    const http = await open(t, { token: TOKEN, parts: [troubles] });
    const paths = ['/healthz', '/readyz', '/metrics', '/nowhere', '/defect', '/%zz'];
    const calls = [...paths.map((path) => ask(http, path, { headers: bearer(TOKEN) })), ask(http, '/readyz')];
    for (const { headers } of await Promise.all(calls)) {
      assert.match(
        headers['content-security-policy'] as string,
        /default-src 'none'.*frame-ancestors 'none'/,
      );
      assert.match(headers['content-security-policy'] as string, /script-src 'self';/);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['x-frame-options'], 'DENY');
      assert.equal(headers['referrer-policy'], 'no-referrer');
      assert.equal(headers['cache-control'], 'no-store');
      assert.ok(!Object.keys(headers).some((name) => name.startsWith('access-control')));
    }
  });

  it('forbids inline scripts and styles', async (t) => {
    const http = await open(t);
    assert.doesNotMatch(String((await ask(http, '/')).headers['content-security-policy']), /unsafe/);
  });
});

describe('what goes wrong', () => {
  it('is 404 for an unknown path, and 405 with Allow for a wrong method', async (t) => {
    const http = await open(t, { parts: [troubles] });
    const nothing = await ask(http, '/things/7/parts');
    assert.deepEqual([nothing.status, detailOf(nothing)], [404, 'There is nothing at /things/7/parts.']);
    const other = await ask(http, '/things/7?x=1', { method: 'PUT' });
    assert.deepEqual([other.status, other.headers.allow], [405, 'DELETE, GET, HEAD']);
    assert.equal((await ask(http, '/things/', { method: 'PUT' })).status, 404);
    assert.equal((await ask(http, '/healthz', { method: 'POST' })).status, 405);
  });

  it('in the service is logged once under the id that the client gets, without details for the client', async (t) => {
    const http = await open(t, { parts: [troubles] });
    const reply = await ask(http, '/defect');
    assert.equal(reply.status, 500);
    assert.doesNotMatch(reply.body, /hunter2|at |stack/);
    const id = /as request ([\w-]+)\./.exec(detailOf(reply))?.[1];
    const logged = http.lines.filter(({ level }) => level === 50);
    assert.deepEqual(
      logged.map(({ request }) => request),
      [id],
    );
    assert.match(JSON.stringify(logged), /hunter2/);
  });

  it('with a known error code is explained with its hint', async (t) => {
    const http = await open(t, { parts: [troubles] });
    const reply = await ask(http, '/busy');
    assert.deepEqual([reply.status, detailOf(reply)], [503, 'Another process sends. Wait for it.']);
    const limit = await ask(http, '/limit');
    assert.deepEqual(
      [limit.status, detailOf(limit)],
      [422, 'The statement was stopped after 5 s, its limit'],
    );
    assert.ok(!http.lines.some(({ level }) => level === 50));
  });

  it('with a body is said plainly', async (t) => {
    const post: HttpPart = (app) => void app.post('/echo', async ({ body }) => body);
    const http = await open(t, { parts: [post] });
    const headers = { 'content-type': 'application/json' };
    const reply = await ask(http, '/echo', { method: 'POST', headers, body: '{"a":' });
    assert.equal(reply.status, 400);
    assert.match(detailOf(reply), /JSON/);
  });
});
