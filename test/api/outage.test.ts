import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createGate } from '../../src/api/gate.ts';
import { watchForOutage } from '../../src/api/outage.ts';
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
    const gate = createGate(0, { outage: watchForOutage({ random: () => 1 }) });
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
    const gate = createGate(0, { outage: watchForOutage({ random: () => 1 }) });
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
    const client = clientOf(t, upstream.url, { gate: createGate(0, { outage }) });
    await failureOf(client.page('posts', '', AbortSignal.timeout(50)));
    assert.equal(outage.until(), 0);
  });
});

describe('a gate with a memory', () => {
  it('is closed for everyone who shares it, and after a restart', () => {
    let kept = 0;
    const memory = {
      read: () => kept,
      write: (until: number) => {
        kept = until;
      },
    };
    const [first, second] = [createGate(0, { memory }), createGate(0, { memory })];
    first.closeUntil(NOW + 5000);
    assert.equal(second.closedUntil(NOW), NOW + 5000);
    second.closeUntil(NOW + 1000);
    assert.equal(kept, NOW + 5000, 'a shorter wait does not replace a longer one');
    assert.equal(createGate(0, { memory }).closedUntil(NOW), NOW + 5000);
    assert.equal(createGate(0, { memory }).outageUntil(NOW), null);
  });

  it('does not stay closed for ever after the clock was set back', () => {
    const memory = { read: () => NOW + 86_400_000, write: () => {} };
    assert.equal(createGate(0, { memory }).closedUntil(NOW), null);
  });
});
