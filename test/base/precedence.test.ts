import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createPrecedence } from '../../src/base/precedence.ts';

/** A clock that moves by 10 ms with each look at what is under way. */
function moved() {
  const clock = { now: 0, looks: 0 };
  const look = async (): Promise<void> => {
    clock.now += 10;
    clock.looks++;
    await setImmediate();
  };
  return { clock, precedence: createPrecedence(() => clock.now, look) };
}

const { signal } = new AbortController();

describe('the turns of sweeps', () => {
  it('come one in a round of the event loop, in the order in which they were asked for', async () => {
    const { precedence } = moved();
    const order: string[] = [];
    const sweep = async (name: string): Promise<void> => {
      await precedence.turn(signal);
      order.push(name);
    };
    const all = Promise.all(['first', 'second', 'third'].map(sweep));
    const rounds: number[] = [];
    while (order.length < 3) {
      await setImmediate();
      rounds.push(order.length);
    }
    await all;
    assert.deepEqual(order, ['first', 'second', 'third']);
    assert.ok(rounds.includes(1) && rounds.includes(2), `two turns in one round: ${rounds.join()}`);
  });

  it('wait while short work is under way', async () => {
    const { clock, precedence } = moved();
    let isTurn = false;
    const work = Promise.withResolvers<void>();
    const short = precedence.short(() => work.promise);
    const turn = precedence.turn(signal).then(() => {
      isTurn = true;
    });
    while (clock.looks < 3) await setImmediate();
    assert.equal(isTurn, false);
    work.resolve();
    await Promise.all([short, turn]);
    assert.ok(clock.now < 100);
  });

  it('come after a tenth of a second although there always is short work', async () => {
    const { clock, precedence } = moved();
    void precedence.short(() => new Promise(() => undefined));
    await precedence.turn(signal);
    assert.equal(clock.now, 100);
  });

  it('do not wait for work that has taken a second: that waits for its own service', async () => {
    const { clock, precedence } = moved();
    void precedence.short(() => new Promise(() => undefined));
    clock.now = 1000;
    await precedence.turn(signal);
    assert.equal(clock.looks, 0);
  });

  it('end with the sweep that asked for one, and go on for the others', async () => {
    const { precedence } = moved();
    const stopped = AbortSignal.abort(new Error('stopped'));
    await assert.rejects(precedence.turn(stopped), /stopped/);
    await precedence.turn(signal);
  });
});
