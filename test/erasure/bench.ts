import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { type Erased, erasePerson } from '../../src/erasure/erase.ts';
import { eraseExpired, type RetentionResult } from '../../src/erasure/retention.ts';
import type { ErasureStore } from '../../src/erasure/store/store.ts';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import type { NewRow } from '../../src/outbox/decide/types.ts';
import type { OutboxStore } from '../../src/outbox/store/store.ts';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import { runFileTask } from '../../src/upkeep/file-tasks.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { folderFor } from '../support/folder.ts';
import { MIRRORED, placeNewMirror, queryFile } from '../support/mirror.ts';
import { minute } from '../support/rows.ts';

/** A mirror in a folder of its own, open as the service has it open, and what erases from it. */
export interface ErasureBench {
  folder: string;
  path: string;
  store: MirrorStore;
  outbox: OutboxStore;
  erasure: ErasureStore;
  clock: FakeClock;
  erase(email: string): Promise<Erased>;
  expire(keepMs: number | 'never', at: number): Promise<RetentionResult>;
  query<T>(sql: string): T[];
  /** Puts rows into the outbox; returns their ids. */
  accept(...rows: Partial<NewRow>[]): Promise<number[]>;
  /** Those of the texts that stand in any file of the folder, in any case of letters, as `file: text`. */
  found(texts: readonly string[]): string[];
}

const UPSTREAM = 'https://upstream.test/api';

export async function openBench(t: TestContext): Promise<ErasureBench> {
  const folder = folderFor(t, 'erasure');
  const path = join(folder, 'mirror.db');
  placeNewMirror(path);
  const options = { path, upstream: UPSTREAM, holder: 'test' };
  const [store, outbox] = [openMirrorStore(options), openOutboxStore(options)];
  const erasure = openErasureStore(options);
  t.after(async () => {
    for (const open of [erasure, outbox, store]) await open.close();
  });
  const clock = fakeClock(minute(1000));
  const { signal } = new AbortController();
  const compact = async (): Promise<boolean> =>
    (await runFileTask({ task: 'compact', path, upstream: UPSTREAM })).isClean;
  return {
    folder,
    path,
    store,
    outbox,
    erasure,
    clock,
    erase: (email) => erasePerson({ store: erasure, clock, signal, compact }, email),
    expire: (keepMs, at) => eraseExpired(erasure, { keepMs, clock: fakeClock(minute(at)), signal, compact }),
    query: <T>(sql: string) => queryFile<T>(path, sql),
    async accept(...rows) {
      const taken = await outbox.accept(rows.map(newRow), minute(0));
      return taken.map((acceptance) => ('id' in acceptance ? acceptance.id : -1));
    },
    found: (texts) => readdirSync(folder).flatMap((name) => foundIn(join(folder, name), texts)),
  };
}

let rowsMade = 0;

export function newRow(row: Partial<NewRow>): NewRow {
  const n = ++rowsMade;
  const [source_key, content_hash] = [`key:${n}`, `twin ${n}`];
  const [title, content] = [`Title ${n}`, `Content ${n}`];
  return {
    batch: 'b',
    source_key,
    line: n,
    board: 'bugs',
    title,
    content,
    email: null,
    full_name: null,
    content_hash,
    ...row,
  };
}

/** Read by another process: closing the file in this one would drop the locks that its connections have on it. */
function foundIn(path: string, texts: readonly string[]): string[] {
  const lower = (bytes: Buffer): string => bytes.toString('latin1').toLowerCase();
  const all = lower(execFileSync('cat', [path], { maxBuffer: 2 ** 30 }));
  return texts
    .filter((text) => all.includes(lower(Buffer.from(text))))
    .map((text) => `${basename(path)}: ${text}`);
}

const TABLES = [
  ...[...MIRRORED, 'post_versions', 'comment_versions'],
  ...['quarantine', 'outbox', 'outbox_attempts', 'outbox_edits', 'suppressions', 'suppressed_users'],
  ...['posts_text_data', 'posts_text_idx', 'posts_text_docsize'],
];

/** Every row of every table, by table. */
export function allRows(path: string): Record<string, Record<string, unknown>[]> {
  const db = new Database(path, { readonly: true });
  try {
    return Object.fromEntries(
      TABLES.map((table) => [
        table,
        db.prepare<[], Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY 1`).all(),
      ]),
    );
  } finally {
    db.close();
  }
}
