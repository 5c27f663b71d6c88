import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createGate } from '../../src/api/gate.ts';
import { backoffMs, isTransientStatus, RETRY_DEFAULTS } from '../../src/api/retry.ts';
import type { Clock } from '../../src/base/clock.ts';
import { fakeClock } from '../support/clock.ts';
import { timeline } from './support/timeline.ts';

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

describe('the gate', () => {
  const closed = (clock: Clock, until: number) => {
    const gate = createGate(clock);
    gate.closeUntil(until);
    return gate;
  };

  it('is open at first and closed until the latest moment it was told', async () => {
    const clock = fakeClock(0);
    const gate = createGate(clock);
    assert.equal(gate.closedUntil(1), null);
    gate.closeUntil(5_000);
    gate.closeUntil(3_000);
    assert.equal(gate.closedUntil(0), 5_000);
    clock.advance(5_000);
    assert.equal(gate.closedUntil(5_000), null);
  });

  it('lets a waiting call through once it opens, and not before a later closing ends', async () => {
    const clock = timeline(0);
    const gate = closed(clock, 1_000);
    let passed = false;
    const waiting = gate.pass(60_000).then(() => {
      passed = true;
    });
    await clock.runUntil(500);
    gate.closeUntil(2_000);
    await clock.runUntil(1_999);
    assert.equal(passed, false);
    await clock.runUntil(2_000);
    await waiting;
    assert.equal(passed, true);
  });

  it('turns a call away that would have to wait too long, and says until when', async () => {
    const clock = fakeClock(0);
    await assert.rejects(
      closed(clock, 3_600_000).pass(120_000),
      /not to call before 1970-01-01T01:00:00\.000Z/,
    );
    assert.deepEqual(clock.slept, []);
  });

  it('lets go of a waiting call when it is called off', async () => {
    const clock = timeline(0);
    const controller = new AbortController();
    const waiting = closed(clock, 1_000).pass(60_000, controller.signal);
    const reason = new Error('enough');
    controller.abort(reason);
    await assert.rejects(waiting, reason);
  });
});
