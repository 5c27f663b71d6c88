import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { after, before, describe, it } from 'node:test';
import { openOutboxStore } from '../../src/store/outbox/store.ts';
import { newRow } from '../erasure/bench.ts';
import { tell } from '../queue/psql.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startPostgres } from '../support/servers.ts';
import { happen } from '../sync/upheaval.ts';
import { UPSTREAM, type Workbench, workbenchFor } from '../sync/workbench.ts';
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
    const world = bench.sandbox.world;
    for (let round = 0; round < 8; round++) {
      for (const what of [
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
      ] as const)
        happen(world, { what, at: round * 7 + what.length });
      await outbox.accept([newRow({ source_key: `row-${round}` })], Date.now());
      await swept(bench);
      await publisher.step();
      await equal();
    }
    assert.equal(await publisher.step(), 0, 'nothing is written where nothing changed');
    assert.equal(publisher.progress().behind, 0);
    assert.equal(publisher.progress().behindSince, null);
  });
});

async function swept(bench: Workbench): Promise<void> {
  for (const resource of ['posts', 'comments'] as const) await bench.sync({ resource, mode: 'sweep' });
}
