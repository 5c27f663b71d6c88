import assert from 'node:assert/strict';
import { readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { sweepScale } from '../../src/cli/sync.ts';
import { assertExact } from '../mirror/mirror-rows.ts';
import { holdLock } from '../support/holder.ts';
import { openSite } from '../support/mirror-site.ts';
import { until } from '../support/until.ts';

interface Output {
  passes: { resource: string; mode: string; outcome: string; rows: number; held: number; deleted: number }[];
  skipped: string[];
}

describe('feedback-mirror sync', () => {
  it('sweeps both lists and shows a line for each, with nothing else to say', async (t) => {
    const site = await openSite(t);
    const { code, stdout, stderr } = await site.run(['sync']);
    assert.deepEqual([code, stderr], [0, '']);
    const [head, posts, comments] = stdout.trimEnd().split('\n');
    assert.match(head ?? '', /^LIST +PASS +PAGES +ROWS +NEW +CHANGED +SAME +DELETED +TIME +ROWS\/S$/);
    assert.match(posts ?? '', /^posts +sweep +6 +30 +30 +0 +0 +0 +[\d.]+ m?s/);
    assert.match(comments ?? '', /^comments +sweep /);
    assertExact(site.mirror, site.sandbox.world);
  });

  it('prints one JSON document with --json and keeps quiet otherwise', async (t) => {
    const site = await openSite(t);
    const { code, stdout, stderr } = await site.run(['sync', 'posts', '--json']);
    assert.deepEqual([code, stderr], [0, '']);
    const { passes, skipped } = JSON.parse(stdout) as Output;
    assert.deepEqual(skipped, []);
    assert.equal(passes.length, 1);
    const [{ resource, mode, outcome, rows } = { resource: '', mode: '', outcome: '', rows: 0 }] = passes;
    assert.deepEqual([resource, mode, outcome, rows], ['posts', 'sweep', 'complete', 30]);
  });

  it('makes a head pass where it can, and says why where it cannot', async (t) => {
    const site = await openSite(t);
    const early = await site.run(['sync', 'comments', '--head']);
    assert.deepEqual([early.code, early.stderr], [5, '']);
    assert.match(early.stdout, /no head pass over comments: .*; run a sweep/);
    const told = JSON.parse((await site.run(['sync', 'comments', '--head', '--json'])).stdout) as Output;
    assert.match(told.skipped[0] ?? '', /no head pass/);
    await site.run(['sync', 'comments']);
    const { code, stdout } = await site.run(['sync', 'comments', '--head']);
    assert.equal(code, 0);
    assert.match(stdout, /comments +head +1 +5 /);
  });

  it('leaves a list to the process that has it, also under another name of the mirror', async (t) => {
    const site = await openSite(t);
    await site.run(['sync', 'posts']);
    const link = join(site.folder, 'link.db');
    symlinkSync(site.mirror, link);
    const holder = await holdLock({ path: site.mirror, upstream: site.sandbox.url, resource: 'posts' });
    t.after(() => holder.kill());
    const { code, stderr } = await site.run(['sync', 'posts'], { MIRROR_PATH: link });
    assert.equal(code, 6, stderr);
  });

  it('refuses what makes no sense, before anything is opened', async (t) => {
    const site = await openSite(t);
    for (const [args, complaint] of [
      [['sync', 'users'], /"users" is no list: say posts, comments, or nothing for both/],
      [['sync', '--head', '--sweep'], /either --head or --sweep, not both/],
      [['sync', '--head', '--accept-deletes'], /--accept-deletes needs a sweep/],
    ] as const) {
      const { code, stdout, stderr } = await site.run([...args]);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, complaint);
    }
    assert.throws(() => statSync(site.mirror), /ENOENT/);
    assert.equal(site.sandbox.requestCount, 0);
  });

  it('exits 3 with a hint when the token is refused, and resumes later', async (t) => {
    const site = await openSite(t, { faults: 'unauthorised on=posts from=3' });
    const { code, stderr } = await site.run(['sync']);
    assert.equal(code, 3);
    assert.match(stderr, /answered 401/);
    assert.match(stderr, /Check FEEDBACK_API_TOKEN/);
    assert.match(stderr, /What it read is kept, nothing was deleted; the next one continues from there/);
    site.sandbox.faults.set('');
    assert.match((await site.run(['sync'])).stdout, /posts +sweep, resumed +9 +45 +30 +0 +15 /);
    assertExact(site.mirror, site.sandbox.world);
  });

  it('exits 4 when the upstream does not answer', async (t) => {
    const site = await openSite(t);
    await site.sandbox.close();
    const { code, stdout, stderr } = await site.run(['sync', '--json']);
    assert.equal(code, 4);
    assert.deepEqual(JSON.parse(stdout), { passes: [], skipped: [], doubled: [], erased: null });
    const last = stderr.trimEnd().split('\n').at(-1) ?? '';
    assert.match(last, /^\{"error":\{"code":"unreachable","message":".*connection was refused/);
  });

  it('exits 5 for rows that could not be read, and 0 once they can', async (t) => {
    const site = await openSite(t, { faults: 'bad-row on=posts nth=2' });
    const { code, stdout, stderr } = await site.run(['sync', 'posts']);
    assert.deepEqual([code, stderr], [5, '']);
    assert.match(stdout, /posts +sweep +6 +30 +29 /);
    assert.match(stdout, /\n1 post could not be read and went into the table quarantine/);
    assert.equal((await site.run(['sync', 'posts'])).code, 0);
  });

  it('exits 5 for deletions that the mass-delete guard holds, and deletes them when told to', async (t) => {
    const site = await openSite(t, { posts: 100, pageSize: 50 });
    await site.run(['sync', 'posts']);
    for (let id = 31; id <= 60; id++) site.sandbox.world.deletePost(id);
    for (let sweeps = 0; sweeps < 2; sweeps++)
      assert.equal((await site.run(['sync', 'posts'])).code, 0, 'not enough evidence yet');
    const { code, stdout } = await site.run(['sync', 'posts']);
    assert.equal(code, 5);
    assert.match(stdout, /\n30 posts seem to be gone .*held, not deleted.*sync posts --accept-deletes"/);
    const accepted = await site.run(['sync', 'posts', '--accept-deletes', '--json']);
    assert.equal(accepted.code, 0);
    const [pass] = (JSON.parse(accepted.stdout) as Output).passes;
    assert.deepEqual([pass?.deleted, pass?.held], [30, 0]);
    assertExact(site.mirror, site.sandbox.world, ['posts']);
  });

  it('says why rows that were accepted as gone are still there', async (t) => {
    const site = await openSite(t, { posts: 100, pageSize: 50 });
    await site.run(['sync', 'posts']);
    for (let id = 31; id <= 60; id++) site.sandbox.world.deletePost(id);
    const { code, stdout } = await site.run(['sync', 'posts', '--accept-deletes']);
    assert.equal(code, 0);
    assert.match(stdout, /\n30 posts are missing and not deleted yet: later sweeps decide\./);
  });

  it('exits 2 on the mirror of another upstream and leaves it unchanged', async (t) => {
    const site = await openSite(t);
    await site.run(['sync', 'posts']);
    const before = readFileSync(site.mirror);
    const { code, stderr } = await site.run(['sync'], { FEEDBACK_BASE_URL: 'http://127.0.0.1:9' });
    assert.equal(code, 2);
    assert.match(
      stderr,
      /belongs to http:\/\/127\.0\.0\.1:\d+, not to http:\/\/127\.0\.0\.1:9; nothing was written/,
    );
    assert.deepEqual(readFileSync(site.mirror), before);
  });

  it('exits 2 without a token, and says where one goes', async (t) => {
    const site = await openSite(t);
    const { code, stderr } = await site.run(['sync'], { FEEDBACK_API_TOKEN: '' });
    assert.equal(code, 2);
    assert.match(stderr, /FEEDBACK_API_TOKEN/);
  });

  it('takes the built-in sandbox without any settings, and says so', async (t) => {
    const site = await openSite(t);
    const env = { FEEDBACK_BASE_URL: '', FEEDBACK_API_TOKEN: '' };
    const { code, stdout, stderr } = await site.run(['sync', 'posts'], env);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^No FEEDBACK_BASE_URL is set: this is the built-in sandbox/);
    assert.match(stdout, /posts +sweep +5 +500 +500 /);
    assert.ok(statSync(join(site.folder, 'data/sandbox/mirror.db')).isFile());
    assert.equal((await site.run(['sync', 'posts'], env)).code, 0, 'and again, on another port');
    assert.equal(site.sandbox.requestCount, 0);
  });

  it('erases the words of deleted rows whose time is up, without a service', async (t) => {
    const site = await openSite(t, { posts: 100, pageSize: 50 });
    await site.run(['sync', 'posts']);
    site.sandbox.world.deletePost(31);
    const env = { RETENTION_DELETED: '0' };
    let told = '';
    for (let n = 0; n < 3; n++) told += (await site.run(['sync', 'posts'], env)).stdout;
    assert.match(told, /Erased the words of 1 post, 0 comments, 0 outbox rows, deleted longer ago than/);
    const { stdout } = await site.run(['query', 'SELECT title FROM posts WHERE id = 31', '--format', 'csv']);
    assert.match(stdout, /^title\r\n\[erased\]\r\n$/);
  });

  it('shows a bar that begins where a sweep is resumed, and no bar while the total is unknown', () => {
    const counts = { rows: 6600, pages: 66, inserted: 0, updated: 0, unchanged: 0, quarantined: 0 };
    const known = { live: 10_000, lastSweepAt: '2026-01-01T00:00:00.000Z' };
    assert.deepEqual(sweepScale(known, { resumed: 1, counts }), { from: 6500, total: 16_500 });
    assert.deepEqual(sweepScale(known, { resumed: 0, counts }), { from: 0, total: 10_000 });
    assert.deepEqual(sweepScale({ live: 6600, lastSweepAt: null }, { resumed: 1, counts }), {
      from: 6500,
      total: 0,
    });
  });

  it('shows no progress if stderr is no terminal', async (t) => {
    const site = await openSite(t, { faults: 'latency ms=20' });
    const { said, end } = site.start(['sync']);
    await until('some pages', () => site.sandbox.requestCount > 5);
    assert.equal(said(), '');
    assert.equal((await end).stderr, '');
  });
});
