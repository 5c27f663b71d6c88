import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { fetchJson, HttpError, withQuery } from '../../src/web/api.ts';
import { withZone } from '../../src/web/parts/period.ts';
import { choicesOf } from '../../src/web/shell/page.ts';
import { matching } from '../../src/web/shell/palette.ts';

describe('an address', () => {
  it('has what is chosen, and nothing of what is not', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constant(undefined));
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), value), (chosen) => {
        const address = new URL(withQuery('/posts', chosen), 'http://mirror.test');
        const given = Object.entries(chosen).filter(
          ([, one]) => one !== null && one !== undefined && one !== '',
        );
        assert.deepEqual(
          [...address.searchParams],
          given.map(([name, one]) => [name, String(one).toWellFormed()]),
        );
      }),
    );
    assert.equal(withQuery('/posts', { board: null }), '/posts');
  });

  it('names the zone of chosen days, and none for a period that is the same everywhere', () => {
    const { settled } = choicesOf(['since', 'until', 'tz'], withZone);
    const of = (address: string): string => settled(new URL(address, 'http://mirror.test'));
    assert.equal(of('/?since=30d&tz=UTC'), '/?since=30d');
    assert.match(of('/?since=2026-11-01'), /^\/\?since=2026-11-01&tz=.+/);
    const settledOnce = of('/?since=2026-11-01&until=2026-11-02&tz=Asia%2FTokyo');
    assert.equal(of(settledOnce), settledOnce);
    assert.match(settledOnce, /tz=Asia%2FTokyo$/);
  });
});

describe('a choice on a page', () => {
  const { chooser } = choicesOf(['board', 'status']);
  /** The page was drawn at `/posts`; the window is at another address by now. */
  const choosing = (t: TestContext, now: string) => {
    const before = Object.getOwnPropertyDescriptor(globalThis, 'location');
    Object.defineProperty(globalThis, 'location', {
      value: new URL(now, 'http://mirror.test'),
      configurable: true,
    });
    t.after(() => {
      if (before) Object.defineProperty(globalThis, 'location', before);
      else Reflect.deleteProperty(globalThis, 'location');
    });
    const went: [address: string, isReplaced: boolean | undefined][] = [];
    const url = new URL('/posts', 'http://mirror.test');
    const go = (address: string, options?: { replace?: boolean }): void =>
      void went.push([address, options?.replace]);
    return { went, choose: chooser({ url, parts: [], go, reload: async () => undefined }) };
  };

  it('is merged with what is chosen by then', (t) => {
    const { went, choose } = choosing(t, '/posts?board=bugs');
    choose({ status: '3' });
    choose(({ board }) => ({ board: `${board},ideas` }));
    assert.deepEqual(went, [
      ['/posts?board=bugs&status=3', false],
      ['/posts?board=bugs%2Cideas', false],
    ]);
  });

  it('makes no second entry of the history for the same address', (t) => {
    const { went, choose } = choosing(t, '/posts?board=bugs');
    choose({ board: 'bugs' });
    assert.deepEqual(went, [['/posts?board=bugs', true]]);
  });

  it('does nothing once the person has left the page', (t) => {
    const { went, choose } = choosing(t, '/people');
    choose({ board: 'bugs' });
    assert.deepEqual(went, []);
  });
});

it('the palette finds what has every word, in its name or its kind, and a handful while nothing is typed', () => {
  const words = fc.array(fc.constantFrom('top', 'posts', 'board', 'Report', 'Über'), { minLength: 1 });
  const entry = fc.record({
    kind: fc.constantFrom('Report', 'Page'),
    text: words.map((all) => all.join(' ')),
  });
  fc.assert(
    fc.property(fc.array(entry), words, (all, typed) => {
      const entries = all.map((one) => ({ ...one, href: '/' }));
      const fits = entries.filter(({ text, kind }) =>
        typed.every((word) => `${text} ${kind}`.toLowerCase().includes(word.toLowerCase())),
      );
      assert.deepEqual(matching(entries, typed.join(' ')), fits.slice(0, 8));
      assert.deepEqual(matching(entries, ''), entries.slice(0, 12));
    }),
  );
});

describe('a request', () => {
  const answering = (t: TestContext, status: number, body: string) =>
    t.mock.method(globalThis, 'fetch', async () => new Response(body, { status }));

  it('that the service refuses fails with its own words, or with the status where it has none', async (t) => {
    const failed = async (status: number, body: string): Promise<HttpError> => {
      answering(t, status, body);
      const error = await fetchJson('/data/posts').catch((caught: unknown) => caught);
      assert.ok(error instanceof HttpError);
      return error;
    };
    assert.equal(
      (await failed(400, '{"detail":"There is no such board."}')).message,
      'There is no such board.',
    );
    const other = await failed(502, '<html>');
    assert.deepEqual([other.message, other.status], ['The service answered 502.', 502]);
  });

  it('sends JSON as a POST, and reads with a GET', async (t) => {
    const calls = answering(t, 200, '{}');
    await fetchJson('/data/posts');
    await fetchJson('/data/views', { body: { name: 'mine' } });
    const sent = calls.mock.calls.map(({ arguments: [, init] }) => init as unknown as RequestInit);
    assert.deepEqual(
      sent.map(({ method, body }) => [method, body]),
      [
        ['GET', null],
        ['POST', '{"name":"mine"}'],
      ],
    );
  });
});
