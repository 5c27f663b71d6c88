import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { forecast } from '../../src/outbox/import/outlook.ts';
import { duplicateSearch } from '../../src/outbox/import/similar.ts';
import type { ImportReads } from '../../src/store/outbox/import-reads.ts';
import { openScratch } from '../../src/store/outbox/scratch.ts';
import type { NewRow } from '../../src/store/outbox/types.ts';
import { fakeClock } from '../support/clock.ts';

function row(text: Partial<NewRow>): NewRow {
  const post = { board: 'bugs', title: 'T', content: '', email: null, full_name: null };
  return { batch: 'b', source_key: 'row:x:1', line: 2, content_hash: 't', ...post, ...text };
}

/** A mirror with these titles, found by any of their words as the index would. */
function mirrorOf(...titles: string[]): ImportReads {
  return {
    known: (rows) => rows.map(() => null),
    batchesOf: () => [],
    boards: () => [
      { slug: 'feature-requests', name: 'Feature requests' },
      { slug: 'bugs', name: 'Bugs' },
    ],
    customers: (emails) => new Set(emails.filter((email) => email.startsWith('known'))),
    suppressed: () => new Set(),
    titlesWith: (words) =>
      titles
        .map((title, i) => ({ id: i + 1, title }))
        .filter(({ title }) => words.some((word) => title.toLowerCase().includes(word))),
    close: () => {},
  };
}

describe('looking for duplicates in the mirror', () => {
  const found = async (title: string, ...titles: string[]): Promise<number[]> => {
    const search = duplicateSearch(mirrorOf(...titles), fakeClock());
    await search.look([row({ title })]);
    return search.result.examples.map(({ postId }) => postId);
  };

  it('finds the same title in other words of the same kind', async () => {
    assert.deepEqual(await found('Dark mode', 'Export', 'dark MODE!'), [2]);
    assert.deepEqual(await found('Add dark mode', 'Dark mode'), [1]);
    assert.deepEqual(await found('Expört in Café', 'export in cafe'), [1]);
  });

  it('does not take titles for each other that share only what all titles share', async () => {
    assert.deepEqual(
      await found('Export dashboards in the mobile app', 'Export invoices in the mobile app'),
      [],
    );
    assert.deepEqual(await found('!!!', 'Dark mode'), []);
  });

  it('shows the first ten and counts all', async () => {
    const search = duplicateSearch(mirrorOf('Dark mode'), fakeClock());
    await search.look(Array.from({ length: 25 }, () => row({ title: 'Dark mode' })));
    assert.deepEqual([search.result.found, search.result.examples.length], [25, 10]);
  });

  it('stops when its time is used up, and says how far it came', async () => {
    const clock = fakeClock();
    const slow = mirrorOf('Dark mode');
    const titlesWith: ImportReads['titlesWith'] = (words, limit) => {
      clock.advance(300);
      return slow.titlesWith(words, limit);
    };
    const search = duplicateSearch({ titlesWith }, clock, 1000);
    await search.look(Array.from({ length: 100 }, () => row({ title: 'Dark mode' })));
    assert.equal(search.result.checked, 4);
  });
});

describe('the outlook of a dry run', () => {
  it('tells owners, known and new customers apart, and counts people once', async (t) => {
    const scratch = openScratch();
    t.after(() => scratch.close());
    const { outlook, add } = await forecast(mirrorOf(), scratch, fakeClock());
    const emails = [null, 'known@example.com', 'KNOWN@example.com', 'new@example.com', 'New@Example.com'];
    await add(emails.map((email) => row({ email })));
    await add([row({ email: 'new@example.com' })]);
    const { asOwner, asKnownCustomer, asNewCustomer, knownCustomers, newCustomers } = outlook;
    assert.deepEqual(
      [asOwner, asKnownCustomer, asNewCustomer, knownCustomers, newCustomers],
      [1, 2, 3, 1, 1],
    );
  });

  it('names unknown boards with their nearest, also where the name stands for the short form', async (t) => {
    const scratch = openScratch();
    t.after(() => scratch.close());
    const { outlook, add } = await forecast(mirrorOf(), scratch, fakeClock());
    const boards = ['bugs', 'bugz', 'Feature requests', 'bugz', 'Bugs', 'something else entirely'];
    await add(boards.map((board, i) => row({ board, line: i + 2 })));
    assert.deepEqual(outlook.unknownBoards, [
      { board: 'bugz', rows: 2, line: 3, nearest: 'bugs' },
      { board: 'Feature requests', rows: 1, line: 4, nearest: 'feature-requests' },
      { board: 'Bugs', rows: 1, line: 6, nearest: 'bugs' },
      { board: 'something else entirely', rows: 1, line: 7, nearest: null },
    ]);
  });

  it('knows nothing of boards, customers and duplicates without a mirror', async (t) => {
    const scratch = openScratch();
    t.after(() => scratch.close());
    const { outlook, add } = await forecast(null, scratch, fakeClock());
    await add([row({ board: 'anything', email: 'a@example.com' })]);
    assert.deepEqual([outlook.mirror, outlook.unknownBoards, outlook.asNewCustomer], ['empty', [], 1]);
  });
});
