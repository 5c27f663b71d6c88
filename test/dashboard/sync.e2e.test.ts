import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Absent, Quarantine, SyncState } from '../../src/http/dashboard/sync.ts';
import { ask, detailOf } from '../http/client.ts';
import { hasSwept } from '../service/fixture.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startRedis } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { openOnSandbox, type SandboxSite, type SandboxSiteOptions } from './site.ts';

describe('sync over HTTP', skipUnless('redis-server'), () => {
  let redis: Server;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());
  const openSwept = async (
    t: Parameters<typeof openOnSandbox>[0],
    sandbox: SandboxSiteOptions['sandbox'] = {},
  ) => {
    const site = await openOnSandbox(t, { queueUrl: redis.url, withService: true, sandbox });
    await until('the first sweeps', () => hasSwept(site.station));
    return site;
  };
  const stateOf = (site: SandboxSite): Promise<SyncState> => site.get('/data/sync');
  const postsOf = async (site: SandboxSite) => {
    const list = (await stateOf(site)).lists.find(({ resource }) => resource === 'posts');
    assert.ok(list);
    return list;
  };
  const sweepsOf = async (site: SandboxSite) =>
    (await stateOf(site)).runs.filter(
      (run) => run.resource === 'posts' && run.mode === 'sweep' && run.outcome === 'complete',
    ).length;

  it('shows how fresh each list is, what ran, what is queued and how the service is', async (t) => {
    const site = await openSwept(t);
    const { lists, runs, health, queue, upstream } = await stateOf(site);
    assert.deepEqual(
      lists.map(({ resource, held, suspects }) => [resource, held, suspects]),
      [
        ['posts', 0, 0],
        ['comments', 0, 0],
      ],
    );
    assert.ok(lists.every(({ lastSweepAt, sweepDueAt }) => lastSweepAt && sweepDueAt > Date.now()));
    assert.equal(lists[0]?.live, 12);
    assert.ok(runs.length >= 2);
    assert.deepEqual(
      health.checks.map(({ name }) => name),
      ['mirror', 'queue', 'loop', 'posts', 'comments', 'outbox', 'upstream'],
    );
    assert.equal(queue.kind, 'redis');
    assert.ok(upstream);
  });

  it('reads a list when somebody asks for it, although it is fresh', async (t) => {
    const site = await openSwept(t);
    const count = await sweepsOf(site);
    const reply = await site.send('/data/sync/posts/run', { mode: 'sweep' });
    assert.equal(reply.status, 202);
    await until('another sweep', async () => (await sweepsOf(site)) >= count + 1);
    await site.post('/data/sync/posts/run', { mode: 'head' });
    await until('a head', async () =>
      (await stateOf(site)).runs.some(({ mode, outcome }) => mode === 'head' && outcome === 'complete'),
    );
  });

  it('shows deletions that are held, and deletes them when somebody accepts', async (t) => {
    const site = await openSwept(t, { posts: 90, pageSize: 20 });
    const { world } = site.station.sandbox;
    for (let id = 11; id <= 70; id++) world.deletePost(id);
    const count = await sweepsOf(site);
    for (const sweeps of [1, 2]) {
      await site.post('/data/sync/posts/run', { mode: 'sweep' });
      await until('they are missed', async () => (await sweepsOf(site)) >= count + sweeps);
      assert.equal((await postsOf(site)).suspects, 60);
    }
    await site.post('/data/sync/posts/run', { mode: 'sweep' });
    await until('they are held', async () => (await postsOf(site)).held === 60);
    const first = await site.get<Absent>('/data/sync/posts/absent?held=1');
    assert.equal(first.rows.length, 50);
    const rest = await site.get<Absent>(`/data/sync/posts/absent?held=1&after=${first.after}`);
    assert.deepEqual(
      [...first.rows, ...rest.rows].map(({ id }) => id),
      Array.from({ length: 60 }, (_, n) => n + 11),
    );
    assert.ok(first.rows.every(({ text }) => text.length > 0));
    const wrong = await site.send('/data/sync/posts/accept-deletes', { held: 59 });
    assert.equal(wrong.status, 400);
    assert.match(detailOf(wrong), /60 deletions of posts are held now, not 59/);
    assert.equal((await postsOf(site)).held, 60, 'nothing was accepted');
    const reply = await site.send('/data/sync/posts/accept-deletes', { held: 60 });
    assert.equal(reply.status, 202);
    await until('they are deleted', async () => (await postsOf(site)).deleted >= 60);
    assert.equal((await postsOf(site)).held, 0);
    const late = await site.send('/data/sync/posts/accept-deletes', { held: 60 });
    assert.match(detailOf(late), /No deletions of posts are held any more/);
  });

  it('shows broken rows with the reason, and what was sent only when asked', async (t) => {
    const site = await openSwept(t, { posts: 12, faults: 'bad-row on=posts field=title row=1' });
    const { rows, before: next } = await site.get<Quarantine>('/data/sync/quarantine');
    assert.ok(rows.length > 0);
    assert.equal(next, null);
    const [row] = rows;
    assert.ok(row && row.reason.length > 0 && row.size > 0);
    assert.ok(!('body' in row));
    const { body } = await site.get<{ body: string }>(`/data/sync/quarantine/${row.id}`);
    assert.equal(body.length, row.size);
    assert.equal((await ask(site.http, '/data/sync/quarantine/9999')).status, 404);
  });

  it('refuses lists and passes that do not exist', async (t) => {
    const site = await openSwept(t);
    for (const [path, body] of [
      ['/data/sync/users/run', { mode: 'sweep' }],
      ['/data/sync/posts/run', { mode: 'all' }],
      ['/data/sync/posts/run', {}],
      ['/data/sync/posts/accept-deletes', {}],
    ] as const)
      assert.equal((await site.send(path, body)).status, 400, path);
  });

  it('says so when the queue is away', async (t) => {
    const own = await startRedis();
    t.after(() => own.stop());
    const site = await openOnSandbox(t, { queueUrl: own.url, withService: true });
    await until('the first sweeps', () => hasSwept(site.station));
    await own.kill();
    const reply = await site.send('/data/sync/posts/run', { mode: 'sweep' });
    assert.equal(reply.status, 502);
    assert.match(detailOf(reply), /queue does not answer/);
  });
});
