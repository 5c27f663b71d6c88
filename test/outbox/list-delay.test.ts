import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { push } from '../../src/outbox/send/push.ts';
import { benchFor, CREATE_MS, MINUTE, SETTLE_MS } from './bench.ts';
import { confirmed, unknown } from './scripted-upstream.ts';

describe('how long a list was seen to lag behind', () => {
  it('is the time from an answer to the last complete pass that did not show its post yet', async (t) => {
    const bench = benchFor(t);
    bench.upstream.publish({ title: 'Something else' });
    assert.equal(await bench.store.worstListDelay(), 0);
    const post = bench.upstream.publish();
    const hidden = bench.upstream.posts.splice(0, 1);
    bench.upstream.outcomes = [confirmed(post.id)];
    await push(bench.context, await bench.add());
    for (let n = 0; n < 3; n++) {
      bench.clock.advance(MINUTE);
      await bench.sweep();
    }
    assert.equal(await bench.store.worstListDelay(), 0, 'nobody has seen it yet');
    bench.upstream.posts.unshift(...hidden);
    bench.clock.advance(MINUTE);
    await bench.sweep();
    // The third sweep began three minutes and the two seconds of the sweeps before it after the answer.
    assert.equal(await bench.store.worstListDelay(), 3 * MINUTE + 2000);
    assert.equal(await bench.another().worstListDelay(), 3 * MINUTE + 2000);
  });

  it('is no day where a clock was put a day ahead meanwhile', async (t) => {
    const bench = benchFor(t);
    bench.upstream.publish({ title: 'Something else' });
    const sweep = async (after: number): Promise<void> => {
      bench.clock.advance(after);
      await bench.sweep();
    };
    for (let n = 0; n < 4; n++) await sweep(MINUTE);
    const post = bench.upstream.publish();
    const hidden = bench.upstream.posts.splice(0, 1);
    bench.upstream.outcomes = [confirmed(post.id)];
    await push(bench.context, await bench.add());
    await sweep(24 * 60 * MINUTE);
    bench.upstream.posts.unshift(...hidden);
    await sweep(MINUTE);
    const delay = await bench.store.worstListDelay();
    assert.ok(delay > MINUTE && delay < 3 * MINUTE, `${delay} ms`);
  });

  it('is nothing where a post was seen by a clock that was put back afterwards', async (t) => {
    const bench = benchFor(t);
    const post = bench.upstream.publish();
    bench.upstream.outcomes = [confirmed(post.id)];
    await push(bench.context, await bench.add());
    bench.clock.advance(24 * 60 * MINUTE);
    await bench.sweep();
    bench.clock.advance(-24 * 60 * MINUTE);
    for (let n = 0; n < 3; n++) {
      bench.clock.advance(MINUTE);
      await bench.sweep();
    }
    assert.equal(await bench.store.worstListDelay(), 0);
  });

  it('is nothing where a later pass lasts a day because the clock was put ahead and back', async (t) => {
    const bench = benchFor(t);
    const day = 24 * 60 * MINUTE;
    const db = new Database(bench.path);
    t.after(() => db.close());
    const post = bench.upstream.publish();
    bench.upstream.outcomes = [confirmed(post.id)];
    // Answer and pass by a clock that is a day ahead, which is put right while the pass runs.
    bench.clock.set(bench.clock.now() + day);
    await push(bench.context, await bench.add());
    await bench.sweep();
    db.exec("UPDATE sync_runs SET finished_at = strftime('%FT%R:%fZ', started_at, '-1 day')");
    bench.clock.set(bench.clock.now() - day);
    for (let n = 0; n < 5; n++) {
      bench.clock.advance(MINUTE);
      await bench.sweep();
    }
    db.exec("UPDATE sync_runs SET finished_at = strftime('%FT%R:%fZ', started_at, '+1 day') WHERE id = 5");
    assert.equal(await bench.another().worstListDelay(), 0);
  });

  it('is nothing where the pass that showed it began by a clock that was ahead, and a later one by one behind', async (t) => {
    const { bench, db } = await sentBetweenSweeps(t);
    db.exec(`
      UPDATE sync_runs SET started_at = strftime('%FT%R:%fZ', started_at, '+1 day') WHERE id = 2;
      UPDATE sync_runs SET started_at = strftime('%FT%R:%fZ', started_at, '-1 day') WHERE id = 6`);
    assert.equal(await bench.another().worstListDelay(), 0);
  });

  it('is nothing where the pass under way showed it, and one that seems to last a day as well', async (t) => {
    const { bench, db, post } = await sentBetweenSweeps(t);
    // As if the first sweep had been under way, and the clock had been put ahead during the last one, and back before it.
    db.exec(`
      UPDATE sync_runs SET finished_at = (SELECT first_seen_at FROM posts WHERE id = ${post.id}) WHERE id = 1;
      UPDATE sync_runs SET started_at = (SELECT started_at FROM sync_runs WHERE id = 1) WHERE id = 6;
      UPDATE sync_runs SET started_at = '2026-01-01T00:01:30.000Z', finished_at = '2026-01-01T00:01:30.000Z' WHERE id = 2`);
    assert.equal(await bench.another().worstListDelay(), 0);
  });

  it('is believed up to the longer ones of the usual times between two passes', async (t) => {
    const bench = benchFor(t);
    const sweep = async (minutes: number): Promise<void> => {
      bench.clock.advance(minutes * MINUTE);
      await bench.sweep();
    };
    for (const minutes of [1, 1, 1, 1, 10]) await sweep(minutes);
    const post = bench.upstream.publish();
    const hidden = bench.upstream.posts.splice(0, 1);
    bench.upstream.outcomes = [confirmed(post.id)];
    await push(bench.context, await bench.add());
    await sweep(10);
    bench.upstream.posts.unshift(...hidden);
    await sweep(10);
    assert.equal(await bench.store.worstListDelay(), 10 * MINUTE);
  });

  it('is nothing where the clock was put back before the answer', async (t) => {
    const bench = benchFor(t);
    for (let n = 0; n < 3; n++) {
      bench.clock.advance(MINUTE);
      await bench.sweep();
    }
    bench.clock.set(bench.clock.now() - 24 * 60 * MINUTE);
    const post = bench.upstream.publish();
    bench.upstream.outcomes = [confirmed(post.id)];
    await push(bench.context, await bench.add());
    await bench.sweep();
    assert.equal(await bench.store.worstListDelay(), 0);
  });

  it('is nothing where the clock was put back for the answer alone', async (t) => {
    const bench = benchFor(t);
    for (let n = 0; n < 5; n++) {
      bench.clock.advance(MINUTE);
      await bench.sweep();
    }
    bench.clock.set(bench.clock.now() - 10 * MINUTE);
    const post = bench.upstream.publish();
    bench.upstream.outcomes = [confirmed(post.id)];
    await push(bench.context, await bench.add());
    bench.clock.set(bench.clock.now() + 11 * MINUTE);
    await bench.sweep();
    assert.equal(await bench.store.worstListDelay(), 0);
  });

  it('is nothing where the first pass after the answer showed the post', async (t) => {
    const bench = benchFor(t);
    const post = bench.upstream.publish();
    bench.upstream.outcomes = [confirmed(post.id)];
    await push(bench.context, await bench.add());
    bench.clock.advance(MINUTE);
    await bench.sweep();
    await bench.sweep();
    assert.equal(await bench.store.worstListDelay(), 0);
  });

  it('is nothing where the only pass that did not show it was cut short', async (t) => {
    const bench = benchFor(t);
    const db = new Database(bench.path);
    t.after(() => db.close());
    bench.upstream.publish({ title: 'Something else' });
    const post = bench.upstream.publish();
    const hidden = bench.upstream.posts.splice(0, 1);
    bench.upstream.outcomes = [confirmed(post.id)];
    await push(bench.context, await bench.add());
    bench.clock.advance(MINUTE);
    await bench.sweep();
    db.exec("UPDATE sync_runs SET outcome = 'interrupted'");
    bench.upstream.posts.unshift(...hidden);
    bench.clock.advance(MINUTE);
    await bench.sweep();
    assert.equal(await bench.store.worstListDelay(), 0);
  });

  it('is nothing where a post that was seen long ago is dated anew', async (t) => {
    const { bench, post } = await sentBetweenSweeps(t);
    assert.equal(bench.upstream.posts[0]?.id, post.id);
    bench.upstream.posts[0] = { ...post, created: new Date(bench.clock.now()).toISOString() };
    bench.clock.advance(MINUTE);
    await bench.sweep();
    assert.equal(await bench.store.worstListDelay(), 0);
  });

  it('makes unclear attempts settle three times as long', async (t) => {
    const bench = benchFor(t);
    const store = { ...bench.store, worstListDelay: () => SETTLE_MS };
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    const began = bench.clock.now();
    await push({ ...bench.context, store }, id);
    const expected = new Date(began + CREATE_MS + 3 * SETTLE_MS).toISOString();
    assert.equal((await bench.row(id)).not_before, expected);
  });
});

/** A post that was sent after the first sweep and seen by the second of six, and the mirror's file, to put the clock of a pass wrong. */
async function sentBetweenSweeps(t: TestContext) {
  const bench = benchFor(t);
  const db = new Database(bench.path);
  t.after(() => db.close());
  bench.upstream.publish({ title: 'Something else' });
  await bench.sweep();
  const post = bench.upstream.publish();
  bench.upstream.outcomes = [confirmed(post.id)];
  await push(bench.context, await bench.add());
  for (let n = 0; n < 5; n++) {
    bench.clock.advance(MINUTE);
    await bench.sweep();
  }
  return { bench, db, post };
}
