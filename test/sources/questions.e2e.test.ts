import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Place, place } from './place.ts';

const POSTS = { acme: 30, 'be-ta': 10, main: 5 };

/** Three sources that were read, one with the name of SQLite's own schema. */
async function mirrored(t: TestContext): Promise<Place> {
  const site = await place(t, { acme: { posts: 30 }, 'be-ta': { posts: 10 }, main: { posts: 5 } });
  for (const name of Object.keys(POSTS)) {
    const { code, stderr } = await site.run(['sync', '--source', name]);
    assert.equal(code, 0, stderr);
  }
  return site;
}

async function rows(site: Place, args: string[]): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await site.run([...args, '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Record<string, unknown>[];
}

describe('questions over several sources', () => {
  it('query --all and --source a,b give every table a column source', async (t) => {
    const site = await mirrored(t);
    const count = 'SELECT source, count(*) AS n FROM live_posts GROUP BY source ORDER BY source';
    assert.deepEqual(await rows(site, ['query', '--all', count]), [
      { source: 'acme', n: 30 },
      { source: 'be-ta', n: 10 },
      { source: 'main', n: 5 },
    ]);
    assert.deepEqual(await rows(site, ['query', '--source', 'acme,main', count]), [
      { source: 'acme', n: 30 },
      { source: 'main', n: 5 },
    ]);
    const joined = `SELECT count(*) AS n FROM posts JOIN boards ON boards.source = posts.source AND boards.id = posts.board_id`;
    assert.deepEqual(await rows(site, ['query', '--all', joined]), [{ n: 45 }]);
    const found = await rows(site, [
      'query',
      '--all',
      'SELECT count(*) > 0 AS found FROM source_acme.posts_text',
    ]);
    assert.deepEqual(found, [{ found: 1 }]);
    const alone = await site.run(['query', count]);
    assert.equal(alone.code, 2);
    assert.match(alone.stderr, /there are several: acme, be-ta, main/);
  });

  it('a statement over all sources is kept to the same rules', async (t) => {
    const site = await mirrored(t);
    for (const sql of [
      'SELECT * FROM source_acme.meta',
      'SELECT * FROM source_acme.suppressions',
      'SELECT count(*) FROM posts NATURAL JOIN source_acme.suppressions',
      'SELECT a.id FROM source_acme.posts a NATURAL JOIN "source_be-ta".suppressed_users',
      "ATTACH 'other.db' AS other",
      'DELETE FROM source_acme.posts',
      'DETACH source_acme',
      "VACUUM source_acme INTO 'copy.db'",
    ]) {
      const { code, stdout } = await site.run(['query', '--all', sql]);
      assert.equal(code, 2, sql);
      assert.equal(stdout, '', sql);
    }
  });

  it('query --all over more files than SQLite takes names the copy in PostgreSQL', async (t) => {
    const site = await place(t, { acme: { posts: 1 } });
    const url = site.sandboxes.acme?.url;
    const lines = Array.from(
      { length: 11 },
      (_, i) => `  s${i}: { base_url: '${url}/${i}', token: token-${i} }\n`,
    );
    writeFileSync(join(site.folder, 'sources.yaml'), `sources:\n${lines.join('')}`);
    const { code, stderr } = await site.run(['query', '--all', 'SELECT 1']);
    assert.equal(code, 2);
    assert.match(stderr, /at most 10 files in one statement, and there are 11 sources/);
    assert.match(stderr, /PostgreSQL/);
  });

  it('export --all writes the rows of all with a column source', async (t) => {
    const site = await mirrored(t);
    const done = await site.run(['export', 'posts', 'users', '--all', '--format', 'csv', '--out', 'all']);
    assert.equal(done.code, 0, done.stderr);
    const [head = '', ...lines] = readFileSync(join(site.folder, 'all/posts.csv'), 'utf8').split('\n');
    assert.match(head, /^source,id,/);
    for (const [name, posts] of Object.entries(POSTS))
      assert.equal(lines.filter((line) => new RegExp(`^${name},\\d+,`).test(line)).length, posts);
    const manifest = JSON.parse(readFileSync(join(site.folder, 'all/manifest.json'), 'utf8')) as {
      files: { columns: { name: string }[] }[];
    };
    assert.equal(manifest.files[0]?.columns[0]?.name, 'source');
    assert.match((await site.run(['export', 'posts', '--all'])).stderr, /say --out/);
    const over = await site.run([
      ...['export', 'posts', '--all', '--format', 'csv'],
      ...['--out', 'data/be-ta/mirror.db'],
    ]);
    assert.notEqual(over.code, 0, 'the mirror of a source must not be written over');
  });

  it('report --all adds up what adds up, and ranks or lists the rest', async (t) => {
    const site = await mirrored(t);
    const report = async (name: string) =>
      JSON.parse((await site.run(['report', name, '--all', '--json'])).stdout) as {
        rows: Record<string, string | number | null>[];
        notes: string[];
      };
    const { rows: lines } = await report('overview');
    const posts = lines.filter(({ what }) => what === lines[0]?.what);
    assert.deepEqual(
      posts.map(({ source }) => source),
      ['all sources', 'acme', 'be-ta', 'main'],
    );
    const [sum, ...parts] = posts.map(({ total }) => Number(total));
    assert.equal(
      sum,
      parts.reduce((a, b) => a + b, 0),
    );
    const top = await report('top-posts');
    const votes = top.rows.map((row) => Number(row.votes));
    assert.equal(votes.length, 20);
    assert.deepEqual(
      votes,
      votes.toSorted((a, b) => b - a),
    );
    const boards = await report('boards');
    assert.match(boards.notes[0] ?? '', /do not add up/);
    assert.equal((await site.run(['report', 'post-votes', '--post', '1', '--all'])).code, 2);
  });

  it('changes --all goes on from a position over all sources', async (t) => {
    const site = await mirrored(t);
    const lines = async (...args: string[]) =>
      (await site.run(['changes', '--all', ...args])).stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { source: string; position: string });
    const all = await lines();
    assert.deepEqual([...new Set(all.map(({ source }) => source))].sort(), ['acme', 'be-ta', 'main']);
    assert.deepEqual(await lines('--since', all[2]?.position ?? ''), all.slice(3));
    assert.deepEqual(await lines('--since', all.at(-1)?.position ?? ''), []);
  });

  it('messages of rules name their source, and lead to its pages', async (t) => {
    const site = await place(t, { acme: { posts: 5 }, beta: { posts: 1 } });
    const rules = { channels: { office: { slack: 'https://example.com/' } }, rules: [] as object[] };
    rules.rules.push({ name: 'weekly', what: 'digest', every: 'weekly', at: 'mon 09:00', to: ['office'] });
    writeFileSync(join(site.folder, 'rules.yaml'), JSON.stringify(rules));
    site.write(['acme', 'beta'], { acme: '    rules_file: rules.yaml\n' });
    await site.run(['sync', '--source', 'acme']);
    const env = { DASHBOARD_URL: 'https://mirror.example.com/' };
    const { stdout, stderr } = await site.run(['rules', 'preview', 'weekly', '--source', 'acme'], env);
    assert.match(stdout, /acme: Feedback of the last 7 days/, stderr);
    assert.match(stdout, /https:\/\/mirror\.example\.com\/s\/acme/);
  });
});
