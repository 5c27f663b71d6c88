import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../src/base/clock.ts';
import { limitBody } from '../../src/http/server/connections.ts';
import { fakeClock } from '../support/clock.ts';
import { until } from '../support/until.ts';
import { ask, bearer, detailOf, dial, statusOf } from './client.ts';
import { open, TOKEN } from './service.ts';

const echo = { parts: [(app) => void app.post('/echo', async ({ body }) => body)] } satisfies Parameters<
  typeof open
>[1];

describe('connections that have not shown the token', () => {
  it('are closed oldest first above the limit, and those with the token stay open', async (t) => {
    const http = await open(t, { token: TOKEN, limits: { strangers: 2 } });
    const agent = new Agent({ keepAlive: true });
    t.after(() => agent.destroy());
    const known = request(http.url, { path: '/nothing', agent, headers: bearer(TOKEN) }).end();
    const [answer] = (await once(known, 'response')) as [IncomingMessage];
    await text(answer);
    const [oldest, ...others] = [await dial(http.port), await dial(http.port), await dial(http.port)];
    await once(oldest?.resume() ?? new EventEmitter(), 'close');
    assert.deepEqual(
      [known.socket, ...others].map((socket) => socket?.destroyed),
      [false, false, false],
    );
  });
});

describe('wrong logins', () => {
  const login = (port: number, token: string): string =>
    [
      'POST /login HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${token.length + 6}`,
      '',
      `token=${token}`,
    ].join('\r\n');

  it('end their connection, answered or not, when a second request follows before the answer', async (t) => {
    const clock = heldClock();
    const http = await open(t, { token: TOKEN, clock });
    const socket = await dial(http.port);
    const answer = text(socket);
    socket.write(login(http.port, 'guess').repeat(100));
    assert.equal(await answer.catch(() => ''), '');
    assert.equal(clock.waiting(), 0, 'no answer is kept for a client that is gone');
  });

  it('are answered with the end of their connection', async (t) => {
    const http = await open(t, { token: TOKEN, clock: fakeClock() });
    const socket = await dial(http.port);
    socket.write(login(http.port, 'guess'));
    const answer = await text(socket);
    assert.equal(statusOf(answer), 403);
    assert.match(answer, /connection: close/i);
  });

  it('beyond 64 that wait are refused with 429; the token and health are answered meanwhile', async (t) => {
    const clock = heldClock();
    const http = await open(t, { token: TOKEN, clock });
    const sockets = await Promise.all(Array.from({ length: 64 }, () => dial(http.port)));
    t.after(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (const socket of sockets) socket.write(login(http.port, 'guess'));
    await until('all of them wait', async () => clock.waiting() === 64);
    for (const call of [
      { headers: bearer('guess') },
      { method: 'POST', headers: FORM, body: 'token=guess' },
    ]) {
      const refused = await ask(http, call.method ? '/login' : '/metrics', call);
      assert.deepEqual([refused.status, refused.headers.connection], [429, 'close']);
      assert.match(refused.body, /Too many wrong tokens wait/);
    }
    assert.equal((await ask(http, '/healthz')).status, 200);
    assert.equal((await ask(http, '/metrics', { headers: bearer(TOKEN) })).status, 200);
    const right = await ask(http, '/login', { method: 'POST', headers: FORM, body: `token=${TOKEN}` });
    assert.equal(right.status, 303);
  });
});

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Answers to guesses wait until their client is gone. */
function heldClock(): Clock & { waiting(): number } {
  let waiting = 0;
  return {
    ...fakeClock(),
    waiting: () => waiting,
    sleep: (_ms, signal) =>
      new Promise((_resolve, reject) => {
        waiting += 1;
        signal?.addEventListener('abort', () => {
          waiting -= 1;
          reject(signal.reason);
        });
      }),
  };
}

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

  it('may have JSON of 64 levels', async (t) => {
    const http = await open(t, echo);
    const post = (levels: number) => {
      const body = `${'['.repeat(levels)}${']'.repeat(levels)}`;
      return ask(http, '/echo', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    };
    assert.equal((await post(64)).status, 200);
    const refused = await post(500_000);
    assert.equal(refused.status, 400);
    assert.match(detailOf(refused), /more than 64 levels deep/);
  });

  it('may have headers of a certain size', async (t) => {
    const http = await open(t);
    const headers = { 'x-long': 'x'.repeat(20_000) };
    assert.equal((await ask(http, '/healthz', { headers })).status, 431);
  });

  it('has to say its headers within a certain time', { timeout: 30_000 }, async (t) => {
    const http = await open(t, { limits: { headersMs: 50 } });
    const socket = await dial(http.port);
    socket.write('GET /healthz HTTP/1.1\r\nHost: ');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.equal(statusOf(answer.toString()), 408);
    await once(socket, 'close');
  });

  const halfPost = (port: number, path: string): string =>
    [
      `POST ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      'Content-Type: application/json',
      'Content-Length: 5000',
      '',
      '{',
    ].join('\r\n');

  it('has to say its body within a certain time', { timeout: 30_000 }, async (t) => {
    const http = await open(t, { ...echo, limits: { bodyMs: 50 } });
    const socket = await dial(http.port);
    socket.write(halfPost(http.port, '/echo'));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.equal(statusOf(answer.toString()), 408);
    await once(socket, 'close');
  });

  it('may take longer over a file, as long as bytes keep coming', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const late: string[] = [];
    const socket = { bytesRead: 0 };
    const begin = (isUpload: boolean): void => {
      const raw = Object.assign(new EventEmitter(), {
        headers: { 'content-length': '100000' },
        socket,
        complete: false,
      });
      const request = { raw, routeOptions: { config: { isUpload } } } as unknown as FastifyRequest;
      limitBody(request, {} as FastifyReply, 1000, () => late.push(isUpload ? 'upload' : 'form'));
    };
    begin(true);
    begin(false);
    for (const bytes of [2000, 4000, 6000]) {
      socket.bytesRead = bytes;
      t.mock.timers.tick(1000);
    }
    assert.deepEqual(late, ['form', 'form', 'form']);
    socket.bytesRead += 1;
    t.mock.timers.tick(1000);
    assert.equal(late.at(-2), 'upload');
  });

  it('that does not say the length of its body has no more time for it', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const raw = Object.assign(new EventEmitter(), {
      headers: { 'transfer-encoding': 'chunked' },
      socket: { bytesRead: 0 },
      complete: false,
    });
    const request = { raw, routeOptions: { config: {} } } as unknown as FastifyRequest;
    let late = 0;
    limitBody(request, {} as FastifyReply, 1000, () => late++);
    t.mock.timers.tick(1000);
    assert.equal(late, 1);
  });

  it('without the token takes the place of the oldest such one, and health always answers', {
    timeout: 30_000,
  }, async (t) => {
    const http = await open(t, { token: TOKEN, limits: { strangers: 4 } });
    const sockets = [];
    for (let n = 0; n < 12; n++) {
      const socket = await dial(http.port);
      socket.on('error', () => undefined).resume();
      socket.write(halfPost(http.port, '/login'));
      sockets.push(socket);
      assert.equal((await ask(http, '/healthz')).status, 200);
    }
    await Promise.all(sockets.slice(0, 8).map((socket) => socket.closed || once(socket, 'close')));
    assert.equal((await ask(http, '/metrics', { headers: bearer(TOKEN) })).status, 200);
  });

  it('beyond a number of authenticated connections is told to come back; health is not', async (t) => {
    const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })];
    const http = await open(t, { limits: { connections: 2 } });
    t.after(() => {
      for (const agent of agents) agent.destroy();
    });
    const over = (agent: Agent) => request(`${http.url}/metrics`, { agent }).end();
    for (const agent of agents) {
      const [reply] = (await once(over(agent), 'response')) as [IncomingMessage];
      await text(reply);
    }
    const refused = await ask(http, '/metrics');
    assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '5']);
    assert.equal((await ask(http, '/healthz')).status, 200);
    agents[0]?.destroy();
    await until('one has gone', async () => (await ask(http, '/metrics')).status === 200);
  });

  it('whose reply is not read is ended', { timeout: 30_000 }, async (t) => {
    const ended = Promise.withResolvers<boolean>();
    const large = (app: FastifyInstance): void => {
      app.get('/large', async (_request, { raw }) => {
        raw.once('close', () => ended.resolve(raw.writableFinished));
        return 'x'.repeat(32 * 1024 * 1024);
      });
    };
    const http = await open(t, { parts: [large], limits: { stallMs: 60 } });
    const socket = await dial(http.port);
    socket.on('error', () => undefined);
    socket.write(`GET /large HTTP/1.1\r\nHost: 127.0.0.1:${http.port}\r\n\r\n`);
    assert.equal(await ended.promise, false);
    socket.destroy();
  });

  it('that takes long to be answered is not ended: there is nothing to read', {
    timeout: 30_000,
  }, async (t) => {
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const part = (app: FastifyInstance): void => {
      app.get('/slow', async () => {
        begun.resolve();
        await ended.promise;
        return 'done';
      });
      app.get('/large', async (_request, { raw }) => {
        raw.once('close', ended.resolve);
        return 'x'.repeat(32 * 1024 * 1024);
      });
    };
    const http = await open(t, { parts: [part], limits: { stallMs: 60 } });
    const slow = ask(http, '/slow');
    await begun.promise;
    // What is ended because nobody reads it came later, so the other one has waited for longer by then.
    const socket = await dial(http.port);
    socket.on('error', () => undefined);
    socket.write(`GET /large HTTP/1.1\r\nHost: 127.0.0.1:${http.port}\r\n\r\n`);
    assert.equal((await slow).body, 'done');
    socket.destroy();
  });
});

describe('closing', () => {
  it('closes idle connections and open streams at once', { timeout: 30_000 }, async (t) => {
    const stream = (app: FastifyInstance): void => {
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
