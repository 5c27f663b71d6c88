import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { lookAtRules } from '../../src/rules/engine.ts';
import { openBench } from './bench.ts';
import { openMailServer } from './mail-server.ts';

async function run(env: Record<string, string>, crash?: string): Promise<string> {
  const crashing = crash === undefined ? {} : { FEEDBACK_TEST_CRASH: crash };
  const script = new URL('./child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    env: { ...process.env, ...env, ...crashing },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return signal ?? String(code);
}

async function openWaiting(t: TestContext) {
  const mail = await openMailServer(t);
  const file = {
    channels: { pm: { mail: ['pm@example.com'] } },
    rules: [{ name: 'posts', what: 'new-posts', every: 'at-once', to: ['pm'] }],
  };
  const bench = await openBench(t, file, { SMTP_URL: mail.url, MAIL_FROM: 'feedback@example.com' });
  await lookAtRules(bench.deps);
  const db = new Database(bench.path);
  db.exec('UPDATE rules SET position = 0');
  db.close();
  assert.equal((await lookAtRules(bench.deps)).made, 1);
  return { mail, env: bench.env };
}

describe('a process that is killed while it tells', () => {
  it('before the first byte: the message is sent, and says that it may be repeated', async (t) => {
    const { mail, env } = await openWaiting(t);
    assert.equal(await run(env, 'rule-claimed'), 'SIGKILL');
    assert.equal(mail.taken.length, 0);
    assert.equal(await run(env), '0');
    assert.deepEqual(
      mail.taken.map(({ subject }) => subject),
      ['[repeated] 1 new post'],
    );
    assert.equal(await run(env), '0');
    assert.equal(mail.taken.length, 1);
  });

  it('after the answer and before it is noted: the second mail says that it is repeated, with the id of the first', async (t) => {
    const { mail, env } = await openWaiting(t);
    assert.equal(await run(env, 'rule-sent'), 'SIGKILL');
    assert.equal(await run(env), '0');
    assert.deepEqual(
      mail.taken.map(({ subject }) => subject),
      ['1 new post', '[repeated] 1 new post'],
    );
    assert.equal(mail.taken[0]?.id, mail.taken[1]?.id);
  });
});
