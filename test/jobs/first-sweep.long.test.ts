import { join } from 'node:path';
import { it } from 'node:test';
import Database from 'better-sqlite3';
import { hasSwept, openFixture } from '../service/fixture.ts';
import { until } from '../support/until.ts';

it('merges the pieces that a first sweep leaves of the search index without waiting for the night', async (t) => {
  const sandbox = { posts: 10_100, pageSize: 100 };
  const fixture = await openFixture(t, { queueUrl: null, sandbox });
  const service = await fixture.start();
  const mirror = new Database(join(fixture.folder, 'mirror.db'), { readonly: true });
  t.after(() => mirror.close());
  const pieces = mirror.prepare('SELECT count(DISTINCT segid) FROM posts_text_idx').pluck();
  const rows = mirror.prepare<[], number>('SELECT count(*) FROM posts').pluck();
  for (const share of [0.25, 0.5, 0.75, 1])
    await until(`${share} of the posts are read`, () => Number(rows.get()) >= share * sandbox.posts);
  await until('everything is read', () => hasSwept(service));
  await until('the index is one piece', () => pieces.get() === 1);
});
