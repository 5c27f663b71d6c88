import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import { connect as connectSocket, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { temporaryFolder } from '../support/folder.ts';
import { until } from '../support/until.ts';
import { clientOf, DRAFT, envelope, failureOf, json, listen, startSocketServer } from './support/upstream.ts';

interface Certificate {
  key: string;
  cert: string;
}

const folder = temporaryFolder('tls');
after(() => rmSync(folder, { recursive: true }));

/** A self-signed certificate for one name, or null where openssl is missing. */
function certificateFor(name: string): Certificate | null {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = [
    '-subj',
    `/CN=${name}`,
    '-addext',
    `subjectAltName=${name.includes(':') ? name : `DNS:${name}`}`,
  ];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  try {
    execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject], {
      stdio: 'ignore',
    });
  } catch {
    return null;
  }
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

const ours = certificateFor('IP:127.0.0.1');
const foreign = certificateFor('other.example');
const skip = ours === null || foreign === null ? 'openssl is not installed' : false;

async function secure(t: TestContext, certificate: Certificate | null) {
  let requests = 0;
  const server: Server = createServer(
    { ...certificate, ALPNProtocols: ['h2', 'http/1.1'] },
    (request, response) => {
      requests += 1;
      json(response, request.method === 'POST' ? { status: 'Success', post_id: 1 } : envelope([1]));
    },
  );
  const upstream = await listen(t, server);
  return { ...upstream, url: upstream.url.replace('http:', 'https:'), requests: () => requests };
}

describe('an upstream over TLS', { skip }, () => {
  it('is read and written when its certificate is trusted', async (t) => {
    const upstream = await secure(t, ours);
    const client = clientOf(t, upstream.url, { ca: ours?.cert ?? '' });
    assert.equal((await client.page('posts', '')).rows.length, 1);
    assert.equal((await client.create(DRAFT)).outcome, 'confirmed');
  });

  const untrusted: [string, Certificate | null, string | null][] = [
    ['is not known', ours, null],
    ['is for another name', foreign, foreign?.cert ?? null],
  ];
  for (const [name, certificate, ca] of untrusted) {
    it(`gets no request when its certificate ${name}`, async (t) => {
      const upstream = await secure(t, certificate);
      const client = clientOf(t, upstream.url, { retry: { attempts: 2 }, ...(ca === null ? {} : { ca }) });
      const error = await failureOf(client.page('posts', ''));
      assert.ok(error instanceof AppError && error.code === 'unreachable');
      assert.equal((await client.create(DRAFT)).outcome, 'not-sent');
      assert.equal(upstream.requests(), 0);
    });
  }

  it('gets no request either when the environment says to trust anyone', async (t) => {
    const upstream = await secure(t, ours);
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    t.after(() => {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    });
    assert.equal((await clientOf(t, upstream.url).create(DRAFT)).outcome, 'not-sent');
    assert.equal(upstream.requests(), 0);
  });
});

/** A proxy that answers `CONNECT` as told. */
async function startProxy(t: TestContext, onConnect: (socket: Socket, request: IncomingMessage) => void) {
  const asked: IncomingMessage[] = [];
  const server = createHttpServer((_, response) => response.writeHead(500).end());
  server.on('connect', (request, socket) => {
    asked.push(request);
    // An HTTP server leaves its own half of a connection open.
    socket.on('error', () => {}).on('end', () => socket.end());
    onConnect(socket as Socket, request);
  });
  return { ...(await listen(t, server)), asked };
}

/** Leads every host to the one port. */
const tunnelTo = (port: number) => (socket: Socket) => {
  const target = connectSocket(port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(target).pipe(socket);
  });
  target.on('error', () => socket.destroy());
  socket.on('close', () => target.destroy());
};

describe('an upstream behind a proxy', { skip }, () => {
  const baseUrl = 'https://other.example';
  const ca = foreign?.cert ?? '';

  it('is read and written through a tunnel, and the proxy sees nothing but its name', async (t) => {
    const upstream = await secure(t, foreign);
    const proxy = await startProxy(t, tunnelTo(upstream.port));
    const env = { HTTPS_PROXY: proxy.url.replace('//', '//me:p%40ss@') };
    const client = clientOf(t, baseUrl, { ca, env });
    for (let n = 0; n < 2; n++) assert.equal((await client.page('posts', '')).rows.length, 1);
    assert.equal((await client.create(DRAFT)).outcome, 'confirmed');
    assert.ok(proxy.asked.length >= 2);
    for (const { url, headers } of proxy.asked) {
      assert.equal(url, 'other.example:443');
      assert.equal(headers['proxy-authorization'], `Basic ${Buffer.from('me:p@ss').toString('base64')}`);
      assert.equal(headers.authorization, undefined);
    }
    await client.close();
    await until('every connection is closed', () => proxy.open() === 0 && upstream.open() === 0);
  });

  const LONG = 3_600_000;
  const refusals: [string, number, (socket: Socket) => void, RegExp][] = [
    [
      'refuses',
      LONG,
      (socket) => socket.end('HTTP/1.1 407 No\r\n\r\n'),
      /gave no connection: it answered 407/,
    ],
    ['hangs up', LONG, (socket) => socket.destroy(), /gave no connection/],
    ['does not answer', 100, (socket) => socket.resume(), /gave no connection: no tunnel in time/],
    // Whether the library still gives the socket out is a matter of microseconds; else it waits for the limit.
    [
      'leads nowhere',
      100,
      (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n', () => socket.destroy()),
      /connection/,
    ],
  ];
  for (const [name, connectMs, onConnect, reason] of refusals) {
    it(`is sent no create when the proxy ${name}`, async (t) => {
      const proxy = await startProxy(t, onConnect);
      const options = { ca, env: { HTTPS_PROXY: proxy.url }, limits: { connectMs } };
      const client = clientOf(t, baseUrl, { ...options, retry: { attempts: 1 } });
      const outcome = await client.create(DRAFT);
      assert.equal(outcome.outcome, 'not-sent');
      assert.match(outcome.outcome === 'not-sent' ? outcome.reason : '', reason);
      assert.ok(proxy.asked.length <= 1, 'a create connects once');
      const error = await failureOf(client.page('posts', ''));
      assert.ok(error instanceof AppError && error.code === 'unreachable', String(error));
      await client.close();
      await until('every connection is closed', () => proxy.open() === 0);
    });
  }

  it('leaves a create uncertain that the tunnel lost', async (t) => {
    const proxy = await startProxy(t, (socket) => tunnelTo(upstream.port)(socket));
    const server = createServer({ ...foreign }, (request) => request.socket.destroy());
    const upstream = await listen(t, server);
    const client = clientOf(t, baseUrl, { ca, env: { HTTPS_PROXY: proxy.url } });
    assert.equal((await client.create(DRAFT)).outcome, 'unknown');
    assert.equal(proxy.asked.length, 1);
  });

  it('lets go of a tunnel under way when the client is closed', async (t) => {
    let meet = (): void => {};
    const met = new Promise<void>((resolve) => {
      meet = resolve;
    });
    const proxy = await startProxy(t, (socket) => {
      socket.resume();
      meet();
    });
    const client = clientOf(t, baseUrl, { ca, env: { HTTPS_PROXY: proxy.url } });
    const reading = failureOf(client.page('posts', ''));
    await met;
    await client.close();
    await reading;
    await until('every connection is closed', () => proxy.open() === 0);
  });
});

describe('a server that does not speak TLS', () => {
  it('was sent nothing by a create', async (t) => {
    const upstream = await startSocketServer(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const outcome = await clientOf(t, upstream.url.replace('http:', 'https:')).create(DRAFT);
    assert.equal(outcome.outcome, 'not-sent');
  });

  it('was sent nothing by a create when it never finishes the handshake', async (t) => {
    const upstream = await startSocketServer(t, () => {});
    const client = clientOf(t, upstream.url.replace('http:', 'https:'), {
      limits: { createMs: 60, connectMs: 3_600_000 },
    });
    assert.equal((await client.create(DRAFT)).outcome, 'not-sent');
    await until('every connection is closed', () => upstream.open() === 0);
  });

  it('was sent nothing by a create that is called off during the handshake', async (t) => {
    const controller = new AbortController();
    const upstream = await startSocketServer(t, () => controller.abort());
    const limits = { connectMs: 3_600_000 };
    const client = clientOf(t, upstream.url.replace('http:', 'https:'), { limits });
    assert.deepEqual(await client.create(DRAFT, controller.signal), {
      outcome: 'not-sent',
      reason: 'it was called off',
    });
    await until('every connection is closed', () => upstream.open() === 0);
  });
});
