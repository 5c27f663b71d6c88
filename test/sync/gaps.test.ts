import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Key, KeyRange } from '../../src/store/mirror/seam.ts';
import { gapsOf, type PagePlace } from '../../src/sync/gaps.ts';
import { compareKeys, keyOf, type Slot } from '../../src/sync/order.ts';
import { slots } from './rows.ts';

const MIDDLE: PagePlace = { by: 'id', direction: 'desc', isFirst: false, isLast: false, previous: null };

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
  const previous = from > 0 ? keyOf(list[from - 1], by) : null;
  const gaps = gapsOf(page, { by, direction, isFirst: from === 0, isLast: to === list.length, previous });
  return { page, gaps };
}

function holds({ above, below }: KeyRange, key: Key, by: 'id' | 'created'): boolean {
  return (
    (above === null || compareKeys(key, above, by) > 0) && (below === null || compareKeys(key, below, by) < 0)
  );
}

describe('gaps of a page', () => {
  it('never prove a row absent that is in the list, whatever could not be read', () => {
    fc.assert(
      fc.property(listings, (listing) => {
        const { page, gaps } = gapsOfPage(listing);
        const by = gaps?.by ?? listing.by;
        // A row on the page itself is known to be there; the store leaves those out by their id.
        const onPage = new Set(page.map((slot) => slot?.id));
        for (const slot of listing.list) {
          const key = keyOf(slot, by);
          assert.ok(key && slot);
          const proven = gaps?.proven.some((range) => holds(range, key, by)) ?? false;
          assert.ok(!proven || onPage.has(slot.id), `${slot.id} is there and was proven absent`);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('prove every key between two neighbours that could be read, and beyond the ends of the list', () => {
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
        const isCovered = inside || (atAnEnd && (place === 0 || listing.to === listing.list.length));
        const by = gaps?.by ?? listing.by;
        const key = keyOf(absent, by) as Key;
        const proven = gaps?.proven.some((range) => holds(range, key, by)) ?? false;
        assert.equal(proven, isCovered);
      }),
      { numRuns: 2000 },
    );
  });

  it('only suggest absence between two pages, and not where the second begins before the end of the first', () => {
    const previous = { created: '', id: 20 };
    const onwards = gapsOf(slots([15, 12]), { ...MIDDLE, previous });
    assert.deepEqual(onwards?.suspected, { above: { created: '', id: 15 }, below: previous });
    const back = gapsOf(slots([22, 12]), { ...MIDDLE, previous });
    assert.equal(back?.suspected, null);
  });

  it('prove nothing where the order is mixed or unknown, and everything where one page is the whole list', () => {
    assert.equal(gapsOf(slots([3, 9, 5]), { ...MIDDLE, direction: 'mixed' }), null);
    assert.equal(gapsOf(slots([3]), { ...MIDDLE, direction: 'none' }), null);
    const only = { ...MIDDLE, direction: 'mixed', isFirst: true, isLast: true } as const;
    assert.deepEqual(gapsOf(slots([3, 9, 5]), only)?.proven, [{ above: null, below: null }]);
    assert.equal(gapsOf(slots([3, null, 5]), only), null);
  });

  it('prove nothing from an empty page in the middle, and only suggest an end from one at the end', () => {
    const previous = { created: '', id: 4 };
    assert.deepEqual(gapsOf([], { ...MIDDLE, previous }), { by: 'id', proven: [], suspected: null });
    const desc = gapsOf([], { ...MIDDLE, isLast: true, previous });
    assert.deepEqual(desc, { by: 'id', proven: [], suspected: { above: null, below: previous } });
    const asc = gapsOf([], { ...MIDDLE, direction: 'asc', isLast: true, previous });
    assert.deepEqual(asc?.suspected, { above: previous, below: null });
  });
});
