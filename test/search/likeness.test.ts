import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NEAR_MISSES } from '../../bench/sets/similar/near-misses.ts';
import { PARAPHRASES } from '../../bench/sets/similar/paraphrases.ts';
import { differsInOnePlace, titleLikeness, weightOf, wordsOfTitle } from '../../src/search/likeness.ts';

const titles = [...PARAPHRASES, ...NEAR_MISSES].flatMap((pair) => pair.map(([title]) => title));
const counts = new Map<string, number>();
for (const title of titles)
  for (const stem of new Set(wordsOfTitle(title).map((word) => word.stem)))
    counts.set(stem, (counts.get(stem) ?? 0) + 1);

function likeness(a: string, b: string): number {
  return titleLikeness(wordsOfTitle(a), wordsOfTitle(b), ({ stem }) =>
    weightOf(counts.get(stem) ?? 1, titles.length),
  );
}

describe('the likeness of two titles', () => {
  it('ranks a paraphrase above a near miss in at least 85 of 100 comparisons', () => {
    const of = (pairs: typeof PARAPHRASES): number[] => pairs.map(([[a], [b]]) => likeness(a, b));
    const [same, other] = [of(PARAPHRASES), of(NEAR_MISSES)];
    const right = same.flatMap((x) => other.map((y): number => (x > y ? 1 : x === y ? 0.5 : 0)));
    const area = right.reduce((sum, one) => sum + one, 0) / right.length;
    assert.ok(area >= 0.85, `${area}`);
  });

  it('is low where one place of the sentence names another language, product, number or the opposite', () => {
    for (const [a, b] of [
      ['Translate the app into Polish', 'Translate the app into Finnish'],
      ['Export to PDF', 'Export to Excel'],
      ['Limit of 5 users is too low', 'Limit of 100 users is too low'],
      ['Show weekends in the planner', 'Hide weekends in the planner'],
    ] as const)
      assert.ok(likeness(a, b) < 0.5, `${a}: ${likeness(a, b)}`);
  });

  it('is 1 for the same words in another order and form, with other small words', () => {
    assert.equal(likeness('Integrate with Slack', 'Slack integration please'), 1);
  });

  it('is the same both ways, between 0 and 1, and 1 for a title and itself', () => {
    const word = fc.constantFrom('export', 'Slack', 'the', '5', 'CSV', 'board', 'über', '導出', 'delete');
    const title = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(title, title, (a, b) => {
        const alike = likeness(a, b);
        assert.ok(alike >= 0 && alike <= 1);
        assert.ok(Math.abs(alike - likeness(b, a)) < 1e-9);
        if (wordsOfTitle(a).some(({ isSmall }) => !isSmall)) assert.equal(likeness(a, a), 1);
      }),
    );
  });
});

describe('a difference in one place', () => {
  it('is a piece that each text has in the place of the other’s, with something equal around it', () => {
    const differs = (a: string, b: string): boolean => differsInOnePlace(a.split(' '), b.split(' '));
    assert.equal(differs('sort by votes', 'sort by date'), true);
    assert.equal(differs('a x y b', 'a z b'), true);
    assert.equal(differs('a b', 'a x b'), false, 'one says more');
    assert.equal(differs('x a y', 'p a q'), false, 'two places');
    assert.equal(differs('x', 'y'), false, 'nothing is equal');
  });
});
