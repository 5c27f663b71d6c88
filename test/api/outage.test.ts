import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Closing, createGate, type GateMemory } from '../../src/api/gate.ts';
import { watchForOutage } from '../../src/api/outage.ts';
import { systemClock } from '../../src/base/clock.ts';
import { fakeClock } from '../support/clock.ts';
import { clientOf, DRAFT, envelope, failureOf, json, startUpstream } from './support/upstream.ts';

const NOW = 1_000_000;

describe('an outage', () => {
  it('begins with the third failure in a row and is waited out for longer each time, up to a minute', () => {
    const outage = watchForOutage({ random: () => 1 });
    let now = NOW;
    const waits: number[] = [];
    for (let n = 0; n < 11; n++) {
      outage.learn(n % 2 === 0 ? null : 503, now);
      waits.push(Math.max(0, outage.until() - now));
      now = Math.max(now, outage.until());
    }
    assert.deepEqual(waits, [0, 0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('is over with the first answer, whatever it says', () => {
    for (const status of [200, 401, 404, 429]) {
      const outage = watchForOutage();
      for (let n = 0; n < 5; n++) outage.learn(null, NOW);
      assert.ok(outage.until() > NOW);
      outage.learn(status, NOW);
      assert.equal(outage.until(), 0);
      outage.learn(null, NOW);
      outage.learn(null, NOW);
      assert.equal(outage.until(), 0, 'two failures are bad luck');
    }
  });

  it('does not grow by requests that were under way when the wait began', () => {
    const outage = watchForOutage({ random: () => 1 });
    for (let n = 0; n < 3; n++) outage.learn(null, NOW);
    const { until } = outage;
    const first = until();
    for (let n = 0; n < 10; n++) outage.learn(null, NOW + 100);
    assert.equal(until(), first);
  });

  it('stops creates before they are sent, as failures to connect and not as throttling', async (t) => {
    const upstream = await startUpstream(t, (_request, response) => json(response, {}, 503));
    const clock = fakeClock();
    const gate = createGate(clock, { outage: watchForOutage({ random: () => 1 }) });
    const client = clientOf(t, upstream.url, { clock, gate });
    const outcomes = [];
    for (let n = 0; n < 5; n++) outcomes.push((await client.create(DRAFT)).outcome);
    assert.deepEqual(outcomes, ['unknown', 'unknown', 'unknown', 'not-sent', 'not-sent']);
    assert.equal(upstream.requests.length, 3);
    clock.advance(1000);
    assert.equal((await client.create(DRAFT)).outcome, 'unknown');
    assert.equal(upstream.requests.length, 4);
  });

  it('makes reads wait, all of them, and lets them go on after it', async (t) => {
    const upstream = await startUpstream(t, (_request, response, n) =>
      n <= 4 ? json(response, {}, 500) : json(response, envelope([1])),
    );
    const clock = fakeClock();
    const gate = createGate(clock, { outage: watchForOutage({ random: () => 1 }) });
    const client = clientOf(t, upstream.url, { clock, gate });
    for (let n = 0; n < 3; n++) await client.create(DRAFT);
    const began = clock.now();
    assert.equal((await client.page('posts', '')).rows.length, 1);
    assert.ok(clock.now() - began >= 3000, 'a second, and after one more failure two');
    assert.equal(gate.closedUntil(clock.now()), null);
  });

  it('is not made by calls that we called off ourselves', async (t) => {
    const upstream = await startUpstream(t, () => undefined);
    const outage = watchForOutage({ threshold: 1 });
    const client = clientOf(t, upstream.url, { gate: createGate(systemClock, { outage }) });
    await failureOf(client.page('posts', '', AbortSignal.timeout(50)));
    assert.equal(outage.until(), 0);
  });
});

describe('a gate with a memory', () => {
  const HOUR = 3_600_000;
  const shared = (start: Closing | null = null) => {
    let kept = start;
    const memory: GateMemory = {
      read: () => kept,
      write: (closing) => {
        kept = closing;
      },
    };
    return { memory, kept: () => kept };
  };

  it('is closed for everyone who shares it, and after a restart', () => {
    const clock = fakeClock(NOW);
    const { memory, kept } = shared();
    const [first, second] = [createGate(clock, { memory }), createGate(clock, { memory })];
    first.closeUntil(NOW + 5000);
    assert.deepEqual(kept(), { askedAt: NOW, until: NOW + 5000 });
    assert.equal(second.closedUntil(NOW), NOW + 5000);
    assert.equal(createGate(clock, { memory }).closedUntil(NOW), NOW + 5000);
    assert.equal(createGate(clock, { memory }).outageUntil(NOW), null);
  });

  it('stays closed for as long as was asked, whatever the clock does meanwhile', () => {
    for (const jump of [-24 * HOUR, -20 * 60_000, 20 * 60_000, 24 * HOUR]) {
      const clock = fakeClock(NOW);
      const { memory } = shared();
      const [heard, read] = [createGate(clock, { memory }), createGate(clock, { memory })];
      heard.closeUntil(NOW + HOUR);
      read.closedUntil(NOW);
      clock.advance(HOUR / 2);
      clock.set(NOW + jump);
      for (const gate of [heard, read]) assert.equal(gate.closedUntil(NOW + jump), NOW + jump + HOUR / 2);
      clock.advance(HOUR / 2);
      for (const gate of [heard, read]) assert.equal(gate.closedUntil(clock.now()), null);
    }
  });

  it('believes no wait that was asked for in the future, and none that is longer than any we take', () => {
    const clock = fakeClock(NOW);
    const closings = [
      { askedAt: NOW + 24 * HOUR, until: NOW + 25 * HOUR },
      { askedAt: NOW + 60_000, until: NOW + 120_000 },
      { askedAt: NOW - 1, until: NOW + 24 * HOUR },
    ];
    for (const closing of closings) assert.equal(createGate(clock, shared(closing)).closedUntil(NOW), null);
  });

  it('opens after an outage although the clock was set back', () => {
    const clock = fakeClock(NOW);
    const gate = createGate(clock, { outage: watchForOutage({ random: () => 1 }) });
    for (let n = 0; n < 3; n++) gate.learn(null);
    assert.equal(gate.outageUntil(NOW), NOW + 1000);
    clock.set(NOW - 24 * HOUR);
    clock.advance(1000);
    assert.equal(gate.closedUntil(clock.now()), null);
  });
});
