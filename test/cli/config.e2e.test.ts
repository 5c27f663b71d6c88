import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SETTINGS } from '../../config/schema.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/folder.ts';

type Shown = Record<string, { value: string | null; from: string }>;

async function shown(args: string[], env: Record<string, string> = {}, cwd?: string): Promise<Shown> {
  const { code, stdout, stderr } = await runCli(args, cwd === undefined ? { env } : { env, cwd });
  assert.deepEqual([code, stderr], [0, '']);
  return JSON.parse(stdout) as Shown;
}

describe('feedback-mirror config', () => {
  it('prints a table of every setting', async () => {
    const { code, stdout, stderr } = await runCli(['config']);
    assert.deepEqual([code, stderr], [0, '']);
    const lines = stdout.trimEnd().split('\n');
    assert.match(lines[0] ?? '', /^SETTING +VALUE +FROM +MEANING$/);
    assert.deepEqual(
      lines.slice(1).map((line) => line.split(' ')[0]),
      Object.values(SETTINGS).map(({ env }) => env),
    );
    assert.match(stdout, /^FEEDBACK_BASE_URL +the built-in sandbox +default /m);
  });

  it('prints one JSON object and nothing else for a machine', async () => {
    const settings = await shown(['config', '--json']);
    assert.deepEqual(
      Object.keys(settings),
      Object.values(SETTINGS).map(({ env }) => env),
    );
    assert.deepEqual(settings.LOG_LEVEL, { value: 'info', from: 'default' });
    assert.deepEqual(settings.FEEDBACK_BASE_URL, { value: null, from: 'default' });
  });

  it('takes flags before and after the command', async () => {
    for (const args of [
      ['--data-dir', 'there', '--json', 'config'],
      ['config', '--data-dir', 'there', '--json'],
      ['--json', 'config', '--data-dir=there'],
    ])
      assert.deepEqual((await shown(args)).DATA_DIR, { value: 'there', from: 'flag' });
  });

  it('shows where each value comes from, and secrets only as a mask', async () => {
    const cwd = temporaryFolder('cli');
    writeFileSync(join(cwd, '.env'), 'LOG_LEVEL=warn\nDATA_DIR=other\n');
    writeFileSync(join(cwd, 'token'), 'canary-of-file\n');
    const env = {
      DATA_DIR: 'mine',
      FEEDBACK_API_TOKEN_FILE: 'token',
      FEEDBACK_BASE_URL: 'https://feedback.example.com',
    };
    const settings = await shown(['config', '--json', '--log-format', 'pretty'], env, cwd);
    rmSync(cwd, { recursive: true });
    assert.deepEqual(settings.LOG_LEVEL, { value: 'warn', from: '.env' });
    assert.deepEqual(settings.DATA_DIR, { value: 'mine', from: 'environment' });
    assert.deepEqual(settings.LOG_FORMAT, { value: 'pretty', from: 'flag' });
    assert.deepEqual(settings.FEEDBACK_API_TOKEN, { value: '[secret]', from: 'file' });
    assert.deepEqual(settings.FEEDBACK_BASE_URL, {
      value: 'https://feedback.example.com/',
      from: 'environment',
    });
  });

  it('shows no secret in the table either', async () => {
    const { stdout } = await runCli(['config'], { env: { FEEDBACK_API_TOKEN: 'canary-token' } });
    assert.match(stdout, /^FEEDBACK_API_TOKEN +\[secret\] +environment /m);
    assert.doesNotMatch(stdout, /canary/);
  });

  it('lists every wrong setting and exits with 2', async () => {
    const env = {
      LOG_LEVEL: 'loud',
      FEEDBACK_AUTH: 'query',
      FEEDBACK_TOKEN: 'canary',
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    };
    const { code, stdout, stderr } = await runCli(['config', '--feedback-base-url', 'http://x'], { env });
    assert.deepEqual([code, stdout], [2, '']);
    const lines = stderr.split('\n').filter((line) => line.startsWith('  '));
    assert.deepEqual(lines.map((line) => line.trim().split(/[ =]/)[0]).sort(), [
      'FEEDBACK_AUTH_PARAM',
      'FEEDBACK_BASE_URL',
      'FEEDBACK_TOKEN',
      'LOG_LEVEL',
      'NODE_TLS_REJECT_UNAUTHORIZED',
    ]);
    assert.doesNotMatch(stderr, /canary/);
  });
});
