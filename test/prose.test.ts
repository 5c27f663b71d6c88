import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { cellsOf, lengthsOf, type Sentence, sentencesOf, wordsOf } from './support/prose.ts';

const root = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
const PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs];

const LENGTHS = { median: 14, ninth: 24, longest: 35 };

/** Words for which plain English has a plainer one. */
const NOT_PLAIN =
  /\b(stands|stood|(go|goes|going|went) on|mend(s|ed|ing)?|anew|whoever|put right behind|concludes none)\b/i;

/** A beginning that points to another sentence. */
const POINTS_BACK = /^(It|Its|They|Their|That|Then (it|they))\b/;

describe('the sentences of the documents', () => {
  for (const page of PAGES) {
    it(`${page} has short sentences`, () => {
      const sentences = sentencesOf(read(page));
      const { median, ninth, longest } = lengthsOf(sentences);
      assert.ok(median <= LENGTHS.median, `the median sentence has ${median} words`);
      assert.ok(
        ninth <= LENGTHS.ninth,
        `one sentence in ten has ${ninth} words or more:\n${longer(sentences, 24)}`,
      );
      assert.ok(
        longest <= LENGTHS.longest,
        `the longest sentence has ${longest} words:\n${longer(sentences, 35)}`,
      );
    });

    it(`${page} has no words that plain English avoids`, () => {
      const found = sentencesOf(read(page)).filter(({ text }) => NOT_PLAIN.test(text));
      assert.deepEqual(found, []);
    });
  }

  it('name what they are about, and begin with no pronoun for another sentence', () => {
    const found = PAGES.flatMap((page) => sentencesOf(read(page)).map(({ text }) => ({ page, text })));
    assert.deepEqual(
      found.filter(({ text }) => POINTS_BACK.test(text)),
      [],
    );
  });

  it('the README has at most 200 lines, and the changelog at most 120', () => {
    assert.ok(read('README.md').trimEnd().split('\n').length <= 200);
    assert.ok(read('CHANGELOG.md').trimEnd().split('\n').length <= 120);
  });

  it('the promises about the mirror have at most 300 words, and those about the outbox 350', () => {
    const page = read('docs/promises.md');
    const [mirror, outbox] = [wordsUnder(page, 'The mirror'), wordsUnder(page, 'The outbox')];
    assert.ok(mirror > 0 && mirror <= 300, `${mirror} words`);
    assert.ok(outbox > 0 && outbox <= 350, `${outbox} words`);
  });
});

/** The words of a section, without its heading. */
function wordsUnder(page: string, heading: string): number {
  const [, text = ''] = new RegExp(`^## ${heading}\n([\\s\\S]*?)(?=^## )`, 'm').exec(page) ?? [];
  return wordsOf(text.replaceAll(/^#.*$/gm, ''));
}

function longer(sentences: readonly Sentence[], words: number): string {
  return sentences
    .filter((sentence) => sentence.words > words)
    .map(({ text }) => text)
    .join('\n');
}

describe('the measure of sentences', () => {
  it('ends a sentence at a full stop, a paragraph, an item and a cell, and takes no name or value for one', () => {
    const page =
      '# Not this\n\nOne two. Three\nfour five!\n\n- six\n- an item of five words\n\n| a cell of five words | name |\n|---|---|\n';
    assert.deepEqual(
      sentencesOf(page).map(({ words }) => words),
      [2, 3, 5, 5],
    );
  });

  it('takes a piece of code for one word, and leaves out blocks of code', () => {
    assert.deepEqual(sentencesOf('Run `sync --wait` now.\n\n```\nnot counted at all\n```\n'), [
      { text: 'Run code now.', words: 3 },
    ]);
    assert.equal(wordsOf('a [link of four words](page.md)'), 5);
    assert.deepEqual(cellsOf('| `a\\|b` | c |'), ['`a\\|b`', 'c']);
  });

  it('gives the median, the ninth tenth and the longest', () => {
    const sentences = Array.from({ length: 10 }, (_, i) => ({ text: '', words: i + 1 }));
    assert.deepEqual(lengthsOf(sentences), { median: 6, ninth: 10, longest: 10 });
  });
});
