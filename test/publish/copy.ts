import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import { lastPublished } from '../../src/app/publish.ts';
import { systemClock } from '../../src/base/clock.ts';
import { Secret } from '../../src/base/secret.ts';
import { canonicalJson } from '../../src/contract/json.ts';
import type { OpenOptions } from '../../src/db/open.ts';
import { openSession } from '../../src/postgres/session.ts';
import { Publisher, type Publishing } from '../../src/publish/publisher.ts';
import { openPublishSource, publishedTables } from '../../src/publish/source.ts';
import { PUBLIC_TABLES } from '../../src/query/schema-words.ts';

/** A publisher as a service has it. */
export function openTestPublisher(url: string, mirror: OpenOptions, schema = 'feedback'): Publishing {
  const source = openPublishSource(mirror);
  const last = lastPublished(join(dirname(mirror.path), 'published.json'));
  const session = () => openSession({ url: new Secret(url), schema, setting: 'PUBLISH_URL' });
  const deps = { source, schema, words: PUBLIC_TABLES, openSession: session, clock: systemClock, last };
  const publisher = new Publisher(deps);
  return {
    step: () => publisher.step(),
    progress: () => publisher.progress(),
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
  const client = new pg.Client(url);
  await client.connect();
  const same = async (name: string, columns: string, where = ''): Promise<void> => {
    const ours = db.prepare<[], Row>(`SELECT ${columns} FROM ${name} ${where}`).all();
    const { rows } = await client.query<Row>(`SELECT ${columns} FROM ${schema}.${name} ${where}`);
    assert.deepEqual(rows.map(plainRow).sort(inOrder), ours.map(plainRow).sort(inOrder), `${name} differs`);
  };
  try {
    for (const { name, columns } of publishedTables(db)) {
      const names = columns.map((column) => `"${column.name}"`).join(', ');
      await same(
        name,
        names,
        name === 'meta' ? "WHERE key IN ('mirror_id', 'publish_life', 'push_paused')" : '',
      );
    }
    for (const name of VIEWS) await same(name, '*');
  } finally {
    await client.end();
    db.close();
  }
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
  if (typeof value === 'string' && /^(\{"|\[\d|\[\])/.test(value)) return canonicalJson(JSON.parse(value));
  return value;
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
