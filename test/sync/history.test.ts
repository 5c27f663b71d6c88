import { describe, it } from 'node:test';
import fc from 'fast-check';
import { histories, play } from './history.ts';

/** More with `node test/sync/history.long.ts`. */
const RUNS = 300;

describe('any history of an upstream', () => {
  it('leaves the mirror exact after a quiet sweep, and no row deleted that lived', async () => {
    await fc.assert(
      fc.asyncProperty(histories, (history) => play(history)),
      { numRuns: RUNS, verbose: 1 },
    );
  });
});
