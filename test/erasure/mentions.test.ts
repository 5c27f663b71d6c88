import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { compact, noteUnclean } from '../../src/db/open.ts';
import { type Erased, erasePerson } from '../../src/erasure/erase.ts';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import { openRecoveryLog } from '../../src/mirror/log/recovery-log.ts';
import { type MirrorStore, openMirrorStore } from '../../src/mirror/store/store.ts';
import { fakeClock } from '../support/clock.ts';
import { folderFor } from '../support/folder.ts';
import { placeNewMirror } from '../support/mirror.ts';
import { aComment, aPost, minute } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';

const EMAIL = 'zoe@planted.example';

/** Every column in which somebody else may have written the address, but for the outbox and the quarantine. */
const WORDS = {
  posts: ['title', 'content', 'url'],
  post_versions: ['title', 'content'],
  comments: ['content'],
  comment_versions: ['content'],
  commented_posts: ['title', 'url'],
  users: ['name', 'alias'],
  boards: ['name', 'url', 'slug'],
  statuses: ['name', 'color'],
  saved_queries: ['name', 'sql'],
  saved_views: ['name', 'address'],
  sync_runs: ['error'],
};
const JSON_WORDS = {
  posts: ['extra'],
  comments: ['extra', 'status'],
  comment_versions: ['status'],
  commented_posts: ['extra'],
  users: ['extra'],
  boards: ['extra'],
  statuses: ['extra'],
};

interface Opened {
  store: MirrorStore;
  db: Database.Database;
  erase(): Promise<Erased>;
  column(table: string, column: string): unknown[];
}

function open(t: TestContext): Opened {
  const options = {
    path: join(folderFor(t, 'mentions'), 'mirror.db'),
    upstream: 'http://u.test',
    holder: 't',
  };
  placeNewMirror(options.path);
  const store = openMirrorStore(options);
  const db = new Database(options.path);
  const erasure = openErasureStore(options);
  t.after(() => [erasure, store, db].map((one) => one.close()));
  const { signal } = new AbortController();
  const context = { store: erasure, clock: fakeClock(minute(9)), signal, compact: async () => true };
  return {
    store,
    db,
    erase: () => erasePerson(context, EMAIL),
    column: (table, column) => db.prepare(`SELECT DISTINCT ${column} FROM ${table}`).pluck().all(),
  };
}

function each(tables: Record<string, string[]>, use: (table: string, column: string) => void): void {
  for (const [table, columns] of Object.entries(tables)) for (const column of columns) use(table, column);
}

describe('an address in what others wrote', () => {
  it('is taken out of every column that can hold it, and nothing else of the text is', async (t) => {
    const { store, db, erase, column } = open(t);
    for (const n of [1, 2]) {
      await sweep(store, 'posts', [aPost(1, { votes_count: n, title: `Title ${n}` })]);
      await sweep(store, 'comments', [aComment(1, { likes_count: n, content: `Text ${n}` })]);
    }
    db.exec(
      `INSERT INTO saved_queries (name, sql, created_at, changed_at) VALUES ('mine', 'SELECT 1', '', '');
       INSERT INTO saved_views (name, address, created_at, changed_at) VALUES ('mine', '/posts', '', '')`,
    );
    each(WORDS, (table, name) =>
      assert.ok(db.prepare(`UPDATE ${table} SET ${name} = 'ask ' || ?`).run(EMAIL).changes > 0, table),
    );
    each(JSON_WORDS, (table, name) =>
      db.prepare(`UPDATE ${table} SET ${name} = ?`).run(JSON.stringify({ by: `ask ${EMAIL}` })),
    );
    await erase();
    each(WORDS, (table, name) => assert.deepEqual(column(table, name), ['ask [erased]'], `${table}.${name}`));
    each(JSON_WORDS, (table, name) =>
      assert.deepEqual(column(table, name), ['{"by":"ask [erased]"}'], `${table}.${name}`),
    );
  });

  it('takes name and alias along in objects that name the person, also when they are read again', async (t) => {
    const { store, erase, column } = open(t);
    const zoe = { ...wire.user, id: 50, email: EMAIL, name: 'Zoe Zyx', alias: 'zyx' };
    const { email: _, ...byNumber } = zoe;
    const status = { id: 2, name: 'Planned', changed_by: zoe };
    const read = async (at: number) => {
      await sweep(store, 'posts', [aPost(1, { last_editor: byNumber }), aPost(2, { creator: zoe })], at);
      await sweep(
        store,
        'comments',
        [aComment(1, { status, likes_count: at, liked_by: [zoe] }), aComment(2, { status, creator: zoe })],
        at,
      );
    };
    for (const at of [1, 2]) await read(at);
    await erase();
    for (const at of [20, 21]) {
      for (const [table, name] of [
        ['posts', 'extra'],
        ['comments', 'extra'],
        ['comments', 'status'],
        ['comment_versions', 'status'],
      ] as const)
        assert.doesNotMatch(JSON.stringify(column(table, name)), /zyx|planted/i, `${table}.${name}`);
      assert.match(String(column('comments', 'status')[0]), /"name":"Planned"/);
      await read(at);
    }
  });

  it('is taken out of a saved view whose link encodes it', async (t) => {
    const { db, erase, column } = open(t);
    db.exec(`INSERT INTO saved_views (name, address, created_at, changed_at)
             VALUES ('mine', '/posts?search=by+%7Aoe%40planted.example', '', '')`);
    await erase();
    assert.deepEqual(column('saved_views', 'address'), ['/posts?search=by+%5Berased%5D']);
  });

  it('is taken out in other spellings, and stays so when the text is read again', async (t) => {
    const { store, erase, column } = open(t);
    const read = () => sweep(store, 'posts', [aPost(1, { content: 'ask zoe [at] planted.example' })]);
    await read();
    await erase();
    assert.deepEqual(column('posts', 'content'), ['ask [erased]']);
    await read();
    assert.deepEqual(column('posts', 'content'), ['ask [erased]']);
  });

  it('is taken out of the names of boards and statuses, and stays so when they are read again', async (t) => {
    const { store, db, erase, column } = open(t);
    const url = `https://u.test/b/${EMAIL}`;
    const row = {
      board: { ...wire.post.board, name: `For ${EMAIL}`, url },
      status: { ...wire.post.status, name: `Asked ${EMAIL}` },
    };
    const check = () => {
      assert.deepEqual(column('boards', 'name'), ['For [erased]']);
      assert.deepEqual(column('boards', 'url'), ['https://u.test/b/[erased]']);
      assert.deepEqual(column('boards', 'slug'), ['[erased]']);
      assert.deepEqual(column('statuses', 'name'), ['Asked [erased]']);
    };
    await sweep(store, 'posts', [aPost(1, row)]);
    await erase();
    check();
    const told = db.prepare('SELECT type FROM changes ORDER BY n').pluck();
    assert.deepEqual(told.all().slice(-2), ['board.erased', 'status.erased']);
    const before = told.all().length;
    // After what was erased: a page from before it would change nothing in any case.
    await sweep(store, 'posts', [aPost(1, row)], 30);
    check();
    assert.equal(told.all().length, before);
  });

  it('is taken out of the names of other people, whichever list shows them', async (t) => {
    const { store, erase, column } = open(t);
    await erase();
    const friend = (id: number) => ({
      ...wire.user,
      id,
      email: null,
      name: `Friend of ${EMAIL}`,
      alias: EMAIL,
    });
    await sweep(store, 'posts', [aPost(1, { creator: friend(8) })], 30);
    await sweep(store, 'comments', [aComment(1, { creator: friend(9) })], 30);
    assert.deepEqual(column('users', 'name'), ['Friend of [erased]']);
    assert.deepEqual(column('users', 'alias'), ['[erased]']);
  });

  it('stays in a row of the outbox that is not settled, with its key, and is told; it goes from any other', async (t) => {
    const { db, erase } = open(t);
    const states = ['ready', 'sending', 'ambiguous', 'uncertain', 'rejected', 'confirmed', 'cancelled'];
    for (const state of states)
      db.prepare(`
        INSERT INTO outbox (batch, source_key, kind, board, title, content, content_hash, created_at, changed_at, state, post_id)
        VALUES ('b', ?, 'owner', 'ideas', ?, '', ?, '', '', ?, ?)`).run(
        `key:${state}:${EMAIL}`,
        `As ${EMAIL} says`,
        state,
        state,
        state === 'confirmed' ? 1 : null,
      );
    const { unsettled, counts } = await erase();
    const rows = db.prepare<[], { id: number; title: string; key: string }>(
      'SELECT id, title, source_key AS key FROM outbox ORDER BY id',
    );
    assert.deepEqual([unsettled, counts.mentions], [[1, 2, 3], 4]);
    for (const { id, title, key } of rows.all())
      assert.deepEqual(
        [title, key],
        id <= 3
          ? [`As ${EMAIL} says`, `key:${states[id - 1]}:${EMAIL}`]
          : ['As [erased] says', `erased:${id}`],
      );
  });

  it('is taken out of what an attempt failed with, where the row itself does not name it', async (t) => {
    const { db, erase, column } = open(t);
    db.exec(`
      INSERT INTO outbox (id, batch, source_key, kind, board, title, content, content_hash, created_at, changed_at, state)
      VALUES (1, 'b', 'k', 'owner', 'ideas', 'Title', '', 'hash', '', '', 'rejected');
      INSERT INTO outbox_attempts (outbox_id, n, started_at, deadline_at, error) VALUES (1, 1, '', '', 'no ${EMAIL}')`);
    await erase();
    assert.deepEqual(column('outbox_attempts', 'error'), [null]);
  });
});

describe('an address in a post that an agent proposed', () => {
  it('is taken out, and the post is not sent any more', async (t) => {
    const { db, erase } = open(t);
    db.exec(`
      INSERT INTO outbox (id, batch, source_key, kind, board, title, content, content_hash, created_at, changed_at, state)
      VALUES (1, 'b', 'k', 'owner', 'ideas', 'As ${EMAIL} says', 'Title', 'hash', '', '', 'proposed')`);
    await erase();
    const row = db.prepare('SELECT title, state, erased_at IS NOT NULL AS erased FROM outbox').get();
    assert.deepEqual(row, { title: 'As [erased] says', state: 'cancelled', erased: 1 });
  });
});

describe('a person who is erased', () => {
  it('has rows of the outbox counted that may have left a post, and those that were not sent', async (t) => {
    const { db, erase } = open(t);
    for (const state of ['ready', 'proposed', 'ambiguous', 'uncertain', 'rejected'])
      db.prepare(`
        INSERT INTO outbox (batch, source_key, kind, board, title, content, email, content_hash, created_at, changed_at, state)
        VALUES ('b', ?, 'as-user', 'ideas', 'Mine', '', ?, ?, '', '', ?)`).run(state, EMAIL, state, state);
    assert.partialDeepStrictEqual((await erase()).counts, { outbox: 5, cancelled: 2, unclear: 2 });
  });
});

describe('a person who was erased and comes back', () => {
  const zoe = { ...wire.user, id: 900, email: EMAIL };

  it('has an empty text as before, and no other', async (t) => {
    const { store, erase, column } = open(t);
    await erase();
    await sweep(store, 'posts', [aPost(1, { creator: zoe, title: 'Mine', content: '' })], 30);
    await sweep(store, 'comments', [aComment(1, { creator: zoe, content: '' })], 30);
    assert.deepEqual(
      [column('posts', 'title'), column('posts', 'content'), column('comments', 'content')],
      [['[erased]'], [''], ['']],
    );
  });

  it('under another number is known by that one too', async (t) => {
    const { store, erase, column } = open(t);
    await erase();
    await sweep(store, 'posts', [aPost(1, { creator: zoe })]);
    assert.deepEqual(column('suppressed_users', 'user_id'), [900]);
  });

  it('has a title erased that a comment had brought before the post of theirs came', async (t) => {
    const { store, erase, column } = open(t);
    await erase();
    await sweep(store, 'comments', [aComment(1, { post: { id: 5, title: 'My wish', url: '/p/5' } })]);
    assert.deepEqual(column('commented_posts', 'title'), ['My wish']);
    await sweep(store, 'posts', [aPost(5, { creator: zoe, title: 'My wish' })]);
    assert.deepEqual(column('commented_posts', 'title'), ['[erased]']);
    assert.deepEqual(column('commented_posts', 'url'), ['']);
  });
});

describe('rewriting the file', () => {
  it('leaves the mark of what was erased meanwhile', async (t) => {
    const { db } = open(t);
    noteUnclean(db);
    const meanwhile = new Proxy(db, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name === 'exec')
          return (sql: string) => {
            target.exec(sql);
            noteUnclean(target);
          };
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    assert.equal(compact(meanwhile), true);
    const isUnclean = () => db.prepare("SELECT 1 FROM meta WHERE key = 'unclean'").get() !== undefined;
    assert.equal(isUnclean(), true);
    assert.equal(compact(db), true);
    assert.equal(isUnclean(), false);
  });
});

describe('the connection that erases', () => {
  it('flushes at each commit, so that an erasure survives a power cut', (t) => {
    const path = join(folderFor(t, 'erasure'), 'mirror.db');
    placeNewMirror(path);
    const pragmas = t.mock.method(Database.prototype, 'pragma');
    openErasureStore({ path, upstream: 'http://u.test', holder: 'test' }).close();
    const set = pragmas.mock.calls.filter(({ this: db }) => (db as Database.Database).name === path);
    const texts = set.map(({ arguments: [text] }) => text).filter((text) => text.startsWith('synchronous'));
    assert.equal(texts.at(-1), 'synchronous = FULL');
  });
});

describe('the log of the data folder', () => {
  it('knows a user under the last hash that was noted, until that is taken back', (t) => {
    const folder = folderFor(t, 'log');
    const log = openRecoveryLog({ path: join(folder, 'mirror.db'), upstream: 'http://u.test' });
    t.after(() => log.close());
    for (const hash of ['one', 'two'])
      log.addErasures({ keyCheck: hash, hashes: [{ hash, since: '' }], users: [{ user_id: 7, hash }] });
    assert.deepEqual(log.erasures().users, [{ user_id: 7, hash: 'two' }]);
    log.removeErasure('one');
    assert.deepEqual(log.erasures(), {
      keyCheck: 'two',
      hashes: [{ hash: 'two', since: '' }],
      users: [{ user_id: 7, hash: 'two' }],
    });
    log.removeHashes();
    assert.deepEqual(log.erasures(), { keyCheck: null, hashes: [], users: [{ user_id: 7, hash: 'two' }] });
  });

  it('is flushed at each commit: a claim is on disk before its first byte leaves', (t) => {
    const pragmas = t.mock.method(Database.prototype, 'pragma');
    openRecoveryLog({ path: join(folderFor(t, 'log'), 'mirror.db'), upstream: 'http://u.test' }).close();
    assert.ok(pragmas.mock.calls.some(({ arguments: [text] }) => text === 'synchronous = FULL'));
  });
});
