import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, codeOf, ERROR_CODES, firstError, messageOf, storageError } from '../../src/base/errors.ts';

describe('AppError', () => {
  it('carries its code, its hint and its cause', () => {
    const cause = new Error('underneath');
    const error = new AppError('busy', 'the folder is in use', { cause, hint: 'Stop the other one.' });
    assert.deepEqual(
      [error.name, error.code, error.message, error.hint, error.cause],
      ['AppError', 'busy', 'the folder is in use', 'Stop the other one.', cause],
    );
  });

  it('has no cause property when there is no cause', () => {
    assert.equal('cause' in new AppError('usage', 'x'), false);
  });
});

describe('firstError', () => {
  it('returns the first failure, not the failures of closing after it', () => {
    const full = new AppError('storage', 'the disk is full');
    const fail = (): void => {
      using _one = { [Symbol.dispose]: () => assert.fail('closing') };
      using _other = { [Symbol.dispose]: () => assert.fail('closing too') };
      throw full;
    };
    assert.throws(fail, (error) => firstError(error) === full);
    assert.equal(firstError(full), full);
  });
});

describe('codeOf', () => {
  it('is the code of our own errors', () => {
    for (const code of ERROR_CODES) assert.equal(codeOf(new AppError(code, 'x')), code);
  });

  it('is interrupted for an abort without a reason', () => {
    assert.equal(codeOf(AbortSignal.abort().reason), 'interrupted');
  });

  it('is the code of the reason for an abort that carries one as its cause, as those of Node do', async () => {
    const stopped = AbortSignal.abort(new AppError('unreachable', 'took too long'));
    const error = await delay(1000, undefined, { signal: stopped }).catch((reason: unknown) => reason);
    assert.equal(error instanceof AppError, false);
    assert.equal(codeOf(error), 'unreachable');
  });

  it('is interrupted for an abort of Node with any other reason', async () => {
    const stopped = AbortSignal.abort('enough');
    assert.equal(
      codeOf(await delay(1000, undefined, { signal: stopped }).catch((e: unknown) => e)),
      'interrupted',
    );
  });

  it('is busy where another program has locked a database', () => {
    const locked = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY_SNAPSHOT' });
    assert.equal(codeOf(locked), 'busy');
    assert.match(storageError(locked)?.message ?? '', /another program has locked/);
  });

  it('tells a full disk also where SQLite speaks of input and output', () => {
    const coded = (code: string) => Object.assign(new Error('disk I/O error'), { code });
    assert.match(storageError(coded('SQLITE_IOERR_SHMSIZE'))?.message ?? '', /^the disk is full/);
    assert.match(storageError(coded('SQLITE_IOERR_READ'))?.message ?? '', /^the disk cannot be read/);
  });

  it('names the disk of the file that is full, and the data folder where none is known', () => {
    const full = () => Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' });
    assert.match(
      storageError(full(), '/mnt/copy.db')?.hint ?? '',
      /^Make room on the disk of \/mnt\/copy\.db,/,
    );
    assert.match(storageError(full())?.hint ?? '', /^Make room on the disk of DATA_DIR,/);
  });

  it('reports no disk error for sockets and processes with the same code', () => {
    const refused = (syscall: string) => Object.assign(new Error('no'), { code: 'EACCES', syscall });
    for (const syscall of ['listen', 'bind', 'connect', 'spawn node'])
      assert.equal(storageError(refused(syscall)), null);
    assert.equal(storageError(refused('open'))?.code, 'usage');
  });

  it('is internal for everything else', () => {
    for (const thrown of [new Error('x'), new TypeError('x'), 'text', null, undefined, { code: 'usage' }])
      assert.equal(codeOf(thrown), 'internal');
  });
});

describe('messageOf', () => {
  it('finds words for anything thrown', () => {
    assert.equal(messageOf(new Error('broken')), 'broken');
    assert.equal(messageOf('broken'), 'broken');
    assert.equal(messageOf(undefined), 'undefined');
  });
});
