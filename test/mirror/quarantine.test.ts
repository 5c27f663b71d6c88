import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { story } from '../support/mirror.ts';
import { iso, posts } from '../support/rows.ts';
import { apply, begin, finish } from '../support/steps.ts';

const BROKEN = { id: 5, reason: 'title is missing', body: '{"id":5}' };
const NAMELESS = { id: null, reason: 'the value is not an object', body: '17' };

/** Rows that came and could not be read. */
describe('quarantine', () => {
  story('a row that cannot be read is set aside with its reason', async ({ store, read }) => {
    const pass = await begin(store, 'posts', 1);
    await apply(store, pass, posts(1), 1, { rejects: [BROKEN, NAMELESS] });
    const { counts } = pass;
    assert.deepEqual([counts.rows, counts.inserted, counts.quarantined], [3, 1, 2]);
    assert.equal((await finish(store, pass, 1)).quarantined, 2);
    assert.partialDeepStrictEqual(read.table('quarantine'), [
      { resource: 'posts', seen_at: iso(1), reason: BROKEN.reason, body: BROKEN.body },
      { resource: 'posts', seen_at: iso(1), reason: NAMELESS.reason, body: NAMELESS.body },
    ]);
    assert.equal((await store.status()).resources[0]?.quarantined, 2);
  });

  story('the same body is kept once, with its latest reason', async ({ store, read }) => {
    for (const at of [1, 2]) {
      const pass = await begin(store, 'posts', at);
      await apply(store, pass, [], at, { rejects: [{ ...BROKEN, reason: `reason ${at}` }] });
      await finish(store, pass, at);
    }
    const rows = read.table('quarantine');
    assert.equal(rows.length, 1);
    assert.partialDeepStrictEqual(rows[0], { seen_at: iso(2), reason: 'reason 2' });
  });

  story('the same body in the other list is another row', async ({ store, read }) => {
    for (const resource of ['posts', 'comments'] as const) {
      const pass = await begin(store, resource, 1);
      await apply(store, pass, [], 1, { rejects: [NAMELESS] });
    }
    assert.deepEqual(
      read.table('quarantine').map((row) => row.resource),
      ['posts', 'comments'],
    );
  });

  story(
    'a complete sweep that does not meet it again releases it, an incomplete one does not',
    async (mirror) => {
      const { store, read } = mirror;
      const first = await begin(store, 'posts', 1);
      await apply(store, first, [], 1, { rejects: [BROKEN, NAMELESS] });
      await finish(store, first, 1);

      for (const outcome of ['interrupted', 'failed'] as const)
        await finish(store, await begin(store, 'posts', 2), 2, { outcome });
      await finish(store, await begin(store, 'posts', 3, { mode: 'head' }), 3);
      await finish(store, await begin(store, 'comments', 3), 3);
      assert.equal(read.table('quarantine').length, 2);

      const last = await begin(store, 'posts', 4);
      await apply(store, last, [], 4, { rejects: [BROKEN] });
      await finish(store, last, 4);
      assert.partialDeepStrictEqual(read.table('quarantine'), [{ body: BROKEN.body, seen_at: iso(4) }]);
      assert.equal(read.table('quarantine').length, 1);
    },
  );

  for (const mode of ['sweep', 'head'] as const)
    story(`a row that a ${mode} reads is released at once, the others are not`, async ({ store, read }) => {
      const first = begin(store, 'posts', 1);
      apply(store, first, [], 1, { rejects: [BROKEN, { ...BROKEN, id: 6, body: '{"id":6}' }, NAMELESS] });
      finish(store, first, 1);
      apply(store, begin(store, 'posts', 2, { mode }), posts(5), 2);
      assert.deepEqual(
        read.table('quarantine').map(({ body }) => body),
        ['{"id":6}', NAMELESS.body],
      );
    });

  story(
    'a row that one pass shows whole and broken stays for a person to look at',
    async ({ store, read }) => {
      const pass = begin(store, 'posts', 1);
      apply(store, pass, [], 1, { rejects: [BROKEN] });
      apply(store, pass, posts(5), 1);
      finish(store, pass, 1);
      assert.partialDeepStrictEqual(read.table('quarantine'), [{ body: BROKEN.body }]);
    },
  );

  story('what a head pass met while a sweep was interrupted outlives that sweep', async ({ store, read }) => {
    const pass = await begin(store, 'posts', 1);
    await apply(store, pass, posts(1), 1, { rejects: [BROKEN], state: 'page two' });
    const head = await begin(store, 'posts', 2, { mode: 'head' });
    await apply(store, head, [], 2, { rejects: [BROKEN, NAMELESS] });
    await finish(store, head, 2);
    await finish(store, await begin(store, 'posts', 3), 3);
    assert.equal(read.table('quarantine').length, 2);
    await finish(store, await begin(store, 'posts', 4), 4);
    assert.equal(read.table('quarantine').length, 0);
  });
});
