import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseArgs } from 'node:util';
import { mirrorOf } from '../../src/app/place.ts';
import { openChangeFeed } from '../../src/changes/feed.ts';
import { EVENT_TYPES } from '../../src/webhooks/deliver.ts';
import { openFixture } from '../service/fixture.ts';
import { LONG_RUN_MS, until } from '../support/until.ts';
import { type Behaviour, openReceiver } from './receiver.ts';

/**
 * A service that is restarted, and a receiver that fails, stalls and dies, for as long as asked:
 *
 *   node test/webhooks/chaos.long.ts --minutes 60
 *
 * Every change must arrive, none before an earlier one. How soon is measured in the rounds in which the receiver is well. A fault comes
 * once: the second attempt follows after 5 s, and the later ones of the schedule take longer than any run.
 */
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '2' } } });
const minutes = Number(values.minutes);
const FAULTS: Behaviour[] = [500, 'die', 503, 'stall'];
const POSTS = 5;

it(`delivers every change for ${minutes} minutes`, { timeout: (minutes + 15) * 60_000 }, async (t) => {
  const receiver = await openReceiver(t);
  const secret = Buffer.alloc(32, 1).toString('base64');
  const hook = { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET: secret, WEBHOOK_ALLOW: '127.0.0.1' };
  const fixture = await openFixture(t, {
    queueUrl: null,
    env: { ...hook, SYNC_HEAD_EVERY: '1s', SYNC_SWEEP_EVERY: '1m' },
  });
  const feed = openChangeFeed(mirrorOf(fixture.app.settings));
  let service = await fixture.start();
  await until('both lists are mirrored', () => feed.head().notMirrored.length === 0, LONG_RUN_MS);
  const told = (): number[] =>
    feed.after('', { limit: 1_000_000, types: EVENT_TYPES }).changes.map(({ number }) => number);
  const delays: number[] = [];
  let made = 0;
  const endAt = performance.now() + minutes * 60_000;
  for (let round = 0; performance.now() < endAt; round++) {
    const [isWell, from] = [round % 2 === 0, receiver.received.length];
    if (!isWell) receiver.plan.push(FAULTS[((round - 1) / 2) % FAULTS.length] ?? 500);
    for (let i = 0; i < POSTS; i++) fixture.sandbox.world.addPost({ title: `Post ${made++}` });
    if (round % 10 === 7) {
      await service.close();
      await service.app.close();
      service = await fixture.start();
    }
    await until('the receiver was told of every post', () => receiver.distinct() >= made, LONG_RUN_MS);
    for (const { at, body } of isWell ? receiver.received.slice(from) : [])
      delays.push(at - Date.parse((JSON.parse(body) as { timestamp: string }).timestamp));
  }
  await until('the receiver was told of the rest', () => receiver.distinct() >= told().length, LONG_RUN_MS);
  assert.deepEqual(receiver.numbers(), told());
  const p95 = delays.toSorted((a, b) => a - b)[Math.floor(delays.length * 0.95)];
  const facts = {
    changes: told().length,
    requests: receiver.received.length,
    measured: delays.length,
    p95Ms: p95,
  };
  process.stdout.write(`${JSON.stringify(facts)}\n`);
  feed.close();
  await service.close();
});
