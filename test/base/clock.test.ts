import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { isDue, pastOrNull, systemClock } from '../../src/base/clock.ts';
import { AppError } from '../../src/base/errors.ts';

const DAY = 86_400_000;

describe('the system clock', () => {
  it('tells the time of the system', () => {
    const before = Date.now();
    const now = systemClock.now();
    assert.ok(before <= now && now <= Date.now());
  });

  it('sleeps no time at all when asked to', async () => {
    await systemClock.sleep(0);
    await systemClock.sleep(-5);
  });

  it('wakes at once with the reason of the signal', async () => {
    const controller = new AbortController();
    const reason = new AppError('interrupted', 'stopped by SIGTERM');
    const sleeping = assert.rejects(systemClock.sleep(DAY, controller.signal), (error) => error === reason);
    controller.abort(reason);
    await sleeping;
  });

  it('does not fall asleep when the signal is aborted already', async () => {
    const reason = new Error('too late');
    await assert.rejects(systemClock.sleep(DAY, AbortSignal.abort(reason)), (error) => error === reason);
  });

  it('sleeps longer than the 24.8 days that fit in a timer', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    const controller = new AbortController();
    const sleeping = systemClock.sleep(60 * DAY, controller.signal).then(() => 'slept', String);
    await new Promise(setImmediate);
    controller.abort('woken');
    assert.equal(await sleeping, 'woken');
    process.off('warning', note);
    assert.deepEqual(warnings, []);
  });

  it('leaves nothing listening to the signal after a sleep', async () => {
    const { signal } = new AbortController();
    for (let i = 0; i < 50; i++) await systemClock.sleep(0, signal);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});

describe('a stored time', () => {
  const NOW = 1_000_000;

  it('in the future counts as past only within the step of a time server', () => {
    assert.deepEqual(
      [null, NOW - DAY, NOW, NOW + 3000, NOW + DAY].map((at) => pastOrNull(at, NOW)),
      [null, NOW - DAY, NOW, NOW, null],
    );
  });

  it('is due when it is reached, and when it lies further ahead than the longest wait', () => {
    const due = [NOW - 1, NOW, NOW + 1, NOW + 60_000, NOW + 70_000, NOW + DAY].map((at) =>
      isDue(at, NOW, 60_000),
    );
    // Also after the step of a time server.
    assert.deepEqual(due, [true, true, false, false, false, true]);
  });
});
