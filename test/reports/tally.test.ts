import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  firstBy,
  numbered,
  rowsFrom,
  rowsIn,
  rowsUpTo,
  rowsWhere,
  setOf,
} from '../../src/mirror/index/select.ts';
import type { Bucket } from '../../src/reports/moment.ts';
import {
  bestOf,
  bitsOf,
  bucketFinder,
  firstReplies,
  numberLists,
  placesOf,
  quantile,
  secondOf,
  selected,
  sqlTimeOf,
  weekFinder,
} from '../../src/reports/tally.ts';

/** Small ids are looked up in arrays, large ones in maps; both on the edge. */
const IDS = [
  [3, 1, 7],
  [3, 2 ** 24 - 1, 1],
  [3, 2 ** 24, 1],
  [2 ** 40, 3, 2 ** 40 + 1],
];
const ABSENT = [0, 2, 2 ** 24 + 1, 2 ** 40 + 2];

describe('ids, small and large', () => {
  for (const ids of IDS) {
    const column = Float64Array.from(ids);

    it(`are found where they are, and nowhere else (${ids})`, () => {
      const [isIn, placeOf] = [setOf(ids), placesOf(column)];
      assert.deepEqual([ids.map(isIn), ABSENT.map(isIn)], [ids.map(() => true), ABSENT.map(() => false)]);
      assert.deepEqual([ids.map(placeOf), ABSENT.map(placeOf)], [[0, 1, 2], ABSENT.map(() => -1)]);
    });

    it(`are numbered in the order in which they are met, each once (${ids})`, () => {
      const people = numbered(column, Float64Array.of(5));
      const [a = 0, b = 0, c = 0] = ids;
      assert.deepEqual([b, a, b, 5, c, a].map(people.of), [0, 1, 0, 2, 3, 1]);
      assert.deepEqual(people.ids, [b, a, 5, c]);
    });

    it(`get each bit for the first time once (${ids})`, () => {
      const isFirst = bitsOf(column, Float64Array.of(5));
      const [a = 0, b = 0] = ids;
      const met = [
        [a, 1],
        [a, 2],
        [a, 1],
        [b, 1],
        [5, 2],
        [a, 3],
        [b, 2],
      ] as const;
      assert.deepEqual(
        met.map(([id, bit]) => isFirst(id, bit)),
        [true, true, false, true, true, false, true],
      );
    });
  }

  it('of no person are empty', () => {
    assert.equal(setOf([])(0), false);
    assert.equal(placesOf(new Float64Array(0))(0), -1);
  });
});

describe('the posts of a question', () => {
  it('are there, of its board and statuses, from its first moment on and before its last', () => {
    const posts = {
      rows: 8,
      created: Float64Array.of(10, 9, 20, 19, 15, 15, 15, 15),
      board: Float64Array.of(1, 1, 1, 1, 2, 1, 1, 1),
      status: Float64Array.of(1, 1, 1, 2, 1, 3, 1, 1),
      gone: Float64Array.of(0, 0, 0, 0, 0, 0, 1, 0),
    };
    const usual = { since: 10, until: 20, board: null, statuses: [] as number[] };
    const rows = (asked: Partial<typeof usual> | { board: number }, among?: Int32Array): number[] => [
      ...selected(posts, { ...usual, ...asked }, among),
    ];
    assert.deepEqual(rows({}), [0, 3, 4, 5, 7]);
    assert.deepEqual(rows({ board: 1 }), [0, 3, 5, 7]);
    assert.deepEqual(rows({ statuses: [1, 2] }), [0, 3, 4, 7]);
    assert.deepEqual(rows({}, Int32Array.of(0, 1, 2, 3, 6)), [0, 3]);
  });
});

describe('rows', () => {
  it('are found by a least number, by a set of numbers and by a test, in their order', () => {
    const numbers = Uint16Array.of(3, 1, 4, 1, 5);
    assert.deepEqual([...rowsFrom(numbers, 3)], [0, 2, 4]);
    assert.deepEqual([...rowsFrom(numbers, Number.NEGATIVE_INFINITY)], [0, 1, 2, 3, 4]);
    assert.deepEqual([...rowsIn(numbers, setOf([1, 5]))], [1, 3, 4]);
    assert.deepEqual([...rowsWhere(Int32Array.of(4, 2, 0), (row) => row > 1)], [4, 2]);
    assert.deepEqual([...rowsUpTo(3)], [0, 1, 2]);
  });
});

describe('the first of many by an order', () => {
  it('are those that sorting all of them would put first', () => {
    const weights = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 30 });
    fc.assert(
      fc.property(weights, fc.integer({ min: 0, max: 12 }), (all, limit) => {
        const isWanted = (row: number): boolean => row % 3 !== 0;
        const order = { weight: (row: number) => all[row] ?? 0, ties: (a: number, b: number) => b - a };
        const sorted = all
          .map((_, row) => row)
          .filter(isWanted)
          .sort((a, b) => (all[b] ?? 0) - (all[a] ?? 0) || b - a);
        const rows = rowsUpTo(all.length);
        assert.deepEqual(firstBy(rows, limit, order, isWanted), sorted.slice(0, limit));
        assert.deepEqual(
          bestOf(all, limit, (a, b) => a - b),
          all.toSorted((a, b) => a - b).slice(0, limit),
        );
      }),
    );
  });
});

describe('the day or week of a moment', () => {
  it('begins with its first moment; the last one is open to buckets, and ends for weeks', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(lengths, fc.integer({ min: -20, max: 5000 }), (all, at) => {
        let begins = 0;
        const buckets = all.map((length): Bucket => {
          const times = {
            begins: new Date(begins).toISOString(),
            ends: new Date(begins + length).toISOString(),
          };
          begins += length;
          return { date: '', partial: null, ...times };
        });
        const place = buckets.findLastIndex((bucket) => Date.parse(bucket.begins) <= at);
        for (const moment of [at, ...buckets.map((bucket) => Date.parse(bucket.begins))]) {
          const meant = buckets.findLastIndex((bucket) => Date.parse(bucket.begins) <= moment);
          assert.equal(bucketFinder(buckets)(moment), meant);
        }
        assert.equal(weekFinder(buckets)(at), at < begins ? place : -1);
      }),
    );
    assert.equal(bucketFinder([])(5), -1);
  });
});

describe('a share of values', () => {
  it('is found between the two that are nearest to it', () => {
    assert.equal(quantile(new Float64Array(0), 0.5), null);
    const numbers = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(numbers, fc.constantFrom(0, 0.5, 0.9, 1), (all, share) => {
        const sorted = all.toSorted((a, b) => a - b);
        const place = share * (all.length - 1);
        const [low = 0, high = 0] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
        const meant = low + (high - low) * (place - Math.floor(place));
        assert.ok(Math.abs((quantile(Float64Array.from(all), share) ?? -1) - meant) < 1e-9);
      }),
    );
  });

  it('has all values of its group, however many there are', () => {
    const lists = numberLists(2);
    for (let n = 0; n < 200; n++) lists.add(n % 4 === 0 ? 0 : 1, n);
    lists.add(2, 1);
    const told = [0, 1, 2].map((group) => [...lists.of(group)]);
    const all = Array.from({ length: 200 }, (_, n) => n);
    assert.deepEqual(told, [all.filter((n) => n % 4 === 0), all.filter((n) => n % 4 !== 0), []]);
  });
});

describe('the first reply to a post', () => {
  it('is the earliest public one of the team that is still there', () => {
    const comments = {
      rows: 6,
      post: Float64Array.of(1, 1, 1, 1, 1, 2),
      created: Float64Array.of(50, 40, 30, 20, 10, 5),
      creator: Float64Array.of(9, 9, 9, 9, 8, 9),
      gone: Float64Array.of(0, 0, 1, 0, 0, 0),
      reply: Float64Array.of(1, 1, 1, 0, 1, 1),
    };
    const posts = { rows: 3, id: Float64Array.of(3, 1, 2) };
    assert.deepEqual([...firstReplies(posts, comments, [9])], [Number.POSITIVE_INFINITY, 40, 5]);
  });
});

describe('a moment in SQL', () => {
  it('is a time, or before every time', () => {
    assert.equal(sqlTimeOf(0), '1970-01-01T00:00:00.000Z');
    assert.equal(sqlTimeOf(Number.NEGATIVE_INFINITY), '');
    assert.deepEqual([1999, 2000, -1].map(secondOf), [1, 2, -1]);
  });
});
