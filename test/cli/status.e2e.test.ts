import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { askService, serviceText } from '../../src/cli/service.ts';
import { openSite } from '../support/mirror-site.ts';

interface Status {
  mirror: string;
  upstream: string;
  resources: {
    resource: string;
    live: number;
    held: number;
    suspects: number;
    quarantined: number;
    unfinished: boolean;
    lastSweepAt: string | null;
  }[];
  runs: { outcome: string; error: string | null }[];
}

describe('feedback-mirror status', () => {
  it('says what to do first if there is no mirror, and creates none', async (t) => {
    const site = await openSite(t);
    for (let times = 0; times < 2; times++) {
      const { code, stdout, stderr } = await site.run(['status']);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /there is no mirror at data\/mirror\.db yet\nRun "feedback-mirror sync" first\./);
    }
  });

  it('shows both lists, how fresh they are and what ran last', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const { code, stdout, stderr } = await site.run(['status']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      new RegExp(`^mirror of ${site.sandbox.url}\nin data/mirror.db: \\d+ users, 6 boards, 6 statuses\n`),
    );
    assert.match(stdout, /posts +30 +0 +\d+ s ago +never +0 +0 +0\n/);
    assert.match(stdout, /#1 +posts +sweep +\d+ s ago +complete +6 +30 +30 +0 +0\n/);
    const requests = site.sandbox.requestCount;
    const json = JSON.parse((await site.run(['status', '--json'])).stdout) as Status;
    assert.equal(json.mirror, 'data/mirror.db');
    assert.deepEqual(
      json.resources.map(({ resource, unfinished }) => [resource, unfinished]),
      [
        ['posts', false],
        ['comments', false],
      ],
    );
    assert.match(json.resources[0]?.lastSweepAt ?? '', /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.equal(site.sandbox.requestCount, requests, 'looking asks the upstream for nothing');
  });

  it('shows what is set aside, interrupted and why, with the next step for each', async (t) => {
    const site = await openSite(t, { faults: 'bad-row on=comments nth=2; unauthorised on=posts nth=4' });
    await site.run(['sync', 'comments']);
    await site.run(['sync', 'posts']);
    const { stdout } = await site.run(['status']);
    assert.match(stdout, /\n1 comment could not be read: the table quarantine has each with its reason\.\n/);
    assert.match(
      stdout,
      /\nA sweep of posts is not finished: it is under way, or was interrupted and the next one continues from there\.\n/,
    );
    assert.match(stdout, /\n#2 +posts +sweep +\d+ s ago +failed +3 +15 +15 /);
    assert.match(stdout, /RUN +WHAT WENT WRONG\n#2 +Listing posts, page 4 .*answered 401/);
    const json = JSON.parse((await site.run(['status', '--json'])).stdout) as Status;
    assert.deepEqual(
      json.resources.map(({ unfinished, quarantined }) => [unfinished, quarantined]),
      [
        [true, 0],
        [false, 1],
      ],
    );
    assert.match(json.runs[0]?.error ?? '', /401/);
  });

  it('shows deletions that are held, and rows that are missing with the sweeps that they take', async (t) => {
    const site = await openSite(t, { posts: 100, pageSize: 50 });
    await site.run(['sync']);
    for (let id = 31; id <= 60; id++) site.sandbox.world.deletePost(id);
    for (let sweeps = 0; sweeps < 2; sweeps++) await site.run(['sync']);
    site.sandbox.world.deleteComment(site.sandbox.world.comments()[3]?.id ?? 0);
    await site.run(['sync']);
    const { code, stdout } = await site.run(['status']);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /\n! many rows vanished at once, so their deletions are held since .* \(30 posts; 61 comments\): look at the feedback service; .*--accept-deletes/,
    );
    assert.match(
      stdout,
      /\n1 comment is missing since .* UTC; it counts as deleted after at most 2 more sweeps without it\.\n/,
    );
  });

  it('tells how long an import with a pace of its own takes, beside what the others take', async (t) => {
    const site = await openSite(t);
    const rows = (name: string, n: number): string =>
      `board,title\n${Array.from({ length: n }, (_, i) => `ideas,${name} ${i}\n`).join('')}`;
    writeFileSync(join(site.folder, 'slow.csv'), rows('Slow', 300));
    writeFileSync(join(site.folder, 'plain.csv'), rows('Plain', 300));
    const slow = await site.run(['import', 'slow.csv', '--per-minute', '6', '--json']);
    const { batch } = JSON.parse(slow.stdout) as { batch: string };
    const own = new RegExp(`^${batch}: 300 posts at 6 a minute: about 50 min, until \\d\\d:\\d\\d\\.$`, 'm');
    assert.match((await site.run(['status'])).stdout, own);
    await site.run(['import', 'plain.csv']);
    const { stdout } = await site.run(['status']);
    assert.match(stdout, own);
    assert.match(stdout, /^Others: 300 posts at 60 a minute: about 5 min, until \d\d:\d\d\.$/m);
  });

  it('belongs to one upstream like every other command', async (t) => {
    const site = await openSite(t);
    await site.run(['sync', 'posts']);
    const { code, stderr } = await site.run(['status'], { FEEDBACK_BASE_URL: 'http://127.0.0.1:9' });
    assert.equal(code, 2);
    assert.match(stderr, /belongs to/);
  });
});

describe('a service that is too busy to answer', () => {
  it('is told as that, and not as one that does not run', async (t) => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    t.after(() => silent.close());
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const told = serviceText(await askService(url, null, 50));
    assert.match(told.join('\n'), /not ready:\n {2}whatever listens there does not answer within 0\.05 s/);
  });
});
