import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FaultKind, KINDS, suits } from '../laboratory/fault-kinds.ts';
import { fakeClock } from '../support/clock.ts';
import { HOSTILE } from './hostile.ts';
import { ending, meet } from './hostile-sweep.ts';
import { workbenchFor } from './workbench.ts';

// Together, because some wait for a time limit.
describe('a hostile upstream', { concurrency: 4 }, () => {
  it('has a row in the table for every kind of trouble that a list can meet', () => {
    const kinds = Object.keys(KINDS) as FaultKind[];
    const concerned = kinds.filter((kind) => suits(kind, 'listPosts'));
    assert.deepEqual(new Set(Object.keys(HOSTILE)), new Set(concerned));
  });

  for (const [kind, trouble] of Object.entries(HOSTILE))
    it(`(${kind}) on one page of posts: ${ending(trouble.once)}`, async (t) => {
      const bench = await workbenchFor(t, { posts: 30 }, fakeClock(), trouble.limits);
      await meet(bench, 'posts', kind as FaultKind, trouble, 'once');
    });
});
