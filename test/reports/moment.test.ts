import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bucketsOf, calendarOf, momentOf, periodOf, priorTo } from '../../src/reports/moment.ts';
import { countIfRead, coverage } from '../../src/reports/watching.ts';

const NOW = Date.parse('2026-01-31T15:30:00.000Z');
const UTC = calendarOf('UTC');

describe('the period of a report', () => {
  const period = (usual: object, asked: object = {}, zone = 'UTC') =>
    Object.values(periodOf(usual, { now: NOW, ...asked }, calendarOf(zone)));

  it('is the usual one up to now, or as it is asked for', () => {
    assert.deepEqual(period({}), [null, '2026-01-31T15:30:00.000Z']);
    assert.deepEqual(period({ since: { days: 30 } }), [
      '2026-01-01T15:30:00.000Z',
      '2026-01-31T15:30:00.000Z',
    ]);
    assert.deepEqual(period({ since: { days: 30 } }, { until: '2026-01-11' }), [
      '2025-12-12T00:00:00.000Z',
      '2026-01-11T00:00:00.000Z',
    ]);
    assert.deepEqual(period({ since: { days: 30 } }, { since: '2d' }), [
      '2026-01-29T15:30:00.000Z',
      '2026-01-31T15:30:00.000Z',
    ]);
  });

  it('by the week begins with a Monday of the reader, the running week being the last of them', () => {
    // The 31st is a Saturday, and a Sunday in Auckland.
    assert.equal(period({ since: { weeks: 1 } })[0], '2026-01-26T00:00:00.000Z');
    assert.equal(period({ since: { weeks: 2 } })[0], '2026-01-19T00:00:00.000Z');
    assert.equal(period({ since: { weeks: 1 } }, {}, 'Pacific/Auckland')[0], '2026-01-25T11:00:00.000Z');
  });

  it('has one before it that is just as long', () => {
    const span = { since: '2026-01-11T00:00:00.000Z', until: '2026-01-31T06:00:00.000Z' };
    assert.equal(priorTo(span), '2025-12-21T18:00:00.000Z');
  });
});

describe('a week without anything', () => {
  const last = Date.parse('2026-01-19T00:00:00.000Z');

  it('is not known if it begins after the last look at the list', () => {
    assert.equal(countIfRead(last, '2026-01-19T00:00:00.001Z'), null);
    assert.equal(countIfRead(last, '2026-01-19T00:00:00.000Z'), 0);
    assert.equal(countIfRead(null, '2026-01-26T00:00:00.000Z'), 0);
    assert.equal(countIfRead(last, '2026-01-26T00:00:00.000Z', 3), 3);
  });
});

describe('what the mirror was watching of a period', () => {
  const [first, last] = ['2026-01-10T00:00:00.000Z', '2026-01-20T00:00:00.000Z'];
  const seen = (since: string | null, until: string, watched: object = {}) => {
    const { from, notes } = coverage(
      { first, last, comments: null, looks: new Float64Array(0), ...watched },
      { since, until },
    );
    return [
      from,
      notes.map(
        (note) => /^The mirror (has been watching|last looked)|^No sweep|looked .* once/.exec(note)?.[0],
      ),
    ];
  };

  it('begins with its first sweep, or with the period, and nothing is known without two', () => {
    assert.deepEqual(seen(null, last, { first: null }), [null, ['No sweep']]);
    assert.deepEqual(seen(null, last, { last: null })[0], null);
    assert.deepEqual(seen(null, last), [first, ['The mirror has been watching']]);
    assert.deepEqual(seen('2026-01-09T23:59:59.999Z', last), [first, ['The mirror has been watching']]);
    assert.deepEqual(seen(first, last), [first, []]);
    assert.deepEqual(seen('2026-01-12T00:00:00.000Z', last), ['2026-01-12T00:00:00.000Z', []]);
  });

  it('is nothing before the first sweep and after the last', () => {
    assert.deepEqual(seen(null, first), [null, ['The mirror has been watching']]);
    assert.deepEqual(seen(null, '2026-01-10T00:00:00.001Z')[0], first);
    assert.deepEqual(seen(last, '2026-01-30T00:00:00.000Z'), [null, ['The mirror last looked']]);
  });

  it('says so where its last look is more than a day before the end', () => {
    const told = (until: string) => seen(first, until)[1];
    assert.deepEqual(told('2026-01-21T00:00:00.000Z'), []);
    assert.deepEqual(told('2026-01-21T00:00:00.001Z'), ['The mirror last looked']);
  });
});

describe('the days and weeks of a period', () => {
  it('are marked where a part of them is before the period, before anything was known, or after it', () => {
    const span = { since: '2026-01-07T12:00:00.000Z', until: '2026-01-20T06:00:00.000Z' };
    const told = (more: object = {}) =>
      bucketsOf('week', { ...span, ...more }, UTC).map(({ date, partial }) => [date, partial]);
    assert.deepEqual(told(), [
      ['2026-01-05', 'from 2026-01-07 12:00'],
      ['2026-01-12', null],
      ['2026-01-19', 'until 2026-01-20 06:00'],
    ]);
    assert.deepEqual(told({ watchedFrom: '2026-01-13T00:00:00.000Z' }), [
      ['2026-01-05', null],
      ['2026-01-12', 'from 2026-01-13 00:00'],
      ['2026-01-19', 'until 2026-01-20 06:00'],
    ]);
    assert.deepEqual(told({ watchedFrom: null }), told());
    const hours = { since: '2026-01-07T06:00:00.000Z', until: '2026-01-07T18:00:00.000Z' };
    assert.deepEqual(
      bucketsOf('day', hours, UTC).map(({ partial }) => partial),
      ['from 2026-01-07 06:00 until 2026-01-07 18:00'],
    );
  });
});

describe('a moment that somebody names', () => {
  const read = (text: string) => momentOf('since', text, NOW, UTC);

  it('has a year of four digits, and spaces around it are not meant', () => {
    assert.equal(read(' 1900-01-01 '), '1900-01-01T00:00:00.000Z');
    assert.equal(read('9999-12-31T23:59:59Z'), '9999-12-31T23:59:59.000Z');
    assert.throws(() => read('9999-12-31T23:59:59-01:00'), /is no date/);
    assert.throws(() => read('900000d'), /is no date/);
    assert.throws(() => read('2026-02-30T10:00Z'), /is no date/);
  });
});

describe('a sentence with times in it', () => {
  it('has them as the clock of the reader shows them', () => {
    const said = 'Since 2026-01-31T15:30:00.000Z, or 2026-07-01T00:00:00.000Z.';
    assert.equal(
      calendarOf('Europe/Berlin').spoken(said),
      'Since 2026-01-31 16:30 Europe/Berlin, or 2026-07-01 02:00 Europe/Berlin.',
    );
  });
});
