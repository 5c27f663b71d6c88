import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import { outboxCsv } from '../../src/outbox/import/results.ts';
import {
  cancel,
  cancelBatch,
  edit,
  editBatch,
  finishCancelling,
  pauseBatch,
  resumeBatch,
  retry,
  retryBatch,
} from '../../src/outbox/person.ts';
import { push } from '../../src/outbox/send/push.ts';
import { reconcile } from '../../src/outbox/send/reconcile.ts';
import { type Bench, benchFor, CREATE_MS, MINUTE, SETTLE_MS, TEXT } from './bench.ts';
import { importBenchFor } from './import-feed.ts';
import { unknown } from './scripted-upstream.ts';

function claim({ store, clock }: Bench, id: number) {
  const [now, deadline] = [clock.now(), clock.now() + CREATE_MS];
  return store.claim({ id, transition: TRANSITIONS.claim, now, deadline, listedMaxId: null });
}

function reject(bench: Bench, id: number, error = 'no such board'): void {
  claim(bench, id);
  bench.store.move(id, TRANSITIONS.reject, { now: bench.clock.now(), error });
}

describe('a paused import', () => {
  it('sends nothing, lets other imports pass, and resumes where it was', async (t) => {
    const bench = benchFor(t);
    const [a, b] = [await bench.add({ title: 'A' }, 'one'), await bench.add({ title: 'B' }, 'one')];
    const other = await bench.add({ title: 'C' }, 'two');
    assert.equal(pauseBatch(bench, 'one').rows, 2);
    assert.deepEqual(bench.store.due(bench.clock.now(), 10).ready, [other]);
    assert.deepEqual(claim(bench, a), { refused: 'on hold' });
    assert.equal(resumeBatch(bench, 'one').rows, 2);
    assert.deepEqual(bench.store.due(bench.clock.now(), 10).ready, [a, b, other]);
  });

  it('holds a row that comes back from an attempt meanwhile', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add({}, 'one');
    claim(bench, id);
    pauseBatch(bench, 'one');
    bench.store.move(id, TRANSITIONS.release, { now: bench.clock.now() });
    assert.equal((await bench.row(id)).on_hold, true);
    assert.deepEqual(bench.store.due(bench.clock.now(), 10).ready, []);
  });

  it('is refused by name if no import has that name', (t) => {
    assert.throws(() => pauseBatch(benchFor(t), 'none'), /there is no batch none in the outbox/);
  });
});

describe('a cancelled import', () => {
  it('drops what is not sent, and also what comes back from an attempt later', async (t) => {
    const bench = benchFor(t);
    const [sent, waiting] = [await bench.add({ title: 'A' }, 'one'), await bench.add({ title: 'B' }, 'one')];
    claim(bench, sent);
    assert.equal((await cancelBatch(bench, 'one')).rows, 1);
    assert.equal((await bench.row(waiting)).state, 'cancelled');
    bench.store.move(sent, TRANSITIONS.release, { now: bench.clock.now() });
    assert.equal((await bench.row(sent)).state, 'cancelled');
  });

  it('is finished by the next service if a process died during the cancellation', async (t) => {
    const bench = benchFor(t);
    const [waiting, wanted] = [
      await bench.add({ title: 'A' }, 'one'),
      await bench.add({ title: 'B' }, 'one'),
    ];
    cancel(bench, wanted);
    bench.store.stopBatch('one', bench.clock.now());
    retry(bench, wanted);
    assert.deepEqual(
      bench.store.due(bench.clock.now(), 10).ready,
      [wanted],
      'nothing of it is sent by itself',
    );
    assert.throws(() => resumeBatch(bench, 'one'), /was cancelled, and cannot be resumed/);
    assert.equal(await finishCancelling(bench), 1);
    assert.deepEqual(
      [(await bench.row(waiting)).state, (await bench.row(wanted)).state],
      ['cancelled', 'ready'],
    );
  });

  it('has its unclear row looked for by sweeps, also if the next service finishes it', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add({}, 'one');
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    bench.store.move(id, TRANSITIONS.sendAgain, { now: bench.clock.now() });
    bench.store.stopBatch('one', bench.clock.now());
    assert.equal(await finishCancelling(bench), 1);
    const { state, checks_left } = await bench.row(id);
    assert.deepEqual({ state, checks_left }, { state: 'cancelled', checks_left: 2 });
  });

  it('does not send an unclear row again that proves to be absent', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add({}, 'one');
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    await cancelBatch(bench, 'one');
    bench.clock.advance(CREATE_MS + 2 * SETTLE_MS);
    await reconcile(bench.context);
    assert.equal((await bench.row(id)).state, 'cancelled');
    assert.doesNotMatch((await bench.row(id)).last_error ?? '', /(; |to be )sent again/, 'it is not');
  });

  it('leaves rejected rows for a decision, and takes them back on demand', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add({}, 'one');
    reject(bench, id);
    await cancelBatch(bench, 'one');
    assert.equal((await bench.row(id)).state, 'rejected');
    assert.equal((await retryBatch(bench, 'one')).rows, 1);
    assert.deepEqual(bench.store.due(bench.clock.now(), 10).ready, [id]);
    await assert.rejects(cancelBatch(bench, 'one', 'confirmed'), /cannot be cancelled/);
    await assert.rejects(retryBatch(bench, 'one', 'confirmed'), /cannot be sent again/);
    await assert.rejects(retryBatch(bench, 'none'), /there is no batch none/);
  });

  it('keeps a row that a person sends again and that returns from an attempt', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add({}, 'one');
    await cancelBatch(bench, 'one');
    await retryBatch(bench, 'one', 'cancelled');
    claim(bench, id);
    bench.store.move(id, TRANSITIONS.release, { now: bench.clock.now() });
    assert.equal((await bench.row(id)).state, 'ready');
  });
});

describe('an import with a pace of its own', () => {
  it('frees a row for each interval, and makes no burst after a standstill', async (t) => {
    const bench = benchFor(t);
    const { store, clock } = bench;
    store.paceBatch('slow', 6, clock.now());
    for (let n = 0; n < 9; n++) await bench.add({ title: `T${n}` }, 'slow');
    const free = (): number => store.due(clock.now(), 10).ready.length;
    assert.equal(free(), 0);
    assert.equal(store.releasePaced(clock.now()), clock.now() + 10_000);
    assert.equal(free(), 1);
    clock.advance(MINUTE);
    store.releasePaced(clock.now());
    assert.equal(free(), 2);
    store.releasePaced(clock.now() + MINUTE);
    assert.equal(free(), 2, 'two that wait are enough');
  });

  it('keeps its pace if its next turn was stored while the clock was ahead', async (t) => {
    const bench = benchFor(t);
    const { store, clock } = bench;
    store.paceBatch('slow', 6, clock.now());
    for (let n = 0; n < 3; n++) await bench.add({ title: `T${n}` }, 'slow');
    const free = (): number => store.due(clock.now(), 10).ready.length;
    store.releasePaced(clock.now() + 1440 * MINUTE);
    assert.equal(free(), 1);
    assert.equal(store.releasePaced(clock.now()), clock.now() + 10_000);
    assert.equal(free(), 2);
  });

  it('frees no row while it is paused, also if the turn of another import has come', async (t) => {
    const bench = benchFor(t);
    const { store, clock } = bench;
    for (const batch of ['paused', 'slow']) {
      store.paceBatch(batch, 6, clock.now());
      await bench.add({ title: `Of ${batch}` }, batch);
    }
    pauseBatch(bench, 'paused');
    clock.advance(MINUTE);
    store.releasePaced(clock.now());
    assert.deepEqual(store.due(clock.now(), 10).ready, store.idsOf('slow', 'ready'));
  });

  it('keeps its pace for rows that a person sends again', async (t) => {
    const bench = benchFor(t);
    const { store, clock } = bench;
    const ids = [await bench.add({ title: 'A' }, 'slow'), await bench.add({ title: 'B' }, 'slow')];
    for (const id of ids) reject(bench, id);
    store.paceBatch('slow', 6, clock.now());
    await retryBatch(bench, 'slow');
    assert.deepEqual(store.due(clock.now(), 10).ready, []);
    store.releasePaced(clock.now());
    assert.deepEqual(store.due(clock.now(), 10).ready, ids.slice(0, 1));
    clock.advance(10_000);
    store.releasePaced(clock.now());
    assert.deepEqual(store.due(clock.now(), 10).ready, ids);
  });

  it('keeps the time of its next row over a pause, and has none once it is cancelled', async (t) => {
    const bench = benchFor(t);
    const { store, clock } = bench;
    store.paceBatch('slow', 1, clock.now());
    for (const title of ['A', 'B']) await bench.add({ title }, 'slow');
    const next = clock.now() + MINUTE;
    assert.equal(store.releasePaced(clock.now()), next);
    clock.advance(1000);
    pauseBatch(bench, 'slow');
    resumeBatch(bench, 'slow');
    assert.equal(store.releasePaced(clock.now()), next);
    store.stopBatch('slow', clock.now());
    assert.equal(store.releasePaced(next), null);
  });

  it('releases a row that returns from an attempt without another turn', async (t) => {
    const bench = benchFor(t);
    const { store, clock } = bench;
    store.paceBatch('slow', 6, clock.now());
    const id = await bench.add({}, 'slow');
    store.releasePaced(clock.now());
    claim(bench, id);
    store.move(id, TRANSITIONS.release, { now: clock.now() });
    assert.deepEqual(store.due(clock.now(), 10).ready, [id]);
  });

  it('that was cancelled releases a row that a person sends again', async (t) => {
    const bench = benchFor(t);
    const { store, clock } = bench;
    store.paceBatch('slow', 6, clock.now());
    const id = await bench.add({}, 'slow');
    store.stopBatch('slow', clock.now());
    store.move(id, TRANSITIONS.cancel, { now: clock.now() });
    store.move(id, TRANSITIONS.retry, { now: clock.now() });
    assert.deepEqual(store.due(clock.now(), 10).ready, [id]);
  });

  it('that was paused and then cancelled releases a row that a person sends again', async (t) => {
    const bench = benchFor(t);
    const { store, clock } = bench;
    const id = await bench.add({}, 'stopped');
    pauseBatch(bench, 'stopped');
    await cancelBatch(bench, 'stopped');
    await retryBatch(bench, 'stopped', 'cancelled');
    assert.deepEqual(store.due(clock.now(), 10).ready, [id]);
  });

  it('stays paused until it is resumed', async (t) => {
    const bench = benchFor(t);
    bench.store.paceBatch('slow', 60, bench.clock.now());
    await bench.add({}, 'slow');
    assert.equal(pauseBatch(bench, 'slow').rows, 1, 'also what is held for its turn');
    assert.equal(bench.store.releasePaced(bench.clock.now() + MINUTE), null);
    assert.equal(resumeBatch(bench, 'slow').rows, 1);
    bench.store.releasePaced(bench.clock.now());
    assert.equal(bench.store.due(bench.clock.now(), 10).ready.length, 1);
  });
});

describe('a row that a person edits', () => {
  it('has new words, keeps the old ones, and is not sent by the edit', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add({ board: 'Ideen' }, 'one');
    reject(bench, id);
    const row = edit(bench, id, { board: 'ideas', email: 'ada@example.com', full_name: 'Ada' });
    assert.deepEqual([row.board, row.kind, row.state], ['ideas', 'as-user', 'rejected']);
    assert.equal(bench.store.edits(id)[0]?.before.board, 'Ideen');
    assert.throws(() => edit(bench, id, { title: ' ' }), /title is blank/);
  });

  it('must be rejected or uncertain', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    assert.throws(() => edit(bench, id, { title: 'New' }), /cannot be edited: it is ready/);
  });

  it('may be every row with a given value', async (t) => {
    const bench = benchFor(t);
    for (const board of ['X', 'X', 'Y']) reject(bench, await bench.add({ board, title: board }, 'one'));
    assert.equal((await editBatch(bench, 'one', { board: 'X' }, { board: 'ideas' })).rows, 2);
    assert.deepEqual(
      bench.query('SELECT board FROM outbox ORDER BY id'),
      ['ideas', 'ideas', 'Y'].map((board) => ({ board })),
    );
  });

  it('is still the row of its file: importing that again adds nothing', async (t) => {
    const bench = importBenchFor(t);
    const text = 'board,title,key\nold,One,K1\nold,Two,\n';
    await bench.take(text);
    for (const id of [1, 2]) {
      reject(bench, id);
      edit(bench, id, { board: 'ideas' });
    }
    const again = await bench.take(text, { batch: 'two' });
    assert.deepEqual([again.accepted, again.already, again.refused], [0, 2, 0]);
  });

  it('may be edited in the file: a rejected row takes the new words under its key, and is sent', async (t) => {
    const bench = importBenchFor(t);
    await bench.take('board,title,key\nold,One,K1\n');
    reject(bench, 1);
    const text = 'board,title,key\nideas,One,K1\n';
    assert.equal((await bench.dryRun(text)).accepted, 1);
    const tally = await bench.take(text, { batch: 'two' });
    assert.deepEqual([tally.accepted, tally.openBatches], [1, ['one']]);
    assert.deepEqual(bench.query('SELECT board, state FROM outbox'), [{ board: 'ideas', state: 'ready' }]);
  });
});

describe('the CSV of the cancelled rows of an import', () => {
  const FILE = 'board,title,key\nideas,One,K1\nideas,Two,K2\nideas,Three,\n';
  const cancelledSet = ({ store }: Bench): string =>
    [...outboxCsv(store.list({ batch: 'one', state: 'cancelled', limit: 10 }))].join('');
  const rows = (bench: Bench) => bench.store.list({ limit: 10 }).map(({ title, state }) => [title, state]);

  it('is imported again: its rows are ready, with the words of the file', async (t) => {
    const bench = importBenchFor(t);
    await bench.take(FILE);
    await cancelBatch(bench, 'one');
    const set = cancelledSet(bench).replace('Two', 'Two mended');
    assert.equal((await bench.dryRun(set)).accepted, 3);
    const tally = await bench.take(set, { batch: 'two' });
    assert.deepEqual([tally.accepted, tally.refused, tally.openBatches], [3, 0, ['one']]);
    assert.deepEqual(rows(bench), [
      ['One', 'ready'],
      ['Two mended', 'ready'],
      ['Three', 'ready'],
    ]);
    assert.equal(bench.store.batch('one')?.cancelled_at, null);
    assert.equal(bench.store.due(bench.clock.now(), 10).ready.length, 3);
  });

  it('brings back no row that was ever sent or unclear, and none by the file that was imported first', async (t) => {
    const bench = importBenchFor(t);
    await bench.take(FILE);
    reject(bench, 1);
    claim(bench, 2);
    const { store, clock } = bench;
    store.move(2, TRANSITIONS.markAmbiguous, { now: clock.now(), wasAmbiguous: true });
    store.move(2, TRANSITIONS.park, { now: clock.now() });
    for (const state of ['rejected', 'uncertain', 'ready'] as const) await cancelBatch(bench, 'one', state);
    assert.deepEqual((await bench.take(FILE)).alreadyBy, { cancelled: 3 });
    const set = cancelledSet(bench);
    assert.equal((await bench.dryRun(set)).accepted, 1);
    const tally = await bench.take(set);
    assert.deepEqual([tally.accepted, tally.alreadyBy], [1, { cancelled: 2 }]);
    assert.deepEqual(rows(bench), [
      ['One', 'cancelled'],
      ['Two', 'cancelled'],
      ['Three', 'ready'],
    ]);
    const mended = await bench.take(set.replace('One', 'Uno').replace('Two', 'Dos'));
    assert.equal(mended.refused, 2);
  });

  it('keeps the pace that the import was given', async (t) => {
    const bench = importBenchFor(t);
    bench.store.paceBatch('one', 1, bench.clock.now());
    await bench.take(FILE);
    await cancelBatch(bench, 'one');
    await bench.take(cancelledSet(bench), { batch: 'two' });
    assert.deepEqual(bench.store.due(bench.clock.now(), 10).ready, []);
    bench.store.releasePaced(bench.clock.now());
    assert.equal(bench.store.due(bench.clock.now(), 10).ready.length, 1);
  });
});

describe('an import that was cancelled', () => {
  it('is open again if its rows are edited and sent again, and not if they are only edited', async (t) => {
    const bench = benchFor(t);
    const ids = [
      await bench.add({ board: 'X' }, 'one'),
      await bench.add({ board: 'X', title: 'Two' }, 'one'),
    ];
    for (const id of ids) reject(bench, id);
    await cancelBatch(bench, 'one');
    const isCancelled = (): boolean => Boolean(bench.store.batch('one')?.cancelled_at);
    await editBatch(bench, 'one', { title: 'Two' }, { board: 'Y' });
    assert.equal(isCancelled(), true);
    const again = { board: 'ideas', isSentAgain: true };
    assert.equal((await editBatch(bench, 'one', { board: 'X' }, again)).rows, 1);
    assert.equal(isCancelled(), false);
    assert.deepEqual(bench.store.due(bench.clock.now(), 9).ready, [ids[0]]);
  });
});

describe('a decision about an import', () => {
  it('reaches every row, however many there are', async (t) => {
    const bench = benchFor(t);
    const post = { ...TEXT, content_hash: 'the same for all' };
    const rows = Array.from({ length: 1002 }, (_, n) => ({
      ...post,
      batch: 'one',
      source_key: `k${n}`,
      line: n,
    }));
    bench.store.accept(rows, bench.clock.now());
    assert.equal((await cancelBatch(bench, 'one')).rows, 1002);
    assert.equal((await retryBatch(bench, 'one', 'cancelled')).rows, 1002);
    assert.equal(bench.store.counts('one').ready, 1002);
  });
});

describe('a row whose person is taken away', () => {
  it('is sent as the owner’s, without the name', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add({ email: 'ada@example.com', full_name: 'Ada' });
    reject(bench, id);
    const { email, full_name, kind } = edit(bench, id, { email: ' ' });
    assert.deepEqual([email, full_name, kind], [null, null, 'owner']);
  });
});
