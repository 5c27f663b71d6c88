import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { httpDate, retryAfterMs } from '../../src/api/retry-after.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const at = (ms: number): string => new Date(now + ms).toUTCString();

describe('Retry-After', () => {
  it('is heard in seconds', () => assert.equal(retryAfterMs('120', undefined, now), 120_000));

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
    ['a fraction', '1.5'],
    ['in another base', '0x10'],
    ['zero', '0'],
    ['given twice', ['5', '10']],
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
    for (const header of [undefined, '', '1', 'Sun Mar  1 12:00:00 2026', ['a', 'b']]) {
      assert.equal(httpDate(header), null);
    }
  });
});
