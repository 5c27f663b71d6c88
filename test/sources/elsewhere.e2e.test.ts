import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { takeLock } from '../../src/db/lock.ts';
import { place } from './place.ts';

it('a question to a machine that does not run the source is answered, and says that the mirror may be old', async (t) => {
  const { folder, run } = await place(t, { acme: { posts: 3 } });
  assert.equal((await run(['sync', 'posts'])).code, 0);
  // Nobody listens there: a question needs no PostgreSQL.
  const env = { FLEET_URL: 'postgres://mirror@127.0.0.1:1/feedback' };
  const told = /This machine does not run acme just now, and its mirror here may be old/;
  const questions = [
    ['search', 'post'],
    ['similar', '1'],
    ['report', 'boards'],
    ['query', 'SELECT count(*) FROM posts'],
    ['export', 'posts'],
    ['changes'],
  ];
  for (const question of questions) {
    const { code, stderr } = await run(question, env);
    assert.equal(code, 0, stderr);
    assert.match(stderr, told);
  }
  const lease = takeLock(join(folder, 'data', 'acme', 'lease.lock'), 'the service');
  assert.ok(lease.ok);
  t.after(() => lease.release());
  for (const question of questions) assert.doesNotMatch((await run(question, env)).stderr, told);
});
