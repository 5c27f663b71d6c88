import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Account, accountFor, type OutboxRow, type Post } from './outbox-judge.ts';

const DRAFT = { title: 'Dark theme', content: 'For the night', email: 'a@example.net' };
const OTHER = { title: 'Export', content: 'As a table', email: '' };
const ROW = { state: 'confirmed', duplicate_of: null, candidates: '[]', was_ambiguous: 0, last_error: null };
const POSTS: Post[] = [
  { id: 1, ...DRAFT },
  { id: 2, ...OTHER, email: 'owner@example.com' },
];
const ROWS: OutboxRow[] = [
  { ...DRAFT, ...ROW, post_id: 1 },
  { ...OTHER, ...ROW, post_id: 2 },
];
const GOOD: Account = {
  rows: 2,
  unclear: 0,
  lost: 0,
  doubledInSilence: 0,
  doubledAndNamed: 0,
  wrongPost: 0,
  falseDuplicates: 0,
  leftToPerson: 0,
  unfinished: 0,
};

function judged(change: Partial<OutboxRow>, posts = POSTS): Account {
  const [first, ...others] = ROWS;
  return accountFor([DRAFT, OTHER], first ? [{ ...first, ...change }, ...others] : [], posts);
}

describe('the judge of imports', () => {
  it('finds nothing where every row names its own post', () => {
    assert.deepEqual(judged({}), GOOD);
  });

  it('counts a confirmed row without its post as lost, and a row that never came into the outbox', () => {
    assert.equal(judged({ post_id: 99 }).lost, 1);
    assert.equal(judged({ state: 'rejected', post_id: null }).lost, 1);
    assert.equal(accountFor([DRAFT, OTHER], ROWS.slice(1), POSTS).lost, 1);
  });

  it('counts a second post as silent unless a row names it', () => {
    const second = [...POSTS, { id: 3, ...DRAFT }];
    assert.deepEqual(judged({}, second), { ...GOOD, doubledInSilence: 1 });
    assert.deepEqual(judged({ duplicate_of: 3 }, second), { ...GOOD, doubledAndNamed: 1 });
    const third = [...second, { id: 4, ...DRAFT }];
    const further = judged({ duplicate_of: 3, candidates: '[3, 4]' }, third);
    assert.deepEqual(further, { ...GOOD, doubledAndNamed: 2 });
    const asked = judged({ state: 'uncertain', post_id: null, candidates: '[1, 3]' }, second);
    assert.deepEqual(asked, { ...GOOD, leftToPerson: 1, doubledAndNamed: 1 });
  });

  it('lets two rows with the same words have two posts', () => {
    const rows = [...ROWS, { ...DRAFT, ...ROW, post_id: 3 }];
    const account = accountFor([DRAFT, OTHER, DRAFT], rows, [...POSTS, { id: 3, ...DRAFT }]);
    assert.deepEqual(account, { ...GOOD, rows: 3 });
  });

  it("counts rows that name another row's post, or a stranger's as a duplicate", () => {
    assert.equal(judged({ post_id: 2 }).wrongPost, 1);
    const stranger = [...POSTS, { id: 3, ...DRAFT, email: 'stranger@example.org' }];
    assert.deepEqual(judged({ duplicate_of: 3 }, stranger), { ...GOOD, falseDuplicates: 1 });
  });
});
