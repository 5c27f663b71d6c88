import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERROR_CODES } from '../../src/base/errors.ts';
import { EXIT_CODES } from '../../src/cli/exit.ts';
import { table } from '../../src/cli/table.ts';

describe('a table', () => {
  it('puts columns side by side, numbers to the right', () => {
    const drawn = table(
      ['board', 'posts', 'votes'],
      [
        ['Ideas', 1234, 5],
        ['Bugs', 7, null],
      ],
    );
    assert.equal(drawn, ['BOARD  POSTS  VOTES', 'Ideas  1,234      5', 'Bugs       7'].join('\n'));
  });

  it('without rows is its head', () => {
    assert.equal(table(['a', 'b'], []), 'A  B');
  });

  it('counts wide characters as two columns', () => {
    assert.deepEqual(
      table(
        ['t', 'x'],
        [
          ['日本', 'a'],
          ['ab', 'b'],
        ],
      )
        .split('\n')
        .slice(1),
      ['日本  a', 'ab    b'],
    );
  });

  it('keeps a cell from breaking the line, colouring the terminal or turning the text around', () => {
    const nasty = 'a\r\nb\u001b[31mc\u009b2Jd\u202ee\u2028f';
    assert.equal(table(['x', 'y'], [[nasty, 'end']]).split('\n')[1], 'a b [31mc 2Jd e f  end');
  });
});

describe('exit codes', () => {
  it('are those of the manual', () => {
    assert.deepEqual(
      ERROR_CODES.map((code) => [code, EXIT_CODES[code]]),
      [
        ['usage', 2],
        ['unauthorised', 3],
        ['unreachable', 4],
        ['throttled', 4],
        ['refused', 4],
        ['protocol', 4],
        ['partial', 5],
        ['busy', 6],
        ['interrupted', 130],
        ['internal', 1],
      ],
    );
  });
});
