import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import type { Comment, Post } from '../../src/contract/decode.ts';
import { withoutAddresses } from '../../src/text/words.ts';
import { aComment } from '../support/rows.ts';
import { post, type Shelf, shelfOf } from './shelf.ts';

/** A mirror in which only what an address says is different: its name and its domain have as many letters. */
async function shelfWith(t: TestContext, name: string, domain: string): Promise<Shelf> {
  const posts: Post[] = [
    post(1, 'Export to a spreadsheet', `Please write to ${name}@${domain}.com once the export works.`),
    post(2, `Quarterly figures for ${name}[at]${domain}.com`, 'The dark mode of charts is too dark.'),
    post(3, 'Dark mode', 'Quiet colours at night, and quick ones.'),
    post(4, 'Queues are slow', 'Exports wait in the queue, and nobody exports.'),
  ];
  const comments: Comment[] = [
    aComment(1, {
      post: { id: 3, title: 'Dark mode', url: '/p/3' },
      content: `Ask me, ${name}&#64;${domain}.com, about queues.`,
    }),
    aComment(2, {
      post: { id: 4, title: 'Queues are slow', url: '/p/4' },
      content: 'The export is quick at night.',
    }),
  ];
  return await shelfOf(t, posts, { comments });
}

/** All that an agent is told of a search: what stands around an address is cut at the same places. */
async function found({ search }: Shelf, text: string): Promise<unknown> {
  const answer = await search.find(text, { isInAddresses: false, isExcerpt: true });
  const hits = answer.hits.map(({ id, comment, excerpt }) => ({
    ...{ id, comment },
    excerpt: excerpt && { ...excerpt, text: withoutAddresses(excerpt.text) },
  }));
  return { ...answer, hits };
}

async function similar({ search }: Shelf, title: string): Promise<unknown> {
  const answer = await search.similar({ about: { title, content: '' }, isInAddresses: false });
  return answer?.map(({ id, likeness }) => ({ id, likeness }));
}

describe('a search of those who may not see addresses', () => {
  it('finds the same whatever an address says', async (t) => {
    const [one, other] = [await shelfWith(t, 'quin', 'export'), await shelfWith(t, 'zora', 'dublin')];
    const word = fc.constantFrom(
      ...['quin', 'zora', 'export', 'exports', 'dublin', 'com', 'quick', 'dark', 'night', 'queue', 'figures'],
    );
    const cut = fc.tuple(word, fc.nat(6)).map(([whole, letters]) => `${whole.slice(0, letters + 1)}*`);
    const slip = word.map((whole) => `${whole.slice(0, 2)}x${whole.slice(2)}`);
    const phrase = fc.tuple(word, word).map((words) => `"${words.join(' ')}"`);
    const address = fc.tuple(word, word).map(([name, domain]) => `${name}@${domain}.com`);
    const marked = word.map((whole) => `\ue000${whole}`);
    const question = fc
      .array(fc.oneof(word, cut, slip, phrase, address, marked), { minLength: 1, maxLength: 3 })
      .map((words) => words.join(' '));
    await fc.assert(
      fc.asyncProperty(question, async (text) => {
        assert.deepEqual(await found(one, text), await found(other, text));
        assert.deepEqual(await similar(one, text), await similar(other, text));
      }),
      { numRuns: 30 },
    );
  });

  it('finds no post by its own address where that tells an address of a person', async (t) => {
    const url = '/people/kim@example.com/wish';
    const { ids } = await shelfOf(t, [{ ...post(1, 'Plain'), url }]);
    assert.deepEqual(await ids(url), [1]);
    assert.deepEqual(await ids(url, { isInAddresses: false }), []);
  });
});

describe('a search of those who may see addresses', () => {
  it('finds them by any of their words, by beginnings and by the whole, in whatever spelling', async (t) => {
    const { ids } = await shelfWith(t, 'quin', 'example');
    for (const text of ['quin', 'quin*', 'example.com', '"quin example"', 'quin@example.com', 'exam*'])
      assert.deepEqual(new Set(await ids(text)), new Set([1, 2, 3]), text);
  });
});
