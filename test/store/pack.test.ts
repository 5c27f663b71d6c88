import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { packIds, unpackIds } from '../../src/store/mirror/sightings.ts';
import { range } from '../support/rows.ts';

describe('packed ids', () => {
  it('come back as they were, in their order, doubles included', () => {
    const ids = fc.array(fc.oneof(fc.maxSafeNat(), fc.nat(300), fc.constant(Number.MAX_SAFE_INTEGER)));
    fc.assert(
      fc.property(ids, (list) => {
        assert.deepEqual([...unpackIds(packIds(list))], list);
      }),
      { numRuns: 2000 },
    );
  });

  it('take about a byte each where they are neighbours', () => {
    const page = range(900_000, 900_099).reverse();
    assert.ok(packIds(page).length <= page.length + 2);
  });

  it('survive the longest way up and down', () => {
    const ends = [0, Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER - 1, 1];
    assert.deepEqual([...unpackIds(packIds(ends))], ends);
  });
});
