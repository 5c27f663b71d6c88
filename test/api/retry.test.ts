import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { backoffMs, httpDate, isTransientStatus, RETRY_DEFAULTS, retryAfterMs } from '../../src/api/retry.ts';

describe('the wait between attempts', () => {
  it('doubles from the first delay up to the cap', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 20].map((n) => backoffMs(RETRY_DEFAULTS, n, () => 1));
    assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('is between half and all of that, so that clients that failed together do not return together', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (n, random) => {
          const full = backoffMs(RETRY_DEFAULTS, n, () => 1);
          const wait = backoffMs(RETRY_DEFAULTS, n, () => random);
          assert.ok(wait >= full / 2 && wait <= full);
        },
      ),
    );
  });

  it('follows trouble that passes and no other', () => {
    const passing = [408, 425, 429, 500, 502, 503, 504, 599];
    const staying = [200, 301, 307, 400, 401, 403, 404, 405, 409, 410, 422];
    assert.ok(passing.every(isTransientStatus));
    assert.ok(!staying.some(isTransientStatus));
  });
});

const now = Date.parse('2026-03-01T12:00:00Z');
const at = (ms: number): string => new Date(now + ms).toUTCString();

describe('Retry-After', () => {
  it('makes the next attempt wait for as many seconds as it names', () =>
    assert.equal(retryAfterMs('120', undefined, now), 120_000));

  it('is read in parts of a second, in the older forms of a date, and as the longest of several', () => {
    assert.equal(retryAfterMs('4.5', undefined, now), 4500);
    const then = Date.UTC(2026, 10, 6, 8, 49, 37);
    for (const form of ['Friday, 06-Nov-26 08:49:37 GMT', 'Fri Nov  6 08:49:37 2026'])
      assert.equal(retryAfterMs(form, undefined, then - 9000), 9000, form);
    assert.equal(retryAfterMs(['5', 'soon', '7'], undefined, now), 7000);
  });

  it('is heard as a date', () => assert.equal(retryAfterMs(at(90_000), at(0), now), 90_000));

  it('measures a date from the Date of the answer, whatever our own clock says', () => {
    assert.equal(retryAfterMs(at(90_000), at(30_000), now - 86_400_000), 60_000);
  });

  it('measures a date from our clock where the answer has none', () => {
    assert.equal(retryAfterMs(at(45_000), undefined, now), 45_000);
  });

  it('is capped at an hour', () => {
    assert.equal(retryAfterMs('7200', undefined, now), 3_600_000);
    assert.equal(retryAfterMs(at(20 * 3_600_000), at(0), now), 3_600_000);
  });

  const ignored: [string, string | string[] | undefined][] = [
    ['absent', undefined],
    ['empty', ''],
    ['words', 'soon'],
    ['negative', '-5'],
    ['in another base', '0x10'],
    ['zero', '0'],
    ['more than a day', '86401'],
    ['a timestamp instead of a duration', '1772366400'],
    ['endless', '9'.repeat(40)],
    ['a date in the past', at(-60_000)],
    ['a date beyond a day', at(2 * 86_400_000)],
    ['a date that does not exist', 'Foo, 99 Bar 2026 99:99:99 GMT'],
    ['an ISO date', '2026-03-01T12:05:00Z'],
  ];
  for (const [name, header] of ignored) {
    it(`is not believed when ${name}`, () => assert.equal(retryAfterMs(header, at(0), now), null));
  }
});

describe('an HTTP date', () => {
  it('is read as servers must write it', () => {
    assert.equal(httpDate('Sun, 01 Mar 2026 12:00:00 GMT'), now);
  });

  it('is null for everything else', () => {
    for (const header of [undefined, '', '1', 'Sun Mar  1 12:00:00', ['a', 'b']]) {
      assert.equal(httpDate(header), null);
    }
  });
});
