import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type History, histories, play } from './history.ts';

/** More with `npm run histories`. */
const RUNS = 10;

describe('any history of an upstream', () => {
  it('leaves the mirror exact after quiet sweeps, and no row deleted that lived', async () => {
    await fc.assert(
      fc.asyncProperty(histories, (history) => play(history)),
      { numRuns: RUNS, verbose: 1 },
    );
  });
});

/** Found by the long script, each a defect once. */
const ONCE_FAILED: [what: string, History][] = [
  [
    'a list by likes that looked newest first while it moved, and cost a sweep when that turned out wrong',
    {
      seed: 4494,
      posts: 6,
      pageSize: 2,
      paging: 'url',
      order: 'votes',
      passes: [
        { resource: 'comments', mode: 'sweep', killAt: 3 },
        { resource: 'posts', mode: 'sweep', killAt: null },
      ],
      upheaval: [[], [], [{ what: 'post', at: 0 }], [], [], [{ what: 'uncomment', at: 66 }]],
    },
  ],
  [
    'a list by likes whose neighbours are all equal, so that no page shows the order and every sweep seems to overlap',
    {
      seed: 3657,
      posts: 9,
      pageSize: 2,
      paging: 'url',
      order: 'votes',
      passes: [
        { resource: 'comments', mode: 'sweep', killAt: null },
        { resource: 'posts', mode: 'sweep', killAt: null },
        { resource: 'posts', mode: 'sweep', killAt: null },
      ],
      upheaval: [
        [],
        [{ what: 'post', at: 0 }],
        [],
        [],
        [],
        [{ what: 'post', at: 0 }],
        [],
        [
          { what: 'post', at: 0 },
          { what: 'post', at: 0 },
        ],
        [
          { what: 'delete', at: 0 },
          { what: 'like', at: 9 },
        ],
      ],
    },
  ],
];

describe('a history that once went wrong', () => {
  for (const [what, history] of ONCE_FAILED) it(what, () => play(history));
});
