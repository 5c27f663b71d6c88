import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { assertWhole } from '../support/mirror.ts';
import { openSite } from '../support/mirror-site.ts';

function count(path: string, table: string): number {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? -1;
  } finally {
    db.close();
  }
}

describe('backup', () => {
  it('makes a checked copy for its owner only, while somebody else is writing', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const copy = join(site.folder, 'copy.db');
    const writer = new Database(site.mirror);
    t.after(() => writer.close());
    writer.exec("BEGIN IMMEDIATE; INSERT INTO meta (key, value) VALUES ('under way', '1')");
    const { code, stdout, stderr } = await site.run(['backup', 'copy.db', '--json']);
    writer.exec('COMMIT');
    assert.equal(code, 0, stderr);
    const told = JSON.parse(stdout) as { path: string; bytes: number; rows: Record<string, number> };
    assert.deepEqual([told.path, told.bytes], [copy, statSync(copy).size]);
    assert.equal(statSync(copy).mode & 0o777, 0o600);
    for (const table of ['posts', 'comments', 'users', 'outbox']) {
      assert.equal(told.rows[table], count(site.mirror, table), table);
      assert.equal(count(copy, table), told.rows[table], table);
    }
    assert.equal(count(copy, "meta WHERE key = 'under way'"), 0);
    assertWhole(copy);
    assert.deepEqual(
      readdirSync(site.folder).filter((name) => name.includes('.part')),
      [],
    );
  });

  it('is a mirror that every command can use', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    await site.run(['backup', 'copy.db']);
    const { code, stdout, stderr } = await site.run(['sync', '--json', '--mirror-path', 'copy.db']);
    assert.equal(code, 0, stderr);
    const { passes } = JSON.parse(stdout) as { passes: { inserted: number; unchanged: number }[] };
    assert.deepEqual(
      passes.map(({ inserted }) => inserted),
      [0, 0],
    );
    assert.equal(passes[0]?.unchanged, 30);
  });

  it('refuses to replace a file that is there', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const other = join(site.folder, 'other.db');
    writeFileSync(other, 'mine');
    const refused = await site.run(['backup', 'other.db']);
    assert.deepEqual([refused.code, readFileSync(other, 'utf8')], [2, 'mine']);
    assert.match(refused.stderr, /is there already; nothing was written/);
    const before = readFileSync(site.mirror);
    const itself = await site.run(['backup', 'data/mirror.db']);
    assert.equal(itself.code, 2);
    assert.match(itself.stderr, /is the mirror itself/);
    assert.deepEqual(readFileSync(site.mirror), before);
    assert.equal((await site.run(['backup', 'no/such/folder.db'])).code, 2);
  });

  it('never takes the name of a device, a link or a file of a mirror', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const at = (name: string): string => join(site.folder, name);
    symlinkSync('/dev/null', at('to-device'));
    linkSync(site.mirror, at('same-file.db'));
    execFileSync('mkfifo', [at('fifo')]);
    for (const name of ['used.db', 'used.db-wal']) writeFileSync(at(name), '');
    const refused: [path: string, why: RegExp][] = [
      ['/dev/null', /is there already/],
      ['to-device', /is there already/],
      ['fifo', /is there already/],
      ['same-file.db', /is the mirror itself/],
      ['data/mirror.db-wal', /belongs to the database beside it/],
      ['data/recovery.db', /is a file of the data folder/],
      ...['queue.db', 'queue.db-wal', 'suppression.key', 'mirror-schema-3.db'].map(
        (name) => [`data/${name}`, /is a file of the data folder/] as [string, RegExp],
      ),
      ['used.db-wal', /belongs to the database beside it/],
    ];
    for (const [path, why] of refused) {
      const { code, stderr } = await site.run(['backup', path]);
      assert.match(stderr, why, path);
      assert.equal(code, 2, path);
    }
    assert.ok(statSync('/dev/null').isCharacterDevice());
  });

  it('of a damaged mirror says so and leaves no file', async (t) => {
    const site = await openSite(t, { posts: 300 });
    await site.run(['sync']);
    damagePosts(site.mirror);
    const { code, stderr } = await site.run(['backup', 'copy.db']);
    assert.equal(code, 7);
    assert.match(stderr, /the mirror is damaged: /);
    assert.deepEqual(
      readdirSync(site.folder).filter((name) => name.startsWith('copy.db')),
      [],
    );
  });
});

/** Half of every page that posts stand on is lost; what opening the file looks at is not. */
function damagePosts(path: string): void {
  const db = new Database(path, { readonly: true });
  const pages = db
    .prepare<[], number>("SELECT pageno FROM dbstat WHERE name = 'posts' AND pagetype = 'leaf'")
    .pluck()
    .all();
  db.close();
  assert.ok(pages.length > 10);
  const bytes = readFileSync(path);
  for (const page of pages) bytes.fill(0xa5, (page - 1) * 4096, (page - 1) * 4096 + 2000);
  writeFileSync(path, bytes);
}
