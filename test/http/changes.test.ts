import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import Fastify from 'fastify';
import { SILENT } from '../../src/base/log.ts';
import type { ChangeFeed, ChangeQuery } from '../../src/changes/feed.ts';
import { addChanges, addFeeds } from '../../src/http/changes.ts';
import type { RecentPost } from '../../src/search/browse/browse.ts';

describe('a page of changes', () => {
  function pages(t: TestContext, isLast: boolean) {
    const asked: [string, ChangeQuery][] = [];
    const feed = {
      head: () => ({ mirror: 'm', position: '9-a', oldest: 1 }),
      after(since: string, query: ChangeQuery) {
        asked.push([since, query]);
        return { changes: [{ number: 1 }], next: '1-a', isLast };
      },
    } as unknown as ChangeFeed;
    const app = Fastify();
    t.after(() => app.close());
    addChanges(app, { feed, log: SILENT });
    return { asked, get: async (query: string) => (await app.inject(`/api/changes${query}`)).json() };
  }

  it('has a hundred rows unless told otherwise, and a thousand at most', async (t) => {
    const { asked, get } = pages(t, true);
    for (const query of ['', '?limit=7', '?limit=1000', '?limit=1001']) await get(query);
    assert.deepEqual(
      asked.map(([, { limit }]) => limit),
      [100, 7, 1000, 1000],
    );
  });

  it('filters by position, and by one or several types and boards', async (t) => {
    const { asked, get } = pages(t, true);
    await get('?since=4-b&type=post.created&type=post.edited&board=ideas');
    await get('?type=&board=');
    assert.deepEqual(asked, [
      ['4-b', { types: ['post.created', 'post.edited'], boards: ['ideas'], limit: 100 }],
      ['', { types: undefined, boards: undefined, limit: 100 }],
    ]);
  });

  it('returns the next position, and whether more changes are there', async (t) => {
    const said = { mirror: 'm', position: '9-a', oldest: 1, changes: [{ number: 1 }], next: '1-a' };
    assert.deepEqual(await pages(t, true).get(''), { ...said, more: false });
    assert.deepEqual(await pages(t, false).get(''), { ...said, more: true });
  });
});

describe('a stream of changes', () => {
  it('starts after Last-Event-ID, at the given position, or now', async () => {
    const begun: string[] = [];
    const feed = {
      version: () => 1,
      resolve(since: string) {
        begun.push(since);
        return '5-a';
      },
      after: (since: string) => ({ changes: [{ position: '6-a', since }], next: '6-a', isLast: true }),
    } as unknown as ChangeFeed;
    const app = Fastify();
    addChanges(app, { feed, log: SILENT });
    const url = '/api/changes/stream';
    const told = [
      app.inject({ url }),
      app.inject({ url: `${url}?since=4-a` }),
      app.inject({ url: `${url}?since=4-a`, headers: { 'last-event-id': '3-a' } }),
    ];
    await new Promise((next) => setImmediate(next));
    await app.close();
    const bodies = (await Promise.all(told)).map(({ body }) => body);
    assert.deepEqual(begun, ['now', '4-a', '3-a']);
    const first = 'id: 6-a\ndata: {"position":"6-a","since":"5-a"}\n\n';
    assert.deepEqual(bodies, Array(3).fill(`retry: 2000\n\n${first}`));
  });
});

describe('a stream to somebody who reads slowly', () => {
  it('continues as soon as the connection drains, without waiting for the next change', async () => {
    const asked: string[] = [];
    const feed = {
      version: () => 1,
      resolve: () => '5-a',
      after(since: string) {
        asked.push(since);
        return { changes: [], next: since, isLast: true };
      },
    } as unknown as ChangeFeed;
    const app = Fastify();
    const streams: NodeJS.EventEmitter[] = [];
    app.addHook('onRequest', async (_, reply) => void streams.push(reply.raw));
    addChanges(app, { feed, log: SILENT });
    const told = app.inject({ url: '/api/changes/stream' });
    await new Promise((next) => setImmediate(next));
    assert.equal(asked.length, 1);
    streams[0]?.emit('drain');
    assert.equal(asked.length, 2);
    await app.close();
    await told;
  });
});

describe('the feed of posts', () => {
  const POST: RecentPost = {
    ...{ id: 7, title: 'Dark <mode> & "more"', url: '/p/7?a=1&b=2', board: 'Ideas "x"', status: 'Open' },
    ...{ content: 'a\u0000b & <c>', votes_count: 3 },
    ...{ created: '2026-01-01T00:00:00.000Z', changed: '2026-01-02T00:00:00.000Z' },
  };

  function reader(t: TestContext, posts: RecentPost[]) {
    const asked: unknown[] = [];
    const read = (filter: unknown): RecentPost[] => {
      asked.push(filter);
      return posts;
    };
    const app = Fastify();
    t.after(() => app.close());
    addFeeds(app, { posts: { read } as never, upstream: 'https://upstream.test/', mirrorId: 'm1' });
    return { asked, get: (query = '') => app.inject(`/feeds/posts.atom${query}`) };
  }

  it('lets no word of a post end its place, and leaves out what XML cannot hold', async (t) => {
    const { body, headers } = await reader(t, [POST]).get();
    assert.equal(headers['content-type'], 'application/atom+xml; charset=utf-8');
    const entry = body.slice(body.indexOf('<entry>'), body.indexOf('</entry>'));
    assert.equal(
      entry,
      `<entry>
<id>urn:feedback-mirror:m1:post:7</id>
<title>Dark &lt;mode&gt; &amp; &quot;more&quot;</title>
<published>2026-01-01T00:00:00.000Z</published>
<updated>2026-01-02T00:00:00.000Z</updated>
<category term="Ideas &quot;x&quot;"/>
<link href="https://upstream.test/p/7?a=1&amp;b=2"/>
<content type="text">ab &amp; &lt;c&gt;

Open, 3 votes</content>
`,
    );
  });

  it('has the fifty newest posts of the filter, dated by the newest, with links to the upstream only', async (t) => {
    const posts = [
      POST,
      { ...POST, id: 8, changed: '2026-01-03T00:00:00.000Z', url: 'javascript:alert(1)' },
      POST,
    ];
    const { asked, get } = reader(t, posts);
    const { body } = await get('?board=ideas&status=Open&search=dark%20%26');
    assert.deepEqual(asked, [{ board: 'ideas', status: 'Open', search: 'dark &', limit: 50 }]);
    assert.match(
      body,
      /<title>Posts on ideas in Open with dark &amp;<\/title>\n<updated>2026-01-03T00:00:00.000Z</,
    );
    assert.match(
      body,
      /<id>urn:feedback-mirror:m1:posts:Posts%20on%20ideas%20in%20Open%20with%20dark%20%26</,
    );
    assert.deepEqual([body.split('<link ').length - 1, body.includes('javascript')], [2, false]);
  });
});
