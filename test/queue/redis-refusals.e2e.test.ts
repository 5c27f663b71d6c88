import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Redis } from 'ioredis';
import { AppError } from '../../src/base/errors.ts';
import { serverTrouble } from '../../src/queue/redis.ts';
import { folderFor } from '../support/folder.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startRedis } from '../support/servers.ts';
import { openTarget } from './target.ts';

const openAt = (url: string) => openTarget({ url, dataDir: 'none', mirrorId: 'm' });

async function redis(t: TestContext, ...flags: string[]): Promise<Server> {
  const server = await startRedis({ flags });
  t.after(() => server.stop());
  return server;
}

describe('a Redis that does not fit', skipUnless('redis-server'), () => {
  it('is refused when it may drop jobs, with the command that mends it', async (t) => {
    const { url, port } = await redis(t, '--maxmemory-policy', 'allkeys-lru');
    const error = await openAt(url).then(
      () => null,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'usage');
    assert.match(error.message, /maxmemory-policy allkeys-lru/);
    assert.match(error.hint ?? '', /config set maxmemory-policy noeviction/);
    const client = new Redis(port);
    await client.config('SET', 'maxmemory-policy', 'noeviction');
    client.disconnect();
    await (await openAt(url)).close();
  });

  it('is refused when the password is wrong or missing, at once and without showing it', async (t) => {
    const { port } = await redis(t, '--requirepass', 'right-password');
    for (const access of [':wr0ng-secret@', '']) {
      await assert.rejects(openAt(`redis://${access}127.0.0.1:${port}`), (error: AppError) => {
        assert.equal(error.code, 'usage');
        assert.match(error.message, /refused the user or the password/);
        assert.doesNotMatch(error.message + error.hint, /wr0ng-secret/);
        return true;
      });
    }
    const backend = await openAt(`redis://:right-password@127.0.0.1:${port}/3`);
    await backend.ping(5000);
    await backend.close();
  });

  it('is refused for a database that it does not have', async (t) => {
    const { port } = await redis(t);
    await assert.rejects(openAt(`redis://127.0.0.1:${port}/99`), { code: 'usage', message: /no database/ });
  });

  it('is taken when it does not let us look, as managed ones do not, and still works', async (t) => {
    const { url, port } = await redis(t);
    const admin = new Redis(port);
    await admin.call('ACL', 'SETUSER', 'tenant', 'on', '>pass-word', '~*', '&*', '+@all', '-config', '-info');
    admin.disconnect();
    const lines: string[] = [];
    const tenant = url.replace('redis://', 'redis://tenant:pass-word@');
    const backend = await openTarget({ url: tenant, dataDir: 'none', mirrorId: 'm' }, lines);
    const done = Promise.withResolvers<void>();
    backend.worker('work', async () => done.resolve());
    await backend.queue('work').add('n', {});
    await done.promise;
    await backend.close();
    assert.match(lines.join(''), /see that its maxmemory-policy is noeviction/);
  });

  it('that is away is waited for as long as a server takes to come up, and no longer', async (t) => {
    const server = await redis(t);
    await server.kill();
    await assert.rejects(openAt(server.url), {
      code: 'unreachable',
      message: /could not be reached \(ECONNREFUSED\)/,
    });
    const opening = openAt(server.url);
    await server.restart();
    await (await opening).close();
  });

  it('is told by its own words how old it is, and what it does with full memory', () => {
    const info = (version: string) => `# Server\r\nredis_version:${version}\r\nos:Linux\r\n`;
    const say = (version: string, policy: string | null) => serverTrouble(info(version), policy);
    for (const version of ['5.0.14', '6.0.16', '2.8.24'])
      assert.ok(say(version, 'noeviction') instanceof AppError);
    for (const version of ['6.2.0', '7.0.15', '10.0.1']) assert.equal(say(version, 'noeviction'), null);
    assert.equal(typeof say('7.0.15', null), 'string');
    const evicting = say('7.0.15', 'volatile-ttl');
    assert.ok(evicting instanceof AppError);
    assert.match(evicting.hint ?? '', /config set maxmemory-policy noeviction/);
  });
});

describe('a Redis behind TLS', skipUnless('redis-server', 'openssl'), () => {
  it('is spoken to when its certificate is trusted, and refused when it is not', async (t) => {
    const folder = folderFor(t, 'tls');
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
    const made = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      key,
      '-out',
      cert,
    ];
    execFileSync('openssl', ['req', '-x509', ...made, ...subject], { stdio: 'ignore' });
    const { port } = await redis(t);
    const admin = new Redis(port);
    await admin.config('SET', 'tls-cert-file', cert, 'tls-key-file', key, 'tls-ca-cert-file', cert);
    await admin.config('SET', 'tls-auth-clients', 'no', 'port', '0');
    await admin.config('SET', 'tls-port', port);
    admin.disconnect();
    const url = `rediss://127.0.0.1:${port}`;
    await assert.rejects(openAt(url), { code: 'usage', hint: /NODE_EXTRA_CA_CERTS/ });
    const trusted = getCACertificates('default');
    t.after(() => setDefaultCACertificates(trusted));
    setDefaultCACertificates([...trusted, readFileSync(cert, 'utf8')]);
    const backend = await openAt(url);
    const done = Promise.withResolvers<void>();
    backend.worker('work', async () => done.resolve());
    await backend.queue('work').add('n', {});
    await done.promise;
    await backend.close();
  });
});
