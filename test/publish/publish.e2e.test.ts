import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { systemClock } from '../../src/base/clock.ts';
import type { OpenOptions } from '../../src/db/open.ts';
import { erasePerson } from '../../src/erasure/erase.ts';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import { pruneChanges } from '../../src/mirror/log/change-log.ts';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import { newRow } from '../erasure/bench.ts';
import { happen } from '../mirror/upheaval.ts';
import { UPSTREAM, type Workbench, workbenchFor } from '../mirror/workbench.ts';
import { tell } from '../queue/psql.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startPostgres } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { assertRowEqual, openTestPublisher } from './copy.ts';

describe('the copy in PostgreSQL', skipUnless('initdb', 'postgres'), () => {
  let server: Server;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());
  let schemas = 0;
  const newSchema = () => `copy_${++schemas}`;

  async function opened(t: TestContext, schema = newSchema()) {
    const bench = await workbenchFor(t, { posts: 40, pageSize: 10 });
    const mirror = { path: bench.path, upstream: UPSTREAM };
    const outbox = openOutboxStore({ ...mirror, holder: 'test' });
    t.after(() => outbox.close());
    const publisher = openTestPublisher(server.url, mirror, schema);
    t.after(() => publisher.close());
    return {
      bench,
      outbox,
      mirror,
      publisher,
      schema,
      equal: () => assertRowEqual(bench.path, server.url, schema),
    };
  }

  it('has every row with real types after the first copy, and words about them', async (t) => {
    const { bench, publisher, schema, equal } = await opened(t);
    await swept(bench);
    assert.ok((await publisher.step()) > 40);
    await equal();
    const columns = await tell(
      server.url,
      `SELECT table_name || '.' || column_name AS name, data_type AS type FROM information_schema.columns
        WHERE table_schema = '${schema}' AND table_name || '.' || column_name IN
          ('posts.id', 'posts.created', 'posts.extra', 'users.is_team', 'live_posts.created', 'post_history.deleted') ORDER BY 1`,
    );
    assert.deepEqual(
      columns.map(({ name, type }) => [name, type]),
      [
        ['live_posts.created', 'timestamp with time zone'],
        ['post_history.deleted', 'boolean'],
        ['posts.created', 'timestamp with time zone'],
        ['posts.extra', 'jsonb'],
        ['posts.id', 'bigint'],
        ['users.is_team', 'boolean'],
      ],
    );
    const [words] = await tell(
      server.url,
      `SELECT obj_description('${schema}.live_posts'::regclass) AS words`,
    );
    assert.match(String(words?.words), /posts that are there now/);
  });

  it('follows edits, votes, deletions, comments, renames and the outbox', async (t) => {
    const { bench, outbox, publisher, equal } = await opened(t);
    await publisher.step();
    await swept(bench);
    await publisher.step();
    await equal();
    for (let round = 0; round < 3; round++) {
      upset(bench, round);
      outbox.accept([newRow({})], Date.now());
      await swept(bench);
      await publisher.step();
      await equal();
    }
    assert.equal(await publisher.step(), 0, 'nothing is written where nothing changed');
    assert.equal(publisher.progress().behind, 0);
    assert.equal(publisher.progress().behindSince, null);
    await bench.sync({ resource: 'posts', mode: 'head' });
    assert.notEqual(publisher.progress().behindSince, null, 'known before the next step looks');
  });

  it('has the post of a comment that is read before its post', async (t) => {
    const { bench, publisher, equal } = await opened(t);
    await swept(bench);
    await publisher.step();
    const { id: post } = bench.sandbox.world.addPost();
    bench.sandbox.world.addComment({ post });
    await bench.sync({ resource: 'comments', mode: 'sweep' });
    await publisher.step();
    await equal();
  });

  it('takes an address of thousands of letters, and what comes after it', async (t) => {
    const { bench, publisher, equal } = await opened(t);
    await swept(bench);
    await publisher.step();
    const [post] = bench.sandbox.world.posts();
    const email = `${randomBytes(3000).toString('base64url')}@example.com`;
    bench.sandbox.world.editUser(post?.creator.id ?? 0, { email });
    await swept(bench);
    await publisher.step();
    await equal();
  });

  it('follows an import that is held, released and cancelled, and the passes that are trimmed at night', async (t) => {
    const { bench, outbox, publisher, equal } = await opened(t);
    await swept(bench);
    const db = new Database(bench.path);
    // So much later than the others that no step looks at those by itself.
    db.exec(`INSERT INTO sync_runs (id, resource, mode, started_at, finished_at, outcome)
             SELECT 1000, resource, mode, started_at, finished_at, outcome FROM sync_runs WHERE id = 1`);
    outbox.accept(
      [newRow({ batch: 'slow' }), newRow({ batch: 'slow' }), newRow({ batch: 'slow' })],
      Date.now(),
    );
    await publisher.step();
    const steps = [
      () => outbox.pauseBatch('slow', Date.now()),
      () => outbox.resumeBatch('slow', Date.now()),
      () => outbox.paceBatch('slow', 6000, Date.now() - 5000),
      () => outbox.pauseBatch('slow', Date.now()),
      () => outbox.resumeBatch('slow', Date.now()),
      () => outbox.releasePaced(Date.now()),
      () => outbox.stopBatch('slow', Date.now()),
    ];
    for (const step of steps) {
      step();
      await publisher.step();
      await equal();
    }
    db.exec(
      "DELETE FROM sweep_pages; DELETE FROM sync_runs WHERE id = 1; UPDATE sync_runs SET error = 'late' WHERE id = 2",
    );
    db.close();
    await publisher.step();
    await equal();
  });

  it('takes erased words out of the copy, history included', async (t) => {
    const { bench, outbox, publisher, mirror, schema, equal } = await opened(t);
    await swept(bench);
    const email = bench.sandbox.world.posts()[0]?.creator.email ?? '';
    outbox.accept([newRow({ email, full_name: 'Somebody' })], Date.now());
    upset(bench, 1);
    await swept(bench);
    await publisher.step();
    assert.ok((await found(server.url, schema, email)) > 0);
    await erased(t, mirror, email);
    await publisher.step();
    await equal();
    assert.equal(await found(server.url, schema, email), 0);
  });

  it('loses who was erased while no service ran with the first step of the next one', async (t) => {
    const { bench, outbox, publisher, mirror, schema, equal } = await opened(t);
    await swept(bench);
    const email = bench.sandbox.world.posts()[0]?.creator.email ?? '';
    outbox.accept([newRow({ email, full_name: 'Somebody' })], Date.now());
    await publisher.step();
    await publisher.close();
    await erased(t, mirror, email);
    assert.ok((await found(server.url, schema, email)) > 0);
    const next = openTestPublisher(server.url, mirror, schema);
    t.after(() => next.close());
    await next.step();
    await equal();
    assert.equal(await found(server.url, schema, email), 0);
  });

  it('is copied whole if the feed no longer has the changes', async (t) => {
    const { bench, publisher, equal } = await opened(t);
    await swept(bench);
    await publisher.step();
    upset(bench, 3);
    await swept(bench);
    const db = new Database(bench.path);
    pruneChanges(db, { keepMs: 0, now: Date.now() + 1000 });
    db.exec('DELETE FROM post_versions WHERE n IN (SELECT min(n) FROM post_versions)');
    db.close();
    await publisher.step();
    await equal();
  });

  it('is row-equal after kills of the service and of the server', async (t) => {
    const durable = await startPostgres({ durable: true });
    t.after(() => durable.stop());
    const { bench, mirror, outbox } = await opened(t);
    const start = () => startChild([durable.url, bench.path, mirror.upstream, 'killed']);
    let child = start();
    t.after(() => child.kill('SIGKILL'));
    for (let round = 0; round < 6; round++) {
      upset(bench, round);
      outbox.accept([newRow({})], Date.now());
      await swept(bench);
      if (round % 3 === 2) {
        await durable.kill();
        await durable.restart();
      } else {
        await delay((round * 37) % 90);
        child.kill('SIGKILL');
        child = start();
      }
    }
    child.kill('SIGKILL');
    const last = openTestPublisher(durable.url, mirror, 'killed');
    t.after(() => last.close());
    await until(
      'the copy is written',
      async () => (await last.step().catch(() => -1)) === 0 && !last.progress().isElsewhere,
    );
    await assertRowEqual(bench.path, durable.url, 'killed');
  });
});

/** One of everything that happens upstream. */
function upset(bench: Workbench, round: number): void {
  const all = [
    'post',
    'edit',
    'vote',
    'status',
    'move',
    'rename',
    'comment',
    'delete',
    'uncomment',
    'like',
  ] as const;
  for (const what of all) happen(bench.sandbox.world, { what, at: round * 7 + what.length });
}

function startChild(args: string[]): ChildProcess {
  const script = new URL('./publish-child.ts', import.meta.url).pathname;
  return spawn(process.execPath, [script, ...args], { stdio: 'ignore' });
}

/** In how many rows of the copy a text stands. */
async function found(url: string, schema: string, text: string): Promise<number> {
  let rows = 0;
  for (const table of [
    'users',
    'posts',
    'comments',
    'post_versions',
    'comment_versions',
    'commented_posts',
    'outbox',
    'sync_runs',
  ]) {
    const [row] = await tell(
      url,
      `SELECT count(*) AS n FROM ${schema}.${table} t WHERE t::text ILIKE '%${text}%'`,
    );
    rows += Number(row?.n);
  }
  return rows;
}

async function swept(bench: Workbench): Promise<void> {
  for (const resource of ['posts', 'comments'] as const) await bench.sync({ resource, mode: 'sweep' });
}

async function erased(t: TestContext, mirror: OpenOptions, email: string): Promise<void> {
  const store = openErasureStore({ ...mirror, holder: 'test' });
  t.after(() => store.close());
  const { signal } = new AbortController();
  await erasePerson({ store, clock: systemClock, signal, compact: async () => true }, email);
}
