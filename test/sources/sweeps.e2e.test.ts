import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { LoadInput } from '../../config/load.ts';
import { Sweeps } from '../../src/app/sweeps.ts';
import { AppError } from '../../src/base/errors.ts';
import type { SyncRequest } from '../../src/mirror/sweep/engine.ts';
import { inMirror } from '../chaos/invariants/file.ts';
import { CHECKOUT } from '../support/cli.ts';
import { place, tokenOf } from './place.ts';

const POSTS: SyncRequest = { resource: 'posts', mode: 'sweep', wait: false };

async function sourceOf(t: TestContext, options: { posts: number; faults?: string }) {
  const { folder, sandboxes } = await place(t, { acme: { pageSize: 10, ...options } });
  const values = {
    FEEDBACK_BASE_URL: sandboxes.acme?.url ?? '',
    FEEDBACK_API_TOKEN: tokenOf('acme'),
    DATA_DIR: join(folder, 'data/acme'),
  };
  const input: LoadInput = {
    flags: {},
    env: {},
    cwd: folder,
    isTerminal: false,
    source: { name: 'acme', values },
  };
  const sweeps = new Sweeps();
  t.after(() => sweeps.close());
  const statuses: (number | null)[] = [];
  const sweep = sweeps.of(input, ({ status }) => statuses.push(status));
  const count = (): unknown =>
    inMirror(join(values.DATA_DIR, 'mirror.db'), (db) =>
      db.prepare('SELECT count(*) FROM posts').pluck().get(),
    );
  return { sweep, sweeps, statuses, count };
}

describe('the process of the sweeps', () => {
  it('writes the mirror, and tells pages and requests while it sweeps', async (t) => {
    const { sweep, statuses, count } = await sourceOf(t, { posts: 45 });
    const rows: number[] = [];
    const { signal } = new AbortController();
    const outcome = await sweep(POSTS, { signal, onPage: ({ counts }) => rows.push(counts.rows) });
    assert.ok(outcome.done);
    assert.equal(outcome.summary.outcome, 'complete');
    assert.deepEqual(rows, [10, 20, 30, 40, 45]);
    assert.deepEqual(statuses, [200, 200, 200, 200, 200]);
    assert.equal(count(), 45);
  });

  it('tells why a sweep failed', async (t) => {
    const { sweep } = await sourceOf(t, { posts: 5, faults: 'unauthorised' });
    const { signal } = new AbortController();
    await assert.rejects(sweep(POSTS, { signal, onPage() {} }), { code: 'unauthorised' });
  });

  it('leaves no sweep waiting when it is closed, and begins again', async (t) => {
    const { sweep, sweeps, count } = await sourceOf(t, { posts: 300 });
    const { signal } = new AbortController();
    const onPage = (): void => void sweeps.close();
    await assert.rejects(sweep(POSTS, { signal, onPage }), { code: 'interrupted' });
    const outcome = await sweep(POSTS, { signal, onPage() {} });
    assert.ok(outcome.done && outcome.summary.resumed > 0);
    assert.equal(count(), 300);
  });

  it('ends with the service, and not with a signal to all processes of the terminal', async () => {
    const child = fork(join(CHECKOUT, 'src/app/sweeps-child.ts'), { serialization: 'advanced' });
    const values = { SYNC_SWEEP_EVERY: 'sometimes' };
    const input = { flags: {}, env: {}, cwd: '.', isTerminal: false, source: { name: 'acme', values } };
    child.send({ id: 1, source: 1, input, request: POSTS, cacheKb: 2000 });
    const [{ failure }] = await once(child, 'message');
    assert.equal(failure.code, 'usage');
    child.kill('SIGINT');
    child.kill('SIGTERM');
    child.disconnect();
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('stops a sweep that is told to, and the next one continues from there', async (t) => {
    const { sweep, count } = await sourceOf(t, { posts: 300 });
    const stop = new AbortController();
    const onPage = (): void => stop.abort(new AppError('interrupted', 'enough'));
    await assert.rejects(sweep(POSTS, { signal: stop.signal, onPage }), { code: 'interrupted' });
    const { signal } = new AbortController();
    const outcome = await sweep(POSTS, { signal, onPage() {} });
    assert.ok(outcome.done && outcome.summary.resumed > 0);
    assert.equal(count(), 300);
  });
});
