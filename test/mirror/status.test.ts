import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { story } from '../support/mirror.ts';
import { aComment, aPost, iso, posts, range } from '../support/rows.ts';
import { apply, begin, finish, sweep } from '../support/steps.ts';

describe('status', () => {
  story('an empty mirror has nothing to tell but whose it is', async ({ store, upstream }) => {
    const nothing = {
      live: 0,
      deleted: 0,
      lastSweepAt: null,
      lastHeadAt: null,
      unfinished: false,
      suspects: 0,
      held: 0,
      quarantined: 0,
      isIncomplete: false,
      notes: [],
    };
    assert.deepEqual(await store.status(), {
      upstream,
      troubles: [],
      olderCopy: null,
      unreadableList: null,
      resources: [
        { resource: 'posts', ...nothing },
        { resource: 'comments', ...nothing },
      ],
      people: { users: 0, boards: 0, statuses: 0 },
      runs: [],
    });
  });

  story('the status tells the newest complete pass of each kind, whatever runs since', async ({ store }) => {
    const told = () => store.status().resources.find(({ resource }) => resource === 'posts');
    for (const at of [1, 3]) finish(store, begin(store, 'posts', at, { mode: 'head' }), at + 1);
    assert.deepEqual([told()?.lastHeadAt, told()?.lastSweepAt], [iso(4), null]);
    for (const at of [5, 6]) sweep(store, 'posts', [aPost(1)], at);
    begin(store, 'posts', 7, { mode: 'head' });
    assert.deepEqual([told()?.lastHeadAt, told()?.lastSweepAt], [iso(4), iso(6)]);
  });

  story('the status counts rows, people, absences, quarantine and the last passes', async ({ store }) => {
    sweep(store, 'posts', posts(1, 2, 3), 1);
    sweep(store, 'posts', posts(1, 3), 2);
    await finish(store, await begin(store, 'posts', 3, { mode: 'head' }), 4);
    const pass = await begin(store, 'comments', 5);
    const rejects = [{ id: null, reason: 'broken', body: '[]' }];
    await apply(store, pass, [aComment(1)], 5, { rejects, state: 'page two' });
    const { resources, people, runs } = await store.status();
    assert.deepEqual(resources, [
      {
        resource: 'posts',
        live: 2,
        deleted: 1,
        lastSweepAt: iso(2),
        lastHeadAt: iso(4),
        unfinished: false,
        suspects: 0,
        held: 0,
        quarantined: 0,
        isIncomplete: false,
        notes: [],
      },
      {
        resource: 'comments',
        live: 1,
        deleted: 0,
        lastSweepAt: null,
        lastHeadAt: null,
        unfinished: true,
        suspects: 0,
        held: 0,
        quarantined: 1,
        isIncomplete: false,
        notes: [],
      },
    ]);
    assert.deepEqual(people, { users: 1, boards: 1, statuses: 1 });
    assert.deepEqual(
      runs.map(({ resource, mode, outcome, deleted }) => [resource, mode, outcome, deleted]),
      [
        ['comments', 'sweep', 'running', 0],
        ['posts', 'head', 'complete', 0],
        ['posts', 'sweep', 'complete', 1],
        ...Array(4).fill(['posts', 'sweep', 'complete', 0]),
      ],
    );
  });

  story('a pass that failed does not count as the last sweep', async ({ store }) => {
    await sweep(store, 'posts', posts(1), 1);
    await sweep(store, 'posts', posts(1), 2, { outcome: 'failed', error: 'HTTP 500' });
    assert.equal((await store.status()).resources[0]?.lastSweepAt, iso(1));
  });

  story('the last ten passes are shown, newest first', async ({ store }) => {
    for (const at of range(1, 12)) await finish(store, await begin(store, 'posts', at), at);
    const { runs } = await store.status();
    assert.deepEqual(
      runs.map((run) => run.started_at),
      range(3, 12).reverse().map(iso),
    );
  });
});
