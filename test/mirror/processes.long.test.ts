import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { queryFile } from '../support/mirror.ts';
import { openSite, type Site } from '../support/mirror-site.ts';
import { until } from '../support/until.ts';
import { assertExact } from './mirror-rows.ts';

interface Run {
  outcome: string;
  resumed: number;
}

function runsOf({ mirror }: Site): Run[] {
  return queryFile<Run>(mirror, 'SELECT outcome, resumed FROM sync_runs ORDER BY id');
}

async function requests({ sandbox }: Site, more: number): Promise<void> {
  const target = sandbox.requestCount + more;
  await until(`${more} more requests`, () => sandbox.requestCount >= target);
}

function assertSound({ mirror }: Site): void {
  assert.deepEqual(queryFile(mirror, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
}

describe('two processes', () => {
  it('never walk one list at the same time: the second says who is there, or waits for its end', async (t) => {
    const site = await openSite(t, { faults: 'hang on=posts from=4' });
    const first = site.start(['sync', 'posts']);
    await requests(site, 4);

    const second = await site.run(['sync', 'posts']);
    assert.equal(second.code, 6);
    assert.match(
      second.stderr,
      new RegExp(`another pass over posts .*process ${first.child.pid} \\(sync\\), since 20`),
    );
    assert.match(second.stderr, /--wait/);
    assert.equal(second.stdout, '');
    assert.equal(site.sandbox.requestCount, 4, 'it asked the upstream for nothing');
    assert.equal((await site.run(['sync', 'comments'])).code, 0, 'another list is free');

    const third = site.start(['sync', 'posts', '--wait']);
    await until('the third to wait', () => third.said().includes('Waiting for another pass over posts'));
    site.sandbox.faults.set('');
    first.child.kill('SIGKILL');
    const { code, stdout } = await third.end;
    assert.equal(code, 0);
    assert.match(stdout, /posts +sweep, resumed/);
    assertExact(site.mirror, site.sandbox.world);
  });
});

describe('a process that is killed with SIGKILL', () => {
  it('at six different points leaves a sound mirror each time, and the next one ends exact', async (t) => {
    const site = await openSite(t, { posts: 120, pageSize: 4, faults: 'latency ms=3' });
    for (const more of [1, 5, 9, 3, 13, 6]) {
      const { child, end } = site.start(['sync']);
      await requests(site, more);
      child.kill('SIGKILL');
      assert.equal((await end).code, null);
      assertSound(site);
    }
    site.sandbox.faults.set('');
    const { code, stdout } = await site.run(['sync', '--json']);
    assert.equal(code, 0);
    assert.equal((JSON.parse(stdout) as { passes: unknown[] }).passes.length, 2);
    assertSound(site);
    assertExact(site.mirror, site.sandbox.world);
    assert.ok(
      runsOf(site).some(({ resumed }) => resumed > 0),
      'some sweep was resumed',
    );
  });
});

describe('a process that is asked to end', () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`(${signal}) ends at once with exit code 130, logs it, and the next process resumes`, async (t) => {
      const site = await openSite(t, { faults: 'hang on=posts from=4' });
      const { child, end } = site.start(['sync', 'posts']);
      await requests(site, 4);
      child.kill(signal);
      const { code, stderr } = await end;
      // An answer was still due: whoever waits for it ends with another code.
      assert.equal(code, 130);
      assert.match(stderr, new RegExp(`stopped by ${signal}`));
      assert.match(stderr, /What it read is kept.*the next one continues from there/);
      assert.deepEqual(runsOf(site), [{ outcome: 'interrupted', resumed: 0 }]);
      site.sandbox.faults.set('');
      assert.equal((await site.run(['sync', 'posts'])).code, 0);
      assert.deepEqual(runsOf(site), [
        { outcome: 'complete', resumed: 1 },
        { outcome: 'complete', resumed: 0 },
      ]);
      assertExact(site.mirror, site.sandbox.world, ['posts']);
    });
  }
});
