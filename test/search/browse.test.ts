import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { openBrowseReads, type PageRequest } from '../../src/search/browse/browse.ts';
import { EVERY_LIVE_POST, type PostFilter } from '../../src/search/browse/filter.ts';
import { openTestMirror } from '../support/mirror.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';

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
