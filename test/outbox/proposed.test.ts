import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { proposePost } from '../../src/outbox/create.ts';
import { approve, cancel, edit, retry, sendEdited } from '../../src/outbox/person.ts';
import { push } from '../../src/outbox/send/push.ts';
import { type Bench, benchFor, TEXT } from './bench.ts';

const propose = (bench: Bench, text: Partial<typeof TEXT> = {}) =>
  proposePost({ store: bench.store, clock: bench.clock, random: () => 0.5 }, { ...TEXT, ...text });

describe('a post that an agent proposes', () => {
  it('is not sent, due, counted as waiting or waited for before a person approves it', async (t) => {
    const bench = benchFor(t);
    const { id, state } = propose(bench);
    const now = bench.clock.now();
    assert.equal(state, 'proposed');
    assert.deepEqual(bench.store.due(now, 10), { ready: [], at: null, unclear: null, since: null });
    assert.deepEqual(
      [
        bench.store.countDue(now),
        bench.store.countFree(),
        bench.store.oldestUnsentAt(),
        bench.store.isOver(null),
      ],
      [0, 0, null, true],
    );
    await push(bench.context, id);
    assert.equal((await bench.row(id)).state, 'proposed');
    assert.equal(bench.upstream.created.length, 0);
    approve(bench, id);
    assert.deepEqual(bench.store.due(now, 10).ready, [id]);
  });

  it('is one row in every Unicode composition of its letters', (t) => {
    const bench = benchFor(t);
    const { id } = propose(bench, { title: 'Map of M\u00fcnchen' });
    assert.equal(propose(bench, { title: 'Map of Mu\u0308nchen' }).id, id);
  });

  it('is one row if its words are proposed again, also after a person cancelled it', (t) => {
    const bench = benchFor(t);
    const { id } = propose(bench);
    assert.equal(propose(bench).id, id);
    cancel(bench, id);
    const again = propose(bench);
    assert.deepEqual([again.id, again.state], [id, 'cancelled']);
    assert.notEqual(propose(bench, { title: 'Light mode' }).id, id);
  });

  it('can be mended by a person first, and leaves no way for an agent to change it after that', (t) => {
    const bench = benchFor(t);
    const { id } = propose(bench);
    edit(bench, id, { title: 'Dark mode, please' });
    assert.equal(propose(bench).title, 'Dark mode, please');
    assert.throws(() => retry(bench, id), /proposed by an agent and waits for approval/);
    approve(bench, id);
    assert.throws(() => approve(bench, id), /ready and waits to be sent/);
  });

  it('is told of as something to decide about, and not taken where too many wait', (t) => {
    const bench = benchFor(t);
    for (let n = 0; n < 100; n++) propose(bench, { title: `Wish ${n}` });
    const types = bench.query<{ type: string }>('SELECT DISTINCT type FROM changes');
    assert.deepEqual(types, [{ type: 'outbox.needs_decision' }]);
    assert.throws(() => propose(bench, { title: 'One too many' }), /wait for a person already/);
    assert.equal(bench.store.counts(null).proposed, 100);
  });
});

describe('what a person changed before it is sent', () => {
  it('goes out: what was proposed is approved by that, and what was rejected is sent again', async (t) => {
    const bench = benchFor(t);
    const proposed = sendEdited(bench, edit(bench, propose(bench).id, { title: 'Better' }));
    assert.deepEqual([proposed.state, proposed.title], ['ready', 'Better']);
    const id = await bench.add({ title: 'Wrong board' });
    bench.upstream.outcomes = [{ outcome: 'rejected', httpStatus: 400, reason: 'no', serverTime: null }];
    await push(bench.context, id);
    assert.equal(sendEdited(bench, edit(bench, id, { board: 'bugs' })).state, 'ready');
  });
});
