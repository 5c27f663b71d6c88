import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { folderFor } from '../support/folder.ts';
import { skipUnless } from '../support/programs.ts';

const LOG = new URL('../../src/base/log.ts', import.meta.url).href;

/** Logs more than fits, lifts the limit on its own file, and logs once more. */
const SCRIPT = `
  import { execFileSync } from 'node:child_process';
  const { createLogger } = await import('${LOG}');
  const log = createLogger({ level: 'info', format: 'json', secrets: () => [] });
  for (let n = 0; n < 100; n++) log.info({ n }, 'a line of some length, so that a few of them fill the disk');
  await new Promise((resolve) => setImmediate(resolve));
  execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited:']);
  log.info('space again');
  process.stdout.write('still there');
`;

describe('a log whose disk is full', skipUnless('prlimit'), () => {
  it('does not end the program, and has later lines when there is space again', (t) => {
    const folder = folderFor(t, 'log');
    const path = join(folder, 'log');
    const file = openSync(path, 'w');
    const { status, stdout } = spawnSync(
      'prlimit',
      ['--fsize=2000:', process.execPath, '--input-type=module', '--eval', SCRIPT],
      { stdio: ['ignore', 'pipe', file], encoding: 'utf8' },
    );
    closeSync(file);
    assert.deepEqual([status, stdout], [0, 'still there']);
    assert.match(readFileSync(path, 'utf8'), /space again/);
  });
});
