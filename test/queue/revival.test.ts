import assert from 'node:assert/strict';
import { existsSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from '../support/mirror-site.ts';
import { copiesOfQueue, ENDLESS, openPatient } from './reviving-site.ts';

describe('a database of the queue that does not answer any more', () => {
  const { newFolder } = copiesOfQueue();

  it('is opened again: what was asked meanwhile is answered, and the question that did it fails', async (t) => {
    const { pool, sessions, lines } = await openPatient(t, newFolder());
    const guilty = assert.rejects(pool.query(ENDLESS, [], 300), { code: 'unreachable', message: /3 times/ });
    const { rows } = await pool.query<{ n: number }>('SELECT $1::int AS n', [7]);
    assert.deepEqual(rows, [{ n: 7 }]);
    await guilty;
    await pool.query('SELECT 1');
    assert.equal(sessions.length, 4);
    assert.match(lines[0] ?? '', /broken down \(no answer for 0\.3 s\)/);
    assert.match(lines[1] ?? '', /answers again/);
  });

  it('does every job, those added before, meanwhile and after', async (t) => {
    const { work, add, sessions } = await openPatient(t, newFolder(), 2000);
    const done = work();
    await add('before');
    await eventually('the first is done', () => done.length === 1);
    const stuck = assert.rejects(sessions[0]?.query(ENDLESS) ?? Promise.resolve(), { name: 'SessionLost' });
    await add('meanwhile');
    await stuck;
    await eventually('the second is done', () => done.includes('meanwhile'));
    await add('after');
    // A worker looks by itself only after 5 s: it listens again.
    await eventually('the third is done', () => done.includes('after'), 3000);
  });

  it('is given the time that was asked for', async (t) => {
    const { pool, sessions } = await openPatient(t, newFolder(), 700);
    const slow = pool.query('SELECT pg_sleep(1.5)', [], 20_000);
    await pool.query('SELECT 1');
    await slow;
    assert.equal(sessions.length, 1);
  });

  it('does its jobs again after its thread ended, asked or not', async (t) => {
    const { work, add, sessions, lines, folder } = await openPatient(t, newFolder());
    const done = work();
    await add('before');
    await eventually('the first is done', () => done.length === 1);
    await sessions[0]?.kill('a test ended it');
    await eventually('it was opened again', () => sessions.length === 2);
    await add('after');
    await eventually('the second is done', () => done.includes('after'), 3000);
    assert.equal(lines.length, 2, lines.join(''));
    assert.deepEqual(globSync(`${folder}.*`), []);
  });

  it('keeps aside one folder that cannot be opened any more, and starts anew', async (t) => {
    const { pool, sessions, folder, lines } = await openPatient(t, newFolder());
    for (const file of globSync(join(folder, 'base/5/*'))) rmSync(file);
    await sessions[0]?.kill('a test ended it');
    await pool.query('SELECT count(*) FROM job');
    const [aside = '', ...more] = globSync(`${folder}.*`);
    assert.ok(existsSync(join(aside, 'PG_VERSION')) && more.length === 0);
    assert.ok(lines.some((line) => /it is now .*queue\.broken-/.test(line)));
  });

  it('keeps no more than the first, however often it fails', async (t) => {
    const { pool, sessions, folder, patience } = await openPatient(t, newFolder());
    patience.openMs = 1;
    await sessions[0]?.kill('a test ended it');
    const aside = (): string[] => globSync(`${folder}.broken-*`);
    await eventually('it was set aside', () => aside().length > 0);
    const [first = ''] = aside();
    const second = `${folder}/of-the-next-one`;
    await eventually('the next one is there', () => existsSync(folder));
    writeFileSync(second, '');
    await eventually('that was removed', () => !existsSync(second));
    patience.openMs = 30_000;
    await pool.query('SELECT count(*) FROM job');
    assert.deepEqual(aside(), [first]);
  });

  it('can be closed while it is stuck and while it is opened again', async (t) => {
    const { pool, sessions, folder } = await openPatient(t, newFolder());
    const asked = assert.rejects(
      pool.query('SELECT 1').then(() => pool.query(ENDLESS)),
      {
        code: 'interrupted',
      },
    );
    await pool.query('SELECT 1');
    await inTime(() => pool.close());
    await asked;

    const other = await openPatient(t, folder);
    await other.sessions[0]?.kill('a test ended it');
    const waiting = assert.rejects(other.pool.query('SELECT 1'), { code: 'interrupted' });
    await inTime(() => other.pool.close());
    await waiting;
    assert.deepEqual([sessions.length, other.sessions.length], [1, 1]);
    await (await openPatient(t, folder)).pool.query('SELECT count(*) FROM job');
  });
});

async function inTime(work: () => Promise<void>): Promise<void> {
  const begun = performance.now();
  await work();
  const ms = performance.now() - begun;
  assert.ok(ms < 2000, `took ${ms} ms`);
}
