import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { openBrowseReads, type PageRequest } from '../../src/search/browse/browse.ts';
import { EVERY_LIVE_POST, type PostFilter } from '../../src/search/browse/filter.ts';
import { openTestMirror } from '../support/mirror.ts';
import { aComment, aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';

const day = (n: number): string => new Date(Date.UTC(2026, 0, n)).toISOString();

describe('a list of posts', () => {
  it('begins with its bounds, ends before its end, and shows what is gone only where that is asked for', (t) => {
    const mirror = openTestMirror();
    const shown = [1, 2, 3, 4].map((id) => aPost(id, { created: day(id), votes_count: 10 * id }));
    sweep(mirror.store, 'posts', shown, 1);
    const db = new Database(mirror.path);
    db.prepare('UPDATE posts SET deleted_at = ? WHERE id = 4').run(day(9));
    db.close();
    const reads = openBrowseReads(mirror);
    t.after(() => {
      reads.close();
      mirror.dispose();
    });
    const ids = (filter: Partial<PostFilter>, rest: Partial<PageRequest> = {}): number[] =>
      reads
        .page({
          ...{ filter: { ...EVERY_LIVE_POST, ...filter }, sort: 'newest', after: null, limit: 10 },
          ...rest,
        })
        .rows.map(({ id }) => id);
    assert.deepEqual(ids({}), [3, 2, 1]);
    assert.deepEqual(ids({ since: day(2) }), [3, 2]);
    assert.deepEqual(ids({ until: day(2) }), [1]);
    assert.deepEqual(ids({ votes: 20 }), [3, 2]);
    assert.deepEqual([ids({ deleted: 'only' }), ids({ deleted: 'too' })], [[4], [4, 3, 2, 1]]);
    assert.deepEqual(ids({}, { sort: 'votes', limit: 2 }), [3, 2]);
    const tallied = reads.tally().reduce((sum, { posts }) => sum + posts, 0);
    assert.equal(tallied, 3, 'what is gone is not counted');
  });
});

describe('the list of people', () => {
  it('counts what is still there, in the order that was asked for, and shows those who wrote nothing last', (t) => {
    const mirror = openTestMirror();
    const by = (id: number, name: string): object => ({
      ...wire.user,
      id,
      name,
      email: `${name}@example.com`,
    });
    const [ann, ben, cleo] = [by(7, 'Ann'), by(8, 'Ben'), by(9, 'Cleo')];
    const shown = [
      aPost(1, { creator: ann, created: day(1) }),
      aPost(2, { creator: ben, created: day(2) }),
      aPost(3, { creator: ben, created: day(3) }),
      aPost(4, { creator: cleo, created: day(4) }),
    ];
    sweep(mirror.store, 'posts', shown, 1);
    const said = [1, 2].map((id) => aComment(id, { creator: ann, created: day(4 + id) }));
    sweep(mirror.store, 'comments', said, 1);
    const db = new Database(mirror.path);
    db.prepare('UPDATE posts SET deleted_at = ? WHERE id = 4').run(day(9));
    db.close();
    const reads = openBrowseReads(mirror);
    t.after(() => {
      reads.close();
      mirror.dispose();
    });
    const list = (sort: 'posts' | 'comments' | 'last' | 'name', text = '', offset = 0) =>
      reads
        .people({ text, sort, offset, limit: 10 })
        .rows.map(({ name, posts, comments }) => [name, posts, comments]);
    const [a, b, c] = [
      ['Ann', 1, 2],
      ['Ben', 2, 0],
      ['Cleo', 0, 0],
    ];
    assert.deepEqual(list('posts'), [b, a, c]);
    assert.deepEqual(list('comments'), [a, b, c]);
    assert.deepEqual(list('last'), [a, b, c]);
    assert.deepEqual(list('name', '', 1), [b, c]);
    assert.deepEqual(list('posts', 'cleo@'), [c]);
    const { rows, total } = reads.people({ text: '', sort: 'last', offset: 1, limit: 1 });
    assert.deepEqual([rows.map(({ last }) => last), total], [[day(3)], 3]);
  });
});
