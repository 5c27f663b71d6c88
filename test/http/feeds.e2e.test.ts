import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Secret } from '../../src/base/secret.ts';
import { addFeeds } from '../../src/http/changes.ts';
import { openRecentPosts } from '../../src/search/browse/browse.ts';
import { openTestMirror } from '../support/mirror.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { ask } from './client.ts';
import { open, TOKEN } from './service.ts';

const FEED_TOKEN = 'opens-the-feeds-only';

async function openSite(t: TestContext) {
  const mirror = openTestMirror();
  const board = (id: number) => ({ id, name: `Board ${id}`, url: `/b/board-${id}` });
  const rows = [
    aPost(1, {
      title: 'Dark <mode> & "more"\u0001',
      url: '/p/1',
      board: board(1),
      created: '2026-01-01T00:00:00Z',
    }),
    aPost(2, {
      title: 'Exports',
      url: 'javascript:alert(1)',
      board: board(2),
      created: '2026-02-01T00:00:00Z',
    }),
  ];
  sweep(mirror.store, 'posts', rows, 1);
  while (mirror.store.index());
  const posts = openRecentPosts(mirror);
  t.after(() => {
    posts.close();
    mirror.dispose();
  });
  const upstream = 'https://upstream.test/';
  const part = (scope: Parameters<typeof addFeeds>[0]): void =>
    addFeeds(scope, { posts, upstream, mirrorId: 'm1' });
  return await open(t, { token: TOKEN, feedToken: new Secret(FEED_TOKEN), parts: [part] });
}

describe('/feeds/posts.atom', () => {
  it('shows the newest posts to readers that know its own token, which opens nothing else', async (t) => {
    const site = await openSite(t);
    const { status, body, headers } = await ask(site, `/feeds/posts.atom?token=${FEED_TOKEN}`);
    assert.deepEqual([status, headers['content-type']], [200, 'application/atom+xml; charset=utf-8']);
    assert.ok(body.indexOf('Exports') < body.indexOf('Dark &lt;mode&gt; &amp; &quot;more&quot;<'));
    assert.match(body, /<link href="https:\/\/upstream.test\/p\/1"\/>/);
    assert.doesNotMatch(body, /javascript:/);
    const refused = [
      '/feeds/posts.atom',
      '/feeds/posts.atom?token=wrong-token',
      `/readyz?token=${FEED_TOKEN}`,
    ];
    for (const path of refused) assert.equal((await ask(site, path)).status, 401);
    const bearer = { headers: { authorization: `Bearer ${FEED_TOKEN}` } };
    assert.equal((await ask(site, '/readyz', bearer)).status, 401);
  });

  it('shows only a board, a status or what is searched for', async (t) => {
    const site = await openSite(t);
    const titles = async (query: string): Promise<number> => {
      const { body } = await ask(site, `/feeds/posts.atom?token=${FEED_TOKEN}&${query}`);
      return body.split('<entry>').length - 1;
    };
    const found = [];
    for (const query of [
      'board=board-1',
      'board=BOARD%202',
      'search=dark',
      'search=%22%22',
      'status=none',
      '',
    ])
      found.push(await titles(query));
    assert.deepEqual(found, [1, 1, 1, 0, 0, 2]);
  });
});
