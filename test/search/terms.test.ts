import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MOST_WORDS, matchText, readTerms } from '../../src/store/search-terms.ts';

function match(text: string, typing = false): string | null {
  return matchText(readTerms(text, { typing }));
}

describe('the words of a search', () => {
  it('must all be there, each also in its plural or singular', () => {
    assert.equal(match('dark modes'), '("dark" OR "darks") AND ("modes" OR "mode")');
    assert.equal(match('access to'), '("access") AND ("to")');
    assert.equal(match('v2 2024'), '("v2") AND ("2024")');
  });

  it('stand side by side in quotes of any kind, or where they are written as one', () => {
    for (const text of ['"dark mode"', '“dark mode”', '„dark mode“', '«dark mode»', '"dark, mode!"'])
      assert.equal(match(text), '"dark mode"', text);
    assert.equal(match("e-mail don't 2.1"), '"e mail" AND "don t" AND "2 1"');
    assert.equal(match('"dark" "mode'), '"dark" AND ("mode" OR "modes")');
  });

  it('are beginnings with a star, and while they are typed', () => {
    assert.equal(match('expor* "dark mod"*'), '"expor" * AND "dark mod" *');
    assert.equal(match('dark expor', true), '("dark" OR "darks") AND "expor" *');
    assert.equal(match('dark expor ', true), '("dark" OR "darks") AND ("expor" OR "expors")');
    assert.equal(match('café', true), '"café" *');
  });

  it('are whole where a beginning would be in nearly every post', () => {
    assert.equal(match('a* ex*'), '("a") AND ("ex")');
    assert.equal(match('中*'), '"中" *');
  });

  it('are nothing where there is no letter and no digit', () => {
    for (const text of ['', '   ', '***', '"', '""', '-', '\0', '\ud800', '(^:)', '\u0301', '😀', '" " *'])
      assert.equal(match(text, true), null, JSON.stringify(text));
  });

  it('hold nothing of the language of the index', () => {
    assert.equal(match('NEAR(ab 2)'), '("NEAR" OR "NEARs") AND ("ab") AND ("2")');
    assert.equal(match('title:ab -cd ^ef'), '("title" OR "titles") AND ("ab") AND ("cd") AND ("ef")');
    assert.equal(match('a"b'), '("a") AND ("b")');
  });

  it('count once, and not more than there is room for', () => {
    assert.equal(match('Dark dark DARK'), '("Dark" OR "Darks")');
    const many = Array.from({ length: 100 }, (_, n) => `w${n}`);
    assert.equal(readTerms(many.join(' ')).length, MOST_WORDS);
    const [phrase, ...others] = readTerms(`"${many.join(' ')}" more`);
    assert.deepEqual([phrase?.words.length, others], [MOST_WORDS, []]);
    assert.equal(readTerms('x'.repeat(100_000))[0]?.words[0]?.length, 10_000);
  });
});
