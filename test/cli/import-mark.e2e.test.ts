import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createRandom } from '../../src/sandbox/random.ts';
import { startFaulty } from '../outbox/faulty-upstream.ts';
import { runCli } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { openSite, type Site } from '../support/mirror-site.ts';

const FAST = { PUSH_PER_MINUTE: '100000', PUSH_SETTLE: '10ms' };
const FILE = 'board,title,content,email,name\nbugs,One,First,,\nbugs,Two,,kim@example.com,Kim\n';

async function siteWithFile(t: TestContext): Promise<Site> {
  const site = await openSite(t);
  writeFileSync(join(site.folder, 'wishes.csv'), FILE);
  return site;
}

function contentsAt({ sandbox }: Site): string[] {
  return sandbox.world.ledger().map(({ content }) => content);
}

describe('an import with a reference mark', () => {
  it('shows the last line of its posts in a dry run, and sends nothing', async (t) => {
    const site = await siteWithFile(t);
    const dry = ['import', 'wishes.csv', '--dry-run'];
    const { code, stdout } = await site.run([...dry, '--mark', 'Imported from Canny']);
    assert.equal(code, 0);
    assert.match(stdout, /Posts end with a line such as "Imported from Canny · Ref FM-[0-9A-Z]{8}"\./);
    const bySetting = await site.run(dry, { PUSH_MARK: 'owner' });
    assert.match(bySetting.stdout, /Posts end with a line such as "Ref FM-[0-9A-Z]{8}"\./);
    assert.doesNotMatch((await site.run(dry)).stdout, /Ref FM-/);
    assert.equal(site.sandbox.world.ledger().length, 0);
  });

  it('ends each post with its words and a reference of its own', async (t) => {
    const site = await siteWithFile(t);
    const args = ['import', 'wishes.csv', '--mark', 'Imported from Canny', '--wait'];
    assert.equal((await site.run(args, FAST)).code, 0);
    const [one = '', two = ''] = contentsAt(site);
    assert.match(one, /^First\n\nImported from Canny · Ref FM-[0-9A-Z]{8}$/);
    assert.match(two, /^Imported from Canny · Ref FM-[0-9A-Z]{8}$/);
    assert.notEqual(one.slice(-8), two.slice(-8));
    const { stdout } = await site.run(['outbox', 'show', '1']);
    assert.ok(stdout.includes(`\n${'Imported'.padStart(21)} from Canny · ${one.slice(-15)}\n`), stdout);
  });

  for (const [setting, expected] of [
    ['owner', [true, false]],
    ['all', [true, true]],
    ['off', [false, false]],
  ] as const)
    it(`is for the posts that PUSH_MARK=${setting} names where the import has no words of its own`, async (t) => {
      const site = await siteWithFile(t);
      const { code } = await site.run(['import', 'wishes.csv', '--wait'], { ...FAST, PUSH_MARK: setting });
      assert.equal(code, 0);
      assert.deepEqual(
        contentsAt(site).map((content) => /Ref FM-[0-9A-Z]{8}$/.test(content)),
        expected,
      );
    });

  it('takes no mark of several lines and no setting that does not exist, and writes nothing', async (t) => {
    const site = await siteWithFile(t);
    const lines = await site.run(['import', 'wishes.csv', '--mark', 'two\nlines']);
    assert.deepEqual([lines.code, /one line of at most 80 characters/.test(lines.stderr)], [2, true]);
    const setting = await site.run(['import', 'wishes.csv'], { PUSH_MARK: 'sometimes' });
    assert.equal(setting.code, 2);
    assert.match(setting.stderr, /PUSH_MARK.*off.*owner.*all/s);
    assert.equal(existsSync(site.mirror), false);
  });
});

describe('a service that drops the reference mark', () => {
  it('is told once on the command line, and gets posts without marks from then on', async (t) => {
    const upstream = await startFaulty(t, createRandom(1));
    Object.assign(upstream, {
      share: 0,
      rewrite: ({ title }: { title: string }) => ({ title, content: '' }),
    });
    const env = { ...FAST, FEEDBACK_BASE_URL: upstream.url, FEEDBACK_API_TOKEN: 'secret', PUSH_MARK: 'all' };
    const options = { cwd: folderFor(t, 'marks'), env };
    const told: string[] = [];
    for (const title of ['One', 'Two'])
      told.push((await runCli(['create', '--board', 'ideas', '--title', title, '--wait'], options)).stderr);
    assert.match(told[0] ?? '', /does not keep the reference mark on the board ideas/);
    assert.equal(told[1], '');
    assert.deepEqual(
      upstream.made.map(({ content }) => /Ref FM-/.test(content)),
      [true, false],
    );
  });
});
