import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import { rowErasers } from '../../src/mirror/suppression/rows.ts';
import { EDITABLE } from '../../src/outbox/decide/states.ts';
import type { OutboxState } from '../../src/outbox/decide/types.ts';
import { contentHash } from '../../src/outbox/decide/whose.ts';
import { push } from '../../src/outbox/send/push.ts';
import { benchFor, leading, TEXT } from '../outbox/bench.ts';
import { aComment, aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';

const AT = '2026-05-01T00:00:00.000Z';

function open(t: TestContext) {
  const bench = benchFor(t);
  const db = new Database(bench.path);
  t.after(() => db.close());
  return { ...bench, db, rows: rowErasers(db) };
}

describe('a row of the outbox that is erased', () => {
  it('is never sent or looked for again, and keeps what it came to', async (t) => {
    const { add, store, clock, db, rows, row } = open(t);
    const ends: Partial<Record<OutboxState, OutboxState>> = {
      ...{ ready: 'cancelled', ambiguous: 'cancelled', uncertain: 'cancelled', proposed: 'cancelled' },
      ...{ confirmed: 'confirmed', rejected: 'rejected', cancelled: 'cancelled' },
    };
    for (const [state, end] of Object.entries(ends)) {
      const id = await add({ title: `Secret ${state}`, email: 'zoe@example.com', full_name: 'Zoe' });
      const change = {
        now: clock.now(),
        notBefore: clock.now(),
        error: 'of Zoe',
        wasAmbiguous: true as const,
        url: '/zoe',
      };
      const transition = leading('ready', state as OutboxState);
      assert.ok(store.move(id, transition, { ...change, ...(state === 'confirmed' && { postId: id }) }));
      if (state === 'ready') db.prepare('UPDATE outbox SET on_hold = 1 WHERE id = ?').run(id);
      rows.outbox(id, AT);
      const { title, content, email, full_name, url, checks_left, not_before, on_hold, ...rest } =
        await row(id);
      assert.deepEqual(
        { title, content, email, full_name, url },
        { title: '[erased]', content: '[erased]', email: '[erased]', full_name: null, url: null },
      );
      assert.deepEqual(
        [rest.state, checks_left, not_before, on_hold, rest.erased_at, rest.last_error],
        [end, 0, null, false, AT, 'its text was erased'],
        state,
      );
    }
  });

  it('keeps no words in its earlier versions and in the errors of its attempts', async (t) => {
    const { add, context, upstream, store, clock, db, rows } = open(t);
    const id = await add();
    upstream.outcomes = [
      { outcome: 'rejected', httpStatus: 422, reason: 'Zoe may not post here', serverTime: null },
    ];
    await push(context, id);
    const post = { ...TEXT, title: 'Mended' };
    store.edit({ id, from: EDITABLE, post, content_hash: contentHash(post), now: clock.now() });
    assert.deepEqual([store.edits(id).length, store.attempts(id).length], [1, 1]);
    rows.outbox(id, AT);
    assert.deepEqual(store.edits(id), []);
    assert.deepEqual(
      store.attempts(id).map(({ outcome, error }) => [outcome, error]),
      [['rejected', null]],
    );
    const told = db.prepare('SELECT type, id FROM changes ORDER BY n DESC LIMIT 1').get();
    assert.deepEqual(told, { type: 'outbox.erased', id });
  });
});

describe('a post or comment that is erased', () => {
  it('has its words in no version, and its versions say since when', (t) => {
    const { mirror, db, rows } = open(t);
    for (const [n, content] of ['Zoe wrote this', 'and then that'].entries()) {
      sweep(mirror, 'posts', [aPost(1, { title: content, content })], n);
      sweep(mirror, 'comments', [aComment(2, { content })], n);
    }
    const versions = (of: string) => db.prepare(`SELECT * FROM ${of}_versions`).all() as object[];
    assert.deepEqual([versions('post').length, versions('comment').length], [1, 1]);
    rows.refresh();
    rows.post(1, AT);
    rows.comment(2, AT);
    assert.partialDeepStrictEqual(versions('post'), [{ title: null, content: null, erased_at: AT }]);
    assert.partialDeepStrictEqual(versions('comment'), [{ content: null }]);
    assert.partialDeepStrictEqual(db.prepare('SELECT * FROM posts').get(), {
      ...{ title: '[erased]', content: '[erased]', url: '', extra: null, changed_at: AT },
    });
    assert.partialDeepStrictEqual(db.prepare('SELECT * FROM comments').get(), {
      ...{ content: '[erased]', extra: null, changed_at: AT },
    });
    const told = db.prepare("SELECT type FROM changes WHERE type LIKE '%.erased'").pluck().all();
    assert.deepEqual(told, ['post.erased', 'comment.erased']);
  });

  it('loses a link or undocumented fields also where the rest is erased, and then says that nothing is left', (t) => {
    const { mirror, db, rows } = open(t);
    sweep(mirror, 'posts', [aPost(1)], 0);
    sweep(mirror, 'comments', [aComment(2)], 0);
    rows.refresh();
    const erase = { posts: () => rows.post(1, AT), comments: () => rows.comment(2, AT) };
    erase.posts();
    erase.comments();
    for (const [table, column, empty] of [
      ['posts', 'url', ''],
      ['posts', 'extra', null],
      ['comments', 'extra', null],
    ] as const) {
      db.exec(`UPDATE ${table} SET ${column} = '{"by":"Zoe"}'`);
      assert.deepEqual([erase[table](), erase[table]()], [true, false], `${table}.${column}`);
      assert.equal(db.prepare(`SELECT ${column} FROM ${table}`).pluck().get(), empty);
    }
  });

  it('takes a user out once, and says whether there was anything left', (t) => {
    const { mirror, db, rows } = open(t);
    sweep(mirror, 'posts', [aPost(1)], 0);
    const id = Number(db.prepare('SELECT id FROM users').pluck().get());
    assert.deepEqual([rows.user(id, AT), rows.user(id, AT), rows.user(404, AT)], [true, false, false]);
    assert.partialDeepStrictEqual(db.prepare('SELECT * FROM users').get(), {
      ...{ email: null, name: null, alias: null, extra: null, changed_at: AT },
    });
  });
});

describe('a deleted row whose words were erased because its time was up', () => {
  it('is restored when the list shows it again, and its retention starts over', (t) => {
    const { path, mirror, db } = open(t);
    const erasure = openErasureStore({ path, upstream: 'http://upstream.test', holder: 'a test' });
    t.after(() => erasure.close());
    const stateOf = () => db.prepare('SELECT title, deleted_at, erased_at FROM posts WHERE id = 1').get();
    const others = Array.from({ length: 40 }, (_, n) => aPost(n + 2));
    const [before, after] = [others.slice(0, 20), others.slice(20)];
    const [shown, gone] = [[...before, aPost(1, { title: 'Words' }), ...after], others];
    const now = Date.parse(AT);
    for (const rows of [shown, gone]) sweep(mirror, 'posts', rows, 1);
    assert.equal(erasure.expire(now, now).counts.posts, 1);
    assert.partialDeepStrictEqual(stateOf(), { title: '[erased]', erased_at: AT });
    sweep(mirror, 'posts', shown, 2);
    assert.deepEqual({ ...Object(stateOf()) }, { title: 'Words', deleted_at: null, erased_at: null });
    sweep(mirror, 'posts', gone, 3);
    assert.equal(erasure.expire(now, now).counts.posts, 1);
  });
});
