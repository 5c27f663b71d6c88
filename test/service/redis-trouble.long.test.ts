import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { assertExact } from '../mirror/mirror-rows.ts';
import { openSite } from '../support/mirror-site.ts';
import { skipUnless } from '../support/programs.ts';
import { startRedis } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { assertPosted, importTitles, isReady, posted, startService, titles } from './runs.ts';

describe('a service whose Redis is in trouble while it reads and sends', skipUnless('redis-server'), () => {
  for (const durable of [true, false]) {
    const kept = durable ? 'keeps what it was told' : 'forgets everything when it dies';

    it(`loses and doubles nothing when Redis, which ${kept}, is flushed, killed and started again`, async (t) => {
      const redis = await startRedis({ durable });
      t.after(() => redis.stop());
      const site = await openSite(t, { faults: 'latency ms=20 on=creates' });
      const service = await startService(site, {
        QUEUE_URL: redis.url,
        SYNC_HEAD_EVERY: '1s',
        SYNC_SWEEP_EVERY: '3s',
      });
      const wanted = titles('Through trouble', 60);
      await importTitles(site, wanted);
      await until('some posts', () => posted(site).length >= 10);
      await flush(redis.url);
      await until('more posts after everything was flushed', () => posted(site).length >= 25);
      await redis.kill();
      await until('that it says so', async () => !(await isReady(service)));
      await redis.restart();
      await until('all posts', () => posted(site).length >= wanted.length);
      await until('readiness', () => isReady(service));
      await service.stop();
      assertPosted(site, wanted);
      const swept = await site.run(['sync', '--json']);
      assert.equal(swept.code, 0, swept.stderr);
      assertExact(site.mirror, site.sandbox.world);
    });
  }

  it('that may evict keys is refused with the command that corrects it', async (t) => {
    const redis = await startRedis();
    t.after(() => redis.stop());
    const admin = new Redis(redis.url);
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const site = await openSite(t);
    const refused = await site.run(['start'], { QUEUE_URL: redis.url, HTTP_PORT: '0' });
    assert.equal(refused.code, 2, refused.stderr);
    assert.match(refused.stderr, /maxmemory-policy noeviction/);
    admin.disconnect();
  });
});

async function flush(url: string): Promise<void> {
  const admin = new Redis(url);
  await admin.flushall();
  admin.disconnect();
}
