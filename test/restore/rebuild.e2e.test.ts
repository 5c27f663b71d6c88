import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { systemClock } from '../../src/base/clock.ts';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import { openMirrorStore, readMirrorStatus } from '../../src/mirror/store/store.ts';
import { acceptPost } from '../../src/outbox/create.ts';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import { openPublishSource } from '../../src/publish/source.ts';
import { copyBackup, rebuildMirror } from '../../src/restore/rebuild.ts';
import { checkUp } from '../../src/upkeep/checkup.ts';
import { withPath } from '../db/folder.ts';
import { queryFile, UPSTREAM } from '../support/mirror.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';

const EMAIL = 'erika@example.com';

/** A mirror, and a data folder in which it is made again from its published rows. */
function lostMirror(path: string) {
  const lost = { path, upstream: UPSTREAM, holder: 'a test' };
  openMirrorStore(lost).close();
  const dataDir = join(dirname(path), 'found');
  mkdirSync(dataDir);
  const found = { ...lost, path: join(dataDir, 'mirror.db'), dataDir };
  return {
    lost,
    found,
    key: join(dirname(path), 'suppression.key'),
    foundKey: join(dataDir, 'suppression.key'),
    async rebuild(withoutKey = false) {
      const source = openPublishSource(lost);
      const rebuild = rebuildMirror(found.path, source.schemaVersion, { ...found, withoutKey });
      try {
        return await source.snapshot(async ({ rows, at, number, change }) => {
          for (const table of rebuild.tables) for (const row of rows(table, 'all')) rebuild.taker(table)(row);
          return rebuild.finish({ readAt: at, number, change, life: randomUUID() });
        });
      } finally {
        rebuild.close();
        source.close();
      }
    },
  };
}

/** The same, after it has erased one person. */
function erasedMirror(path: string) {
  const mirror = lostMirror(path);
  const erasure = openErasureStore(mirror.lost);
  erasure.suppress(EMAIL, Date.now());
  erasure.close();
  return mirror;
}

describe('a mirror made again from its copy', () => {
  for (const [key, words] of [
    ['missing', /1 erased person, and its key, .*suppression\.key, is missing/],
    ['another one', /1 erased person, and its key, .*suppression\.key, is another one/],
  ] as const)
    it(`is refused where the key of the suppression list is ${key}`, () =>
      withPath(async (path) => {
        const { foundKey, rebuild } = erasedMirror(path);
        if (key === 'another one') writeFileSync(foundKey, 'another\n');
        await assert.rejects(rebuild(), { code: 'usage', message: words });
      }));

  it('without the key keeps the list, tells that it cannot be read, and takes no page in until it can', () =>
    withPath(async (path) => {
      const { lost, found, key, foundKey, rebuild } = erasedMirror(path);
      const { unreadableList } = await rebuild(true);
      assert.deepEqual(unreadableList, { erasures: 1, keyFile: foundKey, fault: 'is missing' });
      const store = openMirrorStore(found);
      const page = [aPost(1, { creator: { ...aPost(1).creator, id: 900, email: EMAIL } })];
      assert.throws(() => sweep(store, 'posts', page, 1), { code: 'usage', message: /would come back/ });
      const list = 'SELECT hash FROM suppressions';
      assert.deepEqual(queryFile(found.path, list), queryFile(lost.path, list));
      assert.deepEqual(readMirrorStatus(found).unreadableList, unreadableList);
      assert.deepEqual(checkUp(found).unreadableList, unreadableList);
      copyFileSync(key, foundKey);
      assert.equal(readMirrorStatus(found).unreadableList, null);
      sweep(store, 'posts', page, 2);
      assert.deepEqual(queryFile(found.path, 'SELECT id, email FROM users'), [{ id: 900, email: null }]);
      store.close();
    }));

  it('looks for a call under a key that it does not know, also after a sweep, and for none without a key', () =>
    withPath(async (path) => {
      const { found, rebuild } = lostMirror(path);
      await rebuild();
      const store = openMirrorStore(found);
      sweep(store, 'posts', [], 60 * 24 * 365 * 100);
      store.close();
      assert.equal(readMirrorStatus(found).olderCopy, null, 'it is settled');
      const outbox = openOutboxStore(found);
      const deps = { store: outbox, clock: systemClock, random: Math.random };
      const post = { board: 'bugs', title: 'Blank page', content: 'On Safari', email: null, full_name: null };
      assert.equal(acceptPost(deps, post, 'order-4711')?.state, 'ambiguous');
      assert.equal(acceptPost(deps, post, null)?.state, 'ready');
      outbox.close();
    }));
});

describe('a mirror restored from a file of somebody else', () => {
  it('has the triggers and views of this program and no others', () =>
    withPath((path) => {
      const { lost, found } = lostMirror(path);
      const clean = programOf(lost.path);
      const db = new Database(lost.path);
      db.exec(`CREATE TRIGGER later AFTER INSERT ON posts BEGIN DELETE FROM outbox; END;
               CREATE TRIGGER "a ""name" AFTER UPDATE ON meta BEGIN DELETE FROM outbox; END;
               DROP VIEW live_posts;
               CREATE VIEW live_posts AS SELECT 'forged' AS title;
               CREATE TRIGGER instead INSTEAD OF INSERT ON live_posts BEGIN DELETE FROM outbox; END;`);
      db.close();
      copyBackup(lost.path, found.path, { ...found, withoutKey: false });
      assert.deepEqual(programOf(found.path), clean);
    }));
});

function programOf(path: string): unknown[] {
  const db = new Database(path, { readonly: true });
  try {
    return db
      .prepare("SELECT name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name")
      .all();
  } finally {
    db.close();
  }
}
