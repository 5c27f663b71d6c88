import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import {
  clientOf,
  DRAFT,
  envelope,
  failureOf,
  json,
  listen,
  startSocketServer,
  until,
} from './support/upstream.ts';

interface Certificate {
  key: string;
  cert: string;
}

const folder = mkdtempSync(join(tmpdir(), 'tls-'));
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
      json(response, request.method === 'POST' ? { post_id: 1 } : envelope([1]));
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
    await until(() => upstream.open() === 0);
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
    await until(() => upstream.open() === 0);
  });
});
