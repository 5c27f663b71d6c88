import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Auth } from '../../src/api/client.ts';
import { ORDERS } from '../../src/sandbox/listing.ts';
import { PAGING_STYLES } from '../../src/sandbox/paging.ts';
import { assertNoLeak } from './support/leaks.ts';
import { draftFor, sandboxOf } from './support/sandbox.ts';
import { all, CANARY, clientOf } from './support/upstream.ts';

const MODES: Auth[] = [{ kind: 'header' }, { kind: 'query', parameter: 'key' }];
const ids = (rows: { id: number }[]): number[] => rows.map(({ id }) => id).sort((a, b) => a - b);

for (const paging of PAGING_STYLES) {
  // A list in another order for each request shows some rows twice and others not at all, whoever walks it.
  for (const order of ORDERS.filter((each) => each !== 'random')) {
    describe(`a list paged by ${paging}, ${order} first`, () => {
      it('is walked to its end, every row once, however many pages are read ahead', async (t) => {
        const sandbox = await sandboxOf(t, { paging, order });
        const client = clientOf(t, sandbox.url);
        for (const ahead of [1, 4]) {
          const posts = await all(client.posts({ ahead }));
          const comments = await all(client.comments({ ahead }));
          assert.deepEqual(ids(posts.flatMap(({ rows }) => rows)), ids(sandbox.world.posts()));
          assert.deepEqual(ids(comments.flatMap(({ rows }) => rows)), ids(sandbox.world.comments()));
          assert.ok([...posts, ...comments].every(({ rejects }) => rejects.length === 0));
        }
      });

      it('can be read again page by page, by the cursors of the walk', async (t) => {
        const sandbox = await sandboxOf(t, { paging, order, echoToken: true });
        const client = clientOf(t, sandbox.url, { auth: { kind: 'query', parameter: 'key' } });
        for (const page of await all(client.posts())) {
          const again = await client.page('posts', page.cursor);
          assert.deepEqual(again.rows, page.rows);
          assert.equal(again.next, page.next);
          assertNoLeak(CANARY, { page });
        }
      });
    });
  }
}

for (const auth of MODES) {
  describe(`with the token in the ${auth.kind}`, () => {
    it('all five operations work, and one without a valid token does not', async (t) => {
      for (const searchShape of ['envelope', 'array'] as const) {
        const sandbox = await sandboxOf(t, { searchShape });
        const client = clientOf(t, sandbox.url, { auth });
        assert.equal((await client.page('posts', '')).rows.length, 5);
        assert.equal((await client.page('comments', '')).rows.length, 5);
        const draft = draftFor(sandbox);
        const created = await client.create(draft);
        const forUser = await client.createAsUser({ ...draft, email: 'ada@example.com', full_name: 'Ada' });
        assert.equal(created.outcome, 'confirmed');
        assert.equal(forUser.outcome, 'confirmed');
        assert.equal((await client.search('wish')).rows.length, 2);
        const operations = new Set(sandbox.requests.map(({ operation }) => operation));
        assert.equal(operations.size, 5);
        sandbox.revoke(CANARY);
        assert.equal((await client.create(draft)).outcome, 'unauthorised');
        await assert.rejects(client.page('posts', ''), { code: 'unauthorised' });
      }
    });
  });
}
