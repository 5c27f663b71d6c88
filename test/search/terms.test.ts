import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MOST_WORDS, matchText, readTerms } from '../../src/mirror/index/terms.ts';
import { formsOf } from '../../src/text/words.ts';

function match(text: string, typing = false): string | null {
  return matchText(readTerms(text, { typing, isInAddresses: false }));
}

describe('the words of a search', () => {
  it('must all be there, each also in the other forms of an English word', () => {
    assert.equal(match('box to'), '("box" OR "boxes" OR "boxed" OR "boxing") AND ("to")');
    assert.equal(
      match('companies'),
      '("companies" OR "company" OR "companied" OR "companying" OR "companie")',
    );
    assert.equal(match('v2 2024'), '("v2") AND ("2024")');
    assert.equal(match('быстрый Đà'), '("быстрый") AND ("da")');
  });

  it('find the regular plural of each English word, and the plural finds the word', () => {
    const words =
      'menu menus, cookie cookies, api apis, emoji emojis, movie movies, tie ties, alias aliases, canvas canvases, lens lenses, ' +
      'hero heroes, potato potatoes, echo echoes, photo photos, pdf pdfs, status statuses, bus buses, user users, query queries, ' +
      'box boxes, release releases, match matches, day days, idea ideas, token tokens, class classes, shoe shoes';
    for (const pair of words.split(', ')) {
      const [one = '', many = ''] = pair.split(' ');
      assert.ok(formsOf(one).includes(many), `${one} finds no ${many}`);
      assert.ok(formsOf(many).includes(one), `${many} finds no ${one}`);
      assert.ok(Math.max(formsOf(one).length, formsOf(many).length) <= 8, `many forms of ${pair}`);
    }
    assert.ok(formsOf('focus').includes('focused'));
    assert.ok(formsOf('tie').includes('tying'));
  });

  it('stand side by side in quotes of any kind, or where they are written as one', () => {
    for (const text of ['"dark mode"', '“dark mode”', '„dark mode“', '«dark mode»', '"dark, mode!"'])
      assert.equal(match(text), '("dark mode")', text);
    assert.equal(
      match('covid-19 2.1 1,000'),
      '("covid 19" OR "covid19") AND ("2 1" OR "v2 1") AND ("1 000" OR "1000")',
    );
    assert.equal(match('v2.5', true), '("v2 5" OR "2 5")');
    assert.equal(match('release 2.5.1', true)?.split(' AND ')[1], '("2 5 1" OR "v2 5 1")');
    assert.match(match('e-mail') ?? '', /^\("e mail" OR "e mails" .* OR "email" OR "emails"/);
    assert.match(match("don't dont") ?? '', /^\("don t"\) AND \("dont" .* OR "don t"\)$/);
  });

  it('are told apart by a dictionary where no space does it, and looked for sign by sign', () => {
    assert.equal(match('导出数据'), '("导 出") AND ("数 据")');
    assert.equal(match('エクスポートできない'), '("エ ク ス ポ ー ト")');
    assert.equal(match('검색을'), '("검 색 을" OR "검 색")');
    assert.equal(match('ภาษาไทย'), '("ภ า ษ า") AND ("ไ ท ย")');
    assert.equal(match('Excel导出'), '("excel" OR "excels" OR "exceled" OR "exceling") AND ("导 出")');
  });

  it('are beginnings with a star, and while they are typed', () => {
    assert.equal(match('expor* "dark mod"*'), '("expor" *) AND ("dark mod" *)');
    assert.equal(match('v2 expor', true), '("v2") AND ("expor" *)');
    assert.equal(match('v2 v3 ', true), '("v2") AND ("v3")');
    assert.equal(match('café', true), '("cafe" *)');
    assert.equal(match('导出', true), '("导 出")', 'a sign is never half a sign');
  });

  it('are looked for inside addresses as well, unless those may not be seen', () => {
    const hidden = (text: string) => matchText(readTerms(text))?.replaceAll('\ue000', '~');
    assert.equal(hidden('v2 expor*'), '("v2" OR "~v2") AND ("expor" * OR "~expor" *)');
    assert.equal(match('\ue000v2'), '("v2")', 'the mark of such words is nothing to ask for');
  });

  it('are nothing where there is no letter, digit or emoji', () => {
    for (const text of ['', '   ', '***', '"', '""', '-', '\0', '\ud800', '(^:)', '\u0301', '→', '" " *'])
      assert.equal(match(text, true), null, JSON.stringify(text));
  });

  it('hold nothing of the language of the index', () => {
    assert.equal(match('AND OR NOT'), '("and") AND ("or") AND ("not")');
    assert.equal(match('v1:ab -cd ^ef'), '("v1") AND ("ab") AND ("cd") AND ("ef")');
    assert.equal(match('a"b'), '("a") AND ("b")');
  });

  it('count once, and not more than there is room for', () => {
    assert.equal(readTerms('Dark dark DARK').length, 1);
    const many = Array.from({ length: 100 }, (_, n) => `w${n}`);
    assert.equal(readTerms(many.join(' ')).length, MOST_WORDS);
    const [phrase, ...others] = readTerms(`"${many.join(' ')}" more`);
    assert.deepEqual([phrase?.phrases[0]?.length, others], [MOST_WORDS, []]);
    assert.equal(readTerms('x'.repeat(100_000))[0]?.phrases[0]?.[0]?.length, 10_000);
  });
});
