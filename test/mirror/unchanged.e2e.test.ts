import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import type { Comment, Post } from '../../src/contract/decode.ts';
import type { Resource } from '../../src/contract/endpoints.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { MIRRORED, openTestMirror } from '../support/mirror.ts';
import { aComment, aPost, range } from '../support/rows.ts';
import { begin, conclude, show } from '../support/steps.ts';
import * as wire from '../support/wire.ts';

const ROWS = 20_000;
const PAGE = 100;
const MOST_BYTES_A_ROW = 10;
/** Everything but the books about passes. */
const TABLES = [
  ...[...MIRRORED, 'post_versions', 'comment_versions'],
  ...['posts_text_data', 'posts_text_idx', 'posts_text_docsize', 'posts_text_config', 'meta'],
  ...['absences', 'quarantine', 'list_pages', 'sweep_pages', 'returned_rows'],
];

describe('a sweep that finds nothing new', () => {
  it('leaves every table as it was, row by row, and logs less than 10 bytes a row', async (t) => {
    const mirror = await openTestMirror();
    try {
      await sweepAll(mirror.store, 1);
      while (await mirror.store.index());
      const before = digest(mirror.path);
      emptyLog(mirror.path);

      await sweepAll(mirror.store, 2);
      const bytes = statSync(`${mirror.path}-wal`).size / (2 * ROWS);
      t.diagnostic(`${bytes.toFixed(1)} bytes a row in the write-ahead log`);
      assert.deepEqual(digest(mirror.path), before);
      assert.ok(bytes < MOST_BYTES_A_ROW, `${bytes} bytes a row`);
    } finally {
      await mirror.dispose();
    }
  });
});

async function sweepAll(store: MirrorStore, at: number): Promise<void> {
  const ids = range(1, ROWS).reverse();
  await sweepRows(store, 'posts', at, ids.map(post));
  await sweepRows(store, 'comments', at, ids.map(comment));
}

/** As the engine does it: newest first, with the ids of each page, and a state the size of a real one. */
async function sweepRows(
  store: MirrorStore,
  resource: Resource,
  at: number,
  rows: (Post | Comment)[],
): Promise<void> {
  const pass = await begin(store, resource, at);
  for (let i = 0; i < rows.length; i += PAGE) {
    const state = i + PAGE < rows.length ? JSON.stringify({ i, filler: 'x'.repeat(600) }) : null;
    show(store, pass, rows.slice(i, i + PAGE), at, { state });
  }
  conclude(store, pass, at);
}

const post = (id: number): Post =>
  aPost(id, {
    creator: creator(id),
    board: { id: id % 5, name: `Board ${id % 5}`, url: `/b/board-${id % 5}` },
    content: `Words about number ${id}. `.repeat(10),
  });

const comment = (id: number): Comment =>
  aComment(id, { creator: creator(id), post: { id: id % 977, title: 'A post', url: '/p' }, pinned: id % 2 });

const creator = (id: number) => ({ ...wire.user, id: id % 3000, name: `User ${id % 3000}`, badge: 'gold' });

function digest(path: string): Record<string, string> {
  const db = new Database(path, { readonly: true });
  try {
    return Object.fromEntries(TABLES.map((table) => [table, digestOf(db, table)]));
  } finally {
    db.close();
  }
}

function digestOf(db: Database.Database, table: string): string {
  const hash = createHash('sha256');
  for (const row of db.prepare(`SELECT * FROM ${table} ORDER BY 1`).raw().iterate())
    hash.update(JSON.stringify(row));
  return hash.digest('hex');
}

/** From here on the size of the log is what was written. */
function emptyLog(path: string): void {
  const db = new Database(path);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  assert.equal(statSync(`${path}-wal`).size, 0);
}
