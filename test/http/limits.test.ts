import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ask, detailOf, dial, say, statusOf } from './client.ts';
import { open } from './service.ts';

const echo = { parts: [(app) => void app.post('/echo', async ({ body }) => body)] } satisfies Parameters<
  typeof open
>[1];

describe('a request', () => {
  it('may have a body of a certain size', async (t) => {
    const http = await open(t, { ...echo, limits: { bodyBytes: 100 } });
    const post = (size: number) => {
      const body = JSON.stringify('x'.repeat(size - 2));
      return ask(http, '/echo', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    };
    assert.equal((await post(100)).status, 200);
    const reply = await post(101);
    assert.equal(reply.status, 413);
    assert.match(detailOf(reply), /too large/);
  });

  it('may have headers of a certain size', async (t) => {
    const http = await open(t);
    const headers = { 'x-long': 'x'.repeat(20_000) };
    assert.equal((await ask(http, '/healthz', { headers })).status, 431);
  });

  it('has to say its headers within a certain time', { timeout: 10_000 }, async (t) => {
    const http = await open(t, { limits: { headersMs: 50 } });
    const socket = await dial(http.port);
    socket.write('GET /healthz HTTP/1.1\r\nHost: ');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.equal(statusOf(answer.toString()), 408);
    await once(socket, 'close');
  });

  it('has to say its body within a certain time', { timeout: 10_000 }, async (t) => {
    const http = await open(t, { ...echo, limits: { headersMs: 50, requestMs: 100 } });
    const socket = await dial(http.port);
    const head = ['POST /echo HTTP/1.1', `Host: 127.0.0.1:${http.port}`, 'Content-Type: application/json'];
    socket.write([...head, 'Content-Length: 10', '', '{'].join('\r\n'));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.equal(statusOf(answer.toString()), 408);
    await once(socket, 'close');
  });

  it('has to be on one of so many connections', { timeout: 10_000 }, async (t) => {
    const http = await open(t, { limits: { connections: 2 } });
    const [one, two] = await Promise.all([dial(http.port), dial(http.port)]);
    assert.equal(
      await say(http, 'GET /healthz HTTP/1.1', `Host: 127.0.0.1:${http.port}`).catch(() => ''),
      '',
    );
    for (const socket of [one, two]) {
      socket.destroy();
      await once(socket, 'close');
    }
    // The server hears of it a moment later.
    let reply = '';
    while (statusOf(reply) !== 200) {
      await delay(5);
      reply = await say(
        http,
        'GET /healthz HTTP/1.1',
        `Host: 127.0.0.1:${http.port}`,
        'Connection: close',
      ).catch(() => '');
    }
  });
});

describe('closing', () => {
  it('ends connections that are idle and streams that go on, at once', { timeout: 5000 }, async (t) => {
    const stream = (app: import('fastify').FastifyInstance): void => {
      app.get('/stream', (_request, reply) => {
        reply.hijack();
        reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
        reply.raw.write('data: 1\n\n');
      });
    };
    const http = await open(t, { parts: [stream] });
    const host = `Host: 127.0.0.1:${http.port}`;
    const [idle, streaming, silent] = await Promise.all([dial(http.port), dial(http.port), dial(http.port)]);
    idle.write(`GET /healthz HTTP/1.1\r\n${host}\r\n\r\n`);
    streaming.write(`GET /stream HTTP/1.1\r\n${host}\r\n\r\n`);
    await Promise.all([once(idle, 'data'), once(streaming, 'data')]);
    const ends = [idle, streaming, silent].map((socket) => {
      socket.resume().on('error', () => undefined);
      return once(socket, 'close');
    });
    await http.close();
    await Promise.all(ends);
    await assert.rejects(dial(http.port), /ECONNREFUSED/);
    await http.close();
  });
});
