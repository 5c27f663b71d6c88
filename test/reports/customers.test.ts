import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readSegments } from '../../src/reports/segments.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { pick, table, tell, write } from './story.ts';

const FILE =
  'email,plan,mrr\nANN@example.com,pro,100\nbob@example.com,free,0\ncleo@example.com,pro,50\nzed@example.com,pro,70\n';

describe('reports about customers', () => {
  it('customers ranks by posts and comments, without the team', async (t) => {
    const story = await tell(t);
    const report = await story.ask('customers');
    assert.deepEqual(table(report), [
      // 102 and 105, and comment 202.
      ['Bob', 'bob@example.com', 2, 1, 3, '2026-01-05T00:00:00.000Z'],
      // 101 and 106; 103 is deleted.
      ['Ann', 'ann@example.com', 2, 0, 2, '2025-12-22T00:00:00.000Z'],
      ['Cleo', 'cleo@example.com', 0, 1, 1, '2026-01-20T00:00:00.000Z'],
    ]);
    assert.match(report.notes.join(), /Votes carry no names/);
    assert.deepEqual(pick(await story.ask('customers', { board: 'bugs' }), 'customer', 'wrote'), [
      ['Ann', 1],
    ]);
  });

  it('requests ranks by the votes on what each asked for', async (t) => {
    const story = await tell(t);
    assert.deepEqual(table(await story.ask('requests')), [
      ['Ann', 'ann@example.com', 2, 24, 1, 101, 'Dark mode for the editor'],
      ['Bob', 'bob@example.com', 2, 14, 0, 102, '=Export to PDF'],
    ]);
  });

  it('segments groups the customers of a file by a column and adds up another', async (t) => {
    const story = await tell(t);
    const report = await story.ask('segments', { segments: readSegments(FILE, { by: 'Plan', sum: 'mrr' }) });
    assert.deepEqual(table(report), [
      // Ann, Cleo and Zed, whom the mirror does not know: 101 and 106 with 20 + 4 votes, comment 206.
      ['pro', 3, 2, 2, 220, 2, 1, 24],
      ['free', 1, 1, 1, 0, 2, 1, 14],
    ]);
    assert.match(
      report.notes.join('\n'),
      /Votes carry no names.*\n3 of the 4 customers of the file are in the mirror/,
    );
  });

  it('segments leaves out the amount where no column is to be added up', async (t) => {
    const story = await tell(t);
    const { columns } = await story.ask('segments', { segments: readSegments(FILE, {}) });
    assert.ok(columns.every(({ name }) => name !== 'amount'));
  });

  it('demand ranks posts by the money of those who wrote them or commented', async (t) => {
    const story = await tell(t);
    const segments = readSegments(FILE, { by: 'plan', sum: 'mrr' });
    const open = await story.ask('demand', { segments });
    assert.deepEqual(pick(open, 'post').flat(), [106, 102, 105], '101 is done');
    const report = await story.ask('demand', { segments, includeClosed: true });
    assert.deepEqual(pick(report, 'post', 'customers', 'amount', 'segments'), [
      // Ann made it, Bob commented.
      [101, 2, 100, '1 free, 1 pro'],
      [106, 1, 100, '1 pro'],
      // Bob made it, Cleo commented.
      [102, 2, 50, '1 free, 1 pro'],
      [105, 1, 0, '1 free'],
    ]);
  });

  it('duplicates finds titles that say much the same, each pair once', async (t) => {
    const story = await tell(t);
    assert.deepEqual(table(await story.ask('duplicates')), [
      // Only small words differ.
      [1, 105, 'Dark mode in the editor', 101, 'Dark mode for the editor', 20, 'Done'],
    ]);
    const young = await story.ask('duplicates', { since: '2026-01-10' });
    assert.deepEqual(young.rows, [], 'only posts of the period are compared');
  });

  it('duplicates leaves out titles that name another thing in the same sentence, and posts whose status says duplicate', async (t) => {
    const titles = ['Translate to Polish', 'Translate to Finnish', 'Dark mode', 'Dark mode', 'A dark mode'];
    const merged = { id: 9, name: 'Duplicate', color: '#000000' };
    const posts = titles.map((title, i) => aPost(i + 1, { title, ...(i === 3 && { status: merged }) }));
    const story = await write(t, async (store) => void (await sweep(store, 'posts', posts, 1)));
    const { rows } = await story.ask('duplicates');
    assert.deepEqual(
      rows.map(({ post, other }) => [post, other]),
      [[5, 3]],
    );
  });

  it('duplicates leaves out what was deleted', async (t) => {
    const posts = [1, 2].map((id) => aPost(id, { title: 'Dark mode for the editor' }));
    const gone = await write(t, async (store) => {
      await sweep(store, 'posts', posts, 1);
      await sweep(store, 'posts', posts.slice(1), 2);
    });
    const both = await write(t, async (store) => void (await sweep(store, 'posts', posts, 1)));
    assert.deepEqual(
      [(await gone.ask('duplicates')).rows.length, (await both.ask('duplicates')).rows.length],
      [0, 1],
    );
  });
});

describe('a customers file', () => {
  const refusal = (text: string, choice = {}): string => {
    try {
      readSegments(text, choice);
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('it was accepted');
  };

  it('may have other delimiters, a byte order mark, quotes, and amounts as people write them', () => {
    const text =
      '\uFEFFE-Mail;Company;MRR\r\n"kim@example.com";"Kim; Sons";"€ 1,200.50"\r\nlee@example.com;;\r\n';
    assert.deepEqual(readSegments(text, { sum: 'mrr' }), {
      by: 'Company',
      sum: 'MRR',
      customers: [
        { email: 'kim@example.com', group: 'Kim; Sons', amount: 1200.5 },
        { email: 'lee@example.com', group: null, amount: null },
      ],
      notes: [],
    });
  });

  it('counts an e-mail once, whatever its capitals, and says what was left out', () => {
    const { customers, notes } = readSegments('email,plan\na@example.com,x\nA@EXAMPLE.com,y\n,z\n', {});
    assert.deepEqual(customers, [{ email: 'a@example.com', group: 'x', amount: null }]);
    assert.deepEqual(notes, [
      '1 row of the file repeats an e-mail: the first of each counts.',
      '1 row of the file has no e-mail.',
    ]);
  });

  it('tells which amounts it could not read, and which could mean another number', () => {
    const text = 'email,plan,mrr\na@example.com,x,lots\nb@example.com,x,1.200\nc@example.com,x,n/a\n';
    const { customers, notes } = readSegments(text, { sum: 'mrr' });
    assert.deepEqual(
      customers.map(({ amount }) => amount),
      [null, 1200, null],
    );
    assert.deepEqual(notes, [
      '1 cell of mrr without a number: "lots" in row 2. No amount is counted there.',
      'In mrr the sign before three digits was read as thousands: "1.200" in row 3. Write two decimals if it has decimals.',
    ]);
  });

  it('that cannot be used is refused with the reason', () => {
    assert.match(refusal(''), /is empty/);
    assert.match(refusal('name,plan\nKim,pro\n'), /has no e-mail column/);
    assert.match(refusal('email\na@example.com\n'), /no column besides the e-mail/);
    assert.match(refusal('email,plan\n', { by: 'plam' }), /--by: the customers file has no column "plam"/);
    assert.match(refusal('email,plan\n"a@example.com,x\n'), /cannot be read as CSV/);
  });
});
