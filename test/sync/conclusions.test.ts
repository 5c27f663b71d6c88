import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Post } from '../../src/contract/decode.ts';
import { type Bench, benchFor } from '../outbox/bench.ts';
import { liveIds, mirrorReader } from '../support/mirror.ts';
import { aPost, range } from '../support/rows.ts';

const GONE = 8;

/** A mirror that has swept these posts often enough to trust what it has learned of them; then one of them is gone. */
async function withOneGone(t: TestContext, posts: Post[]): Promise<Bench> {
  const bench = benchFor(t);
  bench.upstream.pageSize = 5;
  bench.upstream.posts = posts;
  for (let sweeps = 0; sweeps < 3; sweeps++) await bench.sweep();
  bench.upstream.posts = posts.filter(({ id }) => id !== GONE);
  return bench;
}

/** How many sweeps it takes until the post is deleted, each of a list in which something else has changed; null for more than six. */
async function sweepsUntilDeleted(bench: Bench): Promise<number | null> {
  for (let sweeps = 1; sweeps <= 6; sweeps++) {
    const [first, ...rest] = bench.upstream.posts;
    if (first) bench.upstream.posts = [{ ...first, content: `read ${sweeps} times` }, ...rest];
    await bench.sweep();
    if (!liveIds(mirrorReader(bench.path)).includes(GONE)) return sweeps;
  }
  return null;
}

describe('a row that is missing from a list in strict order', () => {
  for (const [when, votes, sweeps] of [
    ['no number runs along with the order', (id: number) => id % 3, 2],
    ['the votes run along with it, so that the list may be sorted by them', (id: number) => id, 3],
  ] as const)
    it(`is deleted by ${sweeps} sweeps where ${when}`, async (t) => {
      const post = (id: number): Post => aPost(id, { votes_count: votes(id), comments_count: id % 2 });
      const bench = await withOneGone(t, range(1, 20).toReversed().map(post));
      assert.equal(await sweepsUntilDeleted(bench), sweeps);
    });
});

describe('a row that is missing from a list without an order', () => {
  const unordered = (): Post[] => range(1, 20).map((n) => aPost((n * 8) % 21));

  it('is deleted by three sweeps', async (t) => {
    assert.equal(await sweepsUntilDeleted(await withOneGone(t, unordered())), 3);
  });

  it('is not deleted where the start of the list is another one when it is read again', async (t) => {
    const bench = await withOneGone(t, unordered());
    bench.upstream.beforePage = (page) => {
      const { posts } = bench.upstream;
      if (page === 1) bench.upstream.posts = [...posts.slice(0, 5).toReversed(), ...posts.slice(5)];
    };
    assert.equal(await sweepsUntilDeleted(bench), null);
  });
});
