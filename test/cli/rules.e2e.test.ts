import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { openBench } from '../rules/bench.ts';
import { runCli } from '../support/cli.ts';
import { openReceiver } from '../webhooks/receiver.ts';

describe('feedback-mirror rules', () => {
  it('lists, previews, tests, pauses and resumes the rules of the file', async (t) => {
    const receiver = await openReceiver(t);
    const file = {
      channels: { slack: { slack: receiver.url } },
      rules: [{ name: 'monday', what: 'digest', every: 'weekly', to: ['slack'] }],
    };
    const { env, path } = await openBench(t, file);
    const run = (...args: string[]) => runCli(['rules', ...args], { env, cwd: dirname(path) });
    assert.match((await run()).stdout, /monday +digest +weekly +slack +\d{4}-\d\d-\d\dT09:00/);
    assert.match(
      (await run('preview', 'monday')).stdout,
      /^Feedback of the last 7 days.*\n\nWaiting for an answer/s,
    );
    assert.match((await run('test', 'monday')).stdout, /slack: sent/);
    assert.match(receiver.received[0]?.body ?? '', /\[test\] Feedback of the last 7 days/);
    receiver.plan.push(500);
    const refused = await run('test', 'monday');
    assert.deepEqual([refused.code, refused.stdout], [5, 'slack: not sent: it answered 500\n']);
    await run('pause', 'monday');
    assert.match((await run()).stdout, /paused/);
    await run('resume', 'monday');
    assert.doesNotMatch((await run()).stdout, /paused/);
    const unknown = await run('test', 'mondy');
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /no rule "mondy"\nDid you mean monday\?/);
  });

  it('makes the file in the data folder, with channels and rules, and takes a rule out again', async (t) => {
    const { env, path } = await openBench(t, { channels: {}, rules: [] });
    const { RULES_FILE: _, ...plain } = env;
    const folder = join(dirname(path), 'own');
    const own = { ...plain, DATA_DIR: folder, SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'f@example.com' };
    const run = (...args: string[]) => runCli(['rules', ...args], { env: own, cwd: dirname(path) });
    mkdirSync(folder);
    assert.match((await run()).stdout, /There is no rule yet/);
    assert.equal((await run('channel', 'pm', '--mail', 'pm@example.com, cto@example.com')).code, 0);
    const monday = ['--what', 'digest', '--every', 'weekly', '--at', 'tue 7:30', '--zone', 'Europe/Berlin'];
    const set = await run('set', 'monday', ...monday, '--to', 'pm');
    assert.match(set.stdout, /monday +digest +weekly +pm/);
    const wrong = await run('set', 'other', '--what', 'digest', '--every', 'hourly', '--to', 'nobody');
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /"digest" can come daily or weekly/);
    assert.match(readFileSync(join(folder, 'rules.yaml'), 'utf8'), /cto@example\.com[\s\S]*tue 7:30/);
    assert.equal(statSync(join(folder, 'rules.yaml')).mode & 0o777, 0o600);
    assert.match((await run('remove', 'monday')).stdout, /monday is removed/);
    assert.match((await run()).stdout, /There is no rule yet/);
  });
});
