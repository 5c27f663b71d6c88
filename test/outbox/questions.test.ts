import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { iso } from '../../src/base/clock.ts';
import { erasePerson } from '../../src/erasure/erase.ts';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import { EDITABLE, TRANSITIONS } from '../../src/outbox/decide/states.ts';
import type { OutboxState } from '../../src/outbox/decide/types.ts';
import { contentHash } from '../../src/outbox/decide/whose.ts';
import { edit } from '../../src/outbox/person.ts';
import { push } from '../../src/outbox/send/push.ts';
import { openImportReads } from '../../src/outbox/store/imports.ts';
import { type Bench, benchFor, HOUR, leading, MINUTE, TEXT } from './bench.ts';

/** The file behind the store, for what only another part of the program writes. */
function fileOf(t: TestContext, { path }: Bench): Database.Database {
  const db = new Database(path);
  t.after(() => db.close());
  return db;
}

function moveTo({ store, clock }: Bench, id: number, to: OutboxState, change: object = {}): void {
  assert.ok(store.move(id, leading('ready', to), { now: clock.now(), ...change }));
}

describe('the rows that may go now', () => {
  it('leaves out held rows and rows of refusing boards, unless they are only reconciled', async (t) => {
    const bench = benchFor(t);
    const { store, clock } = bench;
    const now = clock.now();
    const held = await bench.add({ title: 'Held' }, 'paused');
    const closed = await bench.add({ title: 'Closed', board: 'closed' });
    const unclear = await bench.add({ title: 'Unclear', board: 'closed' });
    const dropped = await bench.add({ title: 'Dropped' });
    const free = await bench.add({ title: 'Free' });
    store.pauseBatch('paused', now);
    const until = now + HOUR;
    const times = { since: iso(now), refused_at: iso(now), until: iso(until), refusals: 1 };
    store.refuseBoard({ board: 'closed', kind: 'owner', ...times });
    moveTo(bench, unclear, 'ambiguous', { notBefore: now });
    moveTo(bench, dropped, 'cancelled');
    assert.equal(store.countDue(now), 2, 'one to be sent, one to be looked for');
    const { ready, at } = store.due(now, 10);
    assert.deepEqual([ready, at], [[free], until], 'when the board opens, it is worth another look');
    const all = [held, closed, unclear, dropped, free];
    assert.deepEqual(new Set(store.heldAmong(all, now)), new Set([held, closed, dropped]));
    assert.deepEqual(store.due(until, 10).ready, [closed, free]);
    assert.equal(store.countDue(until), 3);
    assert.deepEqual(new Set(store.heldAmong(all, until)), new Set([held, dropped]));
    const before = now - MINUTE;
    assert.equal(
      store.due(before, 10).ready.includes(closed),
      true,
      'it was refused by a clock that was ahead',
    );
  });

  it('after a row are only rows for the same board, of the same kind, with other words, that are due', async (t) => {
    const bench = benchFor(t);
    const row = await bench.row(await bench.add());
    const isFollowed = (): boolean => bench.store.hasSuccessor(row);
    await bench.add();
    await bench.add({ title: 'Elsewhere', board: 'bugs' });
    await bench.add({ title: 'For a customer', email: 'ada@example.com' });
    await bench.add({ title: 'Held' }, 'paused');
    bench.store.pauseBatch('paused', bench.clock.now());
    moveTo(bench, await bench.add({ title: 'Done' }), 'rejected');
    const twins = [await bench.add({ title: 'Twice' }), await bench.add({ title: 'Twice' })];
    moveTo(bench, twins[0] ?? 0, 'sending');
    assert.equal(isFollowed(), false);
    await bench.add({ title: 'Next' });
    assert.equal(isFollowed(), true);
  });
});

describe('the rows that were sent before', () => {
  it('change if a row is edited, and the feed shows the edit', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.upstream.outcomes = [{ outcome: 'rejected', httpStatus: 422, reason: 'No.', serverTime: null }];
    await push(bench.context, id);
    const told = () => bench.query<{ n: number }>('SELECT count(*) AS n FROM changes')[0]?.n ?? 0;
    const before = told();
    edit(bench, id, { title: 'Dim mode' });
    assert.equal(told(), before + 1);
  });

  it('count posts that exist, without deleted ones', async (t) => {
    const bench = benchFor(t);
    for (const title of ['One', 'Two', 'Three']) bench.upstream.publish({ title });
    await bench.sweep();
    bench.upstream.posts = bench.upstream.posts.slice(1);
    for (let sweeps = 0; sweeps < 4; sweeps++) await bench.sweep();
    assert.equal(bench.store.liveCount(), 2);
  });

  it('show which author the list has for us only where the row is certainly that post', async (t) => {
    const bench = benchFor(t);
    for (const [title, matched] of Object.entries({ A: null, B: 'exact', C: 'person', D: 'similar' })) {
      const { id: postId } = bench.upstream.publish({ title });
      moveTo(bench, await bench.add({ title, email: `${title}@example.com` }), 'confirmed', {
        postId,
        matched,
      });
    }
    await bench.sweep();
    const asked = bench.store.sentAuthors().map((author) => author.asked);
    assert.deepEqual(asked.sort(), ['A@example.com', 'B@example.com', 'C@example.com']);
  });

  it('are doubted if a live post has other words than the row, unless a person or an erasure explains them', async (t) => {
    const bench = benchFor(t);
    const ids: Record<string, number> = {};
    for (const title of ['Same', 'Other', 'Chosen', 'Erased', 'Gone']) {
      const { id: postId } = bench.upstream.publish({ title, content: TEXT.content });
      ids[title] = await bench.add({ title: title === 'Same' ? title : `${title}, as it was sent` });
      moveTo(bench, ids[title], 'confirmed', { postId, matched: title === 'Chosen' ? 'person' : null });
    }
    await bench.sweep();
    const db = fileOf(t, bench);
    db.prepare('UPDATE outbox SET erased_at = ? WHERE id = ?').run(iso(0), ids.Erased);
    db.prepare("UPDATE posts SET deleted_at = ? WHERE title = 'Gone'").run(iso(0));
    assert.deepEqual(
      bench.store.doubtfulRows().map(({ row }) => row.id),
      [ids.Other],
    );
  });
});

describe('what the mirror knows of posts', () => {
  it('finds posts with a higher id, or made since, by clocks that may be behind', async (t) => {
    const bench = benchFor(t);
    const now = bench.clock.now();
    const publish = (title: string, ago: number) =>
      bench.upstream.publish({ title, created: iso(now - ago) }).id;
    const old = publish('Old', 25 * HOUR);
    const local = publish('Local time', 23 * HOUR);
    const behind = publish('Behind', 29 * MINUTE);
    const bound = publish('Bound', 0);
    moveTo(bench, await bench.add(), 'confirmed', { postId: bound });
    await bench.sweep();
    const since = (known_max_id: number | null, created = now): number[] =>
      bench.store.postsSince({ known_max_id, sentAt: created }).map(({ id }) => id);
    assert.deepEqual(since(null), [local, behind], 'nothing but its time tells what is new');
    assert.deepEqual(since(bound), [behind]);
    assert.deepEqual(since(bound, now + 3 * HOUR), []);
    assert.deepEqual(new Set(since(old - 1)), new Set([old, local, behind]));
  });

  it('includes the highest id of a post, listed or sent, once the whole list was read', async (t) => {
    const bench = benchFor(t);
    const { id: first } = bench.upstream.publish();
    assert.equal(bench.store.knowledge().maxId, null);
    moveTo(bench, await bench.add(), 'confirmed', { postId: first - 1 });
    await bench.sweep();
    const end = fileOf(t, bench).prepare('UPDATE sync_runs SET outcome = ?');
    end.run('interrupted');
    assert.equal(bench.store.knowledge().maxId, first - 1, 'what else is listed nobody knows');
    end.run('complete');
    assert.equal(bench.store.knowledge().maxId, first);
    moveTo(bench, await bench.add({ title: 'Newer' }), 'confirmed', { postId: first + 1 });
    assert.equal(bench.store.knowledge().maxId, first + 1);
  });

  it('includes a board after a post was sent there, also before a list shows it', async (t) => {
    const bench = benchFor(t);
    await push(bench.context, await bench.add({ board: 'brand-new' }));
    const reads = openImportReads({ path: bench.path, upstream: 'http://upstream.test' });
    t.after(() => reads?.close());
    assert.deepEqual(reads?.boards(), [{ id: null, slug: 'brand-new', name: 'brand-new' }]);
    assert.equal(reads?.knowsAllBoards(), false, 'nobody has read the list');
  });
});

describe('an import', () => {
  it('counts the customers who still wait, and the rows to correct on each board', async (t) => {
    const bench = benchFor(t);
    const { store } = bench;
    const add = (title: string, email: string | null = null, board = 'ideas') =>
      bench.add({ title, email, board }, 'import-2');
    for (const title of ['A', 'B']) await add(title, 'ada@example.com');
    moveTo(bench, await add('C', 'zoe@example.com'), 'sending');
    moveTo(bench, await add('D', 'bob@example.com'), 'rejected');
    assert.deepEqual(store.waitingCustomers('import-2'), { people: 2, isMore: false });
    fileOf(t, bench).exec(`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5001)
      INSERT INTO outbox (batch, source_key, kind, board, title, content, email, content_hash, created_at, changed_at)
      SELECT 'import-1', 'many' || i, 'as-user', 'ideas', 'T', '', 'one' || (i % 7) || '@example.com', i, '', '' FROM n`);
    assert.deepEqual(store.waitingCustomers('import-1'), { people: 7, isMore: true });
    assert.deepEqual(store.waitingCustomers('import-0'), { people: 0, isMore: false });
    fileOf(t, bench).exec("DELETE FROM outbox WHERE batch = 'import-1'");
    for (const title of ['E', 'F']) moveTo(bench, await add(title, null, 'bugs'), 'uncertain');
    const erased = await add('G', null, 'gone');
    moveTo(bench, erased, 'rejected');
    fileOf(t, bench).prepare('UPDATE outbox SET erased_at = ? WHERE id = ?').run(iso(0), erased);
    const toMend = [
      { board: 'bugs', rows: 2 },
      { board: 'ideas', rows: 1 },
    ];
    assert.deepEqual(store.boardsToMend('import-2'), toMend);
    for (const batch of ['import-1', 'import-3', 'create-4']) await bench.add({ title: batch }, batch);
    assert.deepEqual(store.newestImports(2), ['import-3', 'import-2']);
  });

  it('keeps what its rows look like until a person has decided, each upload apart', async (t) => {
    const bench = benchFor(t);
    const { duplicates } = bench.store;
    const found = (line: number, kind: 'same' | 'title') => ({ line, kind, score: 1, post_id: line });
    duplicates.keep('ours', [found(1, 'same'), found(2, 'title'), found(3, 'same')]);
    duplicates.keep('theirs', [found(2, 'same')]);
    const lines = (kind: 'same' | null, after: number, limit = 10) =>
      duplicates.page('ours', { kind, after, limit }).map(({ line }) => line);
    assert.deepEqual(
      [lines(null, 1), lines('same', 0), lines(null, 0, 2)],
      [
        [2, 3],
        [1, 3],
        [1, 2],
      ],
    );
    assert.equal(duplicates.skip('ours', { line: 2 }, true), 1);
    assert.deepEqual(duplicates.skippedLines('ours'), new Set([2]));
    assert.equal(duplicates.skip('ours', { kind: 'same' }, true), 2);
    assert.equal(duplicates.skip('ours', { line: 3 }, false), 1);
    assert.deepEqual(duplicates.skippedLines('ours'), new Set([1, 2]));
    const counts = duplicates.counts('ours').sort((a, b) => b.found - a.found);
    assert.deepEqual(counts, [
      { kind: 'same', found: 2, skipped: 1 },
      { kind: 'title', found: 1, skipped: 1 },
    ]);
    duplicates.forget('ours');
    assert.deepEqual([lines(null, 0), duplicates.skippedLines('theirs').size], [[], 0]);
    assert.equal(duplicates.page('theirs', { kind: null, after: 0, limit: 9 }).length, 1);
  });

  it('is compared with live posts', async (t) => {
    const bench = benchFor(t);
    for (const title of ['Here', 'Gone']) bench.upstream.publish({ title });
    await bench.sweep();
    fileOf(t, bench).prepare("UPDATE posts SET deleted_at = ? WHERE title = 'Gone'").run(iso(0));
    const reads = openImportReads({ path: bench.path, upstream: 'http://upstream.test' });
    t.after(() => reads?.close());
    assert.deepEqual(
      [...(reads?.livePosts() ?? [])].map(({ title }) => title),
      ['Here'],
    );
    assert.equal(reads?.knowsAllBoards(), true);
  });
});

describe('a person who was erased', () => {
  it('has no row that could be sent again or edited', async (t) => {
    const bench = benchFor(t);
    const [rejected, kept] = [await bench.add(), await bench.add({ title: 'Light mode' })];
    for (const id of [rejected, kept]) moveTo(bench, id, 'rejected');
    fileOf(t, bench).prepare('UPDATE outbox SET erased_at = ? WHERE id = ?').run(iso(0), rejected);
    const now = bench.clock.now();
    const [id, post] = [rejected, { ...TEXT, title: 'Other words' }];
    const edit = { from: EDITABLE, post, content_hash: contentHash(post), now };
    assert.equal(bench.store.edit({ ...edit, id }), null);
    assert.equal(bench.store.move(id, TRANSITIONS.retry, { now }), null);
    assert.equal((await bench.row(id)).state, 'rejected');
    assert.ok(bench.store.edit({ ...edit, id: kept }));
    assert.ok(bench.store.move(kept, TRANSITIONS.retry, { now }));
  });

  it('has no proposed row accepted, nor any row beside it', async (t) => {
    const bench = benchFor(t);
    const erasure = openErasureStore({
      path: bench.path,
      upstream: 'http://upstream.test',
      holder: 'a test',
    });
    t.after(() => erasure.close());
    const context = { ...bench.context, store: erasure, compact: async () => true };
    await erasePerson(context, 'zoe@example.com');
    const row = (email: string | null, n: number) => ({
      ...{ ...TEXT, email, full_name: null, batch: 'one', source_key: `key:${n}`, line: n },
      content_hash: String(n),
    });
    const rows = [row('ada@example.com', 1), row('Zoe@example.com', 2), row(null, 3)];
    assert.throws(() => bench.store.accept(rows, bench.clock.now()), { code: 'usage' });
    assert.equal(bench.store.counts(null).ready, 0);
    const others = rows.filter((_, n) => n !== 1);
    assert.equal(bench.store.accept(others, bench.clock.now()).length, 2);
  });
});
