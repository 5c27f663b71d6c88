import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRetryBudget } from '../../src/api/budget.ts';
import { fakeClock } from '../support/clock.ts';
import { type Timeline, timeline } from './support/timeline.ts';

const MINUTE = 60_000;

describe('the retry budget', () => {
  it('grants the starting balance at once and then one retry a minute', async () => {
    const clock = fakeClock(0);
    const budget = createRetryBudget();
    for (let i = 0; i < 10; i++) await budget.take(clock);
    assert.deepEqual(clock.slept, []);
    for (let i = 0; i < 3; i++) await budget.take(clock);
    assert.deepEqual(clock.slept, [MINUTE, MINUTE, MINUTE]);
  });

  it('saves no more than its cap', () => {
    const budget = createRetryBudget();
    for (let i = 0; i < 100_000; i++) budget.deposit();
    assert.equal(budget.balance(), 100);
  });

  it('keeps probing when the clock is set back', async () => {
    const clock = fakeClock(100 * MINUTE);
    const budget = createRetryBudget({ start: 0 });
    await budget.take(clock);
    clock.advance(-50 * MINUTE);
    await budget.take(clock);
    assert.deepEqual(clock.slept, []);
  });

  it('lets go of a waiting retry when it is called off', async () => {
    const clock = timeline(0);
    const budget = createRetryBudget({ start: 1 });
    await budget.take(clock);
    const controller = new AbortController();
    const waiting = budget.take(clock, controller.signal);
    controller.abort(new Error('enough'));
    await assert.rejects(waiting, /enough/);
  });

  it('holds retries to a third of the requests while 40 % of 10,000 fail', async () => {
    const clock = timeline(0);
    const budget = createRetryBudget();
    const outcome = seeded(7);
    let retries = 0;
    const reader = async (requests: number): Promise<void> => {
      for (let i = 0; i < requests; i++) {
        budget.deposit();
        for (let attempt = 1; outcome() < 0.4 && attempt < 5; attempt++) {
          await budget.take(clock);
          retries += 1;
        }
        await clock.sleep(100);
      }
    };
    const readers = Promise.all(Array.from({ length: 10 }, () => reader(1_000)));
    const took = await runToEnd(clock, readers);
    const allowed = 10_000 / 3 + 10 + took / MINUTE;
    assert.ok(retries <= allowed, `${retries} retries, ${allowed} allowed`);
    assert.ok(retries > 3000, `${retries} retries: the budget is there to be used`);
  });

  it('never makes a reader wait while one request in five fails', async () => {
    const clock = fakeClock(0);
    const budget = createRetryBudget();
    const outcome = seeded(7);
    for (let i = 0; i < 10_000; i++) {
      budget.deposit();
      while (outcome() < 0.2) await budget.take(clock);
    }
    assert.deepEqual(clock.slept, []);
  });

  it('comes down to a probe a minute in an outage of an hour, however many readers wait', async () => {
    const clock = timeline(0);
    const budget = createRetryBudget();
    const times: number[] = [];
    const stop = new AbortController();
    const reader = async (): Promise<void> => {
      budget.deposit();
      for (;;) {
        await budget.take(clock, stop.signal);
        times.push(clock.now());
      }
    };
    const readers = Array.from({ length: 200 }, reader).map((run) => run.catch(() => {}));
    await clock.runUntil(60 * MINUTE);
    stop.abort(new Error('over'));
    await Promise.all(readers);
    // 10 at the start and 200 first attempts at a third each, then the minutes.
    assert.ok(times.length >= 76 + 58 && times.length <= 76 + 61, `${times.length} retries`);
    const probes = times.filter((time) => time > 0);
    assert.ok(probes.every((time, i) => i === 0 || time - (probes[i - 1] ?? 0) >= MINUTE));
  });
});

async function runToEnd(clock: Timeline, work: Promise<unknown>): Promise<number> {
  let done = false;
  void work.then(() => {
    done = true;
  });
  while (!done) await clock.runUntil(clock.now() + MINUTE);
  return clock.now();
}

/** Numbers between 0 and 1 that are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
