import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import {
  closing,
  collect,
  EXIT_CODES,
  maskAlso,
  maskSecrets,
  readFlag,
  stoppable,
  wholeNumber,
} from '../../src/cli/context.ts';

describe('the exit code of a failure', () => {
  it('is what scripts were told that it is', () => {
    assert.deepEqual(EXIT_CODES, {
      ...{ internal: 1, usage: 2, unauthorised: 3 },
      ...{ unreachable: 4, throttled: 4, refused: 4, protocol: 4 },
      ...{ partial: 5, gone: 5, busy: 6, storage: 7, interrupted: 130 },
    });
  });
});

describe('an argument', () => {
  it('that counts something is a whole number within its limit', () => {
    assert.deepEqual([wholeNumber('it', '1'), wholeNumber('it', '50', 50)], [1, 50]);
    for (const text of ['0', '-1', '1.5', '01', '1e3', ' 1', '', '51'])
      assert.throws(
        () => wholeNumber('it', text, 50),
        /it must be a whole number from 1 to 50, not ".*"/,
        text,
      );
    assert.equal(wholeNumber('it', '0', undefined, 0), 0);
    assert.throws(() => wholeNumber('it', '-1', undefined, 0), /from 0 up/);
    assert.throws(() => wholeNumber('it', String(2 ** 53)), /from 1 to 9007199254740991/);
  });

  it('that is given several times is kept in its order', () => {
    assert.deepEqual(collect('b', collect('a')), ['a', 'b']);
  });

  it('that its parser does not take is refused by its name', () => {
    const parse = (): never => {
      throw new Error('is no duration');
    };
    assert.throws(() => readFlag('--wait', parse, 'x'), { code: 'usage', message: '--wait is no duration' });
    assert.equal(readFlag('--wait', Number, '5'), 5);
  });
});

describe('what is printed on failure', () => {
  it('shows no secret that came up on the way', () => {
    maskAlso(new Secret('hunter2-hunter2'));
    assert.doesNotMatch(maskSecrets('the token hunter2-hunter2 was refused'), /hunter2/);
  });
});

describe('a command that a person stops', () => {
  it('says what is kept, and says so of no other failure', async () => {
    const said: string[] = [];
    const context = { remark: (text: string) => void said.push(text) } as Parameters<typeof stoppable>[0];
    for (const code of ['interrupted', 'storage'] as const)
      await assert.rejects(
        stoppable(context, 'all is kept', () => Promise.reject(new AppError(code, 'no'))),
        { code },
      );
    assert.deepEqual(said, ['all is kept']);
    assert.equal(await stoppable(context, '', async () => 5), 5);
  });

  it('closes what it opened, whichever way it ends', async () => {
    let closed = 0;
    const failing = async (): Promise<void> => {
      await using _handle = closing({ close: async () => void closed++ });
      throw new Error('no');
    };
    await assert.rejects(failing(), /no/);
    assert.deepEqual([closed, closing(null)], [1, null]);
  });
});
