import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WriteStream } from 'node:tty';
import { ERROR_CODES } from '../../src/base/errors.ts';
import { EXIT_CODES } from '../../src/cli/context.ts';
import { draw, table } from '../../src/cli/table.ts';

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

  it('has bold heads on a terminal, and none with NO_COLOR', (t) => {
    const { NO_COLOR, FORCE_COLOR } = process.env;
    const set = (variables: Record<string, string | undefined>): void => {
      for (const [name, value] of Object.entries(variables))
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
    };
    const properties = { isTTY: true, getColorDepth: WriteStream.prototype.getColorDepth };
    const before = Object.keys(properties).map((name) => [
      name,
      Object.getOwnPropertyDescriptor(process.stdout, name),
    ]) as [string, PropertyDescriptor | undefined][];
    t.after(() => {
      set({ NO_COLOR, FORCE_COLOR });
      for (const [name, descriptor] of before) {
        Reflect.deleteProperty(process.stdout, name);
        if (descriptor) Object.defineProperty(process.stdout, name, descriptor);
      }
    });
    for (const [name, value] of Object.entries(properties))
      Object.defineProperty(process.stdout, name, { value, configurable: true });
    set({ NO_COLOR: undefined, FORCE_COLOR: '1' });
    assert.equal(table(['a', 'b'], [['x', 'y']]), '\u001b[1mA  B\u001b[22m\nx  y');
    set({ NO_COLOR: '1', FORCE_COLOR: undefined });
    assert.equal(table(['a', 'b'], [['x', 'y']]), 'A  B\nx  y');
  });

  it('without rows is its head', () => {
    assert.equal(table(['a', 'b'], []), 'A  B');
  });

  it('keeps the number of rows when texts are wrapped', () => {
    const rows = Array.from({ length: 150_000 }, (_, i) => [String(i), 'x']);
    assert.equal(table(['n', 'x'], rows).split('\n').length, rows.length + 1);
    const words = 'a b c d e f g h i j';
    const wrapped = draw(
      Array.from({ length: 250 }, () => [words, words]),
      ['left', 'left'],
      30,
    ).split('\n');
    assert.deepEqual(new Set(wrapped).size, 2);
    assert.equal(wrapped.length, 500);
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

  it('fits the columns that there are: texts wrap, and where that is not enough each row has its own lines', () => {
    const head = ['name', 'rows', 'words'];
    const words = 'A sentence that is much too long for a narrow screen, and has an end';
    const rows = [['posts', 1234, words]];
    process.env.COLUMNS = '60';
    try {
      const wrapped = table(head, rows).split('\n');
      assert.ok(wrapped.every((line) => line.length <= 60) && wrapped.length === 3, wrapped.join('\n'));
      assert.match(wrapped[1] ?? '', /^posts {2}1,234 {2}A sentence/);
      const many = [...head, ...Array.from({ length: 8 }, (_, i) => `column ${i}`)];
      const blocks = table(many, [[...(rows[0] ?? []), ...Array<number>(8).fill(5)]]).split('\n');
      assert.ok(
        blocks.every((line) => line.length <= 60),
        blocks.join('\n'),
      );
      assert.deepEqual(blocks.slice(0, 2), ['NAME      posts', 'ROWS      1,234']);
    } finally {
      delete process.env.COLUMNS;
    }
  });

  it('keeps a cell from breaking the line, colouring the terminal or turning the text around', () => {
    const nasty = 'a\r\nb\u001b[31mc\u009b2Jd\u202ee\u2028f';
    assert.equal(table(['x', 'y'], [[nasty, 'end']]).split('\n')[1], 'a b [31mc 2Jd e f  end');
  });
});

describe('exit codes', () => {
  it('are the documented ones', () => {
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
        ['gone', 5],
        ['busy', 6],
        ['storage', 7],
        ['interrupted', 130],
        ['internal', 1],
      ],
    );
  });
});
