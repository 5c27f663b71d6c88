import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  acceptPost,
  batchId,
  checkDraft,
  createRow,
  proposePost,
  waitForRow,
} from '../../src/outbox/create.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import { benchFor, TEXT } from './bench.ts';

const random = (): number => 0.5;

describe('a post of a program', () => {
  it('is accepted once under its key, and refused if the key has other words', (t) => {
    const deps = { ...benchFor(t), random };
    const first = acceptPost(deps, TEXT, 'k1');
    assert.deepEqual([first?.source_key, first?.state], ['api:k1', 'ready']);
    assert.equal(acceptPost(deps, TEXT, 'k1')?.id, first?.id);
    assert.equal(acceptPost(deps, { ...TEXT, title: 'Light mode' }, 'k1'), null);
    assert.notEqual(acceptPost(deps, TEXT, 'k2')?.id, first?.id);
  });

  it('without a key makes a new row each time, as does a post of a person', (t) => {
    const deps = { ...benchFor(t), random };
    const ids = [acceptPost(deps, TEXT, null), acceptPost(deps, TEXT, null), createRow(deps, { post: TEXT })];
    assert.equal(new Set(ids.map((row) => row?.id)).size, 3);
    assert.equal(new Set(ids.map((row) => row?.line)).has(null), true);
  });

  it('of an agent waits for a person, and is the same row for the same words', (t) => {
    const deps = { ...benchFor(t), random };
    const first = proposePost(deps, TEXT);
    assert.equal(first.state, 'proposed');
    assert.equal(proposePost(deps, TEXT).id, first.id);
    for (const other of [{ board: 'bugs' }, { title: 'Light mode' }, { content: '' }])
      assert.notEqual(proposePost(deps, { ...TEXT, ...other }).id, first.id);
  });
});

describe('a draft', () => {
  it('is checked like a row of a file', () => {
    const { post } = checkDraft({
      board: ' ideas ',
      title: ' Dark ',
      content: '',
      email: ' ada@example.com ',
    });
    assert.deepEqual(post, {
      board: 'ideas',
      title: ' Dark ',
      content: '',
      email: 'ada@example.com',
      full_name: 'ada',
    });
    assert.throws(() => checkDraft({ board: 'ideas' }), { code: 'usage', message: /this is no post: / });
  });
});

describe('the name of a batch', () => {
  it('is in the order of time, with six letters that tell two apart', () => {
    const now = Date.parse('2026-11-15T01:42:07.999Z');
    assert.equal(
      batchId('import', now, () => 0),
      'import-20261115-014207-000000',
    );
    assert.equal(
      batchId('api', now, () => 1 - 2 ** -53),
      'api-20261115-014207-zzzzzz',
    );
  });
});

describe('a caller that waits for a row', () => {
  it('is answered when the row needs no further automatic step', async (t) => {
    const bench = benchFor(t);
    const row = createRow({ ...bench, random }, { post: TEXT });
    bench.clock.meanwhile = async () => void bench.store.move(row.id, TRANSITIONS.cancel, { now: 0 });
    const { signal } = bench.context;
    const { state } = await waitForRow(bench, row, { waitMs: 1000, signal });
    assert.deepEqual([state, bench.clock.slept], ['cancelled', [50]]);
    assert.equal(
      (await waitForRow(bench, { ...row, state: 'proposed' }, { waitMs: 1000, signal })).state,
      'proposed',
    );
    assert.equal(bench.clock.slept.length, 1);
  });

  it('waits also while its row is on its way, or unclear', async (t) => {
    const bench = benchFor(t);
    const row = createRow({ ...bench, random }, { post: TEXT });
    const { signal } = bench.context;
    const states = ['sending', 'ambiguous', 'ready'] as const;
    for (const state of states) await waitForRow(bench, { ...row, state }, { waitMs: 50, signal });
    assert.equal(bench.clock.slept.length, states.length);
  });

  it('waits no longer than its time, and stops when it has gone', async (t) => {
    const bench = benchFor(t);
    const row = createRow({ ...bench, random }, { post: TEXT });
    assert.equal(
      (await waitForRow(bench, row, { waitMs: 120, signal: bench.context.signal })).state,
      'ready',
    );
    assert.deepEqual(bench.clock.slept, [50, 50, 20]);
    await waitForRow(bench, row, { waitMs: 120, signal: AbortSignal.abort() });
    assert.equal(bench.clock.slept.length, 3);
  });
});
