import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { drive, recoverOrphans } from '../../src/outbox/drive.ts';
import { push } from '../../src/outbox/push.ts';
import { TRANSITIONS } from '../../src/outbox/states.ts';
import { openDurably } from '../../src/store/outbox/store.ts';
import { benchFor, CREATE_MS, HOUR, impatient, MINUTE, SETTLE_MS } from './bench.ts';
import { unknown } from './scripted-upstream.ts';

const ALL = { batch: null, perMinute: 60 };

describe('driving an outbox', () => {
  it('sends every row at the pace asked for and comes to an end', async (t) => {
    const bench = benchFor(t);
    for (let n = 0; n < 5; n++) await bench.add({ title: `Wish ${n}` });
    const times: number[] = [];
    bench.upstream.duringCreate = () => void times.push(bench.clock.now());
    const counts = await drive(bench.context, ALL);
    assert.equal(counts.confirmed, 5);
    const [first = 0] = times;
    assert.deepEqual(
      times.map((time) => time - first),
      [0, 1000, 2000, 3000, 4000],
    );
  });

  it('sends a row that waited for its time before those that were never tried', async (t) => {
    const bench = benchFor(t);
    for (let n = 0; n < 5; n++) await bench.add({ title: `Wish ${n}` });
    bench.upstream.outcomes = [{ outcome: 'not-sent', reason: 'refused' }];
    await drive(bench.context, ALL);
    const titles = bench.upstream.created.map((asked) => Reflect.get(asked, 'title'));
    assert.deepEqual(titles, ['Wish 0', 'Wish 1', 'Wish 2', 'Wish 0', 'Wish 3', 'Wish 4']);
  });

  it('tells how far it has come', async (t) => {
    const bench = benchFor(t);
    for (let n = 0; n < 3; n++) await bench.add({ title: `Wish ${n}` });
    const told: number[] = [];
    await drive(bench.context, { ...ALL, onProgress: (counts) => void told.push(counts.confirmed) });
    assert.deepEqual(told, [1, 2, 3, 3]);
  });

  it('leaves other batches alone', async (t) => {
    const bench = benchFor(t);
    const [ours, theirs] = [
      await bench.add({ title: 'Ours' }, 'ours'),
      await bench.add({ title: 'Theirs' }, 'theirs'),
    ];
    await drive(bench.context, { batch: 'ours', perMinute: 60 });
    assert.deepEqual(
      [(await bench.row(ours)).state, (await bench.row(theirs)).state],
      ['confirmed', 'ready'],
    );
  });

  it('waits for an unclear row to settle and looks for it then', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    bench.upstream.duringCreate = () => void bench.upstream.publish();
    const began = bench.clock.now();
    await drive(bench.context, ALL);
    assert.equal((await bench.row(id)).state, 'confirmed');
    assert.equal(bench.clock.now() - began, CREATE_MS + SETTLE_MS);
    assert.equal(bench.upstream.created.length, 1);
  });

  it('stops with the token, and not with a loop, when the list is refused', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    bench.upstream.duringCreate = () => {
      bench.upstream.readError = new AppError('unauthorised', 'who are you');
    };
    await assert.rejects(drive(bench.context, ALL), { code: 'unauthorised' });
    assert.equal((await bench.row(id)).state, 'ambiguous');
    await assert.rejects(drive(bench.context, ALL), { code: 'unauthorised' });
    bench.upstream.readError = null;
    await drive(bench.context, ALL);
    assert.equal((await bench.row(id)).state, 'confirmed');
  });

  it('stops between two rows when it is told to, and leaves the lock to the next', async (t) => {
    const bench = benchFor(t);
    for (let n = 0; n < 3; n++) await bench.add({ title: `Wish ${n}` });
    const controller = new AbortController();
    bench.upstream.duringCreate = () => controller.abort(new AppError('interrupted', 'stop'));
    await assert.rejects(drive({ ...bench.context, signal: controller.signal }, ALL), {
      code: 'interrupted',
    });
    assert.equal((await bench.store.counts(null)).confirmed, 1);
    bench.upstream.duringCreate = () => {};
    assert.equal((await drive(bench.context, ALL)).confirmed, 3);
  });
});

describe('a second sender', () => {
  it('only watches while the first one is at work', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const clock = impatient(bench.clock, 5);
    const client = new Proxy(bench.upstream.client, { get: () => assert.fail('it talked to the upstream') });
    const second = { ...bench.context, store: bench.another(), clock, client };
    bench.upstream.duringCreate = async () => {
      await assert.rejects(drive(second, ALL), clock.stopped);
      assert.equal((await bench.row(id)).state, 'sending', 'a row on its way is not an orphan');
    };
    await drive(bench.context, ALL);
    assert.equal((await bench.row(id)).state, 'confirmed');
  });

  it('goes home when the first one has finished', async (t) => {
    const bench = benchFor(t);
    await bench.add();
    const store = bench.another();
    const lock = await store.lockSender();
    assert.ok(lock.ok);
    const watched = { ...bench.clock, sleep: async () => void (await push({ ...bench.context, store }, 1)) };
    const counts = await drive({ ...bench.context, clock: watched }, ALL);
    assert.equal(counts.confirmed, 1);
    lock.release();
  });

  it('gets the lock after the row at hand where it is a service, and the first one watches it send the rest', async (t) => {
    const bench = benchFor(t);
    for (let n = 0; n < 3; n++) await bench.add({ title: `Wish ${n}` });
    const service = { ...bench.context, store: bench.another() };
    const watched = {
      ...bench.clock,
      async sleep(ms: number) {
        bench.clock.advance(ms);
        const lock = await service.store.lockSenderFirst();
        if (!lock.ok) return;
        assert.equal((await bench.store.counts(null)).confirmed, 1);
        for (const id of [2, 3]) await push(service, id);
        lock.release();
      },
    };
    assert.equal((await drive({ ...bench.context, clock: watched }, ALL)).confirmed, 3);
  });

  it('is left the lock also while the only row of the first one waits to settle', async (t) => {
    const bench = benchFor(t);
    await bench.add();
    bench.upstream.outcomes = [unknown()];
    const service = bench.another();
    let naps = 0;
    const watched = {
      ...bench.clock,
      async sleep(ms: number) {
        bench.clock.advance(ms);
        naps++;
        const lock = await service.lockSenderFirst();
        if (!lock.ok) return;
        lock.release();
        throw new AppError('interrupted', 'seen enough');
      },
    };
    await assert.rejects(drive({ ...bench.context, clock: watched }, ALL), { code: 'interrupted' });
    assert.equal(naps, 2);
  });

  it('does not wait for a service that stood in line and is gone', async (t) => {
    const bench = benchFor(t);
    await bench.add();
    const [first, gone] = [bench.another(), bench.another()];
    const lock = await first.lockSender();
    assert.equal((await gone.lockSenderFirst()).ok, false);
    assert.equal(await bench.store.isSenderWanted(), true);
    assert.ok(lock.ok);
    lock.release();
    await gone.close();
    assert.equal((await drive(bench.context, ALL)).confirmed, 1);
  });

  it('takes over where the first one has died', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const lock = await bench.another().lockSender();
    assert.ok(lock.ok);
    const watched = {
      ...bench.clock,
      async sleep(ms: number) {
        lock.release();
        bench.clock.advance(ms);
      },
    };
    await drive({ ...bench.context, clock: watched }, ALL);
    assert.equal((await bench.row(id)).state, 'confirmed');
  });
});

describe('rows that a dead sender left behind', () => {
  it('are unclear, and settle from the deadline of their attempt', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const { clock, store } = bench;
    const began = clock.now();
    await store.claim({
      id,
      transition: TRANSITIONS.claim,
      now: began,
      deadline: began + CREATE_MS,
      listedMaxId: null,
    });
    clock.advance(1000);
    assert.equal(await recoverOrphans(bench.context), 1);
    const row = await bench.row(id);
    assert.equal(row.state, 'ambiguous');
    assert.equal(row.not_before, new Date(began + CREATE_MS + SETTLE_MS).toISOString());
    const [attempt] = await store.attempts(id);
    assert.deepEqual([attempt?.outcome, attempt?.ended_at], ['unknown', new Date(clock.now()).toISOString()]);
    assert.equal(await recoverOrphans(bench.context), 0);
  });

  it('settle from now where the deadline is long past: a frozen sender may have sent it just before it died', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const { clock, store } = bench;
    await store.claim({
      id,
      transition: TRANSITIONS.claim,
      now: clock.now(),
      deadline: clock.now() + CREATE_MS,
      listedMaxId: null,
    });
    clock.advance(2 * HOUR);
    await recoverOrphans(bench.context);
    const settled = clock.now() + SETTLE_MS;
    assert.equal((await bench.row(id)).not_before, new Date(settled).toISOString());
    // It commits late and is listed late: looked for at once, it would not be found and go out a second time.
    clock.advance(50_000);
    bench.upstream.publish();
    await drive(bench.context, ALL);
    assert.equal((await bench.row(id)).state, 'confirmed');
    assert.equal(bench.upstream.created.length, 0);
  });
});

describe('the connection of the outbox', () => {
  it('returns from a commit only when it has reached the disk', (t) => {
    const FULL = 2;
    const db = openDurably({ path: benchFor(t).path, upstream: 'http://upstream.test' });
    t.after(() => db.close());
    assert.equal(db.pragma('synchronous', { simple: true }), FULL);
  });
});

describe('a large outbox', () => {
  it('is asked for its next row in time that does not grow with it', async (t) => {
    const bench = benchFor(t);
    const rows = Array.from({ length: 20_000 }, (_, n) => ({
      ...{ board: 'ideas', title: `Wish ${n}`, content: '', email: null, full_name: null, line: n },
      ...{ batch: n === 0 ? 'ours' : 'theirs', source_key: `large ${n}`, content_hash: `${n}` },
    }));
    await bench.store.accept(rows, bench.clock.now());
    const later = bench.clock.now() + MINUTE;
    for (const id of [1, 2, 3])
      await bench.store.move(id, { from: ['ready'], to: 'ambiguous' }, { now: 0, notBefore: later });
    const began = performance.now();
    for (let n = 0; n < 1000; n++) {
      for (const batch of ['ours', 'theirs', null]) {
        await bench.store.next(bench.clock.now(), batch);
        await bench.store.isOver(batch);
      }
    }
    const each = (performance.now() - began) / 6000;
    assert.ok(each < 0.5, `${each} ms a question`);
  });
});
