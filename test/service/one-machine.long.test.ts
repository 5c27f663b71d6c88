import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertExact } from '../mirror/mirror-rows.ts';
import { openSite } from '../support/mirror-site.ts';
import { until } from '../support/until.ts';
import { isReady, logOf, posted, startService } from './runs.ts';

describe('a service on one machine, its queue in the data folder', () => {
  it('starts again on its own data, knows what it knew and reads nothing that is fresh', async (t) => {
    const site = await openSite(t);
    const first = await startService(site, { SYNC_HEAD_EVERY: 'off' });
    await until('readiness', () => isReady(first));
    await first.stop();
    const requests = site.sandbox.requestCount;
    const second = await startService(site, { SYNC_HEAD_EVERY: 'off' });
    await until('readiness', () => isReady(second));
    assert.equal(site.sandbox.requestCount, requests, second.said());
    await second.stop();
    assertExact(site.mirror, site.sandbox.world);
  });

  it('shares its data folder with a second one, which sends as soon as the first is killed', async (t) => {
    const site = await openSite(t);
    const first = await startService(site);
    await until('readiness', () => isReady(first));
    const second = await startService(site);
    await until('readiness of the second', () => isReady(second));
    await site.run(['create', '--board', 'bugs', '--title', 'Sent by the first', '--wait']);
    first.child.kill('SIGKILL');
    const created = await site.run(['create', '--board', 'bugs', '--title', 'Sent by the second', '--wait']);
    assert.equal(created.code, 0, created.stderr);
    assert.deepEqual(posted(site), ['Sent by the first', 'Sent by the second']);
    await second.stop();
  });

  it('lets every command work beside it', async (t) => {
    const site = await openSite(t);
    const service = await startService(site);
    await until('readiness', () => isReady(service));
    const commands: [args: string[], shows: RegExp][] = [
      [['status'], /service: ready at http:[^\n]+\nqueue: embedded/],
      [['create', '--board', 'bugs', '--title', 'Made beside it', '--wait'], /post \d+/],
      [['sync', '--json'], /"complete"/],
      [['outbox'], /1 sent/],
      [['search', 'Made beside it'], /beside/],
      [['query', 'SELECT count(*) AS posts FROM live_posts'], /31/],
      [['report', 'overview'], /posts/i],
      [['export', 'posts', '--format', 'csv', '--out', '-'], /Made beside it/],
      [['backup', 'copy.db'], /copy\.db/],
      [['doctor'], /queue/i],
    ];
    for (const [args, shows] of commands) {
      const { code, stdout, stderr } = await site.run(args);
      assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
      assert.match(stdout + stderr, shows, args.join(' '));
    }
    assert.deepEqual(posted(site), ['Made beside it']);
    await service.stop();
    assert.match((await site.run(['status'])).stdout, /service: not running/);
    for (const line of logOf(service)) assert.ok(line.msg && line.event, JSON.stringify(line));
  });
});
