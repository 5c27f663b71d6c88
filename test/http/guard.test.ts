import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { Secret } from '../../src/base/secret.ts';
import { createGuard } from '../../src/http/server/guard.ts';
import { createSession } from '../../src/http/server/session.ts';

const [TOKEN, FEED, AGENT] = ['the-token', 'the-feed-token', 'the-agents-token'];
const session = createSession(new Secret(TOKEN));
const cookie = session.open(false).split(';', 1)[0] ?? '';

interface Asked {
  method?: string;
  [header: string]: string | undefined;
}

function asking(url: string, { method = 'GET', ...given }: Asked = {}): IncomingMessage {
  const headers: Record<string, string> = { host: 'localhost:8080' };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) headers[name] = value;
  const headersDistinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  return { url, method, headers, headersDistinct } as unknown as IncomingMessage;
}

const listening = () => ({ host: '127.0.0.1', port: 8080 });
const all = createGuard({ listening, session, feedToken: new Secret(FEED), mcpToken: new Secret(AGENT) });
const open = createGuard({ listening, session: null });

/** Its status, or that it passes; whether it is known, and whether it guessed. */
function told(url: string, given: Asked = {}, guard = all): string {
  const { refusal, isKnown, isGuess } = guard(asking(url, given));
  return [refusal?.status ?? 'passes', ...(isKnown ? ['known'] : []), ...(isGuess ? ['guess'] : [])].join(
    ' ',
  );
}

const bearer = (token: string, scheme = 'Bearer'): Asked => ({ authorization: `${scheme} ${token}` });

describe('the guard', () => {
  it('lets everybody see whether it lives and where to sign in, and nothing else', () => {
    for (const path of ['/healthz', '/login', '/login?to=%2F', '/login.css'])
      assert.equal(told(path), 'passes', path);
    for (const path of [
      '/',
      '/healthz/',
      '/readyz',
      '/login/x',
      '/api/v1/posts',
      '/feeds/posts.atom',
      '/mcp',
    ])
      assert.equal(told(path), '401', path);
    assert.deepEqual(
      ['/', '/healthz'].map((path) => told(path, {}, open)),
      ['passes known', 'passes'],
    );
  });

  it('knows the token in the header however it is written, and the session that was opened with it', () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER  '])
      assert.equal(told('/', bearer(TOKEN, scheme)), 'passes known');
    assert.equal(told('/', { cookie }), 'passes known');
    assert.equal(told('/', { cookie: `${cookie}x` }), '401');
    for (const given of [bearer(`${TOKEN}x`), bearer(TOKEN.toUpperCase()), bearer(FEED), bearer(AGENT)])
      assert.equal(told('/', given), '401 guess');
    for (const authorization of ['Basic abc', TOKEN, 'Bearer', `Bearer ${TOKEN} x`])
      assert.equal(told('/', { authorization }), '401', authorization);
  });

  it('takes the token from the address of the API and of feeds only, and a header counts more', () => {
    for (const path of ['/api/v1/posts', '/feeds/posts.atom']) {
      assert.equal(told(`${path}?a=1&token=${TOKEN}`), 'passes known');
      assert.equal(told(`${path}?token=wrong`), '401 guess');
      assert.equal(told(`${path}?token=${TOKEN}`, bearer('wrong')), '401 guess');
    }
    for (const path of ['/', '/data/posts', '/api/changes'])
      assert.equal(told(`${path}?token=${TOKEN}`), '401', path);
  });

  it('opens feeds, and nothing else, to the token of feeds', () => {
    assert.equal(told('/feeds/posts.atom', bearer(FEED)), 'passes known');
    assert.equal(told(`/feeds/posts.atom?token=${FEED}`), 'passes known');
    assert.equal(told('/api/v1/posts', bearer(FEED)), '401 guess');
    const without = createGuard({ listening, session });
    assert.equal(told('/feeds/posts.atom', bearer(FEED), without), '401 guess');
  });

  it('opens the tools for agents to their token alone, and to that nothing else', () => {
    assert.equal(told('/mcp', { method: 'POST', ...bearer(AGENT) }), 'passes known');
    assert.equal(told('/mcp?x=1', { method: 'POST', ...bearer(AGENT) }), 'passes known');
    assert.equal(told('/mcp', bearer(TOKEN)), '401 guess');
    assert.equal(told('/mcp', { cookie }), '401');
    assert.equal(told(`/mcp?token=${AGENT}`), '401');
    assert.equal(told('/mcp/', bearer(AGENT)), '401 guess');
    assert.equal(
      told('/mcp', {}, createGuard({ listening, session: null, mcpToken: new Secret(AGENT) })),
      '401',
    );
  });

  it('refuses changes from another origin even with a token, and allows reads', () => {
    const known = { ...bearer(TOKEN), method: 'POST' };
    assert.equal(told('/change', known), 'passes known');
    assert.equal(
      told('/change', { ...known, origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' }),
      'passes known',
    );
    for (const stranger of [
      { origin: 'https://evil.test' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ])
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
        assert.equal(told('/change', { ...known, ...stranger, method }), '403');
    assert.equal(told('/mcp', { method: 'POST', ...bearer(AGENT), origin: 'https://evil.test' }), '403');
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      assert.equal(told('/', { ...known, origin: 'https://evil.test', method }), 'passes known', method);
  });

  it('answers under its own names only, before anything else', () => {
    assert.equal(told('/healthz', { host: 'evil.test' }), '421');
    assert.equal(told('/mcp', { host: 'evil.test', ...bearer(AGENT) }), '421');
    assert.equal(told('http://localhost:8080/healthz'), '400');
  });

  it('shows a person who opens a page where to sign in, and tells a program', () => {
    const place = (url: string, given: Asked) => all(asking(url, given)).refusal?.headers?.location;
    const accept = 'text/html,application/xhtml+xml';
    assert.equal(place('/', { accept }), '/login');
    assert.equal(place('/posts?a=1&b=2', { accept }), '/login?to=%2Fposts%3Fa%3D1%26b%3D2');
    assert.equal(place('/posts', { accept: 'application/json' }), undefined);
    assert.equal(place('/posts', { accept, method: 'POST' }), undefined);
    assert.match(all(asking('/posts')).refusal?.headers?.['www-authenticate'] ?? '', /^Bearer /);
  });
});
