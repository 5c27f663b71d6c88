import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { importFile, surveyFile } from '../../src/outbox/import/import.ts';
import { openResults, outboxCsv } from '../../src/outbox/import/results.ts';
import { counts, importBenchFor, inputOf, PLAIN, QUIET } from './import-feed.ts';

/** A board of the mirror, as a page of posts would bring it. */
function showBoard(path: string, id: number, slug: string): void {
  const mirror = new Database(path);
  mirror
    .prepare(
      `INSERT INTO boards (id, name, url, slug, extra, first_seen_at, changed_at) VALUES (?, ?, ?, ?, '{}', '', '')
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, url = excluded.url, slug = excluded.slug`,
    )
    .run(id, slug, `/${slug}/`, slug);
  mirror.close();
}

describe('the apostrophe that guards a spreadsheet against formulas', () => {
  const SIGNS = ['=1+1', '+1 for dark mode', '-1 for the new menu', '@ada asks for it'];

  it('does not make another row, in a file of the outbox that has lost or renamed columns', async (t) => {
    for (const hasKeys of [false, true]) {
      const bench = importBenchFor(t);
      const rows = SIGNS.map((sign, n) => `bugs,"${sign}","${sign}"${hasKeys ? `,-${n}` : ''}\n`).join('');
      await bench.take(`board,title,content${hasKeys ? ',key' : ''}\n${rows}`);
      const own = [...outboxCsv(await bench.store.list({ limit: 9 }))].join('');
      assert.match(own, /'=1\+1/);
      const renamed = own.replace('state,post_id', 'Status,Post');
      const dropped = own
        .split('\r\n')
        .map((line) => line.split(',').slice(0, 6).join())
        .join('\r\n');
      for (const text of [renamed, dropped])
        assert.deepEqual(counts(await bench.take(text, { batch: 'two' })), [4, 0, 4, 0], text);
    }
  });

  it('is found again also where it was sent with the apostrophe', async (t) => {
    const bench = importBenchFor(t);
    await bench.take("board,title\nbugs,'=1+1\n");
    assert.deepEqual(counts(await bench.take('board,title\nbugs,=1+1\n')), [1, 0, 1, 0]);
  });
});

describe('a board that was renamed at the service', () => {
  it('is the same board for rows without a key, by its id', async (t) => {
    const bench = importBenchFor(t);
    showBoard(bench.path, 7, 'ideas');
    const file = (board: string): string => `board,title\n${board},One\n${board},One\n${board},Two\n`;
    await bench.take(file('ideas'));
    showBoard(bench.path, 7, 'feature-requests');
    const renamed = file('feature-requests');
    assert.deepEqual(counts(await bench.dryRun(renamed)), [3, 0, 3, 0]);
    const request = { ...PLAIN, ...QUIET, input: inputOf(renamed) };
    const { tally } = await importFile(bench, 'two', request);
    assert.deepEqual(counts(tally), [3, 0, 3, 0]);
  });

  it('is not another board that has the same name as its own once was', async (t) => {
    const bench = importBenchFor(t);
    showBoard(bench.path, 7, 'ideas');
    await bench.take('board,title\nideas,One\n');
    showBoard(bench.path, 8, 'bugs');
    assert.deepEqual(counts(await bench.dryRun('board,title\nbugs,One\n')), [1, 1, 0, 0]);
  });
});

describe('keys that a spreadsheet took the zeros from', () => {
  const FILE = 'board,title,email,key\nbugs,One,a@example.com,0001\nbugs,Two,,0002\nbugs,Three,,0003\n';
  const STRIPPED = FILE.replaceAll(',000', ',');

  it('are held, said with both keys, and sent after a yes', async (t) => {
    for (const [first, second] of [
      [FILE, STRIPPED],
      [STRIPPED, FILE],
    ] as const) {
      const bench = importBenchFor(t);
      await bench.take(first);
      const grown = `${second}bugs,New,,9\n`;
      const seen = await bench.dryRun(grown, { boards: { map: {}, acceptUnknown: true } });
      assert.deepEqual(counts(seen), [4, 1, 0, 3]);
      assert.equal(seen.held.rows, 3);
      assert.match(seen.refusals[0]?.reason ?? '', /is held: a row with the same title.* under the key 0*1,/);
      const request = { ...PLAIN, ...QUIET, acceptRepeatedTitles: true, input: inputOf(grown) };
      const open = { ...request, boards: { map: {}, acceptUnknown: true } };
      assert.deepEqual(counts((await importFile(bench, 'two', open)).tally), [4, 1, 0, 3]);
      let results = '';
      for await (const piece of await openResults(open.input, open, bench.reads)) results += piece;
      assert.equal(results.match(/is held/g)?.length, 3);
      const yes = { ...open, acceptStrippedKeys: true };
      assert.deepEqual(counts((await importFile(bench, 'three', yes)).tally), [4, 3, 1, 0]);
    }
  });

  it('are other rows with other words, another person, or beside the old key in one file', async (t) => {
    const bench = importBenchFor(t);
    await bench.take(FILE);
    for (const text of [
      'board,title,email,key\nbugs,Other,a@example.com,1\n',
      'board,title,email,key\nbugs,One,b@example.com,1\n',
      'board,title,email,key\nbugs,Two,,7\n',
    ])
      assert.deepEqual(counts(await bench.dryRun(text)), [1, 1, 0, 0], text);
    const both = `${FILE}bugs,Two,,2\n`;
    assert.deepEqual(counts(await bench.dryRun(both)), [4, 1, 3, 0]);
  });
});

describe('questions about the rows of a file', () => {
  const survey = async (t: Parameters<typeof importBenchFor>[0], text: string, choices: object = {}) => {
    const bench = importBenchFor(t);
    const request = { ...PLAIN, ...QUIET, ...choices, input: inputOf(text) };
    return (await surveyFile(bench.reads, request)).questions.map(({ id }) => id);
  };
  const titled = (...titles: string[]): string =>
    `board,title\n${titles.map((title) => `bugs,${title}\n`).join('')}`;

  it('ask about titles that repeat in more than a fifth of the rows, and not in a fifth', async (t) => {
    assert.deepEqual(await survey(t, titled('a', 'a', 'b', 'c', 'd')), []);
    assert.deepEqual(await survey(t, titled('a', 'a', 'b', 'B', 'd')), ['repeated-titles']);
    assert.deepEqual(await survey(t, titled('a', 'a', 'a', 'a')), [], 'of four rows nothing can be told');
    assert.deepEqual(await survey(t, titled('a', 'a', 'b', 'b', 'd'), { acceptRepeatedTitles: true }), []);
  });

  it('stop an import with the flag to go on, and not a second run of the same file', async (t) => {
    const bench = importBenchFor(t);
    const request = {
      ...PLAIN,
      ...QUIET,
      input: inputOf(titled('intercom', 'intercom', 'intercom', 'x', 'y')),
    };
    await assert.rejects(importFile(bench, 'one', request), {
      message: /^2 of 5 rows have the title of another row; “intercom” comes 3 times; nothing was imported$/,
      hint: /Is “title” the column of the titles\? Yes, send them so: --accept-repeated-titles/,
    });
    const boards = 'board,title\nBugs?,same\nbugs,same\nbugs,same\nbugs,same\nbugs,same\n';
    await assert.rejects(importFile(bench, 'one', { ...request, input: inputOf(boards) }), {
      message: /^no board is known by these names: "Bugs\?".*; 4 of 5 rows have the title of another row/,
      hint: /^Say which board each is: .*\nIs “title” the column of the titles\?/,
    });
    await importFile(bench, 'one', { ...request, acceptRepeatedTitles: true });
    assert.deepEqual(counts((await importFile(bench, 'two', request)).tally), [5, 0, 5, 0]);
  });

  it('leave finished rows out unless they are asked for, and say in which state they are', async (t) => {
    const file = 'board,title,Status\nbugs,One,open\nbugs,Two,Done\nbugs,Three,closed\nbugs,Four,Done\n';
    const bench = importBenchFor(t);
    const left = await bench.dryRun(file);
    assert.deepEqual([left.accepted, left.skipped], [1, 3]);
    const all = await bench.dryRun(file, { includeClosed: true });
    assert.deepEqual([all.accepted, all.skipped], [4, 0]);
    const request = { ...PLAIN, ...QUIET, input: inputOf(file) };
    const [question] = (await surveyFile(bench.reads, request)).questions;
    assert.match(
      question?.problem ?? '',
      /^3 rows are finished by the state in the file \(Done 2, closed 1\)/,
    );
    assert.deepEqual(question?.answers[0], {
      text: 'Yes, send them',
      choice: { includeClosed: true },
      flag: '--include-closed',
    });
  });
});
