import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { takeLock } from '../../src/db/lock.ts';
import { place, tokenOf } from './place.ts';

const QUESTIONS = [
  ['search', 'post'],
  ['similar', '1'],
  ['report', 'boards'],
  ['query', 'SELECT count(*) FROM posts'],
  ['export', 'posts'],
  ['changes'],
  ['status'],
  ['outbox'],
  ['segments'],
  ['backup', 'copy.db'],
  ['rules'],
  ['mcp'],
];

/** Nobody listens there: a question needs no PostgreSQL. */
const FLEET = { FLEET_URL: 'postgres://mirror@127.0.0.1:1/feedback' };

async function mirrored(t: TestContext) {
  const { folder, run } = await place(t, { acme: { posts: 3 } });
  assert.equal((await run(['sync', 'posts'])).code, 0);
  return { folder, run };
}

it('a question to a machine that does not run the source is answered, and says that the mirror may be old', async (t) => {
  const { folder, run } = await mirrored(t);
  const told = /This machine does not run acme just now, and its mirror here may be old/;
  for (const question of QUESTIONS) {
    const { code, stderr } = await run(question, FLEET);
    assert.equal(code, 0, stderr);
    assert.match(stderr, told, question.join(' '));
    rmSync(join(folder, 'copy.db'), { force: true });
  }
  for (const question of [['status'], ['report', 'boards'], ['search', 'post'], ['outbox']]) {
    const { stdout, stderr } = await run([...question, '--json'], FLEET);
    assert.deepEqual(JSON.parse(stdout).elsewhere, [{ source: 'acme', machine: null }], question.join(' '));
    assert.match(stderr, told);
  }
  const lease = takeLock(join(folder, 'data', 'acme', 'lease.lock'), 'the service');
  assert.ok(lease.ok);
  t.after(() => lease.release());
  for (const question of QUESTIONS) assert.doesNotMatch((await run(question, FLEET)).stderr, told);
  assert.equal(JSON.parse((await run(['status', '--json'], FLEET)).stdout).elsewhere, undefined);
});

it('a question to a machine without a mirror of the source ends with 6 and says so', async (t) => {
  const { run } = await place(t, { acme: { posts: 3 } });
  for (const question of QUESTIONS) {
    const { code, stderr } = await run(question, FLEET);
    assert.equal(code, 6, question.join(' '));
    assert.match(stderr, /This machine does not run acme just now, and has no mirror of it/);
  }
});

it('a command that changes the mirror is refused where another machine runs the source', async (t) => {
  const { folder, run } = await mirrored(t);
  writeFileSync(join(folder, 'customers.csv'), 'email,plan\nowner@example.com,Pro\n');
  const commands = [
    ['segments', 'import', 'customers.csv'],
    ['segments', 'remove'],
    ['similar', '--same', '1', '2'],
    ['rules', 'channel', 'product', '--mail', 'pm@example.com'],
    ['rules', 'preview', 'monday'],
    ['report', 'shipped', '--mark-told'],
    ['erase', '--email', 'owner@example.com', '--yes'],
  ];
  for (const command of commands) {
    const { code, stderr } = await run(command, FLEET);
    assert.equal(code, 6, `${command.join(' ')}: ${stderr}`);
    assert.match(stderr, /does not run acme just now, so nothing is written/);
  }
});

it('several sources are answered for, and each that runs elsewhere has its hint', async (t) => {
  const { run } = await place(t, { acme: { posts: 3 }, beta: { posts: 3 } });
  const { code, stderr } = await run(['status'], FLEET);
  assert.equal(code, 6);
  for (const name of ['acme', 'beta'])
    assert.match(
      stderr,
      new RegExp(`does not run ${name} just now[^\\n]+\\n"feedback-mirror fleet status" names`),
    );
  const { sources } = JSON.parse((await run(['status', '--json'], FLEET)).stdout);
  assert.match(sources.acme.error.hint, /fleet status/);
});

it('the doctor asks the upstream of a source that runs elsewhere, and misses none of its files', async (t) => {
  const { run, sandboxes } = await place(t, { acme: { posts: 3 } });
  const { code, stdout } = await run(['doctor'], FLEET);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /warn +machine +this machine does not run the source/);
  assert.match(stdout, /ok +upstream/);
  assert.doesNotMatch(stdout, /mirror +.*not there yet|feedback-mirror sync/);
  sandboxes.acme?.revoke(tokenOf('acme'));
  assert.equal((await run(['doctor'], FLEET)).code, 3);
});
