import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  backoffMs,
  createRetryBudget,
  httpDate,
  isTransientStatus,
  RETRY_DEFAULTS,
  retryAfterMs,
} from '../../src/api/retry.ts';
import { fakeClock, type Timeline, timeline } from '../support/clock.ts';

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
  it('is heard in seconds', () => assert.equal(retryAfterMs('120', undefined, now), 120_000));

  it('is heard in parts of a second, in the older forms of a date, and as the longest of several', () => {
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
    const budget = createRetryBudget();
    for (let i = 0; i < 10; i++) await budget.take(clock);
    clock.advance(-50 * MINUTE);
    await budget.take(clock);
    assert.deepEqual(clock.slept, []);
  });

  it('lets go of a waiting retry when it is called off', async () => {
    const clock = timeline(0);
    const budget = createRetryBudget();
    for (let i = 0; i < 10; i++) await budget.take(clock);
    const controller = new AbortController();
    const waiting = budget.take(clock, controller.signal);
    controller.abort(new Error('enough'));
    await assert.rejects(waiting, /enough/);
  });

  it('holds retries to a third of the requests while 40 % of 3,000 fail', async () => {
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
    const readers = Promise.all(Array.from({ length: 10 }, () => reader(300)));
    const took = await runToEnd(clock, readers);
    const allowed = 3_000 / 3 + 10 + took / MINUTE;
    assert.ok(retries <= allowed, `${retries} retries, ${allowed} allowed`);
    assert.ok(retries > 900, `${retries} retries: the budget is there to be used`);
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
