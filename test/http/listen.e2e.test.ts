import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { ask, bearer } from './client.ts';
import { open, TOKEN } from './service.ts';

function says(message: RegExp, hint: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'usage');
    assert.match(error.message, message);
    assert.match(error.hint ?? '', hint);
    return true;
  };
}

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

describe('listening', () => {
  it('on a port that is taken says so, and how to go on', async (t) => {
    const { port } = await open(t);
    const message = new RegExp(`127\\.0\\.0\\.1, port ${port}: another program`);
    await assert.rejects(open(t, { port }), says(message, /HTTP_PORT=0/));
  });

  it('on an address of another machine says so', async (t) => {
    await assert.rejects(
      open(t, { host: '192.0.2.1', token: TOKEN }),
      says(/192\.0\.2\.1, port 0/, /HTTP_HOST must be an address of this machine/),
    );
  });

  it('on an address that others can reach needs a token', async (t) => {
    await assert.rejects(open(t, { host: '0.0.0.0' }), says(/there is no HTTP_TOKEN/, /Set HTTP_TOKEN/));
  });

  it('on all addresses gives one that works here, and answers to addresses only', async (t) => {
    const http = await open(t, { host: '0.0.0.0', token: TOKEN });
    assert.equal(http.url, `http://127.0.0.1:${http.port}`);
    assert.equal((await ask(http, '/readyz', { headers: bearer(TOKEN) })).status, 200);
    const host = (name: string) => ({ ...bearer(TOKEN), host: name });
    assert.equal((await ask(http, '/readyz', { headers: host('10.1.2.3:9000') })).status, 200);
    assert.equal((await ask(http, '/readyz', { headers: host('mirror.evil.com') })).status, 421);
  });

  it('on IPv6 gives an address in brackets', { skip: hasIpv6 ? false : 'no IPv6 here' }, async (t) => {
    const http = await open(t, { host: '::1' });
    assert.equal(http.url, `http://[::1]:${http.port}`);
    assert.equal((await ask(http, '/healthz')).status, 200);
  });

  it('on localhost works under every name of it', async (t) => {
    const http = await open(t, { host: 'localhost' });
    for (const name of ['localhost', '127.0.0.1'])
      assert.equal((await ask(http, '/healthz', { headers: { host: `${name}:${http.port}` } })).status, 200);
  });
});
