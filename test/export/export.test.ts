import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { AppError, codeOf, storageError } from '../../src/base/errors.ts';
import { exportMirror } from '../../src/export/export.ts';
import { EXPORT_FORMATS } from '../../src/export/formats.ts';
import { EXPORT_TABLES, TABLES } from '../../src/export/store/tables.ts';
import { createRedactor } from '../../src/text/redact.ts';
import { type ExportMirror, NEW, OLD, openMirror, PERSON, request } from './mirror.ts';

type Row = Record<string, unknown>;

function rowsOf(path: string): Row[] {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Row);
}

async function exported(mirror: ExportMirror, changes: Parameters<typeof request>[1] = {}): Promise<Row[]> {
  const stream = new PassThrough();
  const all = text(stream);
  await exportMirror(mirror.source(), request({ stream }, changes));
  stream.end();
  return (await all)
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Row);
}

/** As the kernel tells them; none where it does not. */
function openFilesIn(folder: string): string[] {
  if (!existsSync('/proc/self/fd')) return [];
  const linked = (name: string): string => {
    try {
      return readlinkSync(join('/proc/self/fd', name));
    } catch {
      return '';
    }
  };
  return readdirSync('/proc/self/fd')
    .map(linked)
    .filter((path) => path.startsWith(join(folder, '.')));
}

function ids(rows: Row[]): unknown[] {
  return rows.map(({ id }) => id);
}

const COMMENT = `
  INSERT INTO comments (id, post_id, creator_id, kind, status, likes_count, highlighted, internal, content, created,
                        first_seen_at, changed_at, version_at, deleted_at)
  VALUES (?, 1, 7, 'reply', ?, 2, 1, 0, 'So do I', ?, ?, ?, ?, NULL)`;

const VERSION = `
  INSERT INTO post_versions (post_id, observed_at, title, content, board_id, status_id, votes_count, comments_count, deleted)
  VALUES (?, ?, ?, ?, 1, 3, 1, 0, 0)`;

const SENT = `
  INSERT INTO outbox (batch, source_key, kind, board, title, content, content_hash, created_at, changed_at)
  VALUES ('b', ?, 'owner', 'ideas', 'T', 'C', 't', ?, ?)`;

const RUN =
  "INSERT INTO sync_runs (resource, mode, started_at, outcome) VALUES ('posts', 'head', ?, 'complete')";

describe('an export', () => {
  it('has a definition of every table whose columns and statement agree', async (t) => {
    const { path } = await openMirror(t);
    const db = new Database(path, { readonly: true });
    t.after(() => db.close());
    for (const table of EXPORT_TABLES) {
      const found = db.prepare(TABLES[table].sql).columns();
      assert.equal(found.length, TABLES[table].columns.length, table);
      // A joined name is named after what it joins; all others are columns of that very name.
      for (const [i, { name }] of found.entries())
        if (
          !['creator', 'creator_email', 'board', 'status', 'post_title'].includes(
            TABLES[table].columns[i]?.name ?? '',
          )
        )
          assert.equal(name, TABLES[table].columns[i]?.name, table);
    }
  });

  it('has every row of every table, in the order of ids, names joined', async (t) => {
    const mirror = await openMirror(t);
    mirror.addPosts(1, 2500);
    mirror.addPosts(0, 0);
    mirror.addPosts(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, { extra: '{"a":[1]}' });
    mirror.run("INSERT INTO commented_posts VALUES (1, 'Post 1', '/p/1', NULL, ?, ?)", OLD, OLD);
    mirror.run(COMMENT, 5, '{"name":"Planned"}', OLD, OLD, OLD, OLD);
    mirror.run(SENT, 'k', OLD, OLD);
    const posts = await exported(mirror);
    const range = Array.from({ length: 2501 }, (_, i) => i);
    assert.deepEqual(ids(posts), [...range, Number.MAX_SAFE_INTEGER]);
    const { creator, creator_email, board, status, votes_count } = posts[1] ?? {};
    assert.deepEqual(
      [creator, creator_email, board, status, votes_count],
      ['Ada Lovelace', 'Ada@Example.com', 'Ideas', 'Planned', 2],
    );
    assert.deepEqual(posts.at(-1)?.extra, { a: [1] });
    const [comment] = await exported(mirror, { what: ['comments'] });
    assert.deepEqual(
      [comment?.post_title, comment?.highlighted, comment?.status],
      ['Post 1', true, { name: 'Planned' }],
    );
    for (const what of ['users', 'boards', 'statuses', 'outbox'] as const)
      assert.equal((await exported(mirror, { what: [what] })).length, 1, what);
  });

  it('tells the history of a post from its first version to the present one', async (t) => {
    const mirror = await openMirror(t);
    mirror.addPosts(1, 2, { at: NEW });
    mirror.run(VERSION, 2, OLD, 'Before', null);
    const history = await exported(mirror, { what: ['post_history'] });
    assert.deepEqual(
      history.map(({ post_id, observed_at, title, content }) => [post_id, observed_at, title, content]),
      [
        [1, NEW, 'Post 1', 'What 1 says'],
        [2, OLD, 'Before', 'What 2 says'],
        [2, NEW, 'Post 2', 'What 2 says'],
      ],
    );
    const since = await exported(mirror, { what: ['post_history'], since: '2026-03-01T00:00:00.000Z' });
    assert.deepEqual(
      since.map(({ post_id }) => post_id),
      [1, 2],
    );
  });

  it('shows deleted rows unless it is asked not to, and then not their history either', async (t) => {
    const mirror = await openMirror(t);
    mirror.addPosts(1, 1);
    mirror.addPosts(2, 2, { deleted_at: NEW });
    assert.deepEqual(
      (await exported(mirror)).map(({ deleted_at }) => deleted_at),
      [null, NEW],
    );
    assert.deepEqual(ids(await exported(mirror, { live: true })), [1]);
    const history = await exported(mirror, { what: ['post_history'], live: true });
    assert.deepEqual(
      history.map(({ post_id }) => post_id),
      [1],
    );
  });

  it('since a time has what was seen, changed, deleted or erased then, later, or in the minute before', async (t) => {
    const mirror = await openMirror(t);
    mirror.addPosts(1, 6);
    mirror.run('UPDATE posts SET changed_at = ? WHERE id = 2', NEW);
    mirror.run('UPDATE posts SET deleted_at = ? WHERE id = 3', NEW);
    mirror.run('UPDATE posts SET erased_at = ? WHERE id = 4', NEW);
    mirror.run("UPDATE posts SET changed_at = '2026-05-31T23:58:59.999Z' WHERE id = 5");
    mirror.run("UPDATE posts SET changed_at = '2026-05-31T23:59:00.000Z' WHERE id = 6");
    mirror.addPosts(3000, 3000, { at: NEW });
    assert.deepEqual(ids(await exported(mirror, { since: NEW })), [2, 3, 4, 6, 3000]);
    mirror.run(PERSON, 8, null, null, null, null, null, NEW, NEW);
    assert.deepEqual(ids(await exported(mirror, { what: ['users'], since: NEW })), [8]);
    mirror.run(SENT, 'k1', OLD, OLD);
    mirror.run(SENT, 'k2', OLD, NEW);
    assert.deepEqual(ids(await exported(mirror, { what: ['outbox'], since: NEW })), [2]);
  });

  it('since a time has what was written after the clock was set back to before it', async (t) => {
    const mirror = await openMirror(t);
    for (const at of ['12:00', '12:04', '11:50', '12:06']) mirror.run(RUN, `2026-05-01T${at}:00.000Z`);
    mirror.addPosts(1, 1, { at: '2026-05-01T10:49:00.000Z' });
    mirror.addPosts(2, 2, { at: '2026-05-01T11:49:00.000Z' });
    mirror.addPosts(3, 3, { at: '2026-05-03T00:00:00.000Z' });
    const since = async (time: string) => ids(await exported(mirror, { since: time }));
    // Whoever exported shortly after the last pass of the clock that was ahead may ask for more than any pass has reached.
    for (const time of ['01T11:51', '01T12:05', '02T12:03'])
      assert.deepEqual(await since(`2026-05-${time}:00.000Z`), [2, 3], time);
    assert.deepEqual(await since('2026-05-01T11:50:00.000Z'), [2, 3]);
    assert.deepEqual(await since('2026-05-02T12:07:00.000Z'), [3]);
  });

  it('since a time that a clock far ahead told has what came when it was set right, other times only their own', async (t) => {
    const mirror = await openMirror(t);
    const runs = ['2026-05-01', '2027-05-01', '2026-05-02', '2026-05-08', '2026-05-09'];
    for (const day of runs) mirror.run(RUN, `${day}T00:00:00.000Z`);
    mirror.addPosts(2, 2, { at: '2026-05-02T00:00:00.000Z' });
    mirror.addPosts(9, 9, { at: '2026-05-09T00:00:00.000Z' });
    assert.deepEqual(ids(await exported(mirror, { since: '2027-05-01T01:00:00.000Z' })), [2, 9]);
    assert.deepEqual(ids(await exported(mirror, { since: '2026-05-08T01:00:00.000Z' })), [9]);
  });

  it('is of one moment, whatever is written while it runs', async (t) => {
    const mirror = await openMirror(t);
    mirror.addPosts(1, 3000);
    const source = mirror.source();
    const to = { folder: join(mirror.folder, 'out') };
    let isChanged = false;
    const onProgress = (): void => {
      if (isChanged) return;
      isChanged = true;
      mirror.addPosts(3001, 3010);
      mirror.run("UPDATE users SET name = 'Countess'");
      mirror.run("UPDATE posts SET title = 'changed' WHERE id = 2999");
    };
    await exportMirror(source, request(to, { what: ['posts', 'users'], onProgress }));
    assert.ok(isChanged);
    const posts = rowsOf(join(to.folder, 'posts.ndjson'));
    assert.equal(posts.length, 3000);
    assert.equal(posts[2998]?.title, 'Post 2999');
    assert.equal(rowsOf(join(to.folder, 'users.ndjson'))[0]?.name, 'Ada Lovelace');
  });

  it('describes the files of the last export into a folder', async (t) => {
    const mirror = await openMirror(t);
    const folder = join(mirror.folder, 'out');
    await exportMirror(mirror.source(), request({ folder }, { what: ['users'] }));
    const { files } = await exportMirror(mirror.source(), request({ folder }, { what: ['posts'] }));
    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as object;
    assert.deepEqual(Reflect.get(manifest, 'files'), files);
  });

  it('since a time has every row of which an exported column changed, also by a rename or an erasure', async (t) => {
    const mirror = await openMirror(t);
    mirror.addPosts(1, 2);
    mirror.run("INSERT INTO commented_posts VALUES (1, 'Post 1', '/p/1', NULL, ?, ?)", OLD, OLD);
    mirror.run(COMMENT, 5, null, OLD, OLD, OLD, OLD);
    mirror.run(VERSION, 1, OLD, 'Before', 'Before');
    const since = (what: 'posts' | 'comments' | 'post_history' | 'comment_history') =>
      exported(mirror, { what: [what], since: NEW });
    assert.deepEqual(await since('posts'), []);
    for (const table of ['users', 'boards', 'statuses']) {
      mirror.run(`UPDATE ${table} SET name = name || '!', changed_at = ?`, NEW);
      assert.deepEqual(ids(await since('posts')), [1, 2], table);
      assert.deepEqual(ids(await since('comments')), table === 'users' ? [5] : [], table);
      mirror.run(`UPDATE ${table} SET changed_at = ?`, OLD);
    }
    mirror.run("UPDATE posts SET title = 'Other', changed_at = ?, version_at = ? WHERE id = 1", NEW, NEW);
    assert.deepEqual(
      (await since('comments')).map(({ post_title }) => post_title),
      ['Other'],
    );
    mirror.run('UPDATE posts SET changed_at = ?, version_at = ?', OLD, OLD);
    assert.deepEqual([await since('post_history'), await since('comment_history')], [[], []]);
    mirror.run('UPDATE post_versions SET erased_at = ? WHERE post_id = 1', NEW);
    mirror.run('UPDATE comments SET changed_at = ?', NEW);
    assert.equal((await since('post_history')).length, 2);
    assert.equal((await since('comment_history')).length, 1);
  });

  it('describes its files in a manifest: rows, columns, bytes and sha256, for every format', async (t) => {
    const mirror = await openMirror(t);
    mirror.addPosts(1, 5);
    for (const format of EXPORT_FORMATS) {
      const folder = join(mirror.folder, 'out', format);
      const manifest = await exportMirror(
        mirror.source(),
        request({ folder }, { what: EXPORT_TABLES, format }),
      );
      assert.deepEqual(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')), manifest);
      assert.deepEqual(
        manifest.files.map(({ what }) => what),
        [...EXPORT_TABLES],
      );
      for (const { name, bytes, sha256 } of manifest.files) {
        const content = readFileSync(join(folder, name));
        assert.deepEqual([content.length, hash('sha256', content)], [bytes, sha256], name);
        assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
      }
      assert.deepEqual(
        [manifest.files[0]?.rows, manifest.files[0]?.columns[0]],
        [5, { name: 'id', type: 'integer', nullable: false }],
      );
      assert.equal(statSync(folder).mode & 0o777, 0o700);
      assert.equal(readdirSync(folder).length, EXPORT_TABLES.length + 1);
    }
  });

  it('says in its manifest which rows it left out, and whether addresses are hidden', async (t) => {
    const mirror = await openMirror(t);
    mirror.addPosts(1, 2);
    const folder = join(mirror.folder, 'out');
    const optionsOf = async (changes: Parameters<typeof request>[1]): Promise<object> =>
      (await exportMirror(mirror.source(), request({ folder }, changes))).options;
    const all = { since: null, live: false, raw: false, redacted: null };
    assert.deepEqual(await optionsOf({}), all);
    assert.deepEqual(await optionsOf({ since: OLD, live: true }), { ...all, since: OLD, live: true });
    assert.deepEqual(await optionsOf({ format: 'csv', raw: true }), { ...all, raw: true });
    assert.deepEqual(await optionsOf({ redact: createRedactor(Buffer.alloc(32)) }), {
      ...all,
      redacted: 'emails',
    });
  });

  it('that is stopped half-way leaves older files as they were, and nothing of its own', async (t) => {
    const mirror = await openMirror(t);
    mirror.addPosts(1, 3000);
    const folder = join(mirror.folder, 'out');
    mkdirSync(folder);
    writeFileSync(join(folder, 'users.ndjson'), 'older');
    const stop = new AbortController();
    const onProgress = (table: string): void => {
      if (table === 'users') stop.abort(new AppError('interrupted', 'enough'));
    };
    const what = ['users', 'posts'] as const;
    const run = exportMirror(mirror.source(), request({ folder }, { what, signal: stop.signal, onProgress }));
    await assert.rejects(run, { code: 'interrupted' });
    assert.deepEqual(readdirSync(folder), ['users.ndjson']);
    assert.deepEqual(openFilesIn(folder), []);
    assert.equal(readFileSync(join(folder, 'users.ndjson'), 'utf8'), 'older');
  });

  it('removes only the temporary files that a killed run left of the same files', async (t) => {
    const mirror = await openMirror(t);
    const dead = `4194303-0123abcd-0123.part`;
    const sameNumber = `${process.pid}-0123abcd-0123.part`;
    const alive = `${process.ppid}-0123abcd-0123.part`;
    const leftovers = [`.posts.ndjson.${dead}`, `.posts.ndjson.${sameNumber}`, `.manifest.json.${dead}`];
    const others = [`.posts.ndjson.${alive}`, `.notes.txt.${dead}`, '.posts.ndjson.part'];
    for (const name of [...leftovers, ...others]) writeFileSync(join(mirror.folder, name), '');
    await exportMirror(mirror.source(), request({ folder: mirror.folder }));
    for (const name of leftovers) assert.ok(!existsSync(join(mirror.folder, name)), name);
    for (const name of others) assert.ok(existsSync(join(mirror.folder, name)), name);
  });

  it('says in a sentence where it cannot write', async (t) => {
    const mirror = await openMirror(t);
    const folder = join(mirror.path, 'out');
    const isTold = (error: unknown): boolean =>
      codeOf(error) === 'usage' && /a part of the path is no folder/.test(storageError(error)?.message ?? '');
    await assert.rejects(exportMirror(mirror.source(), request({ folder })), isTold);
  });

  it('lets others have their turn while it works, also where a filter lets nothing through', async (t) => {
    const mirror = await openMirror(t);
    mirror.addPosts(1, 8_000);
    for (const [format, since] of [
      ['csv', null],
      ['parquet', null],
      ['ndjson', NEW],
    ] as const) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      let turns = 0;
      let isOver = false;
      const turn = (): void => {
        turns++;
        if (!isOver) setImmediate(turn);
      };
      turn();
      delay.enable();
      const folder = join(mirror.folder, format);
      await exportMirror(mirror.source(), request({ folder }, { format, since })).finally(() => {
        isOver = true;
        delay.disable();
      });
      // One for each thousand rows at least.
      assert.ok(turns >= 8, `${format}: ${turns} turns`);
      t.diagnostic(`${format}: ${turns} turns, longest wait ${(delay.max / 1e6).toFixed(0)} ms`);
    }
  });
});
