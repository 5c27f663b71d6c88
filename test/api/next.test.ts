import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Failure } from '../../src/api/failure.ts';
import { cursorOf, type NextRules } from '../../src/api/next.ts';
import { Secret } from '../../src/base/secret.ts';
import { anyText } from '../support/any-text.ts';

const rules: NextRules = {
  endpoint: new URL('https://api.example.com/tenant/api/v1/posts/'),
  pageParameter: 'page',
  cursorParameter: 'cursor',
  authParameter: 'token',
  secret: new Secret('canary-token-4711'),
};

const follow = (next: unknown): string | null => cursorOf(next, rules);
const ENDPOINT = rules.endpoint.href;

describe('a `next` that is followed', () => {
  const shapes: [string, unknown, string | null][] = [
    ['an absolute URL', `${ENDPOINT}?page=2`, 'page=2'],
    [
      'an absolute URL with the default port',
      ENDPOINT.replace('.com', '.com:443').concat('?page=2'),
      'page=2',
    ],
    [
      'an absolute URL with a host in capitals',
      'HTTPS://API.EXAMPLE.COM/tenant/api/v1/posts/?page=2',
      'page=2',
    ],
    [
      'an absolute URL without the last slash',
      'https://api.example.com/tenant/api/v1/posts?page=2',
      'page=2',
    ],
    [
      'an absolute URL with the scheme behind a proxy that ends TLS',
      'http://api.example.com/tenant/api/v1/posts/?page=2',
      'page=2',
    ],
    ['a path', '/tenant/api/v1/posts/?page=2', 'page=2'],
    ['a path without the last slash', '/tenant/api/v1/posts?limit=5&offset=10', 'limit=5&offset=10'],
    ['a relative reference', './?page=2', 'page=2'],
    ['a relative reference through the parent', '../posts/?page=2', 'page=2'],
    ['a query string', '?page=2', 'page=2'],
    ['a query string without its question mark', 'page=2&x=y', 'page=2&x=y'],
    ['a single parameter', 'page=2', 'page=2'],
    ['a parameter whose value is padded base64', 'cursor=YWJjZA==', 'cursor=YWJjZA=='],
    ['an integer', 2, 'page=2'],
    ['zero', 0, 'page=0'],
    ['digits', '17', 'page=17'],
    ['more digits than a number holds', '92233720368547758079', 'page=92233720368547758079'],
    ['an opaque text', 'eyJpZCI6N30', 'cursor=eyJpZCI6N30'],
    ['base64 with one padding sign', 'YWJjZGU=', 'cursor=YWJjZGU%3D'],
    ['base64 with two padding signs', 'YWJjZA==', 'cursor=YWJjZA%3D%3D'],
    ['base64 with slashes and plus signs', 'ab/cd+ef==', 'cursor=ab%2Fcd%2Bef%3D%3D'],
    ['base64 that begins with a slash', '/9j/4AA==', 'cursor=%2F9j%2F4AA%3D%3D'],
    ['an opaque text with a colon', 'post:55', 'cursor=post%3A55'],
    ['an opaque text with spaces and signs', 'a b&c#d', 'cursor=a%20b%26c%23d'],
    ['bytes that are no UTF-8, kept as they are', '?after=%FF%fe&x=1', 'after=%FF%fe&x=1'],
    ['a fragment, which is dropped', '?page=2#top', 'page=2'],
    ['our own path without a query: the first page', '/tenant/api/v1/posts/', ''],
    ['the end', null, null],
    [
      'the address of another host, of which only the query is used',
      'http://app:8000/tenant/api/v1/posts/?page=2',
      'page=2',
    ],
    ['a reference to another host', '//evil.example/tenant/api/v1/posts/?page=2', 'page=2'],
    ['an address without the path that a proxy hides', 'http://app/api/v1/posts/?page=2', 'page=2'],
  ];
  for (const [name, next, cursor] of shapes) {
    it(`may be ${name}`, () => assert.equal(follow(next), cursor));
  }

  it('loses the token that it carries, however the parameter is spelt', () => {
    assert.equal(follow('?token=abc&page=2'), 'page=2');
    assert.equal(follow('?page=2&%74oken=abc'), 'page=2');
    assert.equal(follow('?page=2&token'), 'page=2');
    assert.equal(follow(`${ENDPOINT}?page=2&key=canary-token-4711`), 'page=2');
  });

  it('keeps parameters that merely resemble the one of the token', () => {
    assert.equal(follow('?tokens=abc&page=2'), 'tokens=abc&page=2');
  });

  it('sends numbers and opaque texts back under the names that were set', () => {
    const named = { ...rules, pageParameter: 'p[n]', cursorParameter: 'after' };
    assert.equal(cursorOf(3, named), 'p%5Bn%5D=3');
    assert.equal(cursorOf('abc', named), 'after=abc');
  });
});

describe('a `next` that is refused', () => {
  const away = [
    'https://user@api.example.com/tenant/api/v1/posts/?page=2',
    'https://user:pass@api.example.com/tenant/api/v1/posts/?page=2',
    'https://api.example.com@evil.example/tenant/api/v1/posts/?page=2',
    ' //evil.example/?page=2',
    '\\\\evil.example\\x?page=2',
    '/\\evil.example/?page=2',
    'https:\\\\evil.example/?page=2',
    'https:evil.example',
    'https:/evil.example/?page=2',
    'ftp://api.example.com/tenant/api/v1/posts/?page=2',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://[::ffff:169.254.169.254]/latest/meta-data/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0xa9fea9fe/latest/meta-data/',
    '/tenant/api/v1/comments/?page=2',
    '/tenant/api/v1/posts/create/?page=2',
    '/tenant/api/v1/posts/../../../admin?page=2',
    '/tenant/api/v1/posts/%2e%2e/%2e%2e/admin?page=2',
    '/tenant/api/v1/posts/..%2f..%2fadmin?page=2',
    '/tenant/api/v1/%70osts/?page=2',
    '/tenant/api/v1//posts/?page=2',
    '/tenant/api/v1/posts//?page=2',
    '../../../?page=2',
    'posts/?page=2',
  ];
  for (const next of away) {
    it(`leads away: ${next}`, () => {
      assert.throws(() => follow(next), isProtocol(/leads away from api\.example\.com/));
    });
  }

  const wrong: [string, unknown, RegExp][] = [
    ['an empty text', '', /empty/],
    ['false', false, /boolean/],
    ['true', true, /boolean/],
    ['an object', { page: 2 }, /object/],
    ['an array', [2], /array/],
    ['nothing', undefined, /undefined/],
    ['a fraction', 1.5, /number/],
    ['a negative number', -1, /number/],
    ['a number beyond 2^53', 2 ** 60, /number/],
    ['a line break', 'a\r\nb', /control/],
    ['a tab inside slashes', '/\t/evil.example/', /control/],
    ['a lone surrogate', 'a\ud800', /Unicode/],
    ['a text without end', 'x'.repeat(9000), /longer/],
    ['a cursor with the token in it', 'next:canary-token-4711', /API token/],
    ['a cursor with the token in base64', Buffer.from('k=canary-token-4711').toString('base64'), /API token/],
  ];
  for (const [name, next, sentence] of wrong) {
    it(`is ${name}`, () => assert.throws(() => follow(next), isProtocol(sentence)));
  }

  it('does not repeat the token in its message', () => {
    assert.throws(
      () => follow('https://evil.example/?t=canary-token-4711'),
      (error: Error) => !error.message.includes('canary'),
    );
  });
});

describe('for any `next` at all', () => {
  const texts = fc.oneof(
    anyText(),
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc
      .tuple(
        fc.constantFrom(
          '',
          '/',
          '//',
          '\\',
          '/\\',
          '?',
          '../',
          'https:',
          'https://',
          ENDPOINT,
          '@',
          '%2e%2e/',
        ),
        fc.string(),
      )
      .map(([start, rest]) => start + rest),
  );

  it('the request stays on our origin and path, and carries no token of its own', () => {
    fc.assert(
      fc.property(texts, (next) => {
        const cursor = tryFollow(next);
        if (cursor === null) return;
        assert.match(cursor, /^[\x21\x22\x24-\x7e]*$/);
        const request = new URL(`${ENDPOINT}?${cursor}`);
        assert.equal(request.origin + request.pathname, ENDPOINT);
        assert.equal(request.hash, '');
        assert.equal(request.searchParams.get('token'), null);
      }),
      { numRuns: 500 },
    );
  });

  it('a cursor that comes back as `next` in any spelling is the same cursor', () => {
    fc.assert(
      fc.property(texts, (next) => {
        const cursor = tryFollow(next);
        if (cursor === null || cursor === '') return;
        for (const start of ['?', ENDPOINT.concat('?'), '/tenant/api/v1/posts/?']) {
          assert.equal(follow(start + cursor), cursor);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('an opaque text arrives as it was sent', () => {
    fc.assert(
      fc.property(fc.base64String({ minLength: 4 }), (text) => {
        fc.pre(!/^\d+$/.test(text) && !text.startsWith('/'));
        assert.equal(new URLSearchParams(follow(text) ?? '').get('cursor'), text);
      }),
    );
  });
});

function tryFollow(next: unknown): string | null {
  try {
    return follow(next);
  } catch (error) {
    assert.ok(error instanceof Failure && error.code === 'protocol');
    return null;
  }
}

function isProtocol(sentence: RegExp) {
  return (error: unknown): boolean =>
    error instanceof Failure && error.code === 'protocol' && sentence.test(error.message);
}
