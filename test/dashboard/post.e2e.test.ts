import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CommentsAnswer, PostAnswer } from '../../src/http/dashboard/posts.ts';
import { webAddress } from '../../src/text/text.ts';
import { ANN, TESS } from '../reports/story.ts';
import { aComment, aPost, iso, range } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';
import { openOnMirror } from './site.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
const PLANNED = { id: 8, name: 'Planned', color: '#2222aa' };

describe('a post', () => {
  it('is told whole: texts, votes, status, edits, and that it is gone', async (t) => {
    const site = await openOnMirror(t, async (store) => {
      const states = [
        aPost(1, { title: 'Dark mode', content: 'please', votes_count: 1, url: '/p/1/' }),
        aPost(1, { title: 'Dark mode', content: 'please', votes_count: 4, url: '/p/1/' }),
        aPost(1, { title: HOSTILE, content: 'please', votes_count: 4, url: '/p/1/', status: PLANNED }),
        aPost(1, { title: HOSTILE, content: 'pretty please', votes_count: 6, url: '/p/1/', status: PLANNED }),
      ];
      for (const [n, state] of states.entries()) await sweep(store, 'posts', [state], n);
      await sweep(store, 'posts', [], 8);
      await sweep(store, 'posts', [], 9, { acceptDeletes: true });
    });
    const { post, states, edits, original, isCut } = await site.get<PostAnswer>('/data/posts/1');
    assert.deepEqual([post.title, post.content, post.votes], [HOSTILE, 'pretty please', 6]);
    assert.equal(post.deleted, iso(9));
    assert.equal(original, 'https://upstream.test/p/1/');
    assert.equal(isCut, false);
    assert.deepEqual(
      states.map(({ at, votes, status, deleted }) => [at, votes, status, deleted]),
      [
        [iso(0), 1, wire.post.status.name, 0],
        [iso(1), 4, wire.post.status.name, 0],
        [iso(2), 4, 'Planned', 0],
        [iso(3), 6, 'Planned', 0],
        [iso(9), 6, 'Planned', 1],
      ],
    );
    assert.deepEqual(edits, [
      { at: iso(3), title: null, content: { from: 'please', to: 'pretty please' } },
      { at: iso(2), title: { from: 'Dark mode', to: HOSTILE }, content: null },
    ]);
  });

  it('has its comments in the order they were written, page by page, as they are', async (t) => {
    const site = await openOnMirror(t, async (store) => {
      await sweep(store, 'posts', [aPost(1)]);
      const reference = { id: 1, title: 'x', url: '/p/1/' };
      const comments = range(1, 120).map((id) =>
        aComment(id, {
          post: reference,
          creator: id % 2 === 0 ? TESS : ANN,
          internal: id === 3,
          kind: id === 4 ? 'status_change' : 'reply',
          status: id === 4 ? PLANNED : null,
          content: id === 5 ? HOSTILE : `Comment ${id}`,
          // Three at a time are written in the same moment.
          created: new Date(Date.UTC(2026, 0, 1) + Math.floor(id / 3) * 60_000).toISOString(),
        }),
      );
      await sweep(store, 'comments', comments);
    });
    const { comments, nextComments } = await site.get<PostAnswer>('/data/posts/1');
    assert.equal(comments.total, 120);
    const rows = [...comments.rows];
    for (let next = nextComments; next !== null; ) {
      const page: CommentsAnswer = await site.get(`/data/posts/1/comments?cursor=${next}`);
      rows.push(...page.rows);
      next = page.next;
    }
    assert.deepEqual(
      rows.map(({ id }) => id),
      range(1, 120),
    );
    const [, , third, fourth, fifth] = rows;
    assert.deepEqual([third?.internal, third?.isTeam, fourth?.isTeam], [1, 0, 1]);
    assert.deepEqual(JSON.parse(fourth?.status ?? ''), PLANNED);
    assert.equal(fifth?.content, HOSTILE);
  });

  it('that nobody knows is not found, and what is no number is refused', async (t) => {
    const site = await openOnMirror(t, async (store) => void (await sweep(store, 'posts', [aPost(1)])));
    assert.equal((await site.ask('/data/posts/2')).status, 404);
    assert.equal((await site.ask('/data/posts/x')).status, 400);
    assert.equal((await site.ask('/data/posts/1/comments')).status, 400);
    assert.equal((await site.ask('/data/posts/1/comments?cursor=WzUsMV0')).status, 400);
  });

  it('links to its original by addresses of the web only', () => {
    const base = 'https://feedback.test/api/';
    const cases: [string, string | null, string | null][] = [
      ['/p/1/', base, 'https://feedback.test/p/1/'],
      ['https://elsewhere.test/p/1', base, 'https://elsewhere.test/p/1'],
      ['javascript:alert(1)', base, null],
      ['data:text/html,x', base, null],
      ['/p/1/', null, null],
      ['http://[broken', base, null],
    ];
    for (const [url, upstream, expected] of cases) assert.equal(webAddress(url, upstream), expected, url);
  });
});
