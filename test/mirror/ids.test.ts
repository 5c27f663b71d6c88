import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { indexOf, packIds, unpackIds } from '../../src/mirror/decide/ids.ts';
import { range } from '../support/rows.ts';

const ids = fc.array(fc.oneof(fc.maxSafeNat(), fc.nat(300), fc.constant(Number.MAX_SAFE_INTEGER)));

function unpacked(bytes: Uint8Array): number[] {
  const list: number[] = [];
  unpackIds(bytes, (id) => list.push(id));
  return list;
}

describe('packed ids', () => {
  it('come back as they were, in their order, doubles included', () => {
    fc.assert(
      fc.property(ids, (list) => {
        assert.deepEqual(unpacked(packIds(list)), list);
      }),
      { numRuns: 500 },
    );
  });

  it('take about a byte each where they are neighbours', () => {
    const page = range(900_000, 900_099).reverse();
    assert.ok(packIds(page).length <= page.length + 2);
  });

  it('survive the longest way up and down', () => {
    const ends = [0, Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER - 1, 1];
    assert.deepEqual(unpacked(packIds(ends)), ends);
  });
});

describe('an index of ids', () => {
  it('tells the first place of each id, as a Map does', () => {
    fc.assert(
      fc.property(ids, ids, (list, others) => {
        const places = new Map(list.map((id, at) => [id, at] as const).reverse());
        const index = indexOf(Float64Array.from(list));
        assert.equal(index.size, places.size);
        for (const id of [...list, ...others]) assert.equal(index.get(id), places.get(id) ?? -1);
      }),
      { numRuns: 300 },
    );
  });

  it('stays fast where ids differ only in their high bits', () => {
    const list = range(1, 100_000).map((n) => n * 2 ** 32);
    const index = indexOf(Float64Array.from(list));
    assert.equal(index.size, list.length);
    assert.equal(index.get(2 ** 32 * 77), 76);
  });

  it('of no ids finds none', () => {
    assert.deepEqual([indexOf(new Float64Array()).size, indexOf(new Float64Array()).get(0)], [0, -1]);
  });
});
