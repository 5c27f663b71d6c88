import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { type Migration, migrations, versionOf } from '../../src/db/migrate.ts';
import { openMirrorStore, readMirrorStatus } from '../../src/mirror/store/store.ts';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import { runCli } from '../support/cli.ts';
import { assertWhole, UPSTREAM } from '../support/mirror.ts';
import { withPath } from './folder.ts';

const AT = '2026-01-01T00:00:00.000Z';
const SEEN = `'${AT}', '${AT}'`;

/** Rows as the program of that schema left them; later migrations find them there. */
const ROWS: Record<number, string> = {
  26: `INSERT INTO meta VALUES ('upstream', '${UPSTREAM}');
      INSERT INTO users (id, email, name, is_admin, is_team, first_seen_at, changed_at)
      VALUES (1, 'ada@example.com', 'Ada', 0, 0, ${SEEN});
      INSERT INTO boards (id, name, url, slug, first_seen_at, changed_at) VALUES (1, 'Bugs', 'https://b', 'bugs', ${SEEN});
      INSERT INTO statuses (id, name, color, first_seen_at, changed_at) VALUES (1, 'Open', '#0f0', ${SEEN});
      INSERT INTO posts (id, title, content, url, creator_id, board_id, status_id, votes_count, comments_count, created,
                         first_seen_at, changed_at, version_at)
      VALUES (7, 'Dark mode', 'please', 'https://p/7', 1, 1, 1, 3, 1, '${AT}', ${SEEN}, '${AT}');
      INSERT INTO post_versions (post_id, observed_at, title, board_id, status_id, votes_count, comments_count, deleted)
      VALUES (7, '${AT}', 'Dark', 1, 1, 2, 0, 0);
      INSERT INTO commented_posts (id, title, url, first_seen_at, changed_at) VALUES (7, 'Dark mode', 'https://p/7', ${SEEN});
      INSERT INTO comments (id, post_id, creator_id, kind, likes_count, highlighted, internal, content, created,
                            first_seen_at, changed_at, version_at)
      VALUES (9, 7, 1, 'comment', 0, 0, 0, 'yes', '${AT}', ${SEEN}, '${AT}');
      INSERT INTO comment_versions (comment_id, observed_at, content, likes_count, highlighted, internal, deleted)
      VALUES (9, '${AT}', 'ye', 0, 0, 0, 0);
      INSERT INTO outbox (batch, source_key, kind, board, title, content, content_hash, created_at, changed_at)
      VALUES ('b', 'k', 'owner', 'bugs', 'Slow', 'export', 't', ${SEEN});
      INSERT INTO outbox_attempts (outbox_id, n, started_at, deadline_at) VALUES (1, 1, ${SEEN});
      INSERT INTO outbox_edits (outbox_id, n, edited_at, before) VALUES (1, 1, '${AT}', '{}');`,
};

function makeMirror(path: string, steps: readonly Migration[]): void {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  for (const { version, sql } of steps) {
    db.exec(sql);
    db.exec(ROWS[version] ?? '');
    db.pragma(`user_version = ${version}`);
  }
  db.close();
}

const RELEASED = migrations();
const NEWEST = RELEASED.at(-1)?.version ?? 0;
const OLDER = RELEASED.slice(0, -1).map(({ version }) => version);

/** Numbers may leave gaps. */
const upTo = (version: number): Migration[] => RELEASED.filter((step) => step.version <= version);

describe('a mirror of an older version', () => {
  for (const version of OLDER)
    it(`with schema ${version} is brought up to date, rows and all, and a copy of it as it was is kept`, () =>
      withPath((path) => {
        makeMirror(path, upTo(version));
        const options = { path, upstream: UPSTREAM, holder: 'a test' };
        openMirrorStore(options).close();
        assertWhole(path);
        assert.deepEqual(rowsOf(path), rowsOf(copyOf(path, version)));
        assert.equal(versionAt(path), NEWEST);
        assert.equal(statSync(copyOf(path, version)).mode & 0o777, 0o600);
        assert.equal(versionAt(copyOf(path, version)), version);
        assert.equal(readMirrorStatus(options).upstream, UPSTREAM);
      }));

  it('sends what was in its outbox', () =>
    withPath(async (path) => {
      makeMirror(path, upTo(26));
      const options = { path, upstream: UPSTREAM, holder: 'a test' };
      const outbox = openOutboxStore(options);
      assert.deepEqual(
        (await outbox.list({ limit: 9 })).map(({ title, state }) => [title, state]),
        [['Slow', 'ready']],
      );
      await outbox.close();
    }));

  it('keeps the deletions that were held, and drops what other rules noted about missing rows', () =>
    withPath((path) => {
      makeMirror(path, upTo(26));
      const db = new Database(path);
      db.exec(`INSERT INTO absences (resource, id, since, first_run, run_id, sweeps, held)
               VALUES ('posts', 7, '${AT}', 1, 1, 2, 1), ('comments', 9, '${AT}', 1, 1, 1, 0)`);
      db.close();
      const options = { path, upstream: UPSTREAM, holder: 'a test' };
      openMirrorStore(options).close();
      const { resources } = readMirrorStatus(options);
      assert.deepEqual(
        resources.map(({ resource, suspects, held }) => ({ resource, suspects, held })),
        [
          { resource: 'posts', suspects: 0, held: 1 },
          { resource: 'comments', suspects: 0, held: 0 },
        ],
      );
    }));

  it('is migrated by a reading command, which says so; doctor does not migrate it', () =>
    withPath(async (path) => {
      makeMirror(path, upTo(26));
      const env = { MIRROR_PATH: path, DATA_DIR: dirname(path), FEEDBACK_BASE_URL: UPSTREAM, HTTP_PORT: '9' };
      const doctor = await runCli(['doctor', '--json'], {
        env: { ...env, FEEDBACK_API_TOKEN: 'some-token' },
      });
      assert.match(doctor.stdout, /was written by an older version/);
      assert.equal(versionAt(path), 26);
      const { code, stderr } = await runCli(['status'], { env });
      assert.equal(code, 0, stderr);
      assert.equal(
        stderr,
        `The mirror ${path} has schema 26 and is brought to schema ${NEWEST}. ${copyOf(path, 26)} is a copy of it as it was.\n`,
      );
      assert.equal(versionAt(path), NEWEST);
      assert.deepEqual((await runCli(['status'], { env })).stderr, '');
    }));

  it('is copied once, as it was before the first step, also where the steps were interrupted', () =>
    withPath((path) => {
      makeMirror(path, upTo(26));
      const options = { path, upstream: UPSTREAM, holder: 'a test' };
      const change = (sql: string): void => {
        const db = new Database(path);
        db.exec(sql);
        db.close();
      };
      change('CREATE TABLE former_board_slugs (a)');
      assert.throws(() => openMirrorStore(options), /former_board_slugs already exists/);
      assert.ok(versionAt(path) > 26 && versionAt(path) < NEWEST);
      change('DROP TABLE former_board_slugs');
      openMirrorStore(options).close();
      assert.equal(versionAt(path), NEWEST);
      const copies = readdirSync(dirname(path)).filter((name) => name.includes('schema'));
      assert.deepEqual(copies, ['mirror-schema-26.db']);
    }));

  it('knows its copy for an older one when that is put back', () =>
    withPath((path) => {
      makeMirror(path, upTo(26));
      const options = { path, upstream: UPSTREAM, holder: 'a test', dataDir: dirname(path) };
      openMirrorStore(options).close();
      const put = { ...options, path: copyOf(path, 26) };
      openMirrorStore(put).close();
      assert.notEqual(readMirrorStatus(put).olderCopy, null);
    }));
});

describe('a mirror from before schema 26', () => {
  it('is refused with the version that can migrate it, and stays unchanged', () =>
    withPath(async (path) => {
      makeMirror(path, upTo(26));
      const db = new Database(path);
      db.pragma('user_version = 25');
      db.close();
      const env = { MIRROR_PATH: path, DATA_DIR: dirname(path), FEEDBACK_BASE_URL: UPSTREAM, HTTP_PORT: '9' };
      const { code, stderr } = await runCli(['status'], { env });
      assert.equal(code, 2);
      assert.match(stderr, /has schema 25, and this program opens schema 26 and newer; nothing was written/);
      assert.match(stderr, /git checkout v0\.1\.0/);
      assert.equal(versionAt(path), 25);
    }));
});

describe('a mirror of a newer version', () => {
  it('is refused before anything is written', () =>
    withPath((path) => {
      const options = { path, upstream: UPSTREAM, holder: 'a test' };
      openMirrorStore(options).close();
      const db = new Database(path);
      db.pragma('user_version = 999');
      db.close();
      assert.throws(
        () => openMirrorStore(options),
        (error: Error & { hint?: string }) =>
          /written by a newer version \(schema 999/.test(error.message) &&
          /Install that version/.test(error.hint ?? ''),
      );
      assert.deepEqual(
        readdirSync(dirname(path)).filter((name) => name.includes('schema')),
        [],
      );
    }));
});

function copyOf(path: string, version: number): string {
  return join(dirname(path), `mirror-schema-${version}.db`);
}

function versionAt(path: string): number {
  return reading(path, versionOf);
}

function reading<T>(path: string, use: (db: Database.Database) => T): T {
  assert.ok(existsSync(path), path);
  const db = new Database(path, { readonly: true });
  try {
    return use(db);
  } finally {
    db.close();
  }
}

/** What a person would miss. */
function rowsOf(path: string): unknown[] {
  return reading(path, (db) =>
    [
      'SELECT id, title, content, votes_count FROM posts',
      'SELECT post_id, title, votes_count FROM post_history',
      'SELECT id, content FROM comments',
      'SELECT id, email FROM users',
      'SELECT title, state FROM outbox',
    ].map((sql) => db.prepare(sql).all()),
  ).filter((rows) => (rows as unknown[]).length > 0);
}
