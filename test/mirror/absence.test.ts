import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NOTHING_LEARNED, worthOf } from '../../src/mirror/decide/absence.ts';
import type { Way } from '../../src/mirror/decide/miss.ts';
import { range } from '../support/rows.ts';
import { deletedBy, type Judged, judge, type Pages, waysOf } from './sweeps.ts';

/** Rows in pages of five. */
function paged(ids: readonly number[], size = 5): Pages {
  return range(0, Math.ceil(ids.length / size) - 1).map((n) => ids.slice(n * size, (n + 1) * size));
}

/** Twenty rows on four pages, without some of them. */
const without = (...missing: number[]): Pages => paged(range(1, 20).filter((id) => !missing.includes(id)));
const ALL = without();
/** The same sweep so often. */
const times = (n: number, pages: Pages): Pages[] => Array<Pages>(n).fill(pages);
/** The last two rows change places from one sweep to the next. */
const moving = (n: number, pages: Pages): Pages[] =>
  range(1, n).map((sweep) =>
    sweep % 2 === 0 ? pages : [...pages.slice(0, -1), [...(pages.at(-1) ?? [])].reverse()],
  );

/** A list that has been watched for some weeks, in which no row came back. */
const LONG_WATCHED = { ...NOTHING_LEARNED, sweeps: 40 };

interface Situation {
  what: string;
  sweeps: Pages[];
  /** The row that is asked about. */
  row: number;
  /** How each sweep after the first missed it. */
  ways: (Way | null)[];
  /** The sweep after the first that deletes it. */
  deletedBy: number | null;
}

const SITUATIONS: Situation[] = [
  {
    what: 'a row between two others of its page is deleted by the second sweep that misses it',
    sweeps: [ALL, ...times(2, without(8))],
    row: 8,
    ways: ['inside', 'inside'],
    deletedBy: 2,
  },
  {
    what: 'three rows in a row inside a page are deleted by the second sweep',
    sweeps: [ALL, ...times(2, without(7, 8, 9))],
    row: 8,
    ways: ['inside', 'inside'],
    deletedBy: 2,
  },
  {
    what: 'a row where two pages meet is deleted by the third sweep of a list that does not move',
    sweeps: [ALL, ...times(3, without(6))],
    row: 6,
    ways: ['between', 'frozen', 'frozen'],
    deletedBy: 3,
  },
  {
    what: 'a row where two pages meet is deleted by the fourth sweep of a list that moves',
    sweeps: [ALL, ...moving(4, without(6))],
    row: 6,
    ways: ['between', 'between', 'between', 'between'],
    deletedBy: 4,
  },
  {
    what: 'the first row of a list is deleted by the fourth sweep',
    sweeps: [ALL, ...times(4, without(1))],
    row: 1,
    ways: ['edge', 'edge', 'edge', 'edge'],
    deletedBy: 4,
  },
  {
    what: 'the last row of a list is deleted by the fourth sweep',
    sweeps: [ALL, ...times(4, without(20))],
    row: 20,
    ways: ['edge', 'edge', 'edge', 'edge'],
    deletedBy: 4,
  },
  {
    what: 'the first row of a list has neighbours once new rows have come before it',
    sweeps: [ALL, without(1), ...times(2, paged([21, ...range(2, 20)]))],
    row: 1,
    ways: ['edge', 'edge', 'inside'],
    deletedBy: 3,
  },
  {
    what: 'a row is not deleted where a sweep has shown it in between',
    sweeps: [ALL, without(8), ALL, without(8)],
    row: 8,
    ways: ['inside', null, 'inside'],
    deletedBy: null,
  },
  {
    what: 'a row is not judged where a row came again out of place',
    sweeps: [ALL, ...times(8, [...without(8).slice(0, 3), [16, 17, 18, 2, 19, 20]])],
    row: 8,
    ways: Array<Way>(8).fill('unstable'),
    deletedBy: null,
  },
  {
    what: 'a row is judged where others were only pushed down to the next page',
    sweeps: [ALL, ...times(1, without(8)), [[21, 1, 2, 3, 4], [4, 5, 6, 7, 9], ...without().slice(2)]],
    row: 8,
    ways: ['inside', 'inside'],
    deletedBy: 2,
  },
  {
    what: 'a row is not judged where another came again at the start of the next page, but was not the last of its own',
    sweeps: [ALL, [[1, 2, 3, 4, 5], [3, 6, 7, 9, 10], ...without().slice(2)]],
    row: 8,
    ways: ['unstable'],
    deletedBy: null,
  },
  {
    what: 'a row next to one that was pushed down is missed between pages',
    sweeps: [ALL, [[21, 1, 2, 3, 4], [4, 6, 7, 8, 9], ...without().slice(2)]],
    row: 5,
    ways: ['between'],
    deletedBy: null,
  },
  {
    what: 'an empty answer misses every row at an edge',
    sweeps: [ALL, ...times(3, [[]])],
    row: 8,
    ways: ['edge', 'edge', 'edge'],
    deletedBy: null,
  },
];

describe('the rule for absent rows', () => {
  for (const { what, sweeps, row, ways, deletedBy: expected } of SITUATIONS)
    it(what, () => {
      const judged = judge(sweeps, LONG_WATCHED);
      assert.deepEqual(waysOf(judged, row).slice(1), ways);
      assert.equal(deletedBy(judged, row), expected);
    });

  it('takes one sweep more in a short list that has been watched for a few sweeps only', () => {
    const deletedAfter = [0, 3, 8, 20].map((n) => {
      const judged = judge([...times(n + 1, ALL), ...times(4, without(8))]);
      return Number(deletedBy(judged, 8)) - n;
    });
    assert.deepEqual(deletedAfter, [3, 3, 2, 2]);
  });

  it('takes two sweeps in a list of more than a thousand rows from the beginning, and three in one of two hundred', () => {
    const deletedAfter = [1200, 200].map((rows) => {
      const shown = (...missing: number[]) => paged(range(1, rows).filter((id) => !missing.includes(id)));
      return deletedBy(judge([shown(), ...times(3, shown(8))]), 8);
    });
    assert.deepEqual(deletedAfter, [2, 3]);
  });

  it('counts four quarters as a full score in a list of a thousand rows', () => {
    const shown = (first: number) => paged(range(first, 1000), 100);
    assert.equal(deletedBy(judge([shown(1), ...times(4, shown(2))]), 1), 4);
  });

  it('begins at nothing after a sweep in which the order was unstable', () => {
    const unstable: Pages = [...without(8).slice(0, 3), [16, 17, 18, 2, 19, 20]];
    const scores = judge([ALL, without(8), unstable], LONG_WATCHED).map(
      ({ missing }) => missing.get(8)?.score,
    );
    assert.deepEqual(scores, [undefined, 0.5, 0]);
  });

  it('trusts the order again after twenty sweeps without a row out of place', () => {
    const unstable: Pages = [...without(8).slice(0, 3), [16, 17, 18, 2, 19, 20]];
    const judged = judge([ALL, unstable, ...times(25, without(8))]);
    assert.equal(judged[1]?.outOfPlace, 1);
    assert.equal(deletedBy(judged, 8), 22);
  });

  it('trusts the order again after twenty sweeps also where new rows push others down in every sweep', () => {
    const unstable: Pages = [...without(8).slice(0, 3), [16, 17, 18, 2, 19, 20]];
    /** While it is read, a new row comes on top: the last row of a page comes again on the next one. */
    const pushed = (sweep: number): Pages => {
      const rows = [...range(101, 100 + sweep).toReversed(), ...without(8).flat()];
      return paged(rows.toSpliced(5, 0, rows[4] as number));
    };
    const judged = judge([ALL, unstable, ...range(1, 25).map(pushed)]);
    assert.deepEqual(
      judged.map(({ outOfPlace }) => outOfPlace),
      [0, 1, ...Array<number>(25).fill(0)],
    );
    assert.notEqual(deletedBy(judged, 8), null);
  });

  it('judges no row within thirty rows of the only page that showed a row twice, and the rows beyond', () => {
    const pages = paged(range(1, 200), 20);
    const gone = [26, 46, 56, 110];
    const later = pages.map((page) => page.filter((id) => !gone.includes(id)));
    const twice: Pages = [[...(later[0] ?? []), 5], ...later.slice(1)];
    const judged = judge([pages, twice]);
    assert.deepEqual(
      gone.map((id) => waysOf(judged, id)[1]),
      ['unstable', 'unstable', 'inside', 'inside'],
    );
  });

  it('counts a row twice on a list that did not move as out of place, also at the start of the next page', () => {
    const overlapping: Pages = [range(1, 5), range(5, 9), range(9, 13)];
    assert.deepEqual(
      judge(times(2, overlapping)).map(({ outOfPlace }) => outOfPlace),
      [0, 2],
    );
  });

  it('lowers what other misses are worth by the rows that come back, earlier misses too', () => {
    const shown = (...missing: number[]) => [range(1, 100).filter((id) => !missing.includes(id))];
    const lone = judge([shown(), ...times(4, shown(40))], LONG_WATCHED);
    const leaking = judge([shown(), shown(10, 20, 30, 40), ...times(4, shown(40))], LONG_WATCHED);
    assert.deepEqual([deletedBy(lone, 40), deletedBy(leaking, 40)], [2, 5]);
  });

  it('lowers what other misses are worth by a deletion that proved wrong', () => {
    const shown = (...missing: number[]) => [range(1, 100).filter((id) => !missing.includes(id))];
    const judged = judge([shown(), ...times(2, shown(50)), shown(), ...times(4, shown(60))], LONG_WATCHED);
    assert.deepEqual([deletedBy(judged, 50), deletedBy(judged, 60)], [2, 7]);
  });

  it('takes rows that are missing at many page boundaries at once for rows that the service loses', () => {
    const [one, many] = [[6], [6, 12, 18]].map((missing) =>
      judge([ALL, ...times(8, without(...missing))]),
    ) as [Judged[], Judged[]];
    assert.deepEqual([deletedBy(one, 6), deletedBy(many, 6)], [3, null]);
  });

  it('takes rows whose neighbours stand far apart since the order changed for no rows of page boundaries', () => {
    const gone = range(1, 8).map((n) => 11 * n);
    const sorted = range(1, 100);
    const shuffled = sorted.toSorted((a, b) => ((37 * a) % 101) - ((37 * b) % 101));
    const left = shuffled.filter((id) => !gone.includes(id));
    const judged = judge([paged(sorted), ...times(6, paged(left))]);
    assert.ok(gone.every((id) => (deletedBy(judged, id) ?? 7) <= 4));
  });

  it('deletes at most one living row in 100,000 sweeps by chance, wherever a list leaves out rows', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000_000 }),
        fc.double({ min: 1e-6, max: 0.99, noNaN: true }),
        (rows, inside) => {
          for (const [way, worth] of Object.entries(worthOf({ ...LONG_WATCHED, inside }, rows))) {
            const misses = Math.ceil(1 / worth);
            assert.ok(inside ** misses * rows * 100_000 <= 1 + 1e-9, `${misses} misses ${way}`);
          }
        },
      ),
    );
  });
});

/** Lists of few rows, in any order, with gaps, repetitions and empty pages. */
const anySweeps: fc.Arbitrary<Pages[]> = fc.array(
  fc.array(fc.array(fc.nat(9), { maxLength: 5 }), { maxLength: 4 }),
  {
    minLength: 1,
    maxLength: 12,
  },
);
/** Sweeps that each leave out some rows of a stable list: these come to deletions. */
const leavingOut: fc.Arbitrary<Pages[]> = fc
  .array(fc.subarray(range(1, 16)), { minLength: 1, maxLength: 12 })
  .map((lists) => [ALL, ...lists.map((ids) => paged(ids))]);
const sweepsOfAnyKind = fc.oneof(anySweeps, leavingOut);

describe('whatever sweeps show', () => {
  it('no row is deleted before its second miss in a row', () => {
    const property = fc.property(sweepsOfAnyKind, (sweeps) => {
      const misses = new Map<number, number>();
      for (const [n, { deleted }] of judge(sweeps).entries()) {
        const shown = new Set(sweeps[n]?.flat());
        for (const id of new Set(sweeps.slice(0, n).flat(2)))
          misses.set(id, shown.has(id) ? 0 : (misses.get(id) ?? 0) + 1);
        for (const id of deleted) assert.ok((misses.get(id) ?? 0) >= 2, `row ${id} in sweep ${n}`);
      }
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('no row that a sweep shows is missing or deleted in it', () => {
    const property = fc.property(sweepsOfAnyKind, (sweeps) => {
      for (const [n, { deleted, missing }] of judge(sweeps).entries())
        for (const id of sweeps[n]?.flat() ?? []) assert.ok(!deleted.includes(id) && !missing.has(id));
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('a sweep that shows everything leaves no row missing', () => {
    const property = fc.property(sweepsOfAnyKind, (sweeps) => {
      const everything = [[...new Set(sweeps.flat(2))]];
      assert.equal(judge([...sweeps, everything]).at(-1)?.missing.size, 0);
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('the numbers that rows have do not matter', () => {
    const renamed = (id: number): number => ((id * 7 + 3) % 23) * 2 ** 40 + id;
    const property = fc.property(sweepsOfAnyKind, (sweeps) => {
      const told = (judged: Judged[], name: (id: number) => number) =>
        judged.map(({ deleted, missing, learned }) => ({
          learned,
          deleted: deleted.map(name),
          missing: [...missing].map(([id, { score, way }]) => ({ id: name(id), score, way })),
        }));
      const others = sweeps.map((pages) => pages.map((page) => page.map(renamed)));
      assert.deepEqual(told(judge(others), Number), told(judge(sweeps), renamed));
    });
    fc.assert(property, { numRuns: 200 });
  });
});
