import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Fastify from 'fastify';
import { SILENT } from '../../src/base/log.ts';
import type { ExportSource } from '../../src/export/store/export.ts';
import { addExports, type ExportsAnswer } from '../../src/http/dashboard/exports.ts';
import { addReplies } from '../../src/http/server/replies.ts';
import { fakeClock } from '../support/clock.ts';
import { folderFor } from '../support/folder.ts';

function site(t: TestContext) {
  const root = folderFor(t, 'exports');
  const asked: Record<string, unknown>[] = [];
  let [open, requested] = [0, 0];
  const openSource = (): ExportSource => {
    open++;
    const rows = function* (table: string, request: object) {
      asked.push({ table, ...request });
      yield [];
    };
    return { upstream: 'http://upstream.test', rows, close: () => void open-- } as unknown as ExportSource;
  };
  const app = Fastify();
  t.after(() => app.close());
  addReplies(app, SILENT);
  addExports(app, {
    openSource,
    service: { requestExport: async () => void requested++ },
    schedule: { cron: null, timeZone: 'Europe/Berlin', format: 'csv', root: join(root, 'made') },
    folder: join(root, 'data'),
    clock: fakeClock(),
  });
  const make = (name: string, files: string[], hasManifest = true): void => {
    const folder = join(root, 'made', name);
    mkdirSync(folder, { recursive: true });
    for (const file of files) writeFileSync(join(folder, file), `${name} ${file}`);
    const listed = files.map((file) => ({ name: file, rows: 1, bytes: 5 }));
    const manifest = { startedAt: 'then', finishedAt: 'later', files: listed };
    if (hasManifest) writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  };
  return { app, root, asked, make, open: () => open, requested: () => requested };
}

describe('exports that were made', () => {
  it('lists complete exports newest first, and nothing before the first export', async (t) => {
    const { app, make } = site(t);
    const listed = async () => (await app.inject('/data/exports')).json<ExportsAnswer>().exports;
    assert.deepEqual(await listed(), []);
    make('20260101T000000000Z', ['posts.csv']);
    make('20260103T000000000Z', []);
    make('20260102T000000000Z', ['posts.csv'], false);
    make('notes', ['posts.csv']);
    const found = await listed();
    assert.deepEqual(
      found.map(({ folder }) => folder),
      ['20260103T000000000Z', '20260101T000000000Z'],
    );
    assert.deepEqual(found[1], {
      ...{ folder: '20260101T000000000Z', startedAt: 'then', finishedAt: 'later' },
      files: [{ name: 'posts.csv', rows: 1, bytes: 5 }],
    });
  });

  it('give out the files that they list, and no others', async (t) => {
    const { app, root, make } = site(t);
    make('20260101T000000000Z', ['posts.csv']);
    make('notes', ['posts.csv']);
    writeFileSync(join(root, 'made', '20260101T000000000Z', 'other.csv'), 'hidden');
    const get = async (path: string) => {
      const { statusCode, body } = await app.inject(`/data/exports/${path}`);
      return statusCode === 200 ? body : statusCode;
    };
    assert.equal(await get('20260101T000000000Z/posts.csv'), '20260101T000000000Z posts.csv');
    for (const path of [
      '20260101T000000000Z/other.csv',
      '20260101T000000000Z/manifest.json',
      '20260101T000000000Z/..%2F..%2Fnotes%2Fposts.csv',
      'notes/posts.csv',
      '..%2Fmade%2F20260101T000000000Z/posts.csv',
    ])
      assert.equal(await get(path), 404, path);
  });

  it('are asked for by a person', async (t) => {
    const { app, requested } = site(t);
    assert.equal((await app.inject({ method: 'POST', url: '/data/exports' })).statusCode, 202);
    assert.equal(requested(), 1);
  });
});

describe('a table as a file', () => {
  it('has all rows unchanged by default, and closes its source', async (t) => {
    const { app, asked, open } = site(t);
    const { statusCode, headers } = await app.inject('/data/export/posts');
    assert.deepEqual([statusCode, headers['content-disposition']], [200, 'attachment; filename="posts.csv"']);
    const { table, since, live, raw, redact, format } = asked[0] ?? assert.fail();
    assert.deepEqual([table, since, live, raw, redact, format], ['posts', null, false, false, null, 'csv']);
    assert.equal(open(), 0);
  });

  it('can be limited to changes since a day, without people and without deleted rows', async (t) => {
    const { app, asked } = site(t);
    const { headers } = await app.inject(
      '/data/export/users?since=2025-12-24&live=1&redact=emails&format=ndjson',
    );
    assert.equal(headers['content-disposition'], 'attachment; filename="users-since-2025-12-24.ndjson"');
    const { table, since, live, redact, format } = asked[0] ?? assert.fail();
    assert.deepEqual([table, since, live, format], ['users', '2025-12-23T23:00:00.000Z', true, 'ndjson']);
    assert.notEqual(redact, null);
  });

  it('refuses unknown tables and unknown options', async (t) => {
    const { app, asked, open } = site(t);
    for (const path of [
      'zebras',
      'posts?format=xml',
      'posts?live=yes',
      'posts?redact=all',
      'posts?since=never',
    ])
      assert.equal((await app.inject(`/data/export/${path}`)).statusCode, 400, path);
    assert.deepEqual([asked, open()], [[], 0]);
  });
});
