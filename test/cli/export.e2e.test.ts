import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'csv-parse/sync';
import { requestOf } from '../../src/cli/export.ts';
import type { Manifest } from '../../src/export/manifest.ts';
import { openMirror, UPSTREAM } from '../export/mirror.ts';
import { spawnCli } from '../support/cli.ts';
import { openSite, running } from '../support/mirror-site.ts';
import { until } from '../support/until.ts';

type Row = Record<string, string>;

function csv(text: string): Row[] {
  return parse(text, { columns: true });
}

describe('export', () => {
  it('writes all tables to EXPORT_DIR with a manifest, and tells what it wrote', async (t) => {
    const site = await openSite(t);
    assert.equal((await site.run(['sync'])).code, 0);
    const { code, stdout, stderr } = await site.run(['export', 'all'], { EXPORT_DIR: 'here' });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^posts\.parquet +30 /m);
    assert.match(stdout, /here\/manifest\.json/);
    const again = await site.run(['export', 'posts', 'history', '--format', 'csv', '--json'], {
      EXPORT_DIR: 'here',
    });
    const manifest = JSON.parse(again.stdout) as Manifest;
    assert.deepEqual(
      manifest.files.map(({ name, rows }) => [name, name.startsWith('post') ? rows : '']),
      [
        ['posts.csv', 30],
        ['post_history.csv', 30],
        ['comment_history.csv', ''],
      ],
    );
    // The manifest of the folder also tells of the files that were there.
    const whole = JSON.parse(readFileSync(join(site.folder, 'here/manifest.json'), 'utf8')) as Manifest;
    assert.deepEqual({ ...whole, files: whole.files.slice(0, 3) }, manifest);
    assert.ok(whole.files.slice(3).every(({ name }) => name.endsWith('.parquet')));
    assert.equal(csv(readFileSync(join(site.folder, 'here/posts.csv'), 'utf8')).length, 30);
  });

  it('writes one table to a file, or to standard output and nothing else there', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const file = await site.run(['export', 'users', '--out', 'people.csv']);
    assert.equal(file.code, 0, file.stderr);
    const { stdout, code } = await site.run(['export', 'users', '--format', 'csv', '--out', '-']);
    assert.deepEqual([code, stdout], [0, readFileSync(join(site.folder, 'people.csv'), 'utf8')]);
    assert.ok(existsSync(join(site.folder, 'people.csv.manifest.json')));
    const since = await site.run([
      'export',
      'users',
      '--format',
      'ndjson',
      '--out',
      '-',
      '--since',
      '2999-01-01',
    ]);
    assert.deepEqual([since.code, since.stdout], [0, '']);
  });

  it('with --redact replaces each person by the same pseudonym in every export', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const args = ['--redact', 'emails', '--format', 'csv', '--out', '-'];
    const [posts, users, again] = [
      await site.run(['export', 'posts', ...args]),
      await site.run(['export', 'users', ...args]),
      await site.run(['export', 'users', ...args]),
    ];
    assert.equal(users.stdout, again.stdout);
    const known = new Map(csv(users.stdout).map(({ id, email }) => [id, email]));
    for (const { creator_id, creator_email } of csv(posts.stdout))
      assert.equal(creator_email, known.get(creator_id));
    const plain = csv((await site.run(['export', 'users', '--format', 'csv', '--out', '-'])).stdout);
    assert.ok(plain.length > 3);
    for (const { email = '', name = '' } of plain)
      for (const hidden of [email, name])
        assert.ok(!users.stdout.includes(hidden) && !posts.stdout.includes(`,${hidden},`));
  });

  it('refuses what cannot be meant, before it writes anything', async (t) => {
    const { path: mirrorPath, folder } = await openMirror(t);
    const { path: otherMirror } = await openMirror(t);
    const settings = {
      dataDir: folder,
      exportDir: join(folder, 'exports'),
      exportFormat: 'parquet',
      timeZone: 'UTC',
      mirrorPath,
    } as const;
    const before = readdirSync(folder);
    for (const [what, flags, message] of [
      ['nonsense', {}, /there is no "nonsense"/],
      ['posts', { format: 'xlsx' }, /--format must be one of/],
      ['posts', { since: 'yesterday' }, /--since "yesterday" is no date/],
      ['posts', { redact: 'all' }, /--redact "all" is unknown/],
      ['posts', { raw: true, format: 'ndjson' }, /--raw is for csv/],
      ['posts', { out: '-' }, /parquet does not go to standard output/],
      ['all', { out: '-', format: 'csv' }, /standard output holds one file/],
      ['history', { out: mirrorPath }, /is a file, and these are 2/],
      ['posts', { out: mirrorPath }, /is the mirror itself/],
      ...['recovery.db', 'suppression.key', 'queue.db', 'rules.yaml'].map(
        (name) => ['posts', { out: join(folder, name) }, /is a file of the data folder/] as const,
      ),
      ['posts', { out: otherMirror }, /is a database/],
      ['posts', { out: '/dev/null' }, /neither a file nor a folder/],
      ['posts', { out: join(folder, 'nowhere/posts.csv') }, /there is no folder/],
    ] as const)
      await assert.rejects(requestOf([what], flags, settings), { code: 'usage', message }, String(message));
    assert.deepEqual(readdirSync(folder), before);
  });

  it('says usage errors with exit code 2 and no data', async (t) => {
    const site = await openSite(t);
    const { code, stdout, stderr } = await site.run(['export', 'posts', '--out', '-', '--json']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /between the rows/);
  });

  it('without a mirror says what to do first', async (t) => {
    const site = await openSite(t);
    const { code, stderr } = await site.run(['export', 'posts']);
    assert.equal(code, 2);
    assert.match(stderr, /feedback-mirror sync/);
  });

  it('killed between writing and renaming leaves the old files, and the next run clears up', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const files = () => readdirSync(join(site.folder, 'out'));
    const args = ['export', 'posts', 'users', '--format', 'csv', '--out', 'out/'];
    assert.equal((await site.run(args)).code, 0);
    const before = readFileSync(join(site.folder, 'out/posts.csv'), 'utf8');
    const killed = await site.run(args, { FEEDBACK_TEST_CRASH: 'export:written' });
    assert.equal(killed.code, null);
    assert.equal(files().filter((name) => name.endsWith('.part')).length, 2);
    assert.equal(readFileSync(join(site.folder, 'out/posts.csv'), 'utf8'), before);
    assert.equal((await site.run(args)).code, 0);
    assert.deepEqual(files().sort(), ['manifest.json', 'posts.csv', 'users.csv']);
  });

  it('stopped by Ctrl-C ends with 130 and leaves nothing behind', async (t) => {
    const mirror = await openMirror(t);
    mirror.addPosts(1, 100_000, { content: 'word '.repeat(40) });
    const env = { FEEDBACK_BASE_URL: UPSTREAM, DATA_DIR: mirror.folder };
    const args = ['export', 'posts', '--format', 'csv', '--out', 'out/'];
    const { child, said, end } = running(t, spawnCli(args, { cwd: mirror.folder, env }));
    const files = () =>
      existsSync(join(mirror.folder, 'out')) ? readdirSync(join(mirror.folder, 'out')) : [];
    await until('it writes', () => files().length > 0);
    child.kill('SIGINT');
    assert.equal((await end).code, 130, said());
    assert.match(said(), /nothing was written/);
    assert.deepEqual(files(), []);
  });
});
