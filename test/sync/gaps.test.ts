import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Key, KeyRange } from '../../src/store/mirror/types.ts';
import { absenceShownBy, gapsOf, type PagePlace } from '../../src/sync/gaps.ts';
import {
  compareKeys,
  isUnreadable,
  keyOf,
  noEvidence,
  type Order,
  type Slot,
  slotsOf,
  withPage,
} from '../../src/sync/order.ts';
import { slots } from './rows.ts';

const MIDDLE: PagePlace = {
  by: 'id',
  direction: 'desc',
  cursor: 'page=2',
  isFirst: false,
  isLast: false,
  tie: null,
  previous: null,
};

/** A list in strict order and one page of it, some rows of which cannot be read or not even told by id. */
interface Listing {
  by: 'id' | 'created';
  direction: 'desc' | 'asc';
  list: Slot[];
  from: number;
  to: number;
  unread: boolean[];
  unknown: boolean[];
}

const CREATED = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'];

const listings: fc.Arbitrary<Listing> = fc
  .record({
    by: fc.constantFrom('id', 'created'),
    direction: fc.constantFrom('desc', 'asc'),
    ids: fc.uniqueArray(fc.nat(60), { minLength: 1, maxLength: 25 }),
    bounds: fc.tuple(fc.nat(25), fc.nat(25)),
    unread: fc.array(fc.boolean(), { minLength: 25, maxLength: 25 }),
    unknown: fc.array(fc.boolean(), { minLength: 25, maxLength: 25 }),
  })
  .map(({ by, direction, ids, bounds, ...rejects }) => {
    const sign = direction === 'asc' ? 1 : -1;
    const list = ids
      .map((id): Slot => ({ id, created: CREATED[id % 3] ?? '', numbers: null }))
      .sort((a, b) => sign * compare(a, b, by));
    const [from = 0, to = 0] = bounds.map((bound) => bound % (list.length + 1)).sort((a, b) => a - b);
    return { by, direction, list, from, to, ...rejects };
  });

function compare(a: Slot, b: Slot, by: 'id' | 'created'): number {
  return compareKeys(keyOf(a, by) as Key, keyOf(b, by) as Key, by);
}

function gapsOfPage({ by, direction, list, from, to, unread, unknown }: Listing) {
  const page = list.slice(from, to).map((slot, i): Slot => {
    if (unknown[i] && unread[i]) return null;
    return slot && unread[i] ? { ...slot, created: null } : slot;
  });
  const previous = from > 0 ? { cursor: 'before', key: keyOf(list[from - 1], by) } : null;
  const cursor = from === 0 ? '' : 'here';
  return {
    page,
    gaps: gapsOf(page, {
      by,
      direction,
      cursor,
      isFirst: from === 0,
      isLast: to === list.length,
      tie: null,
      previous,
    }),
  };
}

function holds({ above, below }: KeyRange, key: Key, by: 'id' | 'created'): boolean {
  return (
    (above === null || compareKeys(key, above, by) > 0) && (below === null || compareKeys(key, below, by) < 0)
  );
}

describe('gaps of a page', () => {
  it('never hold a row that is in the list, whatever could not be read', () => {
    fc.assert(
      fc.property(listings, (listing) => {
        const { page, gaps } = gapsOfPage(listing);
        // A row on the page itself is known to be there; the store leaves those out by their id.
        const onPage = new Set(page.map((slot) => slot?.id));
        for (const slot of listing.list) {
          const key = keyOf(slot, listing.by);
          assert.ok(key && slot);
          const isMissed = gaps.some(({ range }) => holds(range, key, listing.by));
          assert.ok(!isMissed || onPage.has(slot.id), `${slot.id} is there and was missed`);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('hold every key between two neighbours that could be read, with two sides, and beyond the ends, with one', () => {
    fc.assert(
      fc.property(listings, fc.nat(60), (listing, id) => {
        const whole = { ...listing, unread: [] };
        const absent: Slot = { id, created: CREATED[id % 3] ?? '', numbers: null };
        fc.pre(!listing.list.some((slot) => slot?.id === id) && listing.to > listing.from);
        const { gaps } = gapsOfPage(whole);
        const place = listing.list.filter((slot) => {
          const step = compare(slot, absent, listing.by);
          return listing.direction === 'asc' ? step < 0 : step > 0;
        }).length;
        const inside = place > listing.from && place < listing.to;
        const atAnEnd = (place === 0 && listing.from === 0) || place === listing.list.length;
        const isAtEnd = atAnEnd && (place === 0 || listing.to === listing.list.length);
        const isBetweenPages = place === listing.from && listing.from > 0;
        const key = keyOf(absent, listing.by) as Key;
        const holding = gaps.filter(({ range }) => holds(range, key, listing.by));
        assert.equal(
          holding.some(({ kind }) => kind === 'inside'),
          inside,
        );
        assert.equal(holding.length > 0, inside || isAtEnd || isBetweenPages);
      }),
      { numRuns: 2000 },
    );
  });

  it('have one side between two pages, and are none where the second begins before the end of the first', () => {
    const previous = { cursor: 'page=1', key: { created: '', id: 20 } };
    const [, between] = gapsOf(slots([15, 12]), { ...MIDDLE, previous });
    const range = { above: { created: '', id: 15 }, below: previous.key };
    assert.deepEqual(between, { range, kind: 'between', page: 'page=1', pageBefore: null });
    assert.equal(gapsOf(slots([22, 12]), { ...MIDDLE, previous }).length, 1);
  });

  it('say which second a service may have skipped, where its cursor names a time and no row', () => {
    const key = { created: '', id: 20 };
    const tieAfter = (cursor: string, last: object, next: string | null = null): string | undefined => {
      const previous = { cursor: '', key, ...last };
      const seen = { evidence: withPage(noEvidence('posts', false), slots([22, 20])), order: null, previous };
      return absenceShownBy(slots([15]), { cursor, next, previous: null }, seen).gaps.at(-1)?.tie;
    };
    const [created, other] = ['2026-01-02T03:04:05Z', '2026-01-02T03:04:07Z'];
    assert.equal(tieAfter(`before=${created}`, { created }), '2026-01-02T03:04:05');
    assert.equal(tieAfter(`page=2&as_of=${other}`, { created }), undefined);
    assert.equal(tieAfter(`page=2&as_of=${created}`, { created }, `page=3&as_of=${created}`), undefined);
    assert.equal(tieAfter(`before=${other}`, {}), '2026-01-02T03:04:07', 'the row cannot be read');
    assert.equal(tieAfter(`before=${other}`, { created, isAcross: true }), '2026-01-02T03:04:07');
  });

  it('are none where the order is mixed or unknown, and everything where one page is the whole list', () => {
    assert.deepEqual(gapsOf(slots([3, 9, 5]), { ...MIDDLE, direction: 'mixed' }), []);
    assert.deepEqual(gapsOf(slots([3]), { ...MIDDLE, direction: 'none' }), []);
    const only = { ...MIDDLE, direction: 'mixed', cursor: '', isFirst: true, isLast: true } as const;
    const everything = { range: { above: null, below: null }, page: '', pageBefore: null };
    assert.deepEqual(gapsOf(slots([3, 9, 5]), only), [{ ...everything, kind: 'between' }]);
    assert.deepEqual(gapsOf([], { ...only, direction: 'desc' }), [{ ...everything, kind: 'end' }]);
    assert.deepEqual(gapsOf(slots([3, null, 5]), only), []);
  });

  it('are none in an empty page in the middle, and go to the end with one side in one at the end', () => {
    const previous = { cursor: 'page=1', key: { created: '', id: 4 } };
    const place = { kind: 'end', page: 'page=1', pageBefore: null };
    assert.deepEqual(gapsOf([], { ...MIDDLE, previous }), []);
    const desc = gapsOf([], { ...MIDDLE, isLast: true, previous });
    assert.deepEqual(desc, [{ range: { above: null, below: previous.key }, ...place }]);
    const asc = gapsOf([], { ...MIDDLE, direction: 'asc', isLast: true, previous });
    assert.deepEqual(asc, [{ range: { above: previous.key, below: null }, ...place }]);
  });
});

describe('a page none of whose rows can be read', () => {
  const page = { cursor: '', next: null, previous: null };
  const order = { by: 'id', direction: 'desc' } as const;
  const shown = (rejects: Slot[]) => {
    const evidence = withPage(noEvidence('posts', false), rejects);
    const { gaps } = absenceShownBy(rejects, page, { evidence, order, previous: null });
    return { gaps, unknownRows: evidence.unknownRows };
  };
  const of = (rest: object): Slot[] => {
    const rejects = [15, 12].map((id, index) => ({ index, id, body: JSON.stringify({ id, ...rest }) }));
    return slotsOf('posts', { rows: [], rejects });
  };
  const rejects = of({ content: 'words', likes_count: 3 });

  it('shows nothing to be absent: it may be a page of another list', () => {
    assert.deepEqual(shown(rejects), { gaps: [], unknownRows: true });
  });

  it('shows what is absent where its rows have the numbers that only rows of this list have', () => {
    const { gaps, unknownRows } = shown(of({ votes_count: 3, comments_count: 0, creator: null }));
    assert.deepEqual(
      gaps.map(({ range: { above, below }, kind }) => [above?.id, below?.id, kind]),
      [
        [12, 15, 'inside'],
        [15, undefined, 'between'],
        [undefined, 12, 'end'],
      ],
    );
    assert.equal(unknownRows, false);
  });

  it('is told from one with a single row that can', () => {
    const [one] = slots([20]);
    assert.equal(isUnreadable([...rejects, { id: 20, created: null, numbers: {}, ...one }]), false);
    assert.equal(isUnreadable([]), false);
  });
});

describe('the page at the plain address of a list', () => {
  it('is its start only where no page comes before it', () => {
    const evidence = withPage(noEvidence('posts', false), slots([5, 4]));
    const above = (previous: string | null) =>
      absenceShownBy(
        slots([5, 4]),
        { cursor: '', next: 'page=9', previous },
        {
          evidence,
          order: null,
          previous: null,
        },
      ).gaps.filter(({ range }) => range.below === null);
    assert.equal(above(null).length, 1);
    assert.deepEqual(above('page=7'), []);
  });
});

describe('a page of one row', () => {
  it('shows what is absent before it where the order of the list is known, and nothing where it is not', () => {
    const previous = { cursor: 'before', key: { created: '', id: 9 } };
    const evidence = noEvidence('posts', false);
    const page = { cursor: 'here', next: 'after', previous: null };
    const shown = (order: Order | null) =>
      absenceShownBy(slots([5]), page, { evidence, order, previous }).gaps.map(({ range }) => range);
    const between = { above: { created: '', id: 5 }, below: { created: '', id: 9 } };
    assert.deepEqual(shown({ by: 'id', direction: 'desc' }).at(-1), between);
    assert.deepEqual(shown(null), []);
  });
});
