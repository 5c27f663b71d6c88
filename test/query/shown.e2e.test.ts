import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { AppError } from '../../src/base/errors.ts';
import { collectRows, runQuery, type SqlValue } from '../../src/query/run.ts';
import { SHOWN_TABLES } from '../../src/query/shown.ts';
import { makeMirror } from './mirror.ts';

const key = new Uint8Array(32);

describe('a statement of an assistant', () => {
  let mirror: ReturnType<typeof makeMirror>;
  before(() => {
    mirror = makeMirror();
    const db = new Database(mirror.path);
    db.exec(
      "UPDATE posts SET title = 'write to vic\u200btim@planted.example', content = 'victim[at]planted.example'",
    );
    db.exec(`
      INSERT INTO commented_posts SELECT id, title, url, NULL, first_seen_at, changed_at FROM posts;
      INSERT INTO comments (id, post_id, creator_id, kind, likes_count, highlighted, internal, content, created, first_seen_at,
                            changed_at, version_at)
      SELECT id, id, 1, 'comment', 0, 0, 1, 'between us', created, created, created, created FROM posts;
      INSERT INTO comment_versions (comment_id, observed_at, content, likes_count, highlighted, internal, deleted)
      SELECT id, created, 'said to all', 0, 0, 0, 0 FROM comments`);
    db.close();
  });
  after(() => mirror.remove());

  const ask = async (sql: string, shown = { key: key as Uint8Array | null, isInternal: false }) =>
    (await collectRows(runQuery({ path: mirror.path, sql, shown }))).rows;

  it('reads every table that is offered, with no address and no name in it', async () => {
    const db = new Database(mirror.path);
    const people = db.prepare('SELECT email, name FROM users').raw().all().flat() as string[];
    db.close();
    for (const { name } of SHOWN_TABLES) {
      const text = JSON.stringify(await ask(`SELECT * FROM ${name}`), (_, value: SqlValue) =>
        typeof value === 'bigint' ? String(value) : value,
      );
      assert.doesNotMatch(text, /victim|planted|between us|said to all/, name);
      for (const person of people) if (person) assert.ok(!text.includes(`"${person}"`), `${name}: ${person}`);
    }
  });

  it('has the shown text in hand, so that taking it apart tells nothing more', async () => {
    for (const sql of [
      "SELECT replace(title, '@', ' ') FROM posts",
      'SELECT hex(title) FROM live_posts',
      'SELECT group_concat(content) FROM post_history',
      "SELECT count(*) FROM posts WHERE title LIKE '%victim%'",
    ]) {
      const text = JSON.stringify(await ask(sql));
      assert.doesNotMatch(text, /victim|76696374696d|\[\[[1-9]/i, sql);
    }
  });

  it('cannot reach past the views, by whatever name or join', async () => {
    for (const sql of [
      'SELECT title FROM main.posts',
      'WITH posts AS (SELECT title FROM main.posts) SELECT * FROM posts',
      'WITH g (email) AS (VALUES (1)) SELECT email FROM g NATURAL FULL JOIN main.users',
      "SELECT * FROM posts_text WHERE posts_text MATCH 'victim'",
      "SELECT count(*) FROM posts_text('victim')",
      'SELECT block FROM posts_text_data',
      'SELECT sql FROM sqlite_temp_schema',
      'SELECT sql FROM temp.sqlite_schema',
      'WITH g (sql) AS (VALUES (1)) SELECT sql FROM g NATURAL FULL JOIN "sqlite_master"',
      'WITH g (sql) AS (VALUES (1)) SELECT sql FROM g NATURAL FULL JOIN SQLITE_MASTER',
      'SELECT name FROM pragma_table_list',
      'SELECT name FROM pragma_database_list',
      'PRAGMA database_list',
      'SELECT body FROM quarantine',
      'SELECT value FROM meta',
      "SELECT shown_text('x')",
      "ATTACH ':memory:' AS other",
    ])
      await assert.rejects(ask(sql), AppError, sql);
    for (const [table, column] of [
      ['users', 'email'],
      ['users', 'name'],
      ['meta', 'value'],
      ['suppressions', 'hash'],
      ['quarantine', 'body'],
      ['saved_queries', 'sql'],
    ]) {
      const join = `WITH g ("${column}") AS (VALUES (1)) SELECT "${column}" FROM g NATURAL FULL JOIN "${table}"`;
      const rows = await ask(join).catch(() => [[1]]);
      assert.doesNotMatch(JSON.stringify(rows), /ada|example\.com|127\.0/i, join);
      if (table !== 'users') assert.deepEqual(rows, [[1]], join);
    }
  });

  it('runs also after VACUUM has rewritten the file', async () => {
    const db = new Database(mirror.path);
    db.exec('VACUUM');
    db.close();
    assert.deepEqual(await ask('SELECT count(*) > 0 FROM posts'), [[1]]);
    await assert.rejects(ask('SELECT block FROM posts_text_data'), AppError);
  });

  it('sees no person in the status of a comment, and the name of the status', async () => {
    const db = new Database(mirror.path);
    const status =
      '{"name":"Planned","by":{"id":1,"name":"Vic Zyx","alias":"zyx","email":"victim@planted.example"}}';
    for (const table of ['comments', 'comment_versions'])
      db.prepare(`UPDATE ${table} SET status = ?`).run(status);
    db.close();
    for (const table of ['comments', 'live_comments', 'comment_history', 'comment_versions']) {
      const [[shown] = []] = await ask(`SELECT status FROM ${table} LIMIT 1`, { key, isInternal: true });
      assert.match(String(shown), /"Planned"/, table);
      assert.doesNotMatch(String(shown), /zyx|victim/i, table);
    }
    const [[whole] = []] = await ask('SELECT status FROM comments', { key: null, isInternal: true });
    assert.equal(whole, status);
  });

  it('counts, joins and finds people again by their pseudonyms', async () => {
    const [[posts, people] = []] = await ask(
      "SELECT count(*), count(DISTINCT creator) FROM live_posts WHERE creator LIKE 'Person %'",
    );
    assert.ok(Number(posts) > 0 && Number(people) > 0);
    const [[one] = []] = await ask('SELECT name FROM users ORDER BY id LIMIT 1');
    const [[same] = []] = await ask('SELECT u.name FROM users u ORDER BY u.id LIMIT 1');
    assert.equal(one, same);
    const db = new Database(mirror.path);
    db.exec(`INSERT INTO users (id, email, name, is_admin, is_team, first_seen_at, changed_at)
             SELECT 2, '', '', 0, 0, first_seen_at, changed_at FROM users WHERE id = 1`);
    db.close();
    assert.deepEqual(await ask('SELECT email FROM users WHERE id = 2'), [[null]]);
  });

  it('shows people where the operator allows it, and internal comments where they are asked for', async () => {
    const [[email] = []] = await ask('SELECT email FROM users WHERE email IS NOT NULL', {
      key: null,
      isInternal: false,
    });
    assert.match(String(email), /@(?!redacted)/);
    assert.deepEqual(await ask('SELECT DISTINCT content FROM comments'), []);
    for (const table of ['comment_versions', 'comment_history'])
      assert.deepEqual(await ask(`SELECT content FROM ${table}`), [], table);
    const before = { key, isInternal: true };
    assert.deepEqual(await ask('SELECT DISTINCT content FROM comment_versions', before), [['said to all']]);
    const all = await ask('SELECT DISTINCT content FROM comments', { key, isInternal: true });
    assert.deepEqual(all, [['between us']]);
  });
});
