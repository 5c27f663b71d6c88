import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isFresh, isOverdue, isPlannedAhead, rhythmOf, sweepDueAt } from '../../jobs/freshness.ts';

const NOW = Date.parse('2026-03-10T12:00:00Z');
const MINUTE = 60_000;
const HOURLY = { every: 60 * MINUTE };
const NIGHTLY = { pattern: '30 3 * * *', tz: 'Europe/Berlin' };

describe('a sweep', () => {
  const last = (startedAgo: number, finishedAgo: number, unfinished = false) =>
    ({
      resource: 'posts',
      mode: 'sweep',
      startedAt: NOW - startedAgo,
      finishedAt: NOW - finishedAgo,
      unfinished,
    }) as const;
  const none = {
    resource: 'posts',
    mode: 'sweep',
    startedAt: null,
    finishedAt: null,
    unfinished: false,
  } as const;

  it('is overdue when there was none, when one was cut short, or when its time has passed', () => {
    assert.equal(isOverdue(none, HOURLY, NOW), true);
    assert.equal(isOverdue(last(5 * MINUTE, 4 * MINUTE, true), HOURLY, NOW), true);
    assert.equal(isOverdue(last(61 * MINUTE, 60 * MINUTE), HOURLY, NOW), true);
    assert.equal(isOverdue(last(61 * MINUTE, 59 * MINUTE), HOURLY, NOW), false);
  });

  it('that a pattern asks for is overdue once a slot has passed without one', () => {
    // Half past three in Berlin was half past two in UTC: nine and a half hours ago.
    assert.equal(isOverdue(last(9 * 60 * MINUTE, 9 * 60 * MINUTE), NIGHTLY, NOW), false);
    assert.equal(isOverdue(last(10 * 60 * MINUTE, 10 * 60 * MINUTE), NIGHTLY, NOW), true);
    assert.equal(sweepDueAt(last(0, 0), NIGHTLY, NOW), Date.parse('2026-03-11T02:30:00Z'));
  });

  it('is left out when another began so shortly before that it would show nothing else', () => {
    assert.equal(isFresh(none, HOURLY, NOW), false);
    assert.equal(isFresh(last(29 * MINUTE, MINUTE), HOURLY, NOW), true);
    assert.equal(
      isFresh(last(31 * MINUTE, MINUTE), HOURLY, NOW),
      false,
      'a long one does not cost the next its turn',
    );
    assert.equal(isFresh(last(29 * MINUTE, MINUTE, true), HOURLY, NOW), false, 'it was cut short');
    assert.equal(isFresh(last(9 * 60 * MINUTE, MINUTE), NIGHTLY, NOW), true);
    assert.equal(isFresh(last(10 * 60 * MINUTE, MINUTE), NIGHTLY, NOW), false);
  });

  it('that is dated in the future is neither fresh nor a reason to wait: the clock was set back', () => {
    for (const rhythm of [HOURLY, NIGHTLY]) {
      const ahead = last(-24 * 60 * MINUTE, -24 * 60 * MINUTE);
      assert.equal(sweepDueAt(ahead, rhythm, NOW), null);
      assert.equal(isOverdue(ahead, rhythm, NOW), true);
      assert.equal(isFresh(ahead, rhythm, NOW), false);
    }
  });

  it('that is dated a few seconds ahead counts as one that has just ended', () => {
    assert.equal(isOverdue(last(0, -3000), HOURLY, NOW), false);
    assert.equal(isFresh(last(-3000, -3000), HOURLY, NOW), true);
  });

  it('is planned too far ahead when that is more than a turn away', () => {
    assert.equal(isPlannedAhead(NOW + 60 * MINUTE, HOURLY, NOW), false);
    assert.equal(isPlannedAhead(NOW + 62 * MINUTE, HOURLY, NOW), true);
    const tonight = Date.parse('2026-03-11T02:30:00Z');
    assert.equal(isPlannedAhead(tonight, NIGHTLY, NOW), false);
    assert.equal(isPlannedAhead(tonight, NIGHTLY, tonight - 24 * 60 * MINUTE - 5000), false);
    assert.equal(isPlannedAhead(tonight, NIGHTLY, tonight - 24 * 60 * MINUTE - MINUTE), true);
  });

  it('follows the pattern where there is one', () => {
    const settings = { sweepEvery: 5000, timeZone: 'UTC' };
    assert.deepEqual(rhythmOf({ ...settings, sweepCron: null }), { every: 5000 });
    assert.deepEqual(rhythmOf({ ...settings, sweepCron: '@daily' }), { pattern: '@daily', tz: 'UTC' });
  });
});
