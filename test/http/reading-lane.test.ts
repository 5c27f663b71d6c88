import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { ReadWorker, type StartWorker } from '../../src/http/dashboard/reading-pool.ts';

type Hearer = Parameters<StartWorker>[0];

interface FakeThread {
  hearer: Hearer;
  asked: unknown[];
  isOver: boolean;
}

/** Threads that answer, report progress and end when the test says so. */
function fakeThreads() {
  const threads: FakeThread[] = [];
  const begin: StartWorker = (hearer) => {
    const thread: FakeThread = { hearer, asked: [], isOver: false };
    threads.push(thread);
    return {
      ask(question) {
        assert.ok(!thread.isOver, 'a thread that has ended is asked nothing');
        assert.equal(thread.asked.length, 0, 'a thread is asked one question at a time');
        thread.asked.push(question.request);
      },
      end() {
        thread.isOver = true;
      },
    };
  };
  const answer = (): boolean => {
    const busy = threads.find(({ isOver, asked }) => !isOver && asked.length > 0);
    if (!busy) return false;
    busy.hearer.onMessage({ value: busy.asked.pop() });
    return true;
  };
  const crash = (): void => {
    const thread = threads.find(({ isOver }) => !isOver);
    if (!thread) return;
    thread.isOver = true;
    thread.hearer.onEnd(null);
    // A worker thread tells an error and then its end.
    thread.hearer.onEnd(null);
  };
  return { begin, answer, crash };
}

const STEPS = ['ask', 'wake', 'answer', 'crash', 'cancel'] as const;

describe('a lane of questions about the mirror', () => {
  it('answers or refuses each question, and never asks a thread that has ended', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { maxLength: 30 }), async (steps) => {
        const { begin, answer, crash } = fakeThreads();
        const lane = new ReadWorker(begin, { idleMs: 60_000, isKept: () => false });
        const told: Promise<unknown>[] = [];
        const ask = (): void => void told.push(lane.ask({ name: 'post', request: told.length }));
        const play = { ask, wake: () => lane.wake(), answer, crash, cancel: () => lane.cancel() };
        for (const step of steps) play[step]();
        ask();
        while (answer());
        // By then each of them is settled; one that is not would be waited for in vain.
        const late = setImmediate().then(() => assert.fail('a question has no answer'));
        const results = await Promise.race([Promise.allSettled(told), late]);
        late.catch(() => undefined);
        await lane.close();
        for (const [n, result] of results.entries())
          if (result.status === 'fulfilled') assert.equal(result.value, n);
          else assert.match(String(result.reason), /ended early|cancelled/);
        assert.equal(results.at(-1)?.status, 'fulfilled');
        assert.equal(lane.progress, null);
      }),
    );
  });

  it('refuses what is asked and what waits when somebody cancels, and answers what is asked later', async () => {
    const { begin, answer } = fakeThreads();
    const lane = new ReadWorker(begin, { idleMs: 60_000, isKept: () => false });
    const told = [1, 2].map((request) => lane.ask({ name: 'post', request }));
    const refused = told.map((each) => assert.rejects(each, { code: 'interrupted', message: /cancelled/ }));
    lane.cancel();
    const later = lane.ask({ name: 'post', request: 3 });
    while (answer());
    await Promise.all(refused);
    assert.equal(await later, 3);
  });

  it('refuses what is asked or waits when it closes', async () => {
    const { begin } = fakeThreads();
    const lane = new ReadWorker(begin, { idleMs: 60_000, isKept: () => false });
    const [first, second] = [1, 2].map((request) => lane.ask({ name: 'post', request }));
    const waiting = assert.rejects(second as Promise<unknown>, { code: 'interrupted' });
    await lane.close();
    await waiting;
    await assert.rejects(lane.ask({ name: 'post', request: 3 }), { code: 'interrupted' });
    void first;
  });
});
