import assert from 'node:assert/strict';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import { aComment, aPost, minute } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';
import { newRow, openBench } from './bench.ts';

const EMAIL = 'ada@example.com';
const ada = { ...wire.user, id: 7, email: EMAIL, name: 'Ada' };

describe('the suppression list', () => {
  it('holds also for somebody who was never seen, and for every user with the address', async (t) => {
    const bench = await openBench(t);
    const { counts, isNew } = await bench.erase(EMAIL);
    assert.deepEqual([isNew, Object.values(counts).some((n) => n > 0)], [true, false]);
    await sweep(
      bench.store,
      'posts',
      [aPost(1, { creator: ada }), aPost(2, { creator: { ...ada, id: 8, email: ' ADA@Example.com' } })],
      1,
    );
    assert.deepEqual(bench.query('SELECT id, email, name, alias FROM users'), [
      { id: 7, email: null, name: null, alias: null },
      { id: 8, email: null, name: null, alias: null },
    ]);
    assert.deepEqual(bench.query('SELECT title, content, url FROM posts WHERE id = 1'), [
      { title: '[erased]', content: '[erased]', url: '' },
    ]);
  });

  it('knows the person by number too, when the upstream shows them under another address', async (t) => {
    const bench = await openBench(t);
    await sweep(bench.store, 'posts', [aPost(1, { creator: ada })], 1);
    await bench.erase(EMAIL);
    await sweep(bench.store, 'posts', [aPost(1, { creator: { ...ada, email: 'new@example.com' } })], 2);
    assert.deepEqual(bench.query('SELECT email, name FROM users'), [{ email: null, name: null }]);
  });

  it('takes the title of the post from comments that came before the post did', async (t) => {
    const bench = await openBench(t);
    await bench.erase(EMAIL);
    const comment = aComment(1, {
      creator: { ...wire.user, id: 9, email: 'o@example.com' },
      post: { id: 1, title: 'Hers', url: '/hers' },
    });
    await sweep(bench.store, 'comments', [comment], 1);
    await sweep(bench.store, 'posts', [aPost(1, { creator: ada, title: 'Hers' })], 2);
    await sweep(bench.store, 'comments', [comment], 3);
    assert.deepEqual(bench.query('SELECT title, url FROM commented_posts'), [{ title: '[erased]', url: '' }]);
  });

  it('takes the address out of what others write, and no longer address that ends like it', async (t) => {
    const bench = await openBench(t);
    await bench.erase(EMAIL);
    const other = { ...wire.user, id: 9, email: 'o@example.com', alias: 'ada@example.com' };
    const content =
      "Ada@Example.com. 'ada@example.com' <ada@example.com> mailto:ada@example.com?to=ada%40example.com x@ada@example.com";
    const near = 'joada@example.com j.ada@example.com ada@example.com.org ada@example.comx';
    await sweep(
      bench.store,
      'posts',
      [aPost(1, { creator: other, title: near, content, note: { deep: ['\nada@example.com'] } })],
      1,
    );
    assert.deepEqual(bench.query('SELECT title, content, extra FROM posts'), [
      {
        title: near,
        content: "[erased]. '[erased]' <[erased]> mailto:[erased]?to=[erased] x@[erased]",
        extra: '{"note":{"deep":["\\n[erased]"]}}',
      },
    ]);
    assert.deepEqual(bench.query('SELECT alias FROM users'), [{ alias: '[erased]' }]);
  });

  it('ends when it is lifted: the next sweep brings back what the upstream shows', async (t) => {
    const bench = await openBench(t);
    await sweep(bench.store, 'posts', [aPost(1, { creator: ada, title: 'Hers' })], 1);
    await bench.erase(EMAIL);
    assert.equal(await bench.erasure.lift('other@example.com'), false);
    assert.equal(await bench.erasure.lift('ADA@example.com '), true);
    assert.equal(await bench.erasure.lift(EMAIL), false);
    await sweep(bench.store, 'posts', [aPost(1, { creator: ada, title: 'Hers' })], 2);
    assert.deepEqual(bench.query('SELECT p.title, u.name FROM posts p JOIN users u ON u.id = p.creator_id'), [
      { title: 'Hers', name: 'Ada' },
    ]);
  });

  it('says so when its key is lost or another one, instead of letting people in; a new one can be started', async (t) => {
    const bench = await openBench(t);
    const key = join(bench.folder, 'suppression.key');
    await sweep(bench.store, 'posts', [aPost(1, { creator: ada })], 1);
    await bench.erase(EMAIL);
    assert.equal(statSync(key).mode & 0o777, 0o600);
    const refused = {
      code: 'usage',
      message: /suppression\.key, is (missing|another one): people who were erased would come back/,
    };
    for (const spoil of [() => rmSync(key), () => writeFileSync(key, 'another\n')]) {
      spoil();
      await bench.outbox.setPaused(null);
      assert.throws(() => sweep(bench.store, 'posts', [aPost(1, { creator: ada })], 2), refused);
      await assert.rejects(bench.erase('second@example.com'), refused);
    }
    assert.equal(await bench.erasure.newKey(), 1);
    await sweep(bench.store, 'posts', [aPost(1, { creator: ada })], 3);
    assert.deepEqual(bench.query('SELECT name FROM users'), [{ name: null }]);
    await bench.erase(EMAIL);
    await sweep(bench.store, 'posts', [aPost(2, { creator: { ...ada, id: 70 } })], 4);
    assert.deepEqual(bench.query('SELECT name FROM users WHERE id = 70'), [{ name: null }]);
  });

  it('turns away new posts for the person, and takes in those for others', async (t) => {
    const bench = await openBench(t);
    await bench.erase(EMAIL);
    const rows = [newRow({ email: 'o@example.com' }), newRow({ email: 'ADA@example.com' })];
    assert.throws(() => bench.outbox.accept(rows, minute(1)), {
      code: 'usage',
      message: /erased; nothing was taken in/,
    });
    assert.equal((await bench.outbox.counts(null)).ready, 0);
    await bench.accept({ email: 'o@example.com' });
  });
});

describe('rows of the outbox that are on their way', () => {
  const CLAIM = { transition: { from: ['ready'], to: 'sending' }, listedMaxId: null } as const;

  it('are waited for while somebody sends, and erased when that is over', async (t) => {
    const bench = await openBench(t);
    const [id = 0] = await bench.accept({ email: EMAIL, title: 'zqsent' });
    const sender = await bench.outbox.lockSender();
    assert.ok(sender.ok);
    await bench.outbox.claim({ ...CLAIM, listedMaxId: null, id, now: minute(1), deadline: minute(2) });
    const sleep = bench.clock.sleep;
    bench.clock.sleep = async (ms, signal) => {
      await bench.outbox.move(
        id,
        { from: ['sending'], to: 'confirmed' },
        { now: minute(2), postId: 5, url: '/5' },
      );
      await sleep(ms, signal);
    };
    const { counts, underWay } = await bench.erase(EMAIL);
    sender.release();
    assert.deepEqual([counts.outbox, counts.unclear, underWay], [1, 0, []]);
    assert.partialDeepStrictEqual(await bench.outbox.find(id), {
      state: 'confirmed',
      post_id: 5,
      title: '[erased]',
      email: '[erased]',
    });
  });

  it('are named if sending takes longer than the erasure waits', async (t) => {
    const bench = await openBench(t);
    const [id = 0] = await bench.accept({ email: EMAIL, title: 'zqsent' });
    const sender = await bench.outbox.lockSender();
    assert.ok(sender.ok);
    await bench.outbox.claim({ ...CLAIM, listedMaxId: null, id, now: minute(1), deadline: minute(2) });
    const { underWay } = await bench.erase(EMAIL);
    sender.release();
    assert.deepEqual(underWay, [id]);
    assert.equal((await bench.outbox.find(id))?.state, 'sending');
  });

  it('are given up where their sender died: they are unclear, and never go out again', async (t) => {
    const bench = await openBench(t);
    const [id = 0] = await bench.accept({ email: EMAIL, title: 'zqsent' });
    await bench.outbox.claim({ ...CLAIM, listedMaxId: null, id, now: minute(1), deadline: minute(2) });
    const { counts, underWay } = await bench.erase(EMAIL);
    assert.deepEqual([counts.outbox, counts.unclear, underWay], [1, 1, []]);
    assert.equal((await bench.outbox.find(id))?.state, 'cancelled');
    assert.equal(await bench.outbox.move(id, TRANSITIONS.retry, { now: minute(3) }), null);
  });

  it("are left alone where they are somebody else's and only name the address, and are named", async (t) => {
    const bench = await openBench(t);
    const [id = 0] = await bench.accept({ title: `Ask ${EMAIL}` });
    assert.deepEqual((await bench.erase(EMAIL)).unsettled, [id]);
    assert.equal((await bench.outbox.find(id))?.title, `Ask ${EMAIL}`);
    await bench.outbox.move(id, TRANSITIONS.cancel, { now: minute(3) });
    assert.deepEqual((await bench.erase(EMAIL)).unsettled, []);
    assert.equal((await bench.outbox.find(id))?.title, 'Ask [erased]');
  });
});
