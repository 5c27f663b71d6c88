import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { Secret } from '../../src/base/secret.ts';
import type { Change } from '../../src/changes/change.ts';
import { openChangeFeed } from '../../src/changes/feed.ts';
import type { Webhook as Endpoint } from '../../src/contract/telling.ts';
import {
  type DeliveryResult,
  deliver,
  isMeant,
  RETRY_MS,
  replay,
  sendTestMessage,
} from '../../src/webhooks/deliver.ts';
import { createWebhookSender } from '../../src/webhooks/send.ts';
import { openWebhookStore } from '../../src/webhooks/store.ts';
import { fakeClock } from '../support/clock.ts';
import { openTestMirror } from '../support/mirror.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { openReceiver } from './receiver.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');

/** A mirror whose first post gets votes, one endpoint, and a clock that only moves when it is told to. */
async function openBench(t: TestContext, wishes: Partial<Endpoint> = {}) {
  const receiver = await openReceiver(t);
  const mirror = openTestMirror();
  let votes = 1;
  const vote = (also: { comments_count?: number } = {}): void =>
    void sweep(
      mirror.store,
      'posts',
      [aPost(1, { title: 'Ask eve@example.com', votes_count: votes, ...also })],
      votes++,
    );
  vote();
  const [feed, store] = [openChangeFeed(mirror), openWebhookStore(mirror)];
  const sender = createWebhookSender({ allow: ['127.0.0.1'] });
  const clock = fakeClock();
  const signal = new AbortController().signal;
  const deps = { feed, store, sender, clock, signal, mirrorId: 'abcdefgh-1', base: null, random: () => 0 };
  const endpoint: Endpoint = {
    id: 'one',
    url: new Secret(receiver.url),
    host: '127.0.0.1',
    key: new Secret(KEY),
    format: 'standard',
    types: null,
    boards: null,
    rule: null,
    personal: false,
    ...wishes,
  };
  store.state(endpoint.id);
  t.after(async () => {
    await sender.close();
    store.close();
    feed.close();
    mirror.dispose();
  });
  return {
    ...receiver,
    deps,
    endpoint,
    store,
    vote,
    deliver: (): Promise<DeliveryResult> => deliver(deps, endpoint),
    pass: clock.advance,
  };
}

describe('delivering to a webhook', () => {
  it('waits as long as the endpoint asks it to, where that is longer than its own wait', async (t) => {
    const bench = await openBench(t);
    bench.vote();
    bench.plan.push({ status: 503, retryAfter: 120 }, { status: 429, retryAfter: 1 });
    assert.equal((await bench.deliver()).retryMs, 120_000);
    bench.pass(119_999);
    assert.deepEqual([(await bench.deliver()).delivered, bench.received.length], [0, 1]);
    bench.pass(1);
    assert.equal((await bench.deliver()).retryMs, RETRY_MS[1]);
  });

  it('sends what the Standard Webhooks library verifies, each change once and in order', async (t) => {
    const bench = await openBench(t);
    for (let i = 0; i < 60; i++) bench.vote();
    assert.equal((await bench.deliver()).delivered, 60);
    const [first, ...rest] = bench.numbers();
    assert.deepEqual(
      rest,
      rest.map((_, i) => (first ?? 0) + i + 1),
    );
    const { headers, body } = bench.received[0] ?? assert.fail();
    const sentAt = Number(headers['webhook-timestamp']) * 1000;
    t.mock.timers.enable({ apis: ['Date'], now: sentAt });
    const told = new Webhook(`whsec_${KEY}`).verify(body, headers as Record<string, string>) as {
      type: string;
      data: Change;
    };
    assert.deepEqual([told.type, told.data.after], ['post.votes_changed', { votes_count: 2 }]);
    assert.throws(() => new Webhook(KEY).verify(`${body} `, headers as Record<string, string>));
    assert.match(String(headers['webhook-id']), /^chg_abcdefgh_2_\w+$/);
    assert.deepEqual(await bench.deliver(), { delivered: 0, lost: 0, retryMs: null, disabledWhy: null });
  });

  it('retries a change until the receiver accepts it, and skips none', async (t) => {
    const bench = await openBench(t);
    for (let i = 0; i < 6; i++) bench.vote();
    bench.plan.push(204, 500, 'die', 404, 302, 204, 429, 503);
    const waits: number[] = [];
    for (let round = 0; round < 10; round++) {
      const { retryMs } = await bench.deliver();
      if (retryMs === null) break;
      // Before its time nothing is sent.
      const sent = bench.received.length;
      assert.ok(((await bench.deliver()).retryMs ?? 0) <= retryMs);
      assert.equal(bench.received.length, sent);
      waits.push(retryMs);
      bench.pass(retryMs);
    }
    assert.deepEqual(waits, [...RETRY_MS.slice(0, 4), ...RETRY_MS.slice(0, 2)]);
    assert.deepEqual(bench.numbers(), [2, 3, 4, 5, 6, 7]);
    const ids = new Set(bench.received.map(({ headers }) => headers['webhook-id']));
    assert.equal(ids.size, 6);
    assert.deepEqual(bench.store.state('one').failures, 0);
  });

  it('tells nothing again where a handler that was thought dead comes late with what it delivered', async (t) => {
    const bench = await openBench(t);
    for (let n = 0; n < 3; n++) bench.vote();
    assert.equal((await bench.deliver()).delivered, 3);
    const { position } = bench.store.state('one');
    bench.store.advance('one', position - 2);
    assert.equal(bench.store.state('one').position, position);
    assert.equal((await bench.deliver()).delivered, 0);
  });

  it('is disabled by 410 at once or by ten failures, and resumes at its position when enabled', async (t) => {
    const bench = await openBench(t);
    bench.vote();
    bench.plan.push(410);
    assert.match((await bench.deliver()).disabledWhy ?? '', /410/);
    bench.store.enable('one');
    bench.plan.push(...Array.from({ length: 10 }, () => 500));
    let last: DeliveryResult | null = null;
    for (let i = 0; i < 10; i++) {
      last = await bench.deliver();
      bench.pass(last.retryMs ?? 0);
    }
    assert.match(last?.disabledWhy ?? '', /10 attempts failed, the last because it answered 500/);
    assert.equal((await bench.deliver()).delivered, 0);
    bench.store.enable('one');
    assert.equal((await bench.deliver()).delivered, 1);
    assert.deepEqual(
      bench.store.deliveries('one', 3).map(({ status }) => status),
      [204, 500, 500],
    );
  });

  it('shows addresses and authors only to an endpoint that asks for them', async (t) => {
    for (const personal of [false, true]) {
      const bench = await openBench(t, { personal });
      bench.vote();
      await bench.deliver();
      const body = bench.received[0]?.body ?? '';
      assert.equal(body.includes('eve@example.com'), personal);
      assert.equal(body.includes('"author"'), personal);
    }
  });

  it('sends a change again, or a test, when a person asks', async (t) => {
    const bench = await openBench(t);
    bench.vote();
    await bench.deliver();
    assert.equal((await replay(bench.deps, bench.endpoint, 2)).error, null);
    assert.equal(bench.received[0]?.headers['webhook-id'], bench.received[1]?.headers['webhook-id']);
    await sendTestMessage(bench.deps, bench.endpoint);
    assert.match(bench.received[2]?.body ?? '', /"type":"webhook.test"/);
    await assert.rejects(replay(bench.deps, bench.endpoint, 99), /no change 99/);
  });

  it('writes for people in the form of each channel, and lets no title call or link anywhere', async (t) => {
    const texts: Record<string, RegExp> = {
      slack: /"text":"2 votes: .*\[e-mail\]/,
      discord: /"allowed_mentions":\{"parse":\[\]\}/,
      teams: /AdaptiveCard/,
    };
    for (const [format, expected] of Object.entries(texts)) {
      const bench = await openBench(t, { format: format as Endpoint['format'], key: null });
      bench.vote();
      await bench.deliver();
      assert.match(bench.received[0]?.body ?? '', expected);
      assert.equal(bench.received[0]?.headers['webhook-signature'], undefined);
    }
  });
});

describe('an endpoint with a rule', () => {
  it('is told of the comments that make it true, although it asked for no type', async (t) => {
    const rule = { field: 'comments', operator: '>', value: '10' } as const;
    const bench = await openBench(t, { rule });
    bench.vote({ comments_count: 11 });
    assert.equal((await bench.deliver()).delivered, 1);
  });
});

describe('a rule', () => {
  const change = (before: object | undefined, after: object) => ({ before, after }) as unknown as Change;
  const votes = { field: 'votes', operator: '>=', value: '50' } as const;
  const done = { field: 'status', operator: '=', value: 'completed' } as const;

  it('picks the change that makes it true', () => {
    assert.equal(isMeant(change({ votes_count: 49 }, { votes_count: 51 }), votes), true);
    assert.equal(isMeant(change({ votes_count: 51 }, { votes_count: 52 }), votes), false);
    assert.equal(isMeant(change(undefined, { votes_count: 60, status: 'Open' }), votes), true);
    assert.equal(isMeant(change({ status: 'Open' }, { status: 'Completed' }), done), true);
    assert.equal(isMeant(change({ title: 'a' }, { title: 'b' }), done), false);
  });
});
