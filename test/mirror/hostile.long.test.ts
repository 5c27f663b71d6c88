import { describe, it } from 'node:test';
import { RESOURCES } from '../../src/contract/endpoints.ts';
import type { FaultKind } from '../laboratory/fault-kinds.ts';
import { fakeClock } from '../support/clock.ts';
import { HOSTILE } from './hostile.ts';
import { ending, meet } from './hostile-sweep.ts';
import { workbenchFor } from './workbench.ts';

// Together, because some wait for a time limit.
describe('a hostile upstream', { concurrency: 4 }, () => {
  for (const [kind, trouble] of Object.entries(HOSTILE))
    it(`(${kind}) that stays, on posts and on comments: ${ending(trouble.always)}`, async (t) => {
      const bench = await workbenchFor(t, { posts: 30 }, fakeClock(), trouble.limits);
      for (const resource of RESOURCES) await meet(bench, resource, kind as FaultKind, trouble, 'always');
    });
});
