import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { loadSettings } from '../../config/load.ts';
import { restoreFromCopy } from '../../src/app/publish.ts';
import { Secret } from '../../src/base/secret.ts';
import { openChangeFeed } from '../../src/changes/feed.ts';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import { newRow } from '../erasure/bench.ts';
import { happen } from '../mirror/upheaval.ts';
import { workbenchFor } from '../mirror/workbench.ts';
import { tell } from '../queue/psql.ts';
import { folderFor } from '../support/folder.ts';
import { assertWhole, MIRRORED, mirrorReader, queryFile } from '../support/mirror.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startPostgres } from '../support/servers.ts';
import { assertRowEqual, openTestPublisher } from './copy.ts';

describe('restore from the copy in PostgreSQL', skipUnless('initdb', 'postgres'), () => {
  let server: Server;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());
  let schemas = 0;

  /** A mirror with a history and an outbox, published, and the settings of another machine. */
  async function published(t: TestContext) {
    const schema = `restore_${++schemas}`;
    const bench = await workbenchFor(t, { posts: 30, pageSize: 10 });
    const mirror = { path: bench.path, upstream: 'https://upstream.test/api' };
    await bench.store.close();
    const { openMirrorStore } = await import('../../src/mirror/store/store.ts');
    const path = join(folderFor(t, 'lost'), 'mirror.db');
    Object.assign(mirror, { path });
    bench.store = openMirrorStore({ ...mirror, holder: 'test' });
    const sweep = async () => {
      for (const resource of ['posts', 'comments'] as const) await bench.sync({ resource, mode: 'sweep' });
    };
    await sweep();
    for (let at = 0; at < 9; at++)
      for (const what of ['edit', 'vote', 'delete', 'uncomment', 'comment'] as const)
        happen(bench.sandbox.world, { what, at });
    await sweep();
    const outbox = openOutboxStore({ ...mirror, holder: 'test' });
    t.after(() => outbox.close());
    const publisher = openTestPublisher(server.url, mirror, schema);
    t.after(() => publisher.close());
    const dataDir = join(folderFor(t, 'found'), 'data');
    const env = {
      DATA_DIR: dataDir,
      PUBLISH_SCHEMA: schema,
      FEEDBACK_BASE_URL: mirror.upstream,
      FEEDBACK_API_TOKEN: 'secret',
    };
    const settings = loadSettings({ flags: {}, env, cwd: dirname(dataDir), isTerminal: false });
    const request = {
      url: new Secret(server.url),
      setting: '--from',
      replace: false,
      withoutKey: false,
      signal: new AbortController().signal,
    };
    return {
      bench,
      mirror,
      outbox,
      publisher,
      settings,
      schema,
      restore: (rest = {}) => restoreFromCopy(settings, { ...request, ...rest }),
    };
  }

  it('brings back every row, the history and the outbox, and marks what may have been sent since', async (t) => {
    const { mirror, outbox, publisher, settings, schema, restore } = await published(t);
    outbox.accept([newRow({}), newRow({}), newRow({}), newRow({})], Date.now());
    outbox.claim({
      id: 2,
      transition: TRANSITIONS.claim,
      now: Date.now(),
      deadline: Date.now() + 1000,
      listedMaxId: null,
    });
    outbox.move(3, TRANSITIONS.cancel, { now: Date.now(), notBefore: null, error: null });
    const db = new Database(mirror.path);
    db.exec("UPDATE boards SET slug = 'renamed' WHERE id = (SELECT min(id) FROM boards)");
    db.close();
    await publisher.step();
    await assertRowEqual(mirror.path, server.url, schema);
    await publisher.close();
    const restored = await restore();
    assert.equal(restored.rows.outbox, 4);
    assertWhole(settings.mirrorPath);
    const [lost, found] = [mirrorReader(mirror.path), mirrorReader(settings.mirrorPath)];
    for (const table of [...MIRRORED, 'live_posts', 'live_comments'] as const)
      assert.deepEqual(found.table(table), lost.table(table), table);
    for (const table of [
      'post_versions',
      'comment_versions',
      'outbox_attempts',
      'post_history',
      'comment_history',
    ])
      assert.deepEqual(
        queryFile(settings.mirrorPath, `SELECT * FROM ${table}`),
        queryFile(mirror.path, `SELECT * FROM ${table}`),
        table,
      );
    assert.equal(queryFile(settings.mirrorPath, 'SELECT * FROM former_board_slugs').length, 1);
    found.checkTextIndex();
    const states = queryFile<{ state: string }>(settings.mirrorPath, 'SELECT state FROM outbox ORDER BY id');
    assert.deepEqual(
      states.map(({ state }) => state),
      ['ambiguous', 'sending', 'cancelled', 'ambiguous'],
    );
    assert.equal(restored.checking, 2);
  });

  it('continues the copy, the numbers and positions of the feed, and refuses the lost machine', async (t) => {
    const { bench, mirror, outbox, publisher, settings, schema, restore } = await published(t);
    outbox.accept([newRow({})], Date.now());
    await publisher.step();
    const position = headOf(mirror);
    await publisher.close();
    await restore();
    const next = { path: settings.mirrorPath, upstream: mirror.upstream, dataDir: settings.dataDir };
    assert.equal(feedAfter(next, position).length, 1, 'the row that was marked');
    const heir = openTestPublisher(server.url, next, schema);
    t.after(() => heir.close());
    const written = `SELECT max(xmin::text::bigint) AS by FROM ${schema}.posts`;
    const before = await tell(server.url, written);
    await heir.step();
    assert.deepEqual(await tell(server.url, written), before, 'only what changed is written');
    await assertRowEqual(settings.mirrorPath, server.url, schema);
    await heir.close();
    happen(bench.sandbox.world, { what: 'vote', at: 1 });
    const revenant = openTestPublisher(server.url, mirror, schema);
    t.after(() => revenant.close());
    await assert.rejects(revenant.step(), { code: 'usage', message: /was taken over/ });
  });

  it('without the key of the suppression list is refused, and when told to go on leaves the list in the copy', async (t) => {
    const { mirror, publisher, settings, schema, restore } = await published(t);
    const erasure = openErasureStore({ ...mirror, holder: 'test' });
    erasure.suppress('erika@example.com', Date.now());
    erasure.close();
    await publisher.step();
    await publisher.close();
    const position = () => tell(server.url, `SELECT * FROM ${schema}.mirror_position`);
    const before = await position();
    await assert.rejects(restore(), {
      code: 'usage',
      message: /suppression\.key, is missing: .*nothing was restored$/,
    });
    assert.deepEqual(await position(), before, 'the copy still belongs to the mirror that was lost');
    assert.equal(existsSync(settings.mirrorPath), false);
    assert.equal((await restore({ withoutKey: true })).unreadableList?.erasures, 1);
    const next = { path: settings.mirrorPath, upstream: mirror.upstream, dataDir: settings.dataDir };
    const heir = openTestPublisher(server.url, next, schema);
    t.after(() => heir.close());
    await heir.step();
    assert.equal((await tell(server.url, `SELECT hash FROM ${schema}.suppressions`)).length, 1);
  });

  it('says what to do where the server is away: nothing tries again by itself', async (t) => {
    const { restore } = await published(t);
    await assert.rejects(restore({ url: new Secret('postgres://127.0.0.1:1/none') }), {
      code: 'unreachable',
      hint: /^Nothing was restored\. See that the server runs and that --from names it, then run this again\.$/,
    });
  });

  it('refuses a folder with a mirror unless told, a copy that is being written, and one of another service', async (t) => {
    const { publisher, settings, restore, schema } = await published(t);
    await publisher.step();
    await assert.rejects(restore(), { code: 'busy', message: /publishes to the schema/ });
    await publisher.close();
    await restore();
    await assert.rejects(restore(), { code: 'usage', message: /there is a mirror at/ });
    // Left by a service that was killed: it belongs to the mirror that is kept.
    writeFileSync(`${settings.mirrorPath}-wal`, '');
    const { keptAs } = await restore({ replace: true });
    assert.ok(existsSync(`${keptAs}-wal`));
    assertWhole(String(keptAs));
    assertWhole(settings.mirrorPath);
    await tell(server.url, `UPDATE ${schema}.mirror_position SET upstream = 'https://other.test'`);
    await assert.rejects(restore({ replace: true }), {
      code: 'usage',
      message: /holds a mirror of https:\/\/other\.test/,
    });
    await tell(
      server.url,
      `UPDATE ${schema}.mirror_position SET upstream = '${settings.baseUrl?.href}', version = 999`,
    );
    await assert.rejects(restore({ replace: true }), {
      code: 'usage',
      message: /tables 999, this one knows/,
    });
    await tell(server.url, `UPDATE ${schema}.mirror_position SET version = 25`);
    await assert.rejects(restore({ replace: true }), { code: 'usage', message: /^the copy has schema 25/ });
    assertWhole(settings.mirrorPath);
  });
});

function headOf(mirror: { path: string; upstream: string }): string {
  const feed = openChangeFeed(mirror);
  try {
    return feed.head().position;
  } finally {
    feed.close();
  }
}

function feedAfter(mirror: { path: string; upstream: string }, position: string) {
  const feed = openChangeFeed(mirror);
  try {
    return feed.after(position, { limit: 100 }).changes;
  } finally {
    feed.close();
  }
}
