import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertExact } from '../mirror/mirror-rows.ts';
import { openSite } from '../support/mirror-site.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startPostgres, startRedis } from '../support/servers.ts';
import { until } from '../support/until.ts';
import {
  assertPosted,
  importTitles,
  isReady,
  logOf,
  posted,
  type StartedService,
  startService,
  titles,
} from './runs.ts';

const SERVERS = [
  { name: 'Redis', program: 'redis-server', open: (): Promise<Server> => startRedis({ durable: true }) },
  { name: 'PostgreSQL', program: 'postgres', open: startPostgres },
];

for (const { name, program, open } of SERVERS) {
  describe(`services with their queue on ${name}`, skipUnless(program), () => {
    let server: Server;
    before(async () => {
      server = await open();
    });
    after(() => server.stop());

    it('share the work on one mirror, and one continues when the other is killed', async (t) => {
      const site = await openSite(t);
      const env = { QUEUE_URL: server.url, SYNC_HEAD_EVERY: '1s', LOG_LEVEL: 'debug' };
      const services = [await startService(site, env), await startService(site, env)];
      const passes = (i: number): number =>
        logOf(services[i] ?? assert.fail()).filter(({ runId }) => runId).length;
      await until('passes of both services', () => passes(0) > 0 && passes(1) > 0);
      await importTitles(site, titles('Shared', 20));
      await until('20 posts', () => posted(site).length >= 20);
      const sends = (service: StartedService): boolean =>
        logOf(service).some(({ event }) => event === 'push.sender');
      const [sender, other] = [services.find(sends), services.find((service) => !sends(service))];
      assert.ok(sender && other);
      sender.child.kill('SIGKILL');
      await importTitles(site, titles('Inherited', 20));
      await until('40 posts', () => posted(site).length >= 40);
      assertPosted(site, [...titles('Shared', 20), ...titles('Inherited', 20)]);
      await other.stop();
      const swept = await site.run(['sync', '--json']);
      assert.equal(swept.code, 0, swept.stderr);
      assertExact(site.mirror, site.sandbox.world);
    });
  });
}

describe('services of two mirrors on one Redis', skipUnless('redis-server'), () => {
  let server: Server;
  before(async () => {
    server = await startRedis({ durable: true });
  });
  after(() => server.stop());

  it('never see each other’s jobs', async (t) => {
    const sites = [await openSite(t), await openSite(t, { posts: 7, seed: 2 })] as const;
    const env = { QUEUE_URL: server.url };
    const services = [await startService(sites[0], env), await startService(sites[1], env)] as const;
    await Promise.all(sites.map((site, i) => importTitles(site, titles(`Mirror ${i}`, 10))));
    for (const [i, site] of sites.entries()) {
      await until('10 posts', () => posted(site).length >= 10);
      assertPosted(site, titles(`Mirror ${i}`, 10));
    }
    for (const service of services) await until('readiness', () => isReady(service));
    for (const [i, service] of services.entries()) {
      await service.stop();
      const swept = await sites[i]?.run(['sync', '--json']);
      assert.equal(swept?.code, 0, swept?.stderr);
      assertExact(sites[i]?.mirror ?? '', sites[i]?.sandbox.world ?? assert.fail());
    }
  });
});
