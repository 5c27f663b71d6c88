import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openSqliteStore } from '../../src/store/mirror/sqlite.ts';
import type { Mirror } from './conformance/mirror.ts';
import { holdLock } from './holder.ts';
import { sqliteReader } from './sqlite-reader.ts';

export const UPSTREAM = 'https://upstream.test/api';

export interface SqliteMirror extends Mirror {
  path: string;
}

export async function openSqliteMirror(): Promise<SqliteMirror> {
  const folder = mkdtempSync(join(tmpdir(), 'feedback-mirror-store-'));
  const path = join(folder, 'mirror.db');
  const open = (holder: string) => openSqliteStore({ path, upstream: UPSTREAM, holder });
  const mirror: SqliteMirror = {
    path,
    store: open('the first'),
    upstream: UPSTREAM,
    read: sqliteReader(path),
    async reopen() {
      await mirror.store.close();
      mirror.store = open('the next');
    },
    another: () => open('another'),
    holdElsewhere: (resource) => holdLock({ path, upstream: UPSTREAM, resource }),
    async dispose() {
      await mirror.store.close();
      assertWhole(path);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return mirror;
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
