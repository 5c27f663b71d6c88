import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { cancelBatch, pauseBatch, resumeBatch } from '../../src/outbox/person.ts';
import { createRandom } from '../../src/sandbox/random.ts';
import { until } from '../support/until.ts';
import { type Stage, stageFor } from './sender.ts';

const ROWS = 14;

/** Nothing was sent twice, nothing that is cancelled was sent, and every post is one row's. */
async function assertLedger({ bench, sandbox }: Stage, ids: readonly number[]): Promise<void> {
  const rows = await Promise.all(ids.map((id) => bench.row(id)));
  const sent = sandbox.world.ledger().map(({ content }) => content);
  assert.equal(new Set(sent).size, sent.length, 'a row was sent twice');
  for (const row of rows)
    if (row.state === 'cancelled')
      assert.ok(!sent.includes(row.content), `${row.content} was cancelled and sent`);
  const confirmed = rows.filter(({ state }) => state === 'confirmed').map(({ content }) => content);
  assert.deepEqual(new Set(confirmed), new Set(sent));
  assert.equal(confirmed.length, sent.length);
}

describe('an import that is paused, killed, resumed and cancelled at random', { concurrency: 2 }, () => {
  for (const seed of [1, 2])
    it(`sends nothing twice and nothing that was cancelled, by the ledger (seed ${seed})`, async (t) => {
      const random = createRandom(seed);
      const stage = await stageFor(t, { faults: 'latency ms=20' });
      const { bench, sandbox } = stage;
      const deps = { store: bench.store, clock: systemClock };
      const board = sandbox.world.boards()[0]?.slug ?? '';
      const ids: number[] = [];
      for (let n = 0; n < ROWS; n++)
        ids.push(await bench.add({ board, title: 'A wish', content: `Number ${n}` }));
      const sent = (): number => sandbox.world.ledger().length;
      const first = stage.start();
      const pauseAt = 1 + random.int(5);
      await until('some are sent', () => sent() >= pauseAt);
      pauseBatch(deps, 'test');
      if (random.int(2) === 0) {
        first.child.kill('SIGKILL');
        await first.ended;
      }
      const second = stage.start();
      await until('what was on its way has ended', () => {
        const { sending, ambiguous } = bench.store.counts('test');
        return sending + ambiguous === 0;
      });
      const standing = sent();
      await until('a sender has looked often', () => first.naps() + second.naps() >= 3);
      assert.equal(sent(), standing, 'a paused import was sent');
      resumeBatch(deps, 'test');
      const cancelAt = Math.min(ROWS - 1, standing + 1 + random.int(4));
      await until('it goes on', () => sent() >= cancelAt);
      await cancelBatch(deps, 'test');
      const ended = await second.ended;
      assert.equal(ended.code, 0, ended.output);
      await assertLedger(stage, ids);
      assert.ok(bench.store.counts('test').cancelled > 0 || sent() === ROWS);
    });
});
