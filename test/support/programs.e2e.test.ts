import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { findProgram, findPrograms, requireProgram, skipUnless } from './programs.ts';

const module = new URL('./programs.ts', import.meta.url);

/** A test file in a process of its own, on a machine that seems to have no programs at all. */
function testWithoutPrograms(env: Record<string, string>): { status: number | null; stdout: string } {
  const script = `
    import { it } from 'node:test';
    import { skipUnless } from '${module}';
    it('talks to Redis', skipUnless('redis-server'), () => { throw new Error('it ran'); });`;
  return spawnSync(process.execPath, ['--test-reporter=tap', '--input-type=module', '-e', script], {
    env: { PATH: '', ...env },
    encoding: 'utf8',
  });
}

describe('looking for a program', () => {
  it('finds what is on the PATH', () => {
    assert.match(findProgram('sh') ?? '', /\/sh$/);
    assert.ok(findPrograms('sh').length >= 1);
    assert.deepEqual(skipUnless('sh', 'cat'), { skip: false });
  });

  it('finds nothing of an unknown name', () => {
    assert.equal(findProgram('no-such-program'), null);
    assert.throws(() => requireProgram('no-such-program'), /no-such-program is not installed/);
  });

  it('does not take a folder for a program', () => {
    assert.equal(findProgram('.'), null);
  });
});

describe('a test that needs a missing program', () => {
  it('is skipped and says why', () => {
    const { status, stdout } = testWithoutPrograms({});
    assert.match(stdout, /ok 1 - talks to Redis # SKIP redis-server is not installed/);
    assert.equal(status, 0);
  });

  it('fails under CI', () => {
    const { status, stdout } = testWithoutPrograms({ CI: 'true' });
    assert.doesNotMatch(stdout, /SKIP/);
    assert.notEqual(status, 0);
  });
});
