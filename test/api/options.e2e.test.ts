import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { createClient } from '../../src/api/client.ts';
import { proxyFor } from '../../src/api/options.ts';
import { AppError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { clientOf, envelope, failureOf, json, startUpstream } from './support/upstream.ts';

const token = (): Secret => new Secret('canary-token');

describe('the base URL', () => {
  const accepted = [
    'https://api.example.com',
    'https://api.example.com/tenant/',
    'http://127.0.0.1:8080',
    'http://127.9.9.9',
    'http://localhost:1',
    'http://[::1]:1',
  ];
  for (const baseUrl of accepted) {
    it(`may be ${baseUrl}`, async () => {
      await createClient({ baseUrl, auth: { kind: 'header' }, token }).close();
    });
  }

  const refused = [
    'http://api.example.com',
    'http://127.0.0.1.evil.example',
    'http://localhost.evil.example',
    'http://0.0.0.0',
    'http://[::2]',
    'ftp://127.0.0.1',
    'file:///etc/passwd',
    'https://user:pass@api.example.com',
    'https://api.example.com/?token=x',
    'https://api.example.com/#x',
    'api.example.com',
    '',
  ];
  for (const baseUrl of refused) {
    it(`may not be ${JSON.stringify(baseUrl)}`, () => {
      assert.throws(
        () => createClient({ baseUrl, auth: { kind: 'header' }, token }),
        (error: unknown) =>
          error instanceof AppError && error.code === 'usage' && !error.message.includes('pass@'),
      );
    });
  }
});

describe('the token', () => {
  const unfit: [string, string][] = [
    ['a line break', 'abc\r\nX-Evil: 1'],
    ['a null byte', 'abc\0'],
    ['a character beyond Latin-1', 'abc\u20ac'],
    ['nothing in it', ''],
  ];
  for (const [name, value] of unfit) {
    it(`is refused in a header with ${name}, as something to set right`, async (t) => {
      const upstream = await startUpstream(t, (_, response) => json(response, envelope([1])));
      const error = await failureOf(
        clientOf(t, upstream.url, { token: () => new Secret(value) }).page('posts', ''),
      );
      assert.ok(error instanceof AppError && error.code === 'usage');
      assert.match(error.hint ?? '', /FEEDBACK_API_TOKEN/);
      assert.equal(upstream.connections(), 0);
      assert.ok(value === '' || !inspect(error).includes(value));
    });
  }

  it('may be any text in a query', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, envelope([1])));
    const auth = { kind: 'query', parameter: 'key' } as const;
    const strange = 'a\r\n€&=#';
    await clientOf(t, upstream.url, { auth, token: () => new Secret(strange) }).page('posts', '');
    assert.equal(new URL(upstream.requests[0]?.url ?? '', upstream.url).searchParams.get('key'), strange);
  });

  it('needs a name for its query parameter', () => {
    const auth = { kind: 'query', parameter: '' } as const;
    assert.throws(() => createClient({ baseUrl: 'https://x.example', auth, token }), /query parameter/);
  });
});

describe('the proxy of the environment', () => {
  const base = new URL('https://api.example.com');
  const proxy = 'http://proxy.example:3128/';
  const choices: [string, Record<string, string>, string | null][] = [
    ['HTTPS_PROXY', { HTTPS_PROXY: proxy }, proxy],
    ['https_proxy before HTTPS_PROXY', { https_proxy: proxy, HTTPS_PROXY: 'http://other.example' }, proxy],
    ['ALL_PROXY', { ALL_PROXY: proxy }, proxy],
    ['nothing for HTTP_PROXY, which is for http', { HTTP_PROXY: proxy }, null],
    ['nothing for an empty value', { HTTPS_PROXY: '' }, null],
    ['nothing for a host of NO_PROXY', { HTTPS_PROXY: proxy, NO_PROXY: 'x.org, api.example.com' }, null],
    ['nothing for a domain of no_proxy', { HTTPS_PROXY: proxy, no_proxy: '.EXAMPLE.com' }, null],
    ['nothing for all hosts', { HTTPS_PROXY: proxy, NO_PROXY: '*' }, null],
    ['nothing for the port of NO_PROXY', { HTTPS_PROXY: proxy, NO_PROXY: 'example.com:443' }, null],
    ['the proxy for another port', { HTTPS_PROXY: proxy, NO_PROXY: 'example.com:8443' }, proxy],
    ['the proxy for a host that ends alike', { HTTPS_PROXY: proxy, NO_PROXY: 'ple.com' }, proxy],
  ];
  for (const [name, env, chosen] of choices) {
    it(`is ${name}`, () => assert.equal(proxyFor(base, env)?.href ?? null, chosen));
  }

  it('is refused where it is no address of one, without its password', () => {
    for (const HTTPS_PROXY of ['proxy.example:3128', 'socks5://me:pass@proxy.example', 'http://'])
      assert.throws(
        () => proxyFor(base, { HTTPS_PROXY }),
        (error: unknown) =>
          error instanceof AppError &&
          /HTTPS_PROXY is not/.test(error.message) &&
          !inspect(error).includes('pass@'),
      );
  });

  it('is left alone for an upstream on loopback', async (t) => {
    const proxy = await startUpstream(t, (_, response) => json(response, envelope([1])));
    const upstream = await startUpstream(t, (_, response) => json(response, envelope([1])));
    const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, ALL_PROXY: proxy.url };
    await clientOf(t, upstream.url, { env }).page('posts', '');
    assert.equal(proxy.connections(), 0);
  });
});
