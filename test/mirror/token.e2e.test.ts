import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { assertExact } from './mirror-rows.ts';
import { settledBench, workbenchFor } from './workbench.ts';

const SWEEP = { resource: 'posts', mode: 'sweep' } as const;
const NEW_TOKEN = { token: 'renewed', email: 'owner@example.com', name: 'Owner' };

interface Run {
  outcome: string;
  pages: number;
  deleted: number;
  error: string | null;
}

describe('a token that is refused in the middle of a sweep', () => {
  for (const fault of ['unauthorised', 'forbidden'] as const) {
    it(`(${fault}) stops the sweep within one request, deletes nothing, and a new token resumes it`, async (t) => {
      const bench = await settledBench(t);
      bench.sandbox.world.deletePost(28);
      const before = bench.sandbox.requestCount;
      bench.sandbox.faults.set(`${fault} from=4`);
      await assert.rejects(bench.sync(SWEEP), (error: unknown) => {
        assert.ok(error instanceof AppError);
        assert.equal(error.code, 'unauthorised');
        assert.match(error.message, /Listing posts, page 4 .* failed: /);
        assert.match(error.hint ?? '', /FEEDBACK_API_TOKEN/);
        return true;
      });
      assert.equal(bench.sandbox.requestCount - before, 4);
      const [run] = bench.query<Run>('SELECT outcome, pages, deleted, error FROM sync_runs ORDER BY id DESC');
      assert.deepEqual([run?.outcome, run?.pages, run?.deleted], ['failed', 3, 0]);
      assert.match(run?.error ?? '', fault === 'forbidden' ? /403/ : /401/);
      assert.equal(bench.query('SELECT id FROM live_posts').length, 30);

      bench.sandbox.faults.set('');
      const { resumed, deleted } = await bench.sync(SWEEP);
      assert.deepEqual({ resumed, deleted }, { resumed: 1, deleted: 0 });
      assert.equal((await bench.sync(SWEEP)).deleted, 1);
      assertExact(bench.path, bench.sandbox.world, ['posts']);
    });
  }

  it('is read at each request, so that a renewed token needs no restart', async (t) => {
    const bench = await workbenchFor(t);
    let seen = 0;
    const onPage = (): void => {
      if (++seen === 3) bench.sandbox.revoke('sandbox');
    };
    await assert.rejects(bench.sync(SWEEP, { onPage }), /401/);
    const before = bench.sandbox.requestCount;
    await assert.rejects(bench.sync(SWEEP), /401/);
    // At its place, and at the start of the list: only there does a refusal say something about the token.
    assert.equal(bench.sandbox.requestCount - before, 2);
    bench.sandbox.allow(NEW_TOKEN);
    bench.useToken(NEW_TOKEN.token);
    const { resumed, inserted } = await bench.sync(SWEEP);
    assert.deepEqual({ resumed, inserted }, { resumed: 2, inserted: 30 });
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });
});
