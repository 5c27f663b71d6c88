import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readNumbers } from '../../src/text/numbers.ts';

const values = (...cells: string[]): (number | string)[] =>
  readNumbers(cells).map((read) => (read.kind === 'number' ? read.value : read.kind));

describe('numbers as people write them', () => {
  it('a column reads amounts with a currency, spaces, apostrophes and brackets', () => {
    assert.deepEqual(
      values('€ 1,250.50', '1 250', "1'250.25", '(99)', 'USD 12', '12 EUR', '−3', '2k', '1.5m'),
      [1250.5, 1250, 1250.25, -99, 12, 12, -3, 2000, 1_500_000],
    );
  });

  it('a cell without a number is empty, and words are left unread', () => {
    assert.deepEqual(values('', ' n/a ', '-', 'about 12', '1.2.3', '12,34,56'), [
      'empty',
      'empty',
      'empty',
      'unread',
      'unread',
      'unread',
    ]);
  });

  it('one cell with a decimal comma makes 1.200 of the same column a thousand and two hundred', () => {
    assert.deepEqual(values('1.250,00 €', '1.200', '9,5'), [1250, 1200, 9.5]);
    assert.deepEqual(values('9.5', '1.200'), [9.5, 1.2]);
  });

  it('three digits behind a single mark are thousands where no cell shows the decimal mark, and that is a guess', () => {
    const [dot, comma, plain] = readNumbers(['1.200', '1,200', '950']);
    assert.deepEqual(dot, { kind: 'number', value: 1200, isGuess: true });
    assert.deepEqual(comma, { kind: 'number', value: 1200, isGuess: true });
    assert.deepEqual(plain, { kind: 'number', value: 950, isGuess: false });
  });

  it('three decimals are a guess beside cells of another country', () => {
    const [, dollars, , plain] = readNumbers(['1.250,00 €', '$2,400', '9,5', '12,50']);
    assert.deepEqual(dollars, { kind: 'number', value: 2.4, isGuess: true });
    assert.deepEqual(plain, { kind: 'number', value: 12.5, isGuess: false });
    assert.deepEqual(readNumbers(['9.5', '2,400'])[1], { kind: 'number', value: 2400, isGuess: false });
  });

  it('every amount written by a locale comes back as it was', () => {
    const amount = fc.integer({ min: -1_000_000_00, max: 1_000_000_00 }).map((cents) => cents / 100);
    fc.assert(
      fc.property(
        fc.array(amount, { minLength: 1 }),
        fc.constantFrom('en-US', 'de-DE', 'fr-FR'),
        (amounts, locale) => {
          const format = new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' });
          assert.deepEqual(
            values(...amounts.map((one) => format.format(one))),
            amounts.map((one) => one + 0),
          );
        },
      ),
    );
  });
});
