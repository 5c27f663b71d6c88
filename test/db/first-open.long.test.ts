import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { readMirrorStatus } from '../../src/mirror/store/store.ts';
import { assertWhole } from '../support/mirror.ts';
import { range } from '../support/rows.ts';
import { withPath } from './folder.ts';
import { openAtOnce } from './opener.ts';

const ONE = 'https://one.test';
const TWO = 'https://two.test';

describe('a mirror that several processes open for the first time at once', () => {
  it('is made once and opens for all of them', () =>
    withPath(async (base) => {
      const paths = pathsBeside(base, 15);
      const opened = await openAtOnce(range(1, 3).map(() => ({ upstream: ONE, paths })));
      for (const each of opened) assert.deepEqual(each, Array(15).fill('open'));
      paths.forEach(assertWhole);
    }));

  it('belongs to one of them where they come from two upstreams', () =>
    withPath(async (base) => {
      const paths = pathsBeside(base, 15);
      const [one = [], two = []] = await openAtOnce([
        { upstream: ONE, paths },
        { upstream: TWO, paths },
      ]);
      for (const [i, path] of paths.entries()) {
        const [owner, refusal] = one[i] === 'open' ? [ONE, two[i]] : [TWO, one[i]];
        assert.match(String(refusal), new RegExp(`belongs to ${owner}`));
        assert.equal(readMirrorStatus({ path, upstream: owner }).upstream, owner);
      }
    }));
});

function pathsBeside(base: string, count: number): string[] {
  return range(1, count).map((n) => join(dirname(base), `mirror-${n}`, 'mirror.db'));
}
