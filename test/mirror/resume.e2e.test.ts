import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError, codeOf } from '../../src/base/errors.ts';
import { watchForWeeks } from '../support/mirror.ts';
import { assertExact } from './mirror-rows.ts';
import { KILLED, killedAfter, settledBench, stopAfter, type Workbench, workbenchFor } from './workbench.ts';

const SWEEP = { resource: 'posts', mode: 'sweep' } as const;
const PAGES = 6;

interface Run {
  outcome: string;
  resumed: number;
  pages: number;
  rows: number;
}

function runsOf(bench: Workbench): Run[] {
  return bench.query<Run>('SELECT outcome, resumed, pages, rows FROM sync_runs ORDER BY id');
}

async function killAfter(bench: Workbench, pages: number): Promise<void> {
  await assert.rejects(bench.sync(SWEEP, { store: killedAfter(bench.store, pages) }), KILLED);
  await bench.restart();
}

describe('a sweep that is killed', () => {
  for (let written = 1; written < PAGES; written++) {
    it(`after page ${written} of ${PAGES} is finished by the next process, which then reads what lies before`, async (t) => {
      const bench = await workbenchFor(t);
      await killAfter(bench, written);
      for (let n = 0; n < 4; n++) bench.sandbox.world.addPost();
      bench.sandbox.world.editPost(30, { content: 'changed' });
      const before = bench.sandbox.requestCount;
      const { resumed, outcome } = await bench.sync(SWEEP);
      assert.deepEqual([resumed, outcome], [1, 'complete']);
      assertExact(bench.path, bench.sandbox.world, ['posts']);
      // Seven pages by now, each once in this process; one more where the two parts meet, and one that was asked for ahead.
      assert.ok(bench.sandbox.requestCount - before <= 7 + 2);
      assert.deepEqual(
        runsOf(bench).map(({ outcome: end, resumed: times }) => [end, times]),
        [
          ['complete', 1],
          ['complete', 0],
        ],
      );
    });
  }

  it('after its last page reads that page again, and not the whole list twice', async (t) => {
    const bench = await workbenchFor(t);
    await killAfter(bench, PAGES);
    const last = bench.sandbox.requests.at(-1)?.url;
    const before = bench.sandbox.requests.length;
    assert.equal((await bench.sync(SWEEP)).outcome, 'complete');
    assert.equal(bench.sandbox.requests[before]?.url, last);
  });

  it('begins from the start where its cursor has run out and the upstream fails at it, but serves the list', async (t) => {
    for (const [status, body] of [
      [500, ''],
      [403, '{}'],
      [200, '<html>'],
    ] as const) {
      const bench = await workbenchFor(t);
      await killAfter(bench, 3);
      const place = bench.query<{ cursor: string }>(
        "SELECT state ->> 'cursor' AS cursor FROM sync_state WHERE resource = 'posts'",
      )[0]?.cursor;
      assert.ok(place);
      const { client } = bench;
      const expired: typeof client = {
        ...client,
        async *posts(options) {
          if (options?.from === place)
            throw new AppError(status === 403 ? 'unauthorised' : 'unreachable', body);
          yield* client.posts(options);
        },
      };
      const { resumed, outcome } = await bench.sync(SWEEP, { client: expired });
      assert.deepEqual([resumed, outcome], [0, 'complete']);
      assertExact(bench.path, bench.sandbox.world, ['posts']);
    }
  });

  it('keeps its place where the upstream serves nothing at all', async (t) => {
    const bench = await workbenchFor(t);
    await killAfter(bench, 3);
    const away = (): Promise<never> => Promise.reject(new AppError('unreachable', 'away'));
    const client: typeof bench.client = {
      ...bench.client,
      page: away,
      async *posts() {
        yield await away();
      },
    };
    await assert.rejects(bench.sync(SWEEP, { client }), { code: 'unreachable' });
    assert.equal((await bench.sync(SWEEP)).resumed, 2);
  });

  it('begins from the start where the upstream has forgotten its place and shows an empty end', async (t) => {
    const bench = await workbenchFor(t);
    await killAfter(bench, 3);
    const { client } = bench;
    const forgetful: typeof client = {
      ...client,
      async *posts(options) {
        for await (const page of client.posts(options))
          if (options?.from) return yield { ...page, rows: [], next: null };
          else yield page;
      },
    };
    assert.equal((await bench.sync(SWEEP, { client: forgetful })).resumed, 0);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('leaves deleted rows above its checkpoint to the sweeps after it', async (t) => {
    const bench = await settledBench(t);
    await killAfter(bench, 4);
    bench.sandbox.world.deletePost(28);
    for (let sweeps = 0; sweeps < 3; sweeps++) await bench.sync(SWEEP);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('again and again still ends, with every row read since the last process began', async (t) => {
    const bench = await workbenchFor(t);
    for (let times = 0; times < 5; times++) await killAfter(bench, 1);
    bench.sandbox.world.addPost();
    assert.equal((await bench.sync(SWEEP)).resumed, 5);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('in every process, because the list takes longer than any of them lives, reads the whole list all the same', async (t) => {
    const bench = await workbenchFor(t, { posts: 150 });
    for (let lives = 0; lives < 6; lives++) await killAfter(bench, 15);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
    assert.ok(runsOf(bench).some(({ outcome }) => outcome === 'complete'));
    bench.sandbox.world.deletePost(31);
    for (let lives = 0; lives < 14; lives++) await killAfter(bench, 15);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('while it re-reads the pages before its checkpoint resumes there in the next process', async (t) => {
    const bench = await workbenchFor(t);
    await killAfter(bench, 4);
    for (const id of [30, 25]) bench.sandbox.world.editPost(id, { content: 'changed' });
    // The last two pages and two of the first four.
    await killAfter(bench, 4);
    bench.sandbox.world.addPost();
    assert.equal((await bench.sync(SWEEP)).resumed, 1);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
    assert.equal(runsOf(bench).length, 3);
  });

  it('without a known order is read to its end once more', async (t) => {
    const bench = await workbenchFor(t, { order: 'votes' });
    await killAfter(bench, 4);
    const top = bench.sandbox.world.posts().toSorted((a, b) => b.votes_count - a.votes_count)[0];
    bench.sandbox.world.vote(top?.id ?? 1, 100);
    const newest = bench.sandbox.world.addPost({ votes: 50 });
    assert.equal((await bench.sync(SWEEP)).outcome, 'complete', String(newest));
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });

  it('reads at most ten unchanged pages again before it continues', async (t) => {
    const bench = await workbenchFor(t, { posts: 100 });
    await bench.sync(SWEEP);
    await killAfter(bench, 17);
    const before = bench.sandbox.requestCount;
    await bench.sync(SWEEP);
    // Each page once; one more where the two parts meet, and one that was asked for ahead.
    assert.ok(bench.sandbox.requestCount - before <= 20 + 2);
    assertExact(bench.path, bench.sandbox.world, ['posts']);
  });
});

describe('a sweep that is asked to stop', () => {
  for (const pages of [1, 3, 5]) {
    it(`after page ${pages} logs it and resumes there`, async (t) => {
      const bench = await workbenchFor(t);
      await assert.rejects(
        bench.sync(SWEEP, stopAfter(pages)),
        (error: unknown) => codeOf(error) === 'interrupted',
      );
      assert.deepEqual(runsOf(bench), [{ outcome: 'interrupted', resumed: 0, pages, rows: pages * 5 }]);
      bench.sandbox.world.addPost();
      assert.equal((await bench.sync(SWEEP)).resumed, 1);
      assertExact(bench.path, bench.sandbox.world, ['posts']);
    });
  }
});

describe('a sweep without a proven order', () => {
  it('that stops between its last page and its conclusion still counts each id once', async (t) => {
    const bench = await workbenchFor(t, { order: 'votes' });
    await bench.sync(SWEEP);
    watchForWeeks(bench.path);
    bench.sandbox.world.deletePost(14);
    await assert.rejects(bench.sync(SWEEP, { store: failingAtTheEnd(bench) }), /the disk is full/);
    await bench.restart();
    const deletions: number[] = [];
    for (let sweeps = 1; sweeps <= 3; sweeps++) deletions.push((await bench.sync(SWEEP)).deleted);
    assert.deepEqual(deletions, [0, 1, 0]);
  });
});

/** A store that refuses to conclude, but lets the failure be written down. */
function failingAtTheEnd({ store }: Workbench): Workbench['store'] {
  return {
    ...store,
    finishPass(end) {
      if (end.outcome === 'complete') throw new Error('the disk is full');
      return store.finishPass(end);
    },
  };
}
