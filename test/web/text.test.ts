import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { differences, excerpt, linksIn } from '../../src/web/text.ts';
import { range } from '../support/rows.ts';

describe('the difference of two texts', () => {
  it('keeps the words both have', () => {
    assert.deepEqual(differences('Ten minutes for 200 rows', 'Two minutes for all 200 rows'), [
      { kind: 'gone', text: 'Ten' },
      { kind: 'new', text: 'Two' },
      { kind: 'same', text: ' minutes for' },
      { kind: 'new', text: ' all' },
      { kind: 'same', text: ' 200 rows' },
    ]);
    assert.deepEqual(differences('same', 'same'), [{ kind: 'same', text: 'same' }]);
    assert.deepEqual(differences('', 'new'), [{ kind: 'new', text: 'new' }]);
    assert.deepEqual(differences('', ''), []);
  });

  it('loses nothing of either', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', ' ', '\n', 'word', '.'), { maxLength: 30 })
      .map((words) => words.join(''));
    fc.assert(
      fc.property(text, text, (from, to) => {
        const pieces = differences(from, to);
        const told = (left: string) =>
          pieces.map(({ kind, text: piece }) => (kind === left ? '' : piece)).join('');
        assert.equal(told('new'), from);
        assert.equal(told('gone'), to);
      }),
    );
  });

  it('shows texts that are long and have little in common as replaced', () => {
    const long = (word: string): string =>
      range(1, 2000)
        .map((n) => `${word}${n}`)
        .join(' ');
    assert.deepEqual(
      differences(long('a'), long('b')).map(({ kind }) => kind),
      ['gone', 'new'],
    );
  });
});

describe('a text that somebody wrote', () => {
  it('has its web addresses as links, without the punctuation around them', () => {
    const cases: [text: string, links: string[]][] = [
      ['see https://a.test/x, or http://b.test.', ['https://a.test/x', 'http://b.test']],
      ['(https://a.test/x) and https://a.test/x_(y)', ['https://a.test/x', 'https://a.test/x_(y)']],
      ['(see https://a.test/x_(y).) End', ['https://a.test/x_(y)']],
      ['https://a.test/?q=1&r=2#top!', ['https://a.test/?q=1&r=2#top']],
      ['<https://a.test/> "https://b.test"', ['https://a.test/', 'https://b.test']],
      ['javascript:alert(1) data:text/html,x ftp://a.test www.a.test http://', []],
      ['HTTPS://A.test', ['HTTPS://A.test']],
    ];
    for (const [text, links] of cases) {
      const pieces = linksIn(text);
      assert.deepEqual(
        pieces.filter(({ href }) => href !== null).map((piece) => piece.text),
        links,
      );
      assert.equal(pieces.map((piece) => piece.text).join(''), text, 'nothing is lost');
      for (const { href } of pieces) assert.match(href ?? 'https:', /^https?:/);
    }
  });

  it('is cut at the end of a word', () => {
    const cases: [text: string, most: number, cut: string][] = [
      ['short', 5, 'short'],
      ['one two three', 9, 'one two…'],
      ['one two. three', 9, 'one two…'],
      ['one two three', 7, 'one two…'],
      ['one two three', 8, 'one two…'],
      ['endlessly', 4, 'endl…'],
      ['ab😀cd', 3, 'ab…'],
    ];
    for (const [text, most, cut] of cases) assert.equal(excerpt(text, most), cut);
  });

  it('is the beginning of the text, and as long as its place at most', () => {
    const text = fc.array(fc.constantFrom('a', 'word', ' ', '\n', '.'), { maxLength: 30 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 40 }), (words, most) => {
        const whole = words.join('');
        const cut = excerpt(whole, most);
        assert.ok(whole.startsWith(cut.replace(/…$/, '')) && cut.length <= most + 1);
      }),
    );
  });
});
