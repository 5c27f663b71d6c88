import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { matchBoard } from '../../src/text/boards.ts';

describe('the board that a text names', () => {
  const boards = [
    { id: 1, slug: 'c-plus', name: 'C++' },
    { id: 2, slug: 'c-sharp', name: 'C#' },
    { id: 3, slug: 'feature-requests', name: 'Feature Requests' },
    { id: 4, slug: 'twin-a', name: 'Twin' },
    { id: 5, slug: 'twin-b', name: 'Twin' },
    { id: null, slug: 'unnumbered', name: 'Unnumbered' },
  ];
  const slugOf = (text: string): string | null => matchBoard(boards, text).slug;

  it('is the one with that very name, also where the names of two differ by signs only', () =>
    assert.deepEqual(['C++', 'C#', 'c'].map(slugOf), ['c-plus', 'c-sharp', null]));

  it('is known without regard to case and signs, or by its number', () =>
    assert.deepEqual(
      ['feature requests', 'FEATURE_REQUESTS', '3'].map(slugOf),
      Array(3).fill('feature-requests'),
    ));

  it('is none where the number of a board is not known and the text is "null"', () =>
    assert.equal(slugOf('null'), null));

  it('is none where two have that name', () => {
    assert.deepEqual(matchBoard(boards, 'Twin'), { slug: null, suggestions: ['twin-a', 'twin-b'] });
  });
});
