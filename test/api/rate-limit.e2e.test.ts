import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '../../src/api/client.ts';
import {
  type Closing,
  createCircuitBreaker,
  createRateLimit,
  type RateLimitStore,
} from '../../src/api/rate-limit.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { fakeClock, timeline } from '../support/clock.ts';
import { clientOf, DRAFT, envelope, failureOf, json, startUpstream } from './support/upstream.ts';

describe('the rate limit', () => {
  const closed = (clock: Clock, until: number) => {
    const limit = createRateLimit(clock);
    limit.closeUntil(until);
    return limit;
  };

  it('is open at first and closed until the latest moment it was told', async () => {
    const clock = fakeClock(0);
    const limit = createRateLimit(clock);
    assert.equal(limit.closedUntil(1), null);
    limit.closeUntil(5_000);
    limit.closeUntil(3_000);
    assert.equal(limit.closedUntil(0), 5_000);
    clock.advance(5_000);
    assert.equal(limit.closedUntil(5_000), null);
  });

  it('lets a waiting call through once it opens, and not before a later closing ends', async () => {
    const clock = timeline(0);
    const limit = closed(clock, 1_000);
    let passed = false;
    const waiting = limit.pass(60_000).then(() => {
      passed = true;
    });
    await clock.runUntil(500);
    limit.closeUntil(2_000);
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

  it('keeps a call waiting for as long as it may, to the millisecond', async () => {
    const clock = fakeClock(0);
    await closed(clock, 120_000).pass(120_000);
    assert.deepEqual(clock.slept, [120_000]);
    await assert.rejects(closed(clock, 240_001).pass(120_000), /not to call/);
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

const NOW = 1_000_000;

describe('the circuit breaker', () => {
  it('begins with the third failure in a row and is waited out for longer each time, up to a minute', () => {
    const breaker = createCircuitBreaker({ random: () => 1 });
    let now = NOW;
    const waits: number[] = [];
    for (let n = 0; n < 11; n++) {
      breaker.record(n % 2 === 0 ? null : 503, now);
      waits.push(Math.max(0, breaker.until() - now));
      now = Math.max(now, breaker.until());
    }
    assert.deepEqual(waits, [0, 0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('is over with the first answer, whatever it says', () => {
    for (const status of [200, 401, 404, 429]) {
      const breaker = createCircuitBreaker();
      for (let n = 0; n < 5; n++) breaker.record(null, NOW);
      assert.ok(breaker.until() > NOW);
      breaker.record(status, NOW);
      assert.equal(breaker.until(), 0);
      breaker.record(null, NOW);
      breaker.record(null, NOW);
      assert.equal(breaker.until(), 0, 'two failures are bad luck');
    }
  });

  it('does not grow by requests that were under way when the wait began', () => {
    const breaker = createCircuitBreaker({ random: () => 1 });
    for (let n = 0; n < 3; n++) breaker.record(null, NOW);
    const { until } = breaker;
    const first = until();
    for (let n = 0; n < 10; n++) breaker.record(null, NOW + 100);
    assert.equal(until(), first);
    breaker.record(null, first);
    assert.equal(until(), first + 2000, 'nor does the next wait');
  });

  it('stops creates before they are sent, as failures to connect and not as throttling', async (t) => {
    const upstream = await startUpstream(t, (_request, response) => json(response, {}, 503));
    const clock = fakeClock();
    const limit = createRateLimit(clock, { breaker: createCircuitBreaker({ random: () => 1 }) });
    const client = clientOf(t, upstream.url, { clock, rateLimit: limit });
    const outcomes = [];
    for (let n = 0; n < 5; n++) outcomes.push((await client.create(DRAFT)).outcome);
    assert.deepEqual(outcomes, ['unknown', 'unknown', 'unknown', 'not-sent', 'not-sent']);
    assert.equal(upstream.requests.length, 3);
    clock.advance(1000);
    assert.equal((await client.create(DRAFT)).outcome, 'unknown');
    assert.equal(upstream.requests.length, 4);
  });

  it('leaves it to the upstream to say how long, where that asked for a wait as well', async (t) => {
    const clock = fakeClock();
    const breaker = createCircuitBreaker({ random: () => 1 });
    const limit = createRateLimit(clock, { breaker });
    for (let n = 0; n < 3; n++) limit.record(null);
    limit.closeUntil(clock.now() + 500);
    assert.equal(limit.outageUntil(clock.now()), null);
    const outcome = await clientOf(t, 'http://127.0.0.1:1', { clock, rateLimit: limit }).create(DRAFT);
    assert.equal(outcome.outcome, 'throttled');
    clock.advance(500);
    assert.equal(limit.outageUntil(clock.now()), clock.now() + 500);
  });

  it('keeps creates back apart from reads where a proxy answers in the place of the service', () => {
    const clock = fakeClock();
    const limit = createRateLimit(clock);
    limit.holdCreates(2000);
    assert.equal(limit.outageUntil(clock.now()), clock.now() + 2000);
    assert.deepEqual(
      [limit.closedUntil(clock.now(), 'creates'), limit.closedUntil(clock.now(), 'reads')],
      [clock.now() + 2000, null],
    );
  });

  it('holds for the kind of calls that was refused, and for both where both were', () => {
    const clock = fakeClock();
    const limit = createRateLimit(clock);
    limit.closeUntil(clock.now() + 7000, ['reads']);
    assert.equal(limit.closedUntil(clock.now()), null);
    limit.closeUntil(clock.now() + 3000, ['creates']);
    const waits = (['reads', 'creates'] as const).map(
      (kind) => (limit.closedUntil(clock.now(), kind) ?? 0) - clock.now(),
    );
    assert.deepEqual(waits, [7000, 3000]);
  });

  it('makes reads wait, all of them, and lets them go on after it', async (t) => {
    const upstream = await startUpstream(t, (_request, response, n) =>
      n <= 4 ? json(response, {}, 500) : json(response, envelope([1])),
    );
    const clock = fakeClock();
    const limit = createRateLimit(clock, { breaker: createCircuitBreaker({ random: () => 1 }) });
    const client = clientOf(t, upstream.url, { clock, rateLimit: limit });
    for (let n = 0; n < 3; n++) await client.create(DRAFT);
    const began = clock.now();
    assert.equal((await client.page('posts', '')).rows.length, 1);
    assert.ok(clock.now() - began >= 3000, 'a second, and after one more failure two');
    assert.equal(limit.closedUntil(clock.now()), null);
  });

  it('is not made by calls that we called off ourselves', async (t) => {
    let controller = new AbortController();
    const upstream = await startUpstream(t, () => controller.abort());
    const breaker = createCircuitBreaker();
    const client = clientOf(t, upstream.url, { rateLimit: createRateLimit(systemClock, { breaker }) });
    for (let n = 0; n < 5; n++) {
      controller = new AbortController();
      await failureOf(client.page('posts', '', controller.signal));
    }
    assert.equal(breaker.until(), 0);
  });
});

describe('a rate limit with a store', () => {
  const HOUR = 3_600_000;
  const shared = (start: Closing | null = null) => {
    let kept = start;
    const store: RateLimitStore = {
      read: () => kept,
      write: (_kind, closing) => {
        kept = closing;
      },
    };
    return { store, kept: () => kept };
  };

  it('is closed for everyone who shares it, and after a restart', () => {
    const clock = fakeClock(NOW);
    const { store, kept } = shared();
    const [first, second] = [createRateLimit(clock, { store }), createRateLimit(clock, { store })];
    first.closeUntil(NOW + 5000);
    assert.deepEqual(kept(), { askedAt: NOW, until: NOW + 5000 });
    assert.equal(second.closedUntil(NOW), NOW + 5000);
    assert.equal(createRateLimit(clock, { store }).closedUntil(NOW), NOW + 5000);
    assert.equal(createRateLimit(clock, { store }).outageUntil(NOW), null);
  });

  it('is closed by a 503 that says how long, whether a read or a create met it, up to an hour', async (t) => {
    const upstream = await startUpstream(t, (_, response) =>
      json(response, {}, 503, { 'retry-after': '7200' }),
    );
    const calls = [(client: Client) => client.create(DRAFT), (client: Client) => client.page('posts', '')];
    for (const call of calls) {
      const clock = fakeClock(NOW);
      const { store } = shared();
      const client = clientOf(t, upstream.url, { clock, rateLimit: createRateLimit(clock, { store }) });
      const outcome = await call(client).catch((error: Error) => error);
      if ('outcome' in outcome) assert.equal(outcome.outcome, 'unknown', 'the post may be kept');
      assert.equal(createRateLimit(clock, { store }).closedUntil(NOW), NOW + HOUR);
    }
  });

  it('is not closed by a 503 that does not', async (t) => {
    const upstream = await startUpstream(t, (_, response) => json(response, {}, 503));
    const clock = fakeClock(NOW);
    const { store, kept } = shared();
    const client = clientOf(t, upstream.url, { clock, rateLimit: createRateLimit(clock, { store }) });
    await client.create(DRAFT);
    await failureOf(client.page('posts', ''));
    assert.equal(kept(), null);
  });

  it('stays closed for as long as was asked, whatever the clock does meanwhile', () => {
    for (const jump of [-24 * HOUR, -20 * 60_000, 20 * 60_000, 24 * HOUR]) {
      const clock = fakeClock(NOW);
      const { store } = shared();
      const [heard, read] = [createRateLimit(clock, { store }), createRateLimit(clock, { store })];
      heard.closeUntil(NOW + HOUR);
      read.closedUntil(NOW);
      clock.advance(HOUR / 2);
      clock.set(NOW + jump);
      for (const limit of [heard, read]) assert.equal(limit.closedUntil(NOW + jump), NOW + jump + HOUR / 2);
      clock.advance(HOUR / 2);
      for (const limit of [heard, read]) assert.equal(limit.closedUntil(clock.now()), null);
    }
  });

  it('believes no wait that was asked for in the future, and none that is longer than any we take', () => {
    const clock = fakeClock(NOW);
    const closings = [
      { askedAt: NOW + 24 * HOUR, until: NOW + 25 * HOUR },
      { askedAt: NOW + 60_000, until: NOW + 120_000 },
      { askedAt: NOW - 1, until: NOW + 24 * HOUR },
    ];
    for (const closing of closings)
      assert.equal(createRateLimit(clock, shared(closing)).closedUntil(NOW), null);
  });

  it('opens after an outage although the clock was set back', () => {
    const clock = fakeClock(NOW);
    const limit = createRateLimit(clock, { breaker: createCircuitBreaker({ random: () => 1 }) });
    for (let n = 0; n < 3; n++) limit.record(null);
    assert.equal(limit.outageUntil(NOW), NOW + 1000);
    clock.set(NOW - 24 * HOUR);
    clock.advance(1000);
    assert.equal(limit.closedUntil(clock.now()), null);
  });
});
