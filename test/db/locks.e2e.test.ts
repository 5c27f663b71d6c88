import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Lock } from '../../src/db/lock.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { story } from '../support/mirror.ts';

describe('locks', () => {
  story('let one pass at a time read a resource, and tell the second who holds it', async (mirror) => {
    const lock = await taken(mirror.store);
    const other = mirror.another();
    for (const store of [mirror.store, other]) {
      const busy = await store.lock('posts');
      assert.ok(!busy.ok);
      assert.match(busy.holder, /^the first, since \d{4}-\d\d-\d\dT[\d:.]+Z$/);
    }
    lock.release();
    (await taken(other)).release();
    await other.close();
  });

  story('posts and comments are locked apart from each other', async ({ store }) => {
    const onPosts = await taken(store);
    const onComments = await store.lock('comments');
    assert.ok(onComments.ok);
    onComments.release();
    assert.equal((await store.lock('posts')).ok, false);
    onPosts.release();
  });

  story('a lock outlives neither its release nor its release twice', async ({ store }) => {
    const lock = await taken(store);
    lock.release();
    const next = await taken(store);
    lock.release();
    assert.equal((await store.lock('posts')).ok, false);
    next.release();
  });

  story(
    'the lock of another process holds here, and is free the moment that process is killed',
    async (mirror) => {
      const holder = await mirror.holdElsewhere('posts');
      try {
        const busy = await mirror.store.lock('posts');
        assert.ok(!busy.ok);
        assert.match(busy.holder, new RegExp(`^process ${holder.pid} \\(a test\\), since `));
      } finally {
        await holder.kill();
      }
      (await taken(mirror.store)).release();
    },
  );

  story('a process that is frozen keeps its lock', async (mirror) => {
    const holder = await mirror.holdElsewhere('posts');
    try {
      holder.send('SIGSTOP');
      assert.equal((await mirror.store.lock('posts')).ok, false);
    } finally {
      await holder.kill();
    }
  });
});

async function taken(store: MirrorStore): Promise<Lock> {
  const lock = await store.lock('posts');
  assert.ok(lock.ok);
  return lock;
}
