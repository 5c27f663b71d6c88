import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isDateTime, isSameMoment, toInstant } from '../../src/contract/datetime.ts';

const two = (n: number): string => String(n).padStart(2, '0');

/** A moment of any year of four digits, in any spelling that Date reads too. */
const spelling = fc.record({
  ms: fc.integer({ min: Date.UTC(1, 0, 2), max: Date.UTC(9999, 11, 30) }),
  digits: fc.constantFrom(0, 1, 3, 6, 9),
  offset: fc.integer({ min: -(23 * 60 + 59), max: 23 * 60 + 59 }),
});

function spell({ ms, digits, offset }: { ms: number; digits: number; offset: number }): string {
  const local = new Date(ms).toISOString();
  const fraction = digits === 0 ? '' : `.${`${local.slice(20, 23)}456789`.slice(0, digits)}`;
  const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60];
  return `${local.slice(0, 19)}${fraction}${offset < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`;
}

describe('toInstant', () => {
  it('reads every documented spelling as UTC with milliseconds', () => {
    const spellings: [string, string][] = [
      ['2024-05-06T07:08', '2024-05-06T07:08:00.000Z'],
      ['2024-05-06T07:08:09', '2024-05-06T07:08:09.000Z'],
      ['2024-05-06T07:08:09Z', '2024-05-06T07:08:09.000Z'],
      ['2024-05-06T07:08:09.1Z', '2024-05-06T07:08:09.100Z'],
      ['2024-05-06T07:08:09.123999Z', '2024-05-06T07:08:09.123Z'],
      ['2024-05-06T07:08:09,123456Z', '2024-05-06T07:08:09.123Z'],
      ['2024-05-06T07:08:09,123Z', '2024-05-06T07:08:09.123Z'],
      ['2024-05-06t07:08:09.123Z', '2024-05-06T07:08:09.123Z'],
      ['2024-05-06 07:08:09z', '2024-05-06T07:08:09.000Z'],
      ['2024-05-06T07:08:09+02:00', '2024-05-06T05:08:09.000Z'],
      ['2024-05-06T07:08:09.5-0330', '2024-05-06T10:38:09.500Z'],
      ['2024-01-01T00:30+01', '2023-12-31T23:30:00.000Z'],
      ['2024-05-06T07:08Z', '2024-05-06T07:08:00.000Z'],
      ['2024-02-29T23:59:59-00:00', '2024-02-29T23:59:59.000Z'],
    ];
    for (const [text, instant] of spellings) assert.equal(toInstant(text), instant, text);
  });

  it('agrees with Date on every valid spelling', () => {
    fc.assert(
      fc.property(spelling.map(spell), (text) => {
        assert.equal(toInstant(text), new Date(text).toISOString());
      }),
    );
  });

  it('reads its own answer as itself', () => {
    fc.assert(
      fc.property(spelling.map(spell), (text) => {
        const instant = toInstant(text);
        assert.ok(instant);
        assert.equal(toInstant(instant), instant);
      }),
    );
  });
});

describe('a date that does not exist', () => {
  const wrong = [
    '2024-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2024-04-31T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2024-01-00T00:00:00Z',
    '2024-01-32T00:00:00Z',
    '2024-12-31T24:00:00Z',
    '2016-12-31T23:59:60Z',
    '2024-01-01T25:00:00Z',
    '2024-01-01T23:60:00Z',
    '2024-01-01T23:58:60Z',
    '2024-01-01T00:00:00+24:00',
    '2024-01-01T00:00:00+05:60',
    '2024-01-01T00:00:00+0599',
    '0000-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '2024-02-30',
    '2024-01-1',
    '20240101T000000Z',
    '2024-1-1T00:00:00Z',
    '2024-01-01T00:00:00 Z',
    '2024-01-01T00:00:00.Z',
    '2024-01-01T00:00:00Z\n',
    '+002024-01-01T00:00:00Z',
    'yesterday',
    '',
  ];

  it('reads a date without a time as the start of that day', () => {
    assert.equal(toInstant('2024-02-29'), '2024-02-29T00:00:00.000Z');
  });

  it('is refused, also where V8 would roll it over', () => {
    for (const text of wrong) {
      assert.equal(isDateTime(text), false, text);
      assert.equal(toInstant(text), null, text);
    }
  });

  it('is refused exactly where there is no instant', () => {
    const parts = fc.tuple(
      fc.integer({ min: 0, max: 9999 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
    );
    fc.assert(
      fc.property(parts, ([year, month, day]) => {
        const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
        const parsed = new Date(`${date}T00:00:00Z`);
        const exists = !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
        assert.equal(isDateTime(`${date}T12:00:00Z`), exists);
      }),
    );
  });
});

describe('two texts of a moment', () => {
  it('are equal in any time zone and precision', () => {
    for (const same of ['2024-05-06T07:08:09Z', '2024-05-06 07:08:09.000000', '2024-05-06T09:08:09,0+02:00'])
      assert.ok(isSameMoment('2024-05-06T07:08:09.000Z', same), same);
    assert.ok(isSameMoment('2024-05-06T07:08:09.123450Z', '2024-05-06T07:08:09.12345Z'));
  });

  it('differ if one has more digits of the second', () => {
    assert.ok(!isSameMoment('2024-05-06T07:08:09Z', '2024-05-06T07:08:09.000001Z'));
    assert.ok(!isSameMoment('2024-05-06T07:08:09.123Z', '2024-05-06T07:08:09.123456Z'));
  });
});
