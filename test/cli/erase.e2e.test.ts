import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { ENTRY } from '../support/cli.ts';
import { openSite, type Site } from '../support/mirror-site.ts';
import { skipUnless } from '../support/programs.ts';

interface Author {
  id: number;
  email: string;
  name: string;
  posts: number;
}

/** Whoever wrote most. */
function author(site: Site): Author {
  const db = new Database(site.mirror, { readonly: true });
  try {
    const sql = `SELECT u.id, u.email, u.name, count(*) AS posts FROM posts p JOIN users u ON u.id = p.creator_id
                  GROUP BY u.id ORDER BY posts DESC, u.id LIMIT 1`;
    const found = db.prepare<[], Author>(sql).get();
    assert.ok(found);
    return found;
  } finally {
    db.close();
  }
}

function filesWith(site: Site, text: string): string[] {
  return globSync('data/**/*', { cwd: site.folder })
    .filter((name) => statSync(join(site.folder, name)).isFile())
    .filter((name) => readFileSync(join(site.folder, name)).includes(text))
    .sort();
}

/** What a person sees who types the answer at the question. */
async function onTerminal(site: Site, args: string[], answer: string): Promise<string> {
  const command = [process.execPath, ENTRY, ...args].join(' ');
  const child = spawn('script', ['-qec', `${command}; echo exit $?`, '/dev/null'], {
    cwd: site.folder,
    env: { PATH: process.env.PATH, TERM: 'xterm', ...site.env },
  });
  let seen = '';
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
    if (seen.endsWith('[y/N] ')) child.stdin.write(answer);
  });
  await once(child, 'close');
  return seen;
}

describe('erase', () => {
  it('prints a receipt, renews the kept copy, and names the files it did not touch', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const { email, name, posts } = author(site);
    mkdirSync(join(site.folder, 'data/exports'));
    mkdirSync(join(site.folder, 'data/backup'));
    writeFileSync(join(site.folder, 'data/exports/boards.csv'), 'id\n');
    await site.run(['export', 'users', '--format', 'csv', '--out', 'data/exports/']);
    await site.run(['export', 'users', '--format', 'parquet', '--out', 'data/exports/']);
    await site.run(['export', 'boards', '--format', 'parquet', '--out', 'data/exports/']);
    await site.run(['export', 'posts', '--redact', 'emails', '--format', 'csv', '--out', 'data/exports/']);
    writeFileSync(join(site.folder, 'data/results.csv'), `email\n${email.toUpperCase()}\n`);
    await site.run(['backup', 'data/backup/mirror.db']);
    assert.deepEqual(filesWith(site, email), [
      'data/backup/mirror.db',
      'data/exports/users.csv',
      'data/mirror.db',
    ]);

    const { code, stdout, stderr } = await site.run(['erase', '--email', email, '--yes']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, new RegExp(`^${email} erased at \\S+Z, receipt [\\w-]{16}\n`));
    assert.match(stdout, new RegExp(`posts: .* ${posts}\n`));
    assert.deepEqual(stdout.match(/(?<=the export data\/exports\/)\S+(?=, made before)/g), [
      'posts.csv',
      'users.csv',
      'users.parquet',
    ]);
    assert.match(stdout, /the file data\/results\.csv: it shows the person/);
    assert.match(stdout, /The copy in the data folder was renewed/);
    assert.ok(!stdout.includes(name), 'a receipt tells no more than the address it was given');
    for (const text of [email, name])
      assert.deepEqual(filesWith(site, text), ['data/exports/users.csv'], text);
    assert.ok(existsSync(join(site.folder, 'data/backup/mirror.db')));

    const again = await site.run(['sync', '--json']);
    const { passes } = JSON.parse(again.stdout) as { passes: { updated: number; inserted: number }[] };
    assert.deepEqual(
      passes.map(({ updated, inserted }) => updated + inserted),
      [0, 0],
    );
    assert.deepEqual(filesWith(site, email), ['data/exports/users.csv']);
  });

  it('names the copy in PostgreSQL, which holds the person until the service writes it next', async (t) => {
    const site = await openSite(t);
    await site.run(['create', '--board', 'bugs', '--title', 'T', '--email', 'ada@example.com']);
    const erase = ['erase', '--email', 'ada@example.com', '--yes'];
    const line =
      /\n- the copy in PostgreSQL: what it holds of the person stays until a service with PUBLISH_URL writes it next/;
    assert.doesNotMatch((await site.run(erase)).stdout, line);
    const { code, stdout } = await site.run(erase, { PUBLISH_URL: 'postgres://mirror@127.0.0.1:9/none' });
    assert.equal(code, 0, 'the server is not asked');
    assert.match(stdout, line);
    writeFileSync(join(site.folder, 'data/published.json'), '{"life":"a","number":7,"at":0}');
    const earlier = await site.run([...erase, '--json']);
    assert.equal((JSON.parse(earlier.stdout) as { postgresCopy: boolean }).postgresCopy, true);
  });

  it('shows what it would erase and asks; without a terminal it refuses, and nothing is changed', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const { email, posts } = author(site);
    const refused = await site.run(['erase', '--email', email]);
    assert.equal(refused.code, 2);
    assert.match(refused.stdout, new RegExp(`TO BE ERASED.*\n.*\nposts: .* ${posts}\n`));
    assert.match(refused.stderr, /nothing was erased: there is no terminal to ask on\nSay --yes/);
    assert.equal(author(site).email, email);
  });

  it('erases on a terminal once the person has said yes, and not before', skipUnless('script'), async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const { email } = author(site);
    for (const no of ['n\n', '\n', '\u0004'])
      assert.match(
        await onTerminal(site, ['erase', '--email', email], no),
        /nothing was erased[\s\S]*exit 130/,
        JSON.stringify(no),
      );
    assert.equal(author(site).email, email);
    assert.match(await onTerminal(site, ['erase', '--email', email], 'y\n'), /erased at [\s\S]*exit 0/);
    assert.notEqual(author(site).email, email);
  });

  it('ends with 5 for an address it does not hold, and does not suppress it', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const { code, stdout, stderr } = await site.run(['erase', '--email', 'no@example.com', '--yes']);
    assert.deepEqual([code, stdout], [5, '']);
    assert.match(stderr, /holds nothing of no@example\.com: nothing was erased, and nothing is kept/);
    const create = ['create', '--board', 'bugs', '--title', 'T', '--email', 'no@example.com'];
    assert.equal((await site.run(create)).code, 0);
  });

  it('erases a user without an address by number, also from the next sweep, until that is lifted', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const { id, name } = author(site);
    assert.equal((await site.run(['erase', '--user', '999999', '--yes'])).code, 5);
    for (const email of ['n/a', '', null]) {
      const db = new Database(site.mirror);
      db.prepare('UPDATE users SET email = ? WHERE id = ?').run(email, id);
      db.close();
      const { code, stdout } = await site.run(['erase', '--user', String(id), '--yes']);
      assert.equal(code, 0, stdout);
      assert.match(stdout, new RegExp(`^user ${id} erased at`));
    }
    await site.run(['sync']);
    assert.deepEqual(filesWith(site, name), []);
    assert.match((await site.run(['erase', '--user', String(id), '--lift'])).stdout, /taken off/);
    await site.run(['sync']);
    assert.deepEqual(filesWith(site, name), ['data/mirror.db']);
  });

  it('turns away posts for the person until it is lifted, in create, in a dry run and in an import', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const { email } = author(site);
    await site.run(['erase', '--email', email, '--yes']);
    const created = await site.run(['create', '--board', 'bugs', '--title', 'T', '--email', email]);
    assert.equal(created.code, 2);
    assert.match(created.stderr, /for a customer who was erased/);
    const file = join(site.folder, 'ideas.csv');
    writeFileSync(file, `board,title,email\nbugs,One,${email}\nbugs,Two,other@example.com\n`);
    for (const flags of [['--dry-run'], ['--results', 'out.csv']]) {
      const { code, stdout } = await site.run(['import', 'ideas.csv', '--json', ...flags]);
      const told = JSON.parse(stdout) as { accepted: number; refusals: { line: number; reason: string }[] };
      assert.deepEqual([code, told.accepted, told.refusals.map(({ line }) => line)], [5, 1, [2]]);
      assert.match(told.refusals[0]?.reason ?? '', /a customer who was erased/);
    }
    assert.match(
      readFileSync(join(site.folder, 'out.csv'), 'utf8'),
      /One,.*refused.*a customer who was erased/,
    );
    assert.match(
      (await site.run(['erase', '--email', email, '--lift'])).stdout,
      /taken off the suppression list/,
    );
    assert.equal((await site.run(['import', 'ideas.csv'])).code, 0);
    assert.equal((await site.run(['create', '--board', 'bugs', '--title', 'T', '--email', email])).code, 0);
  });

  it('says that a row which lost its text cannot be sent again', async (t) => {
    const site = await openSite(t);
    const create = ['create', '--board', 'bugs', '--title', 'T', '--email', 'ada@example.com', '--json'];
    const { id } = JSON.parse((await site.run(create)).stdout) as { id: number };
    const { stdout } = await site.run(['erase', '--email', 'Ada@example.com', '--yes']);
    assert.match(stdout, /cancelled before they were sent\s+1/);
    const { code, stderr } = await site.run(['outbox', 'retry', String(id)]);
    assert.deepEqual([code, /cannot be sent again: its text was erased/.test(stderr)], [2, true]);
  });

  it('ends with 5 and says what to do where a row that is under way names the address', async (t) => {
    const site = await openSite(t);
    await site.run(['create', '--board', 'bugs', '--title', 'Ask ada@example.com']);
    const { code, stdout } = await site.run(['erase', '--email', 'ada@example.com', '--yes']);
    assert.equal(code, 5);
    assert.match(stdout, /Not finished:\n- outbox row 1 is not settled/);
  });

  it('refuses what is no address, and flags that do not go together', async (t) => {
    const site = await openSite(t);
    for (const args of [
      [],
      ['--email', 'ada'],
      ['--new-key', '--email', 'a@example.com'],
      ['--lift'],
      ['--user', 'ada'],
      ['--user', '1', '--email', 'a@example.com'],
    ])
      assert.equal((await site.run(['erase', ...args])).code, 2, args.join(' '));
    assert.equal(
      (await site.run(['erase', '--new-key'])).stdout,
      '0 addresses forgotten. People known to the upstream by number stay erased; erase the others again.\n',
    );
  });
});
