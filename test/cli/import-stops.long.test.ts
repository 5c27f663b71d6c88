import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { spawnCli } from '../support/cli.ts';
import { queryFile } from '../support/mirror.ts';
import { openSite, type Site } from '../support/mirror-site.ts';
import { until } from '../support/until.ts';

const FAST = { PUSH_PER_MINUTE: '1000000', PUSH_SETTLE: '10ms' };

/** More rows than one transaction takes, two of them the same. */
function rows(count: number): string {
  const lines = Array.from({ length: count }, (_, i) => `bugs,Row ${i % (count - 1)},Text`);
  return ['board,title,content', ...lines, ''].join('\n');
}

/** The upstream's own book has every row of such a file once. */
function assertSent(site: Site, count: number): void {
  const sorted = (titles: string[]): string[] => titles.toSorted((a, b) => a.localeCompare(b));
  const wanted = Array.from({ length: count }, (_, i) => `Row ${i % (count - 1)}`);
  assert.deepEqual(sorted(site.sandbox.world.ledger().map(({ title }) => title)), sorted(wanted));
}

function stored(site: Site, where = '1'): number {
  const sql = `SELECT count(*) AS n FROM outbox WHERE ${where}`;
  return queryFile<{ n: number }>(site.mirror, sql)[0]?.n ?? 0;
}

describe('an import that is killed', () => {
  it('after a commit resumes there, with every row once', async (t) => {
    const site = await openSite(t);
    writeFileSync(join(site.folder, 'rows.csv'), rows(2500));
    const dead = await site.run(['import', 'rows.csv'], { FEEDBACK_TEST_CRASH: 'import:accepted' });
    assert.equal(dead.code, null);
    const kept = stored(site);
    assert.ok(kept >= 1000 && kept < 2500, `${kept} rows were kept`);
    const second = await site.run(['import', 'rows.csv', '--json']);
    const json = JSON.parse(second.stdout) as Record<string, number>;
    assert.deepEqual([second.code, json.accepted, json.already, json.refused], [0, 2500 - kept, kept, 0]);
    const third = await site.run(['import', 'rows.csv', '--json']);
    assert.equal((JSON.parse(third.stdout) as { accepted: number }).accepted, 0);
    assert.equal(stored(site), 2500);
  });

  it('before the results file is renamed leaves no results, and the next run sends all rows', async (t) => {
    const site = await openSite(t);
    writeFileSync(join(site.folder, 'rows.csv'), rows(40));
    const args = ['import', 'rows.csv', '--results', 'out.csv', '--wait'];
    const dead = await site.run(args, { ...FAST, FEEDBACK_TEST_CRASH: 'import:results' });
    assert.equal(dead.code, null);
    assert.ok(!existsSync(join(site.folder, 'out.csv')));
    const { code } = await site.run(args, FAST);
    assert.equal(code, 0);
    assertSent(site, 40);
    const lines = readFileSync(join(site.folder, 'out.csv'), 'utf8').trimEnd().split('\r\n').slice(1);
    assert.equal(lines.filter((line) => line.includes(',confirmed,')).length, 40);
  });
});

describe('a file of 20,000 rows', () => {
  it('is taken in whole, paused, resumed and cancelled; nothing of it is sent', async (t) => {
    const site = await openSite(t);
    writeFileSync(join(site.folder, 'rows.csv'), rows(20_000));
    const { code, stdout, stderr } = await site.run(['import', 'rows.csv', '--per-minute', '600', '--json']);
    assert.equal(code, 0, stderr);
    const { batch, accepted, estimate } = JSON.parse(stdout) as {
      batch: string;
      accepted: number;
      estimate: { perMinute: number; rows: number };
    };
    assert.deepEqual([accepted, estimate.rows, estimate.perMinute], [20_000, 20_000, 60]);
    const told = async (...args: string[]): Promise<number> =>
      (
        JSON.parse((await site.run(['outbox', ...args, '--batch', batch, '--json'])).stdout) as {
          rows: number;
        }
      ).rows;
    assert.equal(await told('pause'), 20_000, 'also those that are held for their turn');
    assert.equal(await told('resume'), 20_000);
    assert.equal(await told('cancel'), 20_000);
    assert.equal(stored(site, "state = 'cancelled'"), 20_000);
    const sent = await site.run(['import', 'rows.csv', '--wait', '--json'], FAST);
    assert.equal((JSON.parse(sent.stdout) as { already: number }).already, 20_000);
    assert.equal(site.sandbox.world.ledger().length, 0);
  });
});

describe('an import that is stopped with Ctrl-C', () => {
  it('keeps all rows in the outbox, says so, and resumes when it is run again', async (t) => {
    const site = await openSite(t);
    writeFileSync(join(site.folder, 'rows.csv'), rows(10));
    const slow = site.start([
      'import',
      'rows.csv',
      '--wait',
      '--results',
      'out.csv',
      '--push-per-minute',
      '60',
    ]);
    await until('the import', () => existsSync(join(site.folder, 'out.csv')));
    // Between two posts: one that is called off on its way would have to be looked for.
    await until('the first post', () => stored(site, "state = 'confirmed'") > 0);
    slow.child.kill('SIGINT');
    const { code, stderr } = await slow.end;
    assert.equal(code, 130);
    assert.match(
      stderr,
      /stopped by SIGINT\nNothing is lost: \d+ rows wait in the outbox\. Run the same command/,
    );
    assert.match(readFileSync(join(site.folder, 'out.csv'), 'utf8'), /,confirmed,/);
    const again = await site.run(['import', 'rows.csv', '--wait'], FAST);
    assert.equal(again.code, 0, again.stderr);
    assertSent(site, 10);
  });

  for (const signal of ['SIGINT', 'SIGHUP'] as const)
    it(`ends at once by ${signal} while it waits for standard input`, async (t) => {
      const site = await openSite(t);
      const child = spawnCli(['import', '-', '--results', 'out.csv'], { cwd: site.folder, env: site.env });
      t.after(() => child.kill('SIGKILL'));
      await until('the data folder', () => existsSync(join(site.folder, 'data')));
      child.kill(signal);
      const [code] = (await once(child, 'close')) as [number | null];
      assert.equal(code, 130);
    });
});
