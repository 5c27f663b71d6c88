import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { lookAtCopy } from '../../src/app/publish.ts';
import { Secret } from '../../src/base/secret.ts';
import { assess } from '../../src/service/health.ts';
import { tell } from '../queue/psql.ts';
import { openFixture } from '../service/fixture.ts';
import { runCli } from '../support/cli.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startPostgres } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { assertRowEqual } from './copy.ts';

describe('a service with PUBLISH_URL', skipUnless('initdb', 'postgres'), () => {
  let server: Server;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  it('publishes what it mirrors, and tells how far the copy is', async (t) => {
    const fixture = await openFixture(t, {
      queueUrl: null,
      env: { PUBLISH_URL: server.url, PUBLISH_SCHEMA: 'live' },
    });
    const service = await fixture.start();
    const { settings } = fixture.app;
    const isWhole = async () =>
      Number(
        (await tell(server.url, 'SELECT count(*) AS n FROM live.live_comments').catch(() => []))[0]?.n,
      ) === fixture.sandbox.world.comments().length;
    await until('the copy has the first sweeps', isWhole);
    const post = fixture.sandbox.world.addPost({ title: 'Straight through' });
    const title = `SELECT title FROM live.live_posts WHERE id = ${post.id}`;
    // Asked for again and again: a sweep that is just ending keeps the next one out of the queue.
    await until('the copy has the new post', async () => {
      await service.requestSync('posts', 'sweep');
      return (await tell(server.url, title))[0]?.title === 'Straight through';
    });
    // The last sweep that was asked for may still be under way, and would be cut off below.
    await until('no pass is under way', async () => {
      const counts = (await service.queues).map((queue) => queue.getJobCounts('active', 'waiting'));
      return (await Promise.all(counts)).every(({ active, waiting }) => active === 0 && waiting === 0);
    });
    await until('nothing is left to publish', async () => {
      const { copy } = await service.progress();
      return copy?.behindSince === null && copy.behind === 0;
    });
    const told = assess(await service.progress()).checks.find(({ name }) => name === 'copy');
    assert.match(String(told?.detail), /the copy in live at 127\.0\.0\.1:\d+ has everything/);
    assert.match(await service.metrics.text(), /feedback_mirror_publish_lag_seconds 0/);
    await service.close();
    await service.app.close();
    const found = await lookAtCopy(settings, new Secret(server.url));
    assert.deepEqual([found?.behind, found?.isOther], [0, false]);
    await assertRowEqual(settings.mirrorPath, server.url, 'live');
  });
});

describe('feedback-mirror restore', () => {
  it('asks where the copy is, and takes no other URL than one of PostgreSQL', async () => {
    const missing = await runCli(['restore']);
    assert.deepEqual([missing.code, /--from is missing/.test(missing.stderr)], [2, true]);
    const wrong = await runCli(['restore', '--from', 'mysql://user:geheim@host/db']);
    assert.deepEqual([wrong.code, /must be a URL such as postgres/.test(wrong.stderr)], [2, true]);
    assert.doesNotMatch(wrong.stderr, /geheim/);
  });
});
