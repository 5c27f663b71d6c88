import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LEAST_POSTS, survivalOf } from '../../src/reports/survival.ts';
import { survivalByHand, type Time } from './by-hand.ts';

const times = (list: readonly Time[]) => ({
  entered: Float64Array.from(list, ({ entered }) => entered),
  left: Float64Array.from(list, ({ left }) => left),
  ended: Uint8Array.from(list, ({ ended }) => Number(ended)),
});
const seen = (left: number, ended = true): Time => ({ entered: 0, left, ended });

const time = fc.oneof(
  fc.record({ entered: fc.constant(0), left: fc.integer({ min: 0, max: 60 }), ended: fc.boolean() }),
  fc
    .record({
      entered: fc.integer({ min: 1, max: 40 }),
      more: fc.integer({ min: 1, max: 40 }),
      ended: fc.boolean(),
    })
    .map(({ entered, more, ended }) => ({ entered, left: entered + more, ended })),
);

describe('the curve of times that have not all ended', () => {
  it('equals the product over ages that is worked out by hand, whatever ended, began earlier or came in which order', () => {
    fc.assert(
      fc.property(fc.array(time, { maxLength: 60 }), (list) => {
        const found = survivalOf(times(list));
        assert.deepEqual(found, survivalByHand(list));
        assert.deepEqual(survivalOf(times(list.toReversed())), found);
      }),
      { numRuns: 200 },
    );
  });

  it('is the plain median where all have ended', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 99 }), { minLength: LEAST_POSTS }), (ages) => {
        const sorted = ages.toSorted((a, b) => a - b);
        const { median, atLeast } = survivalOf(times(ages.map((age) => seen(age))));
        assert.deepEqual([median, atLeast], [sorted[Math.ceil(ages.length / 2) - 1], null]);
      }),
    );
  });

  it('never calls a median shorter because some have not ended yet', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 99 }), fc.boolean()), { minLength: LEAST_POSTS }),
        (list) => {
          const naive = survivalOf(times(list.filter(([, ended]) => ended).map(([age]) => seen(age))));
          const { median, atLeast } = survivalOf(times(list.map(([age, ended]) => seen(age, ended))));
          if (naive.median !== null && median !== null) assert.ok(median >= naive.median);
          assert.ok((median === null) !== (atLeast === null));
        },
      ),
    );
  });

  it('says at least 98 days of 307 that stay and 12 that came lately', () => {
    const day = 86_400;
    const list = [
      ...Array.from({ length: 307 }, () => seen(98 * day, false)),
      ...Array.from({ length: 12 }, () => seen(35 * day, false)),
    ];
    assert.deepEqual(survivalOf(times(list)), { posts: 319, median: null, p90: null, atLeast: 98 * day });
  });

  it('says how long posts stay at least where nobody saw them begin', () => {
    const list = [1, 2, 3, 4, 5, 6].map(() => ({ entered: 500, left: 598, ended: false }));
    assert.deepEqual(survivalOf(times(list)), { posts: 6, median: null, p90: null, atLeast: 98 });
  });

  it('ends where fewer than five are watched at an age, and others are older', () => {
    const young = Array.from({ length: 20 }, () => seen(1, false));
    const old = Array.from({ length: 300 }, (_, i) => ({ entered: 100 + i, left: 101 + i, ended: false }));
    const list = [...young, { entered: 12, left: 13, ended: true }, ...old];
    assert.deepEqual(survivalOf(times(list)), { posts: 321, median: null, p90: null, atLeast: 13 });
  });

  it('has no median of fewer than five', () => {
    assert.deepEqual(survivalOf(times([1, 2, 3, 4].map((age) => seen(age)))), {
      posts: 4,
      median: null,
      p90: null,
      atLeast: null,
    });
  });
});
