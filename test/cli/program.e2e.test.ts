import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { CHECKOUT, runCli, runProgram, spawnCli } from '../support/cli.ts';

const { version } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')) as { version: string };

describe('the program', () => {
  it('prints its help on stdout', async () => {
    const { code, stdout, stderr } = await runProgram(['--help']);
    assert.equal(code, 0);
    assert.equal(stderr, '');
    assert.deepEqual(await runProgram(['help']), { code, stdout, stderr });
    assert.match(stdout, /^Usage: feedback-mirror \[options\] \[command\]/);
    for (const word of ['config', 'sandbox', 'sync', 'DATA_DIR is --data-dir'])
      assert.ok(stdout.includes(word), word);
  });

  it('prints its version as JSON for machines', async () => {
    const { code, stdout } = await runProgram(['--version', '--json']);
    assert.deepEqual([code, (JSON.parse(stdout) as { version: string }).version], [0, version]);
  });

  it('prints its version and commit', async () => {
    const { code, stdout, stderr } = await runProgram(['--version']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, new RegExp(`^${version.replaceAll('.', '\\.')} \\(commit [0-9a-f]{10}\\)\n$`));
  });

  it('without a command shows the help where mistakes are shown', async () => {
    const { code, stdout, stderr } = await runProgram([]);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^Usage: feedback-mirror/);
  });

  it('answers an unknown command or flag with a suggestion', async () => {
    assert.deepEqual(await runProgram(['confg']), {
      code: 2,
      stdout: '',
      stderr: "feedback-mirror: unknown command 'confg'\nDid you mean config? See feedback-mirror --help.\n",
    });
    for (const args of [
      ['--jsn', 'config'],
      ['config', '--jsn'],
    ])
      assert.deepEqual(await runCli(args), {
        code: 2,
        stdout: '',
        stderr:
          "feedback-mirror: unknown option '--jsn'\nDid you mean --json? See feedback-mirror config --help.\n",
      });
  });

  it('names the sub-commands where there is none of that name', async () => {
    const { code, stderr } = await runCli(['outbox', 'nope']);
    const names = 'list, show, approve, retry, cancel, pause, resume, resolve, edit';
    assert.deepEqual(
      [code, stderr.split('\n')[0]],
      [2, `feedback-mirror: there is no such sub-command; outbox has ${names}`],
    );
  });

  it('suggests a report, and points to the help of the command', async () => {
    const cases: [args: string[], hint: string][] = [
      [['outbox', 'show'], 'See feedback-mirror outbox show --help.'],
      [['report', 'tops'], 'Did you mean top-posts? "feedback-mirror report" lists all of them.'],
    ];
    for (const [args, hint] of cases) {
      const { code, stderr } = await runCli(args);
      assert.deepEqual([code, stderr.split('\n')[1]], [2, hint]);
    }
  });

  it('takes an empty TZ for UTC', async () => {
    const { stdout } = await runCli(['config', '--json'], { env: { TZ: '' } });
    const { TZ } = JSON.parse(stdout) as Record<string, { value: string }>;
    assert.equal(TZ?.value, 'UTC');
  });

  it('does not repeat what follows an unknown flag, which may be a secret', async () => {
    for (const args of [
      ['config', '--tokn=canary='],
      ['--feedback-api-tokn', 'canary', 'config'],
    ]) {
      const { code, stdout, stderr } = await runCli(args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /unknown option '--[a-z-]+'/);
      assert.doesNotMatch(stderr, /canary/);
    }
  });

  it('says what is wrong as JSON when asked for JSON', async () => {
    for (const args of [
      ['--json', 'confg'],
      ['config', '--log-level', 'loud', '--json'],
    ]) {
      const { code, stdout, stderr } = await runCli(args);
      assert.deepEqual([code, stdout], [2, '']);
      const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
      assert.equal(error.code, 'usage');
      assert.match(error.message, /confg|LOG_LEVEL/);
    }
  });

  it('takes no secret as a flag', async () => {
    for (const args of [
      ['--feedback-api-token', 'canary', 'config'],
      ['config', '--feedback-api-token=canary'],
    ]) {
      const { code, stdout, stderr } = await runCli(args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /every process on this machine could read/);
      assert.match(stderr, /FEEDBACK_API_TOKEN_FILE/);
      assert.doesNotMatch(stderr, /canary/);
    }
  });

  it('ends quietly when the reader of its output closes the pipe', async () => {
    for (const args of [['config'], ['report'], ['query', '--schema'], ['sandbox', '--posts', '1']]) {
      const child = spawnCli(args);
      child.stdout.destroy();
      const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
      assert.equal(code, 141, args.join(' '));
      assert.doesNotMatch(stderr, /EPIPE/);
    }
  });

  it('reports an unhandled failure with its stack and without the token', async () => {
    const preload = `process.on('newListener', (name) => {
      if (name === 'uncaughtException') setImmediate(() => Promise.reject(new Error('stray with canary-token')));
    });`;
    const { code, stdout, stderr } = await runCli(['config'], {
      env: {
        FEEDBACK_API_TOKEN: 'canary-token',
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}`,
      },
    });
    assert.equal(code, 1);
    assert.match(stdout, /^SETTING/);
    assert.match(stderr, /^feedback-mirror: stray with \[secret\]\nError: stray with \[secret\]\n +at /);
  });
});
