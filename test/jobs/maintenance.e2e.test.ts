import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { parse } from 'csv-parse/sync';
import { hasSwept, openFixture, type RunningService } from '../service/fixture.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startRedis } from '../support/servers.ts';
import { until } from '../support/until.ts';

describe('maintenance through the queue', skipUnless('redis-server'), () => {
  let redis: Server;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  it('erases what retention says, keeps a checked copy, and leaves its time', async (t) => {
    const fixture = await openFixture(t, { queueUrl: redis.url, env: { RETENTION_DELETED: '1d' } });
    const service = await fixture.start();
    await until('everything is read', () => hasSwept(service));
    const mirror = new Database(join(fixture.folder, 'mirror.db'));
    t.after(() => mirror.close());
    mirror
      .prepare(
        "UPDATE posts SET deleted_at = '2020-01-01T00:00:00.000Z' WHERE id IN (SELECT id FROM posts LIMIT 2)",
      )
      .run();
    const ended = await endOf(service, 'maintenance');
    assert.deepEqual(ended, { failed: [] });
    const erased = mirror.prepare('SELECT count(*) FROM posts WHERE erased_at IS NOT NULL').pluck();
    assert.equal(erased.get(), 2);
    assert.ok((service.app.state.lastHousekeepingAt() ?? 0) > 0);

    const path = join(fixture.folder, 'backup', 'mirror.db');
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const copy = new Database(path, { readonly: true });
    t.after(() => copy.close());
    const counted = 'SELECT (SELECT count(*) FROM posts) || (SELECT count(*) FROM comments)';
    assert.equal(copy.prepare(counted).pluck().get(), mirror.prepare(counted).pluck().get());
    assert.equal(copy.prepare('SELECT count(*) FROM posts WHERE erased_at IS NOT NULL').pluck().get(), 2);
  });

  for (const inUse of ['', ', and is in use'])
    it(`leaves the copy as it is where another file has taken the place of the mirror${inUse}`, async (t) => {
      const fixture = await openFixture(t, { queueUrl: redis.url });
      const service = await fixture.start();
      await until('everything is read', () => hasSwept(service));
      assert.deepEqual(await endOf(service, 'maintenance'), { failed: [] });
      const copy = readFileSync(join(fixture.folder, 'backup', 'mirror.db'));

      const { mirrorPath } = service.app.settings;
      for (const rest of ['', '-wal', '-shm']) renameSync(mirrorPath + rest, `${mirrorPath}${rest}.old`);
      const other = await fixture.openApp();
      t.after(() => other.close());
      if (inUse === '') await other.close();
      assert.deepEqual(await endOf(service, 'maintenance'), {
        failed: ['renew the checked copy of the mirror'],
      });
      assert.ok(copy.equals(readFileSync(join(fixture.folder, 'backup', 'mirror.db'))));
    });

  it('exports the mirror by its cron pattern', async (t) => {
    const env = { EXPORT_CRON: '* * * * * *', EXPORT_FORMAT: 'csv' };
    const fixture = await openFixture(t, { queueUrl: redis.url, env });
    const service = await fixture.start();
    await until('everything is read', () => hasSwept(service));
    const folder = join(fixture.folder, 'exports');
    const rows = fixture.sandbox.world.posts().length;
    await until('an export holds every post', () => exportedPosts(folder) === rows);
  });
});

/** Adds a job and waits for its result. */
async function endOf({ backend }: RunningService, name: string): Promise<unknown> {
  const queue = backend.queue('maintenance');
  const job = await queue.add(name, {});
  let result: unknown;
  await until(`${name} is done`, async () => {
    const found = await queue.getJob(job.id ?? '');
    result = found?.returnvalue;
    return found?.finishedOn !== undefined;
  });
  return result;
}

function exportedPosts(root: string): number {
  const latest = join(root, 'latest.json');
  if (!existsSync(latest)) return 0;
  const { folder } = JSON.parse(readFileSync(latest, 'utf8')) as { folder: string };
  return (parse(readFileSync(join(root, folder, 'posts.csv')), { columns: true }) as object[]).length;
}
