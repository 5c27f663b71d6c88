import assert from 'node:assert/strict';
import Database from 'better-sqlite3';
import { systemClock } from '../../src/base/clock.ts';
import { Secret } from '../../src/base/secret.ts';
import { canonicalJson } from '../../src/contract/json.ts';
import { openSession } from '../../src/postgres/session.ts';
import { createPublisher, type Publisher } from '../../src/publish/publisher.ts';
import { PUBLIC_TABLES } from '../../src/query/schema-words.ts';
import type { OpenOptions } from '../../src/store/db.ts';
import { openPublishSource, publishedTables } from '../../src/store/publish-source.ts';
import { tell } from '../queue/psql.ts';

/** A publisher as a service has it. */
export function openTestPublisher(url: string, mirror: OpenOptions, schema = 'feedback'): Publisher {
  const source = openPublishSource(mirror);
  const session = () => openSession({ url: new Secret(url), schema, setting: 'PUBLISH_URL' });
  const deps = { source, schema, words: PUBLIC_TABLES, openSession: session, clock: systemClock };
  const publisher = createPublisher(deps);
  return {
    ...publisher,
    async close() {
      await publisher.close();
      source.close();
    },
  };
}

const VIEWS = ['live_posts', 'live_comments', 'post_history', 'comment_history'];

type Row = Record<string, unknown>;

/** Row by row and cell by cell, every table that is published and every view. */
export async function assertRowEqual(path: string, url: string, schema = 'feedback'): Promise<void> {
  const db = new Database(path, { readonly: true });
  try {
    for (const { name, columns } of publishedTables(db)) {
      const names = columns.map((column) => `"${column.name}"`).join(', ');
      const where = name === 'meta' ? `WHERE key IN (${await publishedKeys(url, schema)})` : '';
      await assertSame(db, url, schema, name, names, where);
    }
    for (const name of VIEWS) await assertSame(db, url, schema, name, '*', '');
  } finally {
    db.close();
  }
}

async function publishedKeys(url: string, schema: string): Promise<string> {
  const keys = await tell(url, `SELECT key FROM ${schema}.meta`);
  return keys.map(({ key }) => `'${String(key)}'`).join(', ');
}

async function assertSame(
  db: Database.Database,
  url: string,
  schema: string,
  name: string,
  columns: string,
  where: string,
): Promise<void> {
  const ours = db.prepare<[], Row>(`SELECT ${columns} FROM ${name} ${where}`).all();
  const theirs = await tell(url, `SELECT ${columns} FROM ${schema}.${name}`);
  const own = ours.map(plainRow).sort(inOrder);
  assert.deepEqual(theirs.map(plainRow).sort(inOrder), own, `${name} differs`);
}

/** What a row says, whatever the types it says it with. */
function plainRow(row: Row): string {
  const cells = Object.entries(row).map(([name, value]) => [name, plain(value)]);
  return JSON.stringify(Object.fromEntries(cells.sort()));
}

function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'object' && value !== null) return canonicalJson(value);
  if (typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (typeof value === 'string' && /^[[{]/.test(value)) return canonicalJson(JSON.parse(value));
  return value;
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
