import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Worker } from 'bullmq';
import { closeWorkers, loop } from '../../src/service/workers.ts';
import { timeline } from '../support/clock.ts';

describe('something that is done again and again', () => {
  it('is told once for as long as it fails the same way, and tried less and less often', async () => {
    const clock = timeline();
    const stop = new AbortController();
    const [times, told]: [number[], string[]] = [[], []];
    const log = { error: (_facts: object, text: string) => void told.push(text) };
    let failure: string | null = 'one';
    const options = { name: 'work', everyMs: 1000, clock, signal: stop.signal, log } as unknown;
    const done = loop(options as Parameters<typeof loop>[0], async () => {
      times.push(clock.now() / 1000);
      if (failure !== null) throw new Error(failure);
    });
    await clock.runUntil(17_000);
    assert.deepEqual([times, told], [[0, 2, 6, 11, 16], ['work: one']]);
    failure = 'two';
    await clock.runUntil(21_000);
    failure = null;
    await clock.runUntil(28_000);
    assert.deepEqual(times.slice(5), [21, 26, 27, 28]);
    failure = 'two';
    await clock.runUntil(31_000);
    assert.deepEqual(
      [times.slice(9), told],
      [
        [29, 31],
        ['work: one', 'work: two', 'work: two'],
      ],
    );
    stop.abort();
    await done;
  });

  it('more seldom than that is not tried more often because it fails', async () => {
    const clock = timeline();
    const stop = new AbortController();
    const times: number[] = [];
    const log = { error: () => undefined };
    const options = { name: 'work', everyMs: 30_000, clock, signal: stop.signal, log } as unknown;
    const done = loop(options as Parameters<typeof loop>[0], async () => {
      times.push(clock.now() / 1000);
      throw new Error('why');
    });
    await clock.runUntil(60_000);
    assert.deepEqual(times, [0, 30, 60]);
    stop.abort();
    await done;
  });
});

describe('the workers of a service', () => {
  it('have their time to end a job, and are closed by force after it', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const closes: boolean[] = [];
    const ending = Promise.withResolvers<void>();
    const worker = {
      close: (force = false) => {
        closes.push(force);
        return force ? Promise.resolve() : new Promise(() => undefined);
      },
    } as unknown as Worker;
    const settle = () => new Promise((next) => setImmediate(next));
    let isDone = false;
    const closing = closeWorkers([{ worker, running: new Set([ending.promise]) }]).then(() => {
      isDone = true;
    });
    await settle();
    t.mock.timers.tick(8500);
    await settle();
    assert.deepEqual([closes, isDone], [[false], false]);
    t.mock.timers.tick(200);
    await closing;
    assert.deepEqual(closes, [false, true]);
    const idle = closeWorkers([{ worker, running: new Set() }]);
    await settle();
    t.mock.timers.tick(700);
    await idle;
    assert.deepEqual(closes, [false, true, false, true], 'a queue that is away is not waited for');
  });
});
