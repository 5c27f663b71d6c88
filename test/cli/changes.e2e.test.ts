import assert from 'node:assert/strict';
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openSite } from '../support/mirror-site.ts';
import { until } from '../support/until.ts';

interface Line {
  number: number;
  position: string;
  type: string;
  post_id?: number;
}

function linesOf(stdout: string): Line[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

describe('feedback-mirror changes', () => {
  it('prints one change a line, follows the feed, and resumes from a position', async (t) => {
    const site = await openSite(t, { posts: 6 });
    assert.equal((await site.run(['sync'])).code, 0);
    const before = linesOf((await site.run(['changes'])).stdout);
    assert.deepEqual(
      before.map(({ type }) => type),
      ['sync.mirrored', 'sync.mirrored'],
    );
    const since = before.at(-1)?.position ?? '';
    const following = site.start(['changes', '--since', since, '--follow', '--type', 'post.*']);
    let printed = '';
    following.child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    site.sandbox.world.addPost({ title: 'A new one' });
    await site.run(['sync', 'posts']);
    const after = linesOf((await site.run(['changes', '--since', since, '--type', 'post.created'])).stdout);
    assert.equal(after.length, 1);
    await until('the follower shows the post', () =>
      linesOf(printed).some(({ type }) => type === 'post.created'),
    );
    following.child.kill('SIGINT');
    assert.equal((await following.end).code, 130);
    const gone = await site.run(['changes', '--since', '1-zzz']);
    assert.equal(gone.code, 5);
    assert.match(gone.stderr, /Start again from a snapshot/);
  });

  it('says that no board has a name that it is asked for', async (t) => {
    const site = await openSite(t, { posts: 3 });
    assert.equal((await site.run(['sync'])).code, 0);
    const [board] = site.sandbox.world.boards();
    const misspelt = await site.run(['changes', '--board', `${board?.slug}x`]);
    assert.equal(misspelt.code, 0);
    assert.match(misspelt.stderr, /no board is known as ".*"\. Did you mean/);
    assert.equal((await site.run(['changes', '--board', board?.slug ?? ''])).stderr, '');
  });

  it('notices that the mirror was replaced, and resumes only if the position fits', async (t) => {
    const site = await openSite(t, { posts: 3 });
    assert.equal((await site.run(['sync'])).code, 0);
    const [mirror, copy] = [site.mirror, join(site.folder, 'copy.db')];
    assert.equal((await site.run(['backup', copy])).code, 0);
    const putBack = (): void => {
      for (const ending of ['-wal', '-shm']) rmSync(mirror + ending, { force: true });
      copyFileSync(copy, `${mirror}.new`);
      renameSync(`${mirror}.new`, mirror);
    };
    const following = site.start(['changes', '--follow', '--type', 'post.*', '--type', 'sync.mirrored']);
    let printed = '';
    following.child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    await until('the follower has read everything', () => linesOf(printed).length >= 2);
    putBack();
    site.sandbox.world.addPost({ title: 'In the copy' });
    await site.run(['sync', 'posts']);
    await until('the follower shows the post', () => linesOf(printed).some(({ post_id }) => post_id));
    putBack();
    const end = await following.end;
    assert.equal(end.code, 5);
    assert.match(end.stderr, /Start again from a snapshot/);
  });
});
