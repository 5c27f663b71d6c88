import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runCli } from '../support/cli.ts';
import { queryFile } from '../support/mirror.ts';
import { openSite, type Site } from '../support/mirror-site.ts';

const FAST = { PUSH_PER_MINUTE: '100000', PUSH_SETTLE: '10ms' };

const IDEAS = `Subject,Description,Category,Author email,ref,Votes
Dark mode,"one
two",bugs,ada@example.com,A1,3
,empty title,bugs,,A2,1
Export stops,=1+1,bugz,,A3,9
Emoji 🎉,Text,mobile,,A4,9
`;

function put(site: Site, name: string, text: string): string {
  writeFileSync(join(site.folder, name), text);
  return name;
}

function outbox(site: Site): { title: string; state: string }[] {
  return existsSync(site.mirror) ? queryFile(site.mirror, 'SELECT title, state FROM outbox ORDER BY id') : [];
}

describe('feedback-mirror import', () => {
  it('says how it read the file, what it took, what it refused and why, and what comes next', async (t) => {
    const site = await openSite(t);
    const { code, stdout, stderr } = await site.run(['import', put(site, 'ideas.csv', IDEAS)]);
    assert.equal(code, 5);
    assert.match(stdout, /^ROWS +ACCEPTED +ALREADY IMPORTED +REFUSED\n +4 +3 +0 +1\n/m);
    assert.equal(stderr, '');
    assert.match(stdout, /^Read as UTF-8 with commas, these columns:\n/);
    assert.match(stdout, /\ntitle +Subject +\(recognised\)\n/);
    assert.match(stdout, /\nNot used: Votes\.\n/);
    assert.match(stdout, /\nRefused:\nLINE +REASON\n4 +title is blank\n/);
    assert.match(stdout, /\nBatch import-\d{8}-\d{6}-[0-9a-z]{6}: 3 rows in the outbox\.\n/);
    assert.match(stdout, /feedback-mirror start/);
    assert.equal(site.sandbox.requestCount, 0);
    const again = await site.run(['import', 'ideas.csv', '--json']);
    const json = JSON.parse(again.stdout) as Record<string, unknown>;
    assert.deepEqual([json.rows, json.accepted, json.already, json.refused], [4, 0, 3, 1]);
    assert.deepEqual(json.refusals, [{ line: 4, reason: 'title is blank' }]);
    assert.equal((json.mapping as { field: string }[]).length, 5);
    assert.equal(again.stderr, '');
  });

  it('with --wait sends every row once and writes results that can be fed back', async (t) => {
    const site = await openSite(t);
    put(site, 'ideas.csv', IDEAS);
    const first = await site.run(['import', 'ideas.csv', '--results', 'out.csv', '--wait'], FAST);
    assert.equal(first.code, 5);
    assert.match(first.stdout, /\n2 sent, 1 rejected\n/);
    assert.match(first.stdout, /feedback-mirror outbox list --batch import-\S+ --state rejected\n/);
    const posts = site.sandbox.world.ledger();
    assert.deepEqual(
      posts.map(({ title, content, email }) => [title, content, email]),
      [
        ['Dark mode', 'one\ntwo', 'ada@example.com'],
        ['Emoji 🎉', 'Text', 'owner@example.com'],
      ],
    );
    const results = readFileSync(join(site.folder, 'out.csv'), 'utf8');
    const lines = results.split('\r\n');
    assert.equal(lines[0], 'Subject,Description,Category,Author email,ref,Votes,state,post_id,url,reason');
    assert.match(lines[1] ?? '', new RegExp(`^Dark mode,"one\ntwo",.*,confirmed,${posts[0]?.post_id},http`));
    assert.match(lines[2] ?? '', /,refused,,,title is blank$/);
    // No spreadsheet runs it, and fed back it is the text that it was.
    assert.match(lines[3] ?? '', /^Export stops,'=1\+1,bugz,,A3,9,rejected,,,"the upstream answered 400/);
    const mode = statSync(join(site.folder, 'out.csv')).mode & 0o777;
    assert.equal(mode, 0o600);
    const second = await site.run(['import', 'out.csv', '--results', 'again.csv', '--wait', '--json'], FAST);
    const { accepted, already, refused } = JSON.parse(second.stdout) as Record<string, number>;
    assert.deepEqual([second.code, accepted, already, refused], [5, 0, 3, 1]);
    assert.equal(readFileSync(join(site.folder, 'again.csv'), 'utf8'), results);
    assert.equal(site.sandbox.world.ledger().length, 2);
  });

  it('reads standard input, twice where it must, and leaves no copy behind', async (t) => {
    const site = await openSite(t);
    const options = {
      cwd: site.folder,
      env: { ...site.env, ...FAST },
      input: 'board;title\nbugs;A\nbugs;B\n',
    };
    const { code, stdout } = await runCli(['import', '-', '--results', 'out.csv', '--wait'], options);
    assert.equal(code, 0, stdout);
    assert.match(
      readFileSync(join(site.folder, 'out.csv'), 'utf8'),
      /bugs;A;confirmed;.*\r\nbugs;B;confirmed;/,
    );
    assert.deepEqual(
      readdirSync(join(site.folder, 'data')).filter((name) => !/^(mirror|recovery)\.db/.test(name)),
      [],
    );
    assert.equal(site.sandbox.world.ledger().length, 2);
  });

  it('tells in a dry run what would happen, and writes nothing', async (t) => {
    const site = await openSite(t);
    const nothing = await site.run(['import', put(site, 'ideas.csv', IDEAS), '--dry-run']);
    assert.equal(nothing.code, 5);
    assert.match(nothing.stdout, /There is no mirror yet to compare with/);
    assert.ok(!existsSync(join(site.folder, 'data')));
    await site.run(['sync']);
    const [known] = queryFile<{ id: number; title: string; email: string }>(
      site.mirror,
      'SELECT p.id, p.title, u.email FROM posts p JOIN users u ON u.id = p.creator_id LIMIT 1',
    );
    assert.ok(known);
    put(site, 'more.csv', `${IDEAS}"${known.title}",,bugs,${known.email.toUpperCase()},A9,\n`);
    const bytes = (): string => createHash('sha256').update(readFileSync(site.mirror)).digest('hex');
    const before = bytes();
    const { code, stdout, stderr } = await site.run(['import', 'more.csv', '--dry-run']);
    assert.deepEqual([code, stderr], [5, '']);
    assert.equal(bytes(), before);
    assert.deepEqual(outbox(site), []);
    assert.match(stdout, /^ROWS +ACCEPTED AFTER THE ANSWERS BELOW.*\n +5 +4 +0 +1\n/m);
    assert.match(stdout, /\nthe owner of the token +2\n/);
    assert.match(stdout, /\na customer the mirror knows +1 +1\na new customer +1 +1\n/);
    assert.match(stdout, /UNKNOWN BOARD .*\nbugz +1 +5 +bugs\n/);
    assert.match(stdout, new RegExp(`\n7 +.* +#${known.id} `));
    assert.match(stdout, /full_name was taken from the e-mail \(2 rows: line 2, 7\)/);
    assert.match(stdout, /2 customers may be told by the service/);
    assert.match(stdout, /nothing was written/);
  });

  it('refuses in one sentence what it cannot read or write', async (t) => {
    const site = await openSite(t);
    put(site, 'ideas.csv', IDEAS);
    put(site, 'empty.csv', '');
    mkdirSync(join(site.folder, 'folder'));
    await site.run(['sync']);
    const mirror = readFileSync(site.mirror);
    const wrong: [string[], RegExp][] = [
      [['missing.csv'], /there is no file missing\.csv/],
      [['folder'], /folder is a folder/],
      [['empty.csv'], /the file is empty/],
      [['ideas.csv', '--map', 'title'], /--map "title" is not of the form field=Header/],
      [['ideas.csv', '--map', 'titel=Subject'], /there is no field "titel"; did you mean "title"\?/],
      [['ideas.csv', '--results', './ideas.csv'], /would overwrite the file/],
      [['ideas.csv', '--results', 'no/out.csv'], /there is no folder no/],
      [['ideas.csv', '--results', 'data/mirror.db'], /is the mirror itself/],
      [['ideas.csv', '--results', 'data/suppression.key'], /is a file of the data folder/],
      [['ideas.csv', '--dry-run', '--wait'], /sends nothing/],
    ];
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await site.run(['import', ...args]);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, message);
    }
    assert.deepEqual(outbox(site), []);
    assert.equal(readFileSync(join(site.folder, 'ideas.csv'), 'utf8'), IDEAS);
    assert.deepEqual(readFileSync(site.mirror), mirror);
  });
});
