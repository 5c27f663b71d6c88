import { join } from 'node:path';
import type { TestContext } from 'node:test';
import Database from 'better-sqlite3';
import type { ExportRequest } from '../../src/export/export.ts';
import { type ExportSource, openExportSource } from '../../src/export/store/export.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import { fakeClock } from '../support/clock.ts';
import { folderFor } from '../support/folder.ts';
import { placeNewMirror } from '../support/mirror.ts';

export const UPSTREAM = 'https://upstream.test/api';
export const OLD = '2026-01-01T00:00:00.000Z';
export const NEW = '2026-06-01T00:00:00.000Z';

/** A mirror of a few hand-made rows, and a folder to export it to. */
export interface ExportMirror {
  path: string;
  folder: string;
  /** Writes to the mirror as another process would. */
  run(sql: string, ...values: (string | number | null)[]): void;
  /** The mirror as it is now, closed after the test. */
  source(): ExportSource;
  addPosts(first: number, last: number, changes?: Partial<Row>): void;
}

interface Row {
  title: string;
  content: string;
  at: string;
  deleted_at: string | null;
  extra: string | null;
}

export async function openMirror(t: TestContext): Promise<ExportMirror> {
  const folder = folderFor(t, 'export');
  const path = join(folder, 'mirror.db');
  placeNewMirror(path);
  await openMirrorStore({ path, upstream: UPSTREAM, holder: 'a test' }).close();
  const db = new Database(path);
  const open: { close(): void }[] = [];
  t.after(() => {
    for (const one of open) one.close();
    db.close();
  });
  const insert = (sql: string, ...values: (string | number | null)[]): void => {
    db.prepare(sql).run(...values);
  };
  insert("INSERT INTO boards VALUES (1, 'Ideas', '/b/ideas', 'ideas', NULL, ?, ?)", OLD, OLD);
  insert("INSERT INTO statuses VALUES (3, 'Planned', '#00ff00', NULL, ?, ?)", OLD, OLD);
  insert(PERSON, 7, 'Ada@Example.com', 'Ada Lovelace', 'ada', OLD, null, OLD, OLD);
  return {
    path,
    folder,
    run: insert,
    source() {
      const source = openExportSource({ path, upstream: UPSTREAM });
      open.push(source);
      return source;
    },
    addPosts(first, last, changes = {}) {
      const add = db.prepare(POST);
      const { title, content, at = OLD, deleted_at = null, extra = null } = changes;
      db.transaction(() => {
        for (let id = first; id <= last; id++)
          add.run(
            id,
            title ?? `Post ${id}`,
            content ?? `What ${id} says`,
            `/p/${id}`,
            id * 2,
            at,
            extra,
            at,
            at,
            at,
            deleted_at,
          );
      })();
    },
  };
}

export const PERSON = `
  INSERT INTO users (id, email, name, alias, registered, extra, first_seen_at, changed_at, is_admin, is_team)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, 0)`;

const POST = `
  INSERT INTO posts (id, title, content, url, creator_id, board_id, status_id, votes_count, comments_count, created,
                     extra, first_seen_at, changed_at, version_at, deleted_at)
  VALUES (?, ?, ?, ?, 7, 1, 3, ?, 0, ?, ?, ?, ?, ?, ?)`;

/** Everything as a person gets it who says nothing special. */
export function request(to: ExportRequest['to'], changes: Partial<ExportRequest> = {}): ExportRequest {
  return {
    what: ['posts'],
    format: 'ndjson',
    to,
    since: null,
    live: false,
    raw: false,
    redact: null,
    clock: fakeClock(),
    signal: new AbortController().signal,
    ...changes,
  };
}
