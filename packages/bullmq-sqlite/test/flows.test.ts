import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { FlowProducer, type JobsOptions, Queue } from 'bullmq';
import { createSqliteBackend } from '../src/index.ts';
import { MINUTE, queueFor, START } from './queue.ts';

/** A parent that waits for its children, in one queue. */
async function flowFor(t: TestContext, children: Record<string, JobsOptions>, parent: JobsOptions = {}) {
  const bench = queueFor(t);
  const flow = new FlowProducer({ connection: bench.connection }, createSqliteBackend);
  t.after(() => flow.close());
  const add = (id: string, of: Record<string, JobsOptions>) =>
    flow.add({
      name: id,
      queueName: 'work',
      opts: { ...parent, jobId: id },
      children: Object.entries(of).map(([name, opts]) => ({
        name,
        queueName: 'work',
        opts: { ...opts, jobId: name },
      })),
    });
  await add('parent', children);
  const ours = bench.worker('ours');
  const state = (id = 'parent') => bench.queue.getJobState(id);
  /** Takes every waiting job and ends it by its name. */
  const run = async (failing: readonly string[] = []): Promise<string[]> => {
    const taken: string[] = [];
    for (let id = await ours.take(); id !== '' && id !== 'parent'; id = await ours.take()) {
      taken.push(id);
      await (failing.includes(id) ? ours.fail(id) : ours.complete(id));
    }
    return taken;
  };
  return { ...bench, ours, state, run, addFlow: add };
}

describe('a parent of a flow', () => {
  it('waits for all its children, and has what they returned', async (t) => {
    const { queue, ours, state } = await flowFor(t, { a: {}, b: {} });
    assert.equal(await state(), 'waiting-children');
    await ours.complete(await ours.take());
    assert.equal(await state(), 'waiting-children', 'one is left');
    assert.deepEqual(await (await queue.getJob('parent'))?.getDependenciesCount(), {
      processed: 1,
      unprocessed: 1,
      ignored: 0,
      failed: 0,
    });
    await ours.complete(await ours.take());
    assert.equal(await state(), 'waiting');
    assert.equal(await ours.take(), 'parent');
    const parent = await queue.getJob('parent');
    assert.deepEqual(await parent?.getChildrenValues(), {
      'work:a': { ok: true },
      'work:b': { ok: true },
    });
    await ours.complete('parent');
    assert.equal(await state(), 'completed');
  });

  it('cannot complete while a child is pending, and can wait for children that were added while it ran', async (t) => {
    const { queue, ours, state } = await flowFor(t, {});
    assert.equal(await ours.take(), 'parent');
    const { backend } = ours;
    assert.equal(await backend.moveToWaitingChildren('parent', 'ours', {}), false, 'nothing to wait for');
    await queue.add('late', {}, { jobId: 'late', parent: { id: 'parent', queue: 'work' } });
    await assert.rejects(ours.complete('parent'), /pending dependencies/);
    await assert.rejects(backend.moveToWaitingChildren('parent', 'other', {}), /Lock mismatch/);
    assert.equal(await backend.moveToWaitingChildren('parent', 'ours', {}), true);
    assert.equal(await state(), 'waiting-children');
    assert.equal(await ours.take(), 'late');
    await ours.complete('late');
    assert.equal(await state(), 'waiting');
    await assert.rejects(
      queue.add('lost', {}, { jobId: 'lost', parent: { id: 'gone', queue: 'work' } }),
      /Missing key for parent/,
    );
  });

  it('waits for a failed child until that is retried and completes', async (t) => {
    const { queue, state, run } = await flowFor(t, { a: {}, b: {} });
    await run(['a']);
    assert.equal(await state(), 'waiting-children');
    await (await queue.getJob('a'))?.retry();
    assert.equal(await state(), 'waiting-children');
    assert.deepEqual(await run(), ['a']);
    assert.equal(await state(), 'active', 'it was handed out');
  });

  it('waits again for a child that is retried, and is not released twice', async (t) => {
    const { queue, ours, state, run } = await flowFor(t, { a: {}, b: { failParentOnFailure: true } });
    await run(['b']);
    assert.equal(await state(), 'active');
    await (await queue.getJob('a'))?.retry('completed');
    await (await queue.getJob('b'))?.retry('failed');
    const counts = await (await queue.getJob('parent'))?.getDependenciesCount();
    assert.deepEqual([counts?.unprocessed, counts?.processed, counts?.failed], [2, 0, 0]);
    assert.deepEqual([await ours.take(), await ours.take()], ['a', 'b']);
    await ours.complete('a');
    await ours.complete('b');
    assert.equal(await state(), 'active', 'it is run already');
    await ours.complete('parent');
  });

  it('fails with a child that has failParentOnFailure', async (t) => {
    const { queue, ours, state, run } = await flowFor(t, { a: { failParentOnFailure: true }, b: {} });
    assert.equal(await ours.take(), 'a');
    await ours.fail('a');
    assert.equal(await state(), 'waiting', 'at once, whatever the other does');
    assert.equal((await queue.getJob('parent'))?.deferredFailure, 'child work:a failed');
    assert.deepEqual(await run(), ['b']);
    await assert.rejects(ours.complete('parent'), /at least one failed child/);
    await assert.rejects(ours.backend.moveToWaitingChildren('parent', 'ours', {}), /failed child/);
    await (await queue.getJob('a'))?.retry();
    await assert.rejects(ours.complete('parent'), /pending dependencies/, 'it is run again');
  });

  it('goes on without a failed child, as the options of the child say', async (t) => {
    for (const [option, counts] of Object.entries({
      ignoreDependencyOnFailure: { ignored: 1, unprocessed: 0 },
      removeDependencyOnFailure: { ignored: 0, unprocessed: 0 },
      continueParentOnFailure: { ignored: 1, unprocessed: 1 },
    }))
      await t.test(option, async (t) => {
        const { queue, ours, state } = await flowFor(t, { a: { [option]: true }, b: {} });
        assert.equal(await ours.take(), 'a');
        await ours.fail('a');
        const isAtOnce = option === 'continueParentOnFailure';
        assert.equal(await state(), isAtOnce ? 'waiting' : 'waiting-children');
        if (!isAtOnce) {
          await ours.take();
          await ours.complete('b');
        }
        assert.equal(await state(), 'waiting');
        const parent = await queue.getJob('parent');
        const { ignored, unprocessed } = (await parent?.getDependenciesCount()) ?? {};
        assert.deepEqual({ ignored, unprocessed }, counts);
        const failures = counts.ignored === 1 ? { 'work:a': 'why' } : {};
        assert.deepEqual(await parent?.getIgnoredChildrenFailures(), failures);
        await (await queue.getJob('a'))?.retry();
        assert.equal(
          (await parent?.getDependenciesCount())?.ignored,
          0,
          'a child that runs again is pending',
        );
      });
  });

  it('waits for its own delay after its children', async (t) => {
    const { ours, state, run } = await flowFor(t, { a: {} }, { delay: MINUTE });
    assert.deepEqual(await run(), ['a']);
    assert.equal(await state(), 'delayed');
    assert.deepEqual(await ours.waits(), { limitedFor: 0, delayedUntil: START + MINUTE });
  });

  it('is released by a child that is removed, and by one that is removed on completion', async (t) => {
    const { queue, ours, state } = await flowFor(t, { a: {}, b: {}, c: {} });
    assert.equal(await queue.remove('a'), 1);
    assert.equal(await state(), 'waiting-children');
    assert.deepEqual([await ours.take(), await ours.take()], ['b', 'c']);
    await ours.fail('c', true);
    assert.equal(await state(), 'waiting-children');
    const last = await queue.getJob('b');
    assert.equal(await last?.removeChildDependency(), true);
    assert.equal(await last?.removeChildDependency(), false);
    assert.equal((await queue.getJob('b'))?.parent, undefined);
    assert.equal(await state(), 'waiting');
  });

  it('is removed with its children, unless one of them is active', async (t) => {
    const { queue, ours, state } = await flowFor(t, { a: {}, b: {} });
    await ours.take();
    assert.equal(await queue.remove('parent'), 0);
    assert.deepEqual([await state(), await state('b')], ['waiting-children', 'waiting']);
    await ours.complete('a');
    await queue.remove('parent', { removeChildren: true });
    assert.deepEqual([await state(), await state('a'), await state('b')], ['unknown', 'unknown', 'unknown']);
  });

  it('is released when children in another queue are cleaned, and removed with children in its own', async (t) => {
    const { queue, connection, state } = await flowFor(t, { a: {} });
    const other = new Queue('other', { connection }, createSqliteBackend);
    t.after(() => other.close());
    const flow = new FlowProducer({ connection }, createSqliteBackend);
    t.after(() => flow.close());
    const child = { name: 'b', queueName: 'other', opts: { jobId: 'b' } };
    await flow.add({ name: 'far', queueName: 'work', opts: { jobId: 'far' }, children: [child] });
    await other.drain();
    assert.deepEqual([await state('far'), await state()], ['waiting', 'waiting-children']);
    await queue.drain();
    assert.deepEqual([await state('far'), await state()], ['unknown', 'unknown']);
  });

  it('loses only unprocessed children by removeUnprocessedChildren', async (t) => {
    const { queue, ours, state } = await flowFor(t, { a: {}, b: {}, c: {} });
    await ours.complete(await ours.take());
    await ours.take();
    await (await queue.getJob('parent'))?.removeUnprocessedChildren();
    assert.deepEqual(
      [await state('a'), await state('b'), await state('c')],
      ['completed', 'active', 'unknown'],
    );
    await ours.complete('b');
    assert.equal(await state(), 'waiting');
  });

  it('takes an existing job with the same id as its child, unless that has another parent', async (t) => {
    const { queue, ours, state, run, addFlow } = await flowFor(t, { a: {} });
    await addFlow('second', { a: {} });
    assert.equal((await queue.getJob('a'))?.parent?.id, 'parent');
    assert.deepEqual(await run(), ['a']);
    assert.equal(await state('second'), 'waiting-children', 'it has not got its child');
    await ours.complete('parent');
    await queue.remove('parent', { removeChildren: false });
    await addFlow('third', { a: {} });
    assert.equal(await state('third'), 'waiting', 'it had ended before');
    const third = await queue.getJob('third');
    assert.deepEqual(await third?.getChildrenValues(), { 'work:a': { ok: true } });
  });

  it('lists its children in pages', async (t) => {
    const { queue, run } = await flowFor(t, { a: {}, b: {}, c: {} });
    const parent = await queue.getJob('parent');
    assert.deepEqual(await parent?.getDependencies(), {
      processed: {},
      unprocessed: ['work:a', 'work:b', 'work:c'],
      ignored: {},
      failed: [],
    });
    assert.deepEqual(await parent?.getDependencies({ unprocessed: { cursor: 0, count: 2 } }), {
      unprocessed: ['work:a', 'work:b'],
      nextUnprocessedCursor: 2,
    });
    assert.deepEqual(await parent?.getDependencies({ unprocessed: { cursor: 2, count: 2 } }), {
      unprocessed: ['work:c'],
      nextUnprocessedCursor: 0,
    });
    const waiting = await queue.getDependencies('parent', 'pending', 0, 1);
    assert.deepEqual([waiting.items.map(({ id }) => id), waiting.total], [['work:a', 'work:b'], 3]);
    await run(['b']);
    const ended = await queue.getDependencies('parent', 'processed', 0, -1);
    assert.deepEqual(
      ended.items.map(({ id, v }) => [id, v]),
      [
        ['work:a', { ok: true }],
        ['work:c', { ok: true }],
      ],
    );
    assert.deepEqual(
      ended.jobs.map(({ id }) => id),
      ['a', 'c'],
    );
  });
});
