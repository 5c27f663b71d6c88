import assert from 'node:assert/strict';
import { dirname } from 'node:path';
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

  it('says what to set where there is no file', async () => {
    const { code, stderr } = await runCli(['rules']);
    assert.equal(code, 2);
    assert.match(stderr, /RULES_FILE is not set\ndocs\/rules\.md/);
  });
});
