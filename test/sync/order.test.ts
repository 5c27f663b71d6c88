import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Post } from '../../src/contract/decode.ts';
import {
  compareKeys,
  keyOf,
  noEvidence,
  type Order,
  orderFrom,
  shadowOf,
  slotsOf,
  withPage,
  withSeam,
} from '../../src/sync/order.ts';
import { post, reject, slots } from './rows.ts';

function evidenceOf(...pages: ReturnType<typeof slots>[]) {
  return pages.reduce(withPage, noEvidence('posts', false));
}

/** Votes and comments that rise and fall along the list: no order by either. */
const LIVELY: [number[], number[]] = [
  [1, 3, 2],
  [5, 4, 6],
];
const NEWEST_FIRST: Order = { by: 'id', direction: 'desc' };

describe('the order of a list', () => {
  it('is read from neighbours within pages', () => {
    assert.equal(evidenceOf(slots([9, 8]), slots([10, 7])).id, 'desc');
    assert.equal(evidenceOf(slots([1, 2]), slots([0, 5])).id, 'asc');
    assert.equal(evidenceOf(slots([9, 8, 10])).id, 'mixed');
    assert.equal(evidenceOf(slots([9]), slots([10])).id, 'none');
  });

  it('is none where a page begins anew, unless rows of the page before are shown again', () => {
    const seam = (first: number[], second: number[]) => {
      const before = { key: { created: '', id: first.at(-1) ?? 0 }, ids: new Set(first) };
      return withSeam(evidenceOf(slots(first), slots(second)), slots(second), before).id;
    };
    assert.equal(seam([9, 8], [7, 6]), 'desc');
    assert.equal(seam([9, 5], [8, 6]), 'mixed');
    assert.equal(seam([9, 8, 5], [8, 4]), 'desc', 'one came in before, and the last is gone');
    assert.equal(seam([1, 2], [3, 4]), 'asc');
    assert.equal(seam([3, 4], [1, 2]), 'mixed');
    assert.equal(seam([9], [10]), 'none');
  });

  it('stays mixed once it was broken, whatever follows', () => {
    assert.equal(evidenceOf(slots([1, 3, 2]), slots([9, 8, 7])).id, 'mixed');
    assert.equal(orderFrom(evidenceOf(slots([1, 3, 2]), slots([9, 8])), NEWEST_FIRST), null);
  });

  it('is not broken by the same row twice in a row', () => {
    assert.equal(evidenceOf(slots([9, 8, 8, 7])).id, 'desc');
    assert.equal(evidenceOf(slots([8, 8])).id, 'none');
  });

  it('has a shadow where some number only rises or only falls: the list may be sorted by that', () => {
    assert.equal(shadowOf(evidenceOf(slots([9, 8, 7], ...LIVELY))), null);
    assert.equal(shadowOf(evidenceOf(slots([9, 8, 7], [7, 5, 3], [5, 4, 6]))), 'votes_count');
  });

  it('has none where a number is the same in all rows: the first to differ would jump to the start', () => {
    assert.equal(shadowOf(evidenceOf(slots([9, 8, 7], [1, 3, 2], [0, 0, 0]))), null);
  });

  it('has none where an earlier sweep saw the number go both ways', () => {
    const { numbers } = evidenceOf(slots([9, 8, 7], ...LIVELY));
    const later = withPage(noEvidence('posts', false, numbers), slots([9, 8], [2, 1]));
    assert.equal(shadowOf(later), null);
  });

  it('is what it was where a list is too short to show any', () => {
    assert.deepEqual(orderFrom(evidenceOf(slots([9])), NEWEST_FIRST), NEWEST_FIRST);
    assert.equal(orderFrom(evidenceOf(), null), null);
  });
});

describe('an order by creation time', () => {
  const times = ['2026-01-03T00:00:00Z', '2026-01-02T00:00:00+00:00', '2026-01-01T23:00:00.000Z'];
  const byTime = (ids: number[]) => ids.map((id, i) => post(id, { created: times[i] ?? '' }));

  it('is found where ids are out of order, with the id telling equal times apart', () => {
    const evidence = withPage(
      noEvidence('posts', true),
      slotsOf('posts', { rows: byTime([4, 9, 1]), rejects: [] }),
    );
    assert.deepEqual([evidence.id, evidence.created], ['mixed', 'desc']);
    const order = orderFrom(evidence, null);
    assert.deepEqual([order?.by, order?.direction], ['created', 'desc']);
  });

  it('is not looked for where ids are enough', () => {
    const evidence = withPage(
      noEvidence('posts', false),
      slotsOf('posts', { rows: byTime([4, 9, 1]), rejects: [] }),
    );
    assert.equal(evidence.created, 'unread');
  });

  it('has no key for a row whose time could not be read', () => {
    const [, unreadable] = slotsOf('posts', { rows: [post(3)], rejects: [reject(1, 2)] });
    assert.equal(keyOf(unreadable, 'created'), null);
    assert.deepEqual(keyOf(unreadable, 'id'), { created: '', id: 2 });
  });

  it('compares by instant and then by id, whatever the spelling of the time', () => {
    const timeOf = (row: Post) => keyOf(slotsOf('posts', { rows: [row], rejects: [] })[0], 'created');
    const [a, b, c] = [
      timeOf(post(1, { created: '2026-01-01T00:00:00Z' })),
      timeOf(post(2, { created: '2026-01-01T01:00:00+01:00' })),
      timeOf(post(0, { created: '2026-01-01T00:00:00.001Z' })),
    ];
    assert.ok(a && b && c);
    assert.ok(compareKeys(a, b, 'created') < 0);
    assert.ok(compareKeys(c, b, 'created') > 0);
  });
});

describe('the places of a page', () => {
  it('hold rows and rejects in the order they stood', () => {
    const rejects = [reject(0, null), reject(2, 8), reject(4, 5)];
    const found = slotsOf('posts', { rows: [post(9), post(7)], rejects });
    assert.deepEqual(
      found.map((slot) => slot?.id),
      [undefined, 9, 8, 7, 5],
    );
  });

  it('remember that a row without any id stood somewhere', () => {
    assert.equal(evidenceOf(slots([9, null, 8])).unknownRows, true);
    assert.equal(evidenceOf(slots([9, 8])).unknownRows, false);
  });

  it('do not compare the rows on both sides of one that could not be read', () => {
    assert.equal(evidenceOf(slots([9, null, 10])).id, 'none');
  });
});
