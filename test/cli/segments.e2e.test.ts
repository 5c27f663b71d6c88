import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { CompanyView } from '../../src/search/browse/company.ts';
import { tell, UPSTREAM } from '../reports/story.ts';
import { runCli } from '../support/cli.ts';

async function openDesk(t: TestContext) {
  const { path } = await tell(t);
  const env = { FEEDBACK_BASE_URL: UPSTREAM, MIRROR_PATH: path };
  const folder = dirname(path);
  const write = (name: string, content: string | Buffer) => writeFileSync(join(folder, name), content);
  return { write, run: (...args: string[]) => runCli(args, { env, cwd: folder }) };
}

describe('feedback-mirror segments', () => {
  it('imports a file once, and reports, search and exports are narrowed by it', async (t) => {
    const { write, run } = await openDesk(t);
    write(
      'customers.csv',
      'email;company;plan;mrr\nANN@EXAMPLE.COM;Acme;Pro;1.250,00 €\nbob@example.com;Beta;Free;n/a\n',
    );
    const imported = await run('segments', 'import', 'customers.csv', '--by', 'mia');
    assert.deepEqual([imported.code, imported.stderr], [0, '']);
    assert.match(
      imported.stdout,
      /Columns: email from "email", company from "company".*\n2 customers imported: 2 new, 0 gone\. 2 people/,
    );
    assert.match(
      (await run('segments')).stdout,
      /Pro +1 +1 +1,250\nFree +1 +1\n\nCOMPANY .*\nAcme +Pro +1 +1 +1,250\nBeta +Free +1 +1\n\n2 customers.* by mia\./,
    );
    assert.match(
      (await run('report', 'demand', '--include-closed')).stdout,
      /\n#101 +2 +1,?250 +1 Free, 1 Pro +20 +Done /,
    );
    assert.doesNotMatch((await run('report', 'top-posts', '--segment', 'Free')).stdout, /#101/);
    assert.match((await run('search', 'dark', '--segment', 'company=Acme')).stdout, /^#101 /);
    const posts = await run('export', 'posts', '--format', 'ndjson', '--out', '-', '--segment', 'plan=Pro');
    assert.deepEqual(
      posts.stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: number }).id),
      [101, 103, 106],
    );
    assert.equal(
      (await run('export', 'boards', '--out', '-', '--format', 'csv', '--segment', 'plan=Pro')).code,
      2,
    );
    const company = JSON.parse((await run('segments', 'show', 'beta', '--json')).stdout) as CompanyView;
    assert.deepEqual(
      company.posts.map(({ id, how }) => [id, how]),
      [
        [101, 'commented'],
        [102, 'wrote'],
        [105, 'wrote'],
      ],
    );
    const begun = await run('segments', 'show', 'bet', '--json');
    assert.equal((JSON.parse(begun.stdout) as CompanyView).company, company.company);
    assert.match((await run('segments', 'show', 'Betta')).stderr, /Did you mean Beta\?/);
    assert.match((await run('segments', 'remove')).stdout, /2 customers removed/);
  });

  it('tells which cells were not read with exit code 5, and takes in the rest', async (t) => {
    const { write, run } = await openDesk(t);
    write('customers.csv', 'email,mrr\nann@example.com,much\nbob@example.com,5\n');
    const dry = await run('segments', 'import', 'customers.csv', '--dry-run');
    assert.match(dry.stdout, /2 customers\. Nothing was changed\./);
    const { code, stdout } = await run('segments', 'import', 'customers.csv');
    assert.equal(code, 5);
    assert.match(stdout, /2 customers imported.*line 2, mrr: "much" is no number/s);
  });

  it('refuses a file that is none with exit code 2', async (t) => {
    const { write, run } = await openDesk(t);
    write('book.xlsx', Buffer.from('504b0304', 'hex'));
    write('none.csv', 'plan\nPro\n');
    const refusals: [file: string, said: RegExp][] = [
      ['nowhere.csv', /there is no file nowhere\.csv/],
      ['book.xlsx', /looks like a zip archive or an \.xlsx workbook/],
      ['none.csv', /no column with e-mails or domains\nCall one "email" or "domain"/],
    ];
    for (const [file, said] of refusals) {
      const { code, stderr } = await run('segments', 'import', file);
      assert.equal(code, 2);
      assert.match(stderr, said);
    }
  });
});
