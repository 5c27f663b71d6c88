import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import Database from 'better-sqlite3';
import type { Resource } from '../../src/contract/endpoints.ts';
import { openForWriting } from '../../src/db/open.ts';
import { closeAfter, dropMeta } from '../../src/db/sql.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import { searchable } from '../../src/text/words.ts';
import { temporaryFolder } from './folder.ts';
import { holdLock } from './holder.ts';

/** The tables of what the upstream shows now. */
export const MIRRORED = ['users', 'boards', 'statuses', 'posts', 'comments', 'commented_posts'] as const;

export const UPSTREAM = 'https://upstream.test/api';

export type Row = Record<string, unknown>;

export type Mirror = ReturnType<typeof openTestMirror>;

let migrated: Buffer | undefined;

/**
 * Puts the file of a new mirror in place, with the tables and without an owner: whoever opens it first claims it. The migrations run once
 * in a process and are copied from there: on each new file they took 45 ms of processor time, a quarter of all that the units took.
 */
export function placeNewMirror(path: string): void {
  migrated ??= migratedFile();
  writeFileSync(path, migrated, { mode: 0o600, flag: 'wx' });
}

function migratedFile(): Buffer {
  const folder = temporaryFolder('migrated');
  const path = join(folder, 'mirror.db');
  try {
    closeAfter(openForWriting({ path, upstream: UPSTREAM }), (db) => dropMeta(db, 'upstream'));
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A mirror in a folder of its own. */
export function openTestMirror() {
  const folder = temporaryFolder('store');
  const path = join(folder, 'mirror.db');
  placeNewMirror(path);
  const open = (holder: string) => openMirrorStore({ path, upstream: UPSTREAM, holder });
  const mirror = {
    path,
    store: open('the first'),
    upstream: UPSTREAM,
    read: mirrorReader(path),
    /** As after a crash: what was not finished stays so, and `store` is a new one on the same data. */
    reopen() {
      mirror.store.close();
      mirror.store = open('the next');
    },
    /** A second store on the same data, as another process would open it. */
    another: () => open('another'),
    holdElsewhere: (resource: Resource) => holdLock({ path, upstream: UPSTREAM, resource }),
    /** Checks that the data is whole, and removes it. */
    dispose() {
      mirror.store.close();
      assertWhole(path);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return mirror;
}

/** A test on an empty mirror of its own, which must be whole at the end. */
export function story(name: string, play: (mirror: Mirror) => Promise<void>): void {
  it(name, async () => {
    const mirror = openTestMirror();
    try {
      await play(mirror);
    } finally {
      mirror.dispose();
    }
  });
}

export function assertWhole(path: string): void {
  const db = new Database(path);
  try {
    assert.equal(db.pragma('integrity_check', { simple: true }), 'ok');
    assert.deepEqual(db.pragma('foreign_key_check'), []);
  } finally {
    db.close();
  }
}

type TableName = (typeof MIRRORED)[number] | 'quarantine' | 'live_posts' | 'live_comments';

/** Reads a mirror as anyone with SQL would: through its tables and views, on a handle of its own. */
export function mirrorReader(path: string) {
  return {
    /** All rows, lowest id first. */
    table: (name: TableName) => query(path, `SELECT * FROM ${name} ORDER BY id`),
    /** Oldest version first. */
    postHistory: (id: number) =>
      query(path, 'SELECT * FROM post_history WHERE post_id = ? ORDER BY observed_at', id),
    commentHistory: (id: number) =>
      query(path, 'SELECT * FROM comment_history WHERE comment_id = ? ORDER BY observed_at', id),
    /** Ids of live posts with these words in title or content, lowest first. */
    search: (words: string) => query(path, SEARCH, words).map((row) => row.id as number),
    /** Throws where the index and the texts it was made from disagree. */
    checkTextIndex: () => checkTextIndex(path),
    votesAt: (id: number, at: string) =>
      (query(path, VOTES_AT, id, at)[0]?.votes_count ?? null) as number | null,
    statusChanges: (id: number) => query(path, STATUS_CHANGES, id) as { at: string; status_id: number }[],
    /** Milliseconds spent in each status up to a moment, by status. */
    timeInStatus: (id: number, until: string) =>
      Object.fromEntries(query(path, TIME_IN_STATUS, until, id, until).map((r) => [r.status_id, r.ms])),
  };
}

export function liveIds(read: Mirror['read']): number[] {
  return read.table('live_posts').map((row) => row.id as number);
}

const SEARCH = `
  SELECT p.id FROM posts_text t JOIN posts p ON p.id = t.rowid
   WHERE t.posts_text MATCH ? AND p.deleted_at IS NULL ORDER BY p.id`;

const VOTES_AT = `
  SELECT votes_count FROM post_history WHERE post_id = ? AND observed_at <= ? ORDER BY observed_at DESC LIMIT 1`;

const STATUS_CHANGES = `
  SELECT observed_at AS at, status_id
    FROM (SELECT observed_at, status_id, lag(status_id) OVER (ORDER BY observed_at) AS before
            FROM post_history WHERE post_id = ?)
   WHERE before IS NOT status_id ORDER BY observed_at`;

const TIME_IN_STATUS = `
  SELECT status_id, CAST(round(sum(julianday(until) - julianday(observed_at)) * 86400000) AS INTEGER) AS ms
    FROM (SELECT status_id, deleted, observed_at, lead(observed_at, 1, ?) OVER (ORDER BY observed_at) AS until
            FROM post_history WHERE post_id = ? AND observed_at < ?)
   WHERE deleted = 0 GROUP BY status_id`;

/** Rows of a mirror file, through a handle of its own. */
export function queryFile<T>(path: string, sql: string, ...values: (string | number)[]): T[] {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare<(string | number)[], T>(sql).all(...values);
  } finally {
    db.close();
  }
}

/** As after weeks of sweeps in which no row came back: from then on, two sweeps show that a row of a short list is gone too. */
export function watchForWeeks(path: string): void {
  const db = new Database(path);
  try {
    db.exec(
      "UPDATE sync_state SET learned = json_set(learned, '$.absences.sweeps', 40) WHERE learned IS NOT NULL",
    );
  } finally {
    db.close();
  }
}

function query(path: string, sql: string, ...values: (string | number)[]): Row[] {
  return queryFile<Row>(path, sql, ...values);
}

/** The index is compared with itself, and with one made anew of the texts: the same words at the same places, and no others. */
function checkTextIndex(path: string): void {
  const db = new Database(path);
  try {
    db.exec("INSERT INTO posts_text (posts_text) VALUES ('integrity-check')");
    db.function('searchable', (text) => searchable(String(text)));
    const definition = db
      .prepare<[], string>("SELECT sql FROM sqlite_schema WHERE name = 'posts_text'")
      .pluck()
      .get();
    db.exec(`${definition?.replace('posts_text', 'temp.anew').replace(/content = .*/, '')};
      INSERT INTO temp.anew (rowid, title, content) SELECT id, searchable(title), searchable(content) FROM posts;
      CREATE VIRTUAL TABLE temp.stored_words USING fts5vocab ('main', 'posts_text', 'instance');
      CREATE VIRTUAL TABLE temp.anew_words USING fts5vocab ('temp', 'anew', 'instance');`);
    for (const [one, other] of [
      ['stored_words', 'anew_words'],
      ['anew_words', 'stored_words'],
    ])
      assert.deepEqual(db.prepare(`SELECT * FROM ${one} EXCEPT SELECT * FROM ${other} LIMIT 5`).all(), []);
  } finally {
    db.close();
  }
}
