import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CsvParser, csvCell, withFormulaGuard, withoutFormulaGuard } from '../../src/text/csv.ts';

describe('a cell for spreadsheets', () => {
  it('gets an apostrophe where a spreadsheet would run it, also behind what cannot be seen, in full width or small', () => {
    for (const sign of ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠', '﹢', '﹣', '﹦', '﹫'])
      assert.equal(withFormulaGuard(`${sign}1+1`), `'${sign}1+1`);
    for (const before of [' ', '\u00a0', '\v', '\f', '\u200b', '\u2060', '\ufeff', ' \u200d\ufeff '])
      assert.equal(withFormulaGuard(`${before}=1`), `'${before}=1`);
    for (const text of ['', ' ', 'a=1', ' 1=1', "'a", '1-1', '\u200ba-b'])
      assert.equal(withFormulaGuard(text), text);
  });

  it('loses that apostrophe again, also where the text began with one', () => {
    for (const text of ['=1', "'=1", "''\n", "'", "'a", '', 'a=1'])
      assert.equal(withoutFormulaGuard(withFormulaGuard(text)), text);
    assert.equal(withFormulaGuard("'=1"), "''=1");
  });

  it('is quoted if it contains any delimiter or line end', () => {
    assert.equal(csvCell('say "hi"'), '"say ""hi"""');
    for (const sign of [',', ';', '\t', '\r', '\n', '\uFEFF'])
      assert.equal(csvCell(`a${sign}b`), `"a${sign}b"`);
    assert.equal(csvCell('plain'), 'plain');
  });
});

describe('a record of CSV', () => {
  it('has a limit for each of its fields, and one for all of them together', () => {
    const faultOf = (line: string): unknown => {
      const parser = new CsvParser(',', { fieldBytes: 6, rowBytes: 24 });
      parser.push(Buffer.from(`${line}\n`));
      const fault = parser.records(1)[0]?.fault;
      return fault?.kind === 'oversize' ? fault.what : fault;
    };
    assert.equal(faultOf('aaaaaa,bbbbbb,cccccc'), null);
    assert.equal(faultOf('a,bbbbbbb,c'), 'field');
    assert.equal(faultOf('aaaaa,bbbbb,ccccc,ddddd,eeeee'), 'row');
  });
});
