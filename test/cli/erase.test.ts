import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { openSite, type Site } from '../support/mirror-site.ts';

interface Author {
  email: string;
  name: string;
  posts: number;
}

/** Whoever wrote most. */
function author(site: Site): Author {
  const db = new Database(site.mirror, { readonly: true });
  try {
    const sql = `SELECT u.email, u.name, count(*) AS posts FROM posts p JOIN users u ON u.id = p.creator_id
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

describe('erase', () => {
  it('prints a receipt, renews the kept copy, and names the files it did not touch', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const { email, name, posts } = author(site);
    mkdirSync(join(site.folder, 'data/exports'));
    mkdirSync(join(site.folder, 'data/backup'));
    writeFileSync(join(site.folder, 'data/exports/posts.csv'), 'id\n');
    writeFileSync(join(site.folder, 'data/results.csv'), `email\n${email.toUpperCase()}\n`);
    await site.run(['backup', 'data/backup/mirror.db']);
    assert.deepEqual(filesWith(site, email), ['data/backup/mirror.db', 'data/mirror.db']);

    const { code, stdout, stderr } = await site.run(['erase', '--email', email]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, new RegExp(`^${email} erased at \\S+Z, receipt [\\w-]{16}\n`));
    assert.match(stdout, new RegExp(`posts: .* ${posts}\n`));
    assert.match(stdout, /the export data\/exports\/posts\.csv, made before/);
    assert.match(stdout, /the file data\/results\.csv: the address stands in it/);
    assert.match(stdout, /The copy kept in the data folder was made anew/);
    assert.ok(!stdout.includes(name), 'a receipt tells no more than the address it was given');
    for (const text of [email, name]) assert.deepEqual(filesWith(site, text), [], text);
    assert.ok(existsSync(join(site.folder, 'data/backup/mirror.db')));

    const again = await site.run(['sync', '--json']);
    const { passes } = JSON.parse(again.stdout) as { passes: { updated: number; inserted: number }[] };
    assert.deepEqual(
      passes.map(({ updated, inserted }) => updated + inserted),
      [0, 0],
    );
    assert.deepEqual(filesWith(site, email), []);
  });

  it('turns away posts for the person until it is lifted, in create, in a dry run and in an import', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const { email } = author(site);
    await site.run(['erase', '--email', email]);
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
    const { stdout } = await site.run(['erase', '--email', 'Ada@example.com']);
    assert.match(stdout, /cancelled before they were sent\s+1/);
    const { code, stderr } = await site.run(['outbox', 'retry', String(id)]);
    assert.deepEqual([code, /cannot be sent again: its text was erased/.test(stderr)], [2, true]);
  });

  it('ends with 5 and says what to do where a row that is under way names the address', async (t) => {
    const site = await openSite(t);
    await site.run(['create', '--board', 'bugs', '--title', 'Ask ada@example.com']);
    const { code, stdout } = await site.run(['erase', '--email', 'ada@example.com']);
    assert.equal(code, 5);
    assert.match(stdout, /Not finished:\n- outbox row 1 is not settled/);
  });

  it('refuses what is no address, and flags that do not go together', async (t) => {
    const site = await openSite(t);
    for (const args of [[], ['--email', 'ada'], ['--new-key', '--email', 'a@example.com'], ['--lift']])
      assert.equal((await site.run(['erase', ...args])).code, 2, args.join(' '));
    assert.equal(
      (await site.run(['erase', '--new-key'])).stdout,
      '0 addresses forgotten. People known to the upstream by number stay erased; erase the others again.\n',
    );
  });
});
