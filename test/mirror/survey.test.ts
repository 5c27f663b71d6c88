import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client, Page } from '../../src/api/client.ts';
import type { Comment, Post } from '../../src/contract/decode.ts';
import { survey } from '../../src/mirror/sweep/survey.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { aComment, aPost } from '../support/rows.ts';

/** A service that takes four seconds for each of these pages. */
function slowClient(clock: FakeClock, lists: { posts: Post[][]; comments: Comment[][] }): Client {
  const walk = <T>(pages: T[][]) =>
    async function* (): AsyncGenerator<Page<T>, void, undefined> {
      for (const [n, rows] of pages.entries()) {
        clock.advance(4000);
        const next = n + 1 < pages.length ? `page=${n + 2}` : null;
        const rejects = n === 0 ? [{ index: rows.length, id: 99, reason: 'broken', body: '{}' }] : [];
        const place = { number: n + 1, cursor: n === 0 ? '' : `page=${n + 1}`, next };
        yield { rows, rejects, ...place, serverTime: null, receivedAt: clock.now(), bytes: 0 };
      }
    };
  return { posts: walk(lists.posts), comments: walk(lists.comments) } as unknown as Client;
}

describe('the first look at a service', () => {
  const board = (id: number) => ({ board: { id, name: `Board ${id}`, url: `/b/${id}` } });
  const { signal } = new AbortController();

  it('ends after ten seconds a list, and says that there is more', async () => {
    const clock = fakeClock();
    const pages = [5, 4, 3, 2, 1].map((id) => [aPost(id, { created: `2026-01-0${id}T00:00:00Z` })]);
    const client = slowClient(clock, { posts: pages, comments: [[aComment(1)]] });
    const { posts, comments } = await survey(client, clock, signal);
    assert.partialDeepStrictEqual(posts, { rows: 4, isWhole: false });
    assert.partialDeepStrictEqual(comments, { rows: 2, isWhole: true });
  });

  it('tells the boards, the one with the most posts first', async () => {
    const clock = fakeClock();
    const rows = [aPost(4, board(1)), aPost(3, board(2)), aPost(2, board(2))];
    const client = slowClient(clock, { posts: [[], rows], comments: [[]] });
    const { posts, boards } = await survey(client, clock, signal);
    assert.deepEqual(boards, ['Board 2', 'Board 1']);
    assert.deepEqual(posts, { rows: 4, isWhole: true });
  });
});
