import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { erasePerson } from '../../src/erasure/erase.ts';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import { batchId } from '../../src/outbox/create.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import type { PostText } from '../../src/outbox/decide/types.ts';
import { contentHash } from '../../src/outbox/decide/whose.ts';
import { openInput } from '../../src/outbox/import/input.ts';
import { conflictReason } from '../../src/outbox/import/intake.ts';
import { newFileMatches } from '../../src/outbox/store/source.ts';
import { folderFor } from '../support/folder.ts';
import { benchFor, leading, TEXT } from './bench.ts';
import { counts, type ImportBench, importBenchFor } from './import-feed.ts';

const FILE = `board,title,content,email,full_name,key
bugs,One,,,,
bugs,Two,,ada@example.com,Ada,
bugs,,no title,,,
bugs,Two,,ada@example.com,Ada,
bugs,Keyed,,,,K1
`;

describe('what can be read only once', () => {
  it('is kept in a file, and a full disk is told by the folder of that file', async (t) => {
    const folder = folderFor(t, 'spool');
    async function* stdin() {
      yield Buffer.from(FILE);
    }
    const input = await openInput({ path: '-', stdin, spoolIn: folder });
    for await (const chunk of input.read()) assert.equal(Buffer.from(chunk).toString(), FILE);
    await input.close();
    const handle = await open(join(folder, 'any'), 'w');
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    t.mock.method(Object.getPrototypeOf(handle) as typeof handle, 'write', () => Promise.reject(full));
    await handle.close();
    await assert.rejects(openInput({ path: '-', stdin, spoolIn: folder }), {
      code: 'storage',
      hint: new RegExp(`^Make room on the disk of ${folder}, `),
    });
  });

  it('is read no further once the command is stopped', async (t) => {
    const stop = new AbortController();
    const stdin = () => assert.fail('the path is a device without an end');
    const spoolIn = folderFor(t, 'spool');
    const opening = openInput({ path: '/dev/zero', stdin, spoolIn, signal: stop.signal });
    stop.abort();
    await assert.rejects(opening, { name: 'AbortError' });
  });
});

describe('taking a file into the outbox', () => {
  it('accounts for every row: accepted, already there, or refused with line and reason', async (t) => {
    const bench = importBenchFor(t);
    const tally = await bench.take(FILE);
    assert.deepEqual(counts(tally), [5, 4, 0, 1]);
    assert.deepEqual(tally.refusals, [{ line: 4, reason: 'title is blank' }]);
    const rows = await bench.store.list({ limit: 9 });
    assert.deepEqual(
      rows.map(({ line, kind, title, batch, state }) => [line, kind, title, batch, state]),
      [
        [2, 'owner', 'One', 'one', 'ready'],
        [3, 'as-user', 'Two', 'one', 'ready'],
        [5, 'as-user', 'Two', 'one', 'ready'],
        [6, 'owner', 'Keyed', 'one', 'ready'],
      ],
    );
  });

  it('adds nothing the second time, and names the batches whose rows are still on their way', async (t) => {
    const bench = importBenchFor(t);
    await bench.take(FILE);
    const before = bench.keys();
    const again = await bench.take(FILE, { batch: 'two' });
    assert.deepEqual(counts(again), [5, 0, 4, 1]);
    assert.deepEqual([again.alreadyBy, again.openBatches], [{ ready: 4 }, ['one']]);
    assert.deepEqual(bench.keys(), before);
  });

  it('knows the rows of a file whose line ends, spaces and accents another system has rewritten', async (t) => {
    const file =
      'board,title,content\nbugs,Caf\u00e9 menus,"First line\nand a second"\nbugs,Plain,words here\n';
    const rewritten = {
      'line ends': file.replaceAll('\n', '\r\n'),
      'decomposed accents': file.normalize('NFD'),
      'no-break spaces': file.replace('Caf\u00e9 ', 'Caf\u00e9\u00a0'),
      'spaces at the end': file.replace('second"', 'second  "'),
    };
    for (const [how, text] of Object.entries(rewritten)) {
      const bench = importBenchFor(t);
      await bench.take(file);
      assert.deepEqual(counts(await bench.take(text, { batch: 'two' })), [2, 0, 2, 0], how);
    }
  });

  it('knows the rows of a file whose board is said in another way', async (t) => {
    const file = 'board,title\nOld,One\nideas,One\nOld,One\n';
    const bench = importBenchFor(t);
    const chooseBoard = (text: string) => (text === 'Old' ? 'ideas' : text);
    assert.deepEqual(counts(await bench.take(file, { chooseBoard })), [3, 3, 0, 0]);
    assert.deepEqual(counts(await bench.take(file, { board: 'ideas' })), [3, 0, 3, 0]);
    assert.deepEqual(counts(await bench.take(file.replaceAll('ideas', 'Ideas'))), [3, 0, 3, 0]);
  });

  it('takes equal rows of several boards into one, once each', async (t) => {
    const file = 'board,title\nideas,One\nOld,One\nIdeas,One\n';
    const bench = importBenchFor(t);
    assert.deepEqual(counts(await bench.take(file, { board: 'ideas' })), [3, 3, 0, 0]);
    assert.deepEqual(counts(await bench.take(file, { board: 'ideas' })), [3, 0, 3, 0]);
  });

  it('tells equal rows apart also where one of them is left out', async (t) => {
    const file = 'board,title\nbugs,One\nbugs,One\n';
    const bench = importBenchFor(t);
    for (const line of [2, 3])
      assert.deepEqual(counts(await bench.take(file, { skipLines: new Set([line]) })), [2, 1, 0, 0]);
    assert.deepEqual(counts(await bench.take(file)), [2, 0, 2, 0]);
  });

  it('knows rows that an older version named by the board given for all of them', async (t) => {
    const bench = importBenchFor(t);
    const file = 'board,title\nOld,One\nNew,One\n';
    await bench.take(file, { board: 'ideas' });
    const digest = hash('sha256', '5:ideas3:One0:--', 'base64url');
    const mirror = new Database(bench.path);
    mirror.prepare("UPDATE outbox SET source_key = 'row:' || ? || ':' || id").run(digest);
    mirror.close();
    assert.deepEqual(counts(await bench.take(file, { board: 'ideas' })), [2, 0, 2, 0]);
  });

  it('knows a file again whose board is given by its slug, its name or its id', async (t) => {
    const bench = importBenchFor(t);
    const file = 'title\nOne\nOne\n';
    const chooseBoard = (): string => 'ideas';
    assert.deepEqual(
      counts(await bench.take(file, { board: 'Feature Requests', chooseBoard })),
      [2, 2, 0, 0],
    );
    for (const board of ['ideas', '77', 'feature requests'])
      assert.deepEqual(counts(await bench.take(file, { board, chooseBoard })), [2, 0, 2, 0], board);
  });

  it('knows rows again whose board or whose person is written in another way', async (t) => {
    const bench = importBenchFor(t);
    const chooseBoard = (text: string): string =>
      ({ 77: 'ideas', 'Feature Requests': 'ideas' })[text] ?? text;
    const file = (board: string, email: string): string =>
      `board,title,email\n${board},One,${email}\n${board},One,${email}\nbugs,One,${email}\n`;
    await bench.take(file('Feature Requests', 'Ann@example.com'), { chooseBoard });
    for (const board of ['77', 'ideas', 'Feature Requests'])
      for (const email of ['ann@Example.com', 'Ann@example.com']) {
        const text = file(board, email);
        assert.deepEqual(counts(await bench.take(text, { chooseBoard })), [3, 0, 3, 0], text);
      }
    const grown = `${file('77', 'ann@example.com')}77,One,ann@example.com\n`;
    assert.deepEqual(counts(await bench.take(grown, { chooseBoard })), [4, 1, 3, 0]);
    assert.deepEqual(counts(await bench.take(grown, { chooseBoard })), [4, 0, 4, 0]);
  });

  it('counts rows that say the same together, however each of them is written', async (t) => {
    const chooseBoard = (text: string): string => (text === '1' ? 'ideas' : text.toLowerCase());
    const file = (...boards: string[]): string =>
      `board,title\n${boards.map((board) => `${board},One\n`).join('')}`;
    for (const [first, second, fresh] of [
      [['ideas', 'ideas'], ['Ideas', '1', 'ideas'], 1],
      [['Ideas', '1', 'ideas'], ['ideas', 'ideas', 'ideas'], 0],
      [['1', '1'], ['ideas', 'ideas', 'ideas', '1'], 2],
    ] as const) {
      const bench = importBenchFor(t);
      await bench.take(file(...first), { chooseBoard });
      const { length } = second;
      const grown = counts(await bench.take(file(...second), { chooseBoard }));
      assert.deepEqual(grown, [length, fresh, length - fresh, 0]);
      assert.deepEqual(counts(await bench.take(file(...second), { chooseBoard })), [length, 0, length, 0]);
    }
  });

  it('does not match a row without a key to a row with one in the same file', async (t) => {
    const bench = importBenchFor(t);
    const keyed = 'board,title,key\nbugs,One,k1\n';
    await bench.take(keyed);
    assert.deepEqual(counts(await bench.take(keyed.replace('bugs', 'bugs,One,\nbugs'))), [2, 1, 1, 0]);
    assert.deepEqual(counts(await bench.take(keyed.replace('bugs', 'bugs,One,\nbugs'))), [2, 0, 2, 0]);
  });

  it('knows a row by the board that the file last gave it, when that is meant for another one', async (t) => {
    const bench = importBenchFor(t);
    const old = (slug: string) => ({ chooseBoard: (text: string) => (text === 'Old' ? slug : text) });
    await bench.take('board,title\nideas,One\n');
    const both = 'board,title\nOld,One\nideas,One\n';
    assert.deepEqual(counts(await bench.take(both, old('ideas'))), [2, 1, 1, 0]);
    assert.deepEqual(counts(await bench.take(both, old('bugs'))), [2, 0, 2, 0]);
  });

  it('brings back the one of two equal rows that was cancelled', async (t) => {
    const bench = importBenchFor(t);
    await bench.take('board,title\nbugs,One\nbugs,One\n');
    bench.store.move(2, TRANSITIONS.cancel, { now: 0 });
    const file = 'board,title,state,post_id,url,reason\nbugs,One,cancelled,,,\n';
    assert.deepEqual(counts(await bench.dryRun(file)), [1, 1, 0, 0]);
    assert.deepEqual(counts(await bench.take(file)), [1, 1, 0, 0]);
    assert.equal(bench.store.find(2)?.state, 'ready');
  });

  it('gives a row that it knows by its words the key of the file: each is known to one key', async (t) => {
    const bench = importBenchFor(t);
    const keyed = (...keys: string[]): string =>
      `board,title,key\n${keys.map((key) => `bugs,One,${key}\n`).join('')}`;
    await bench.take('board,title\nbugs,One\nbugs,One\n');
    for (const [keys, fresh] of [
      [['z1'], 0],
      [['z2'], 0],
      [['z3'], 1],
      [['z4', 'z3', 'z2', 'z1'], 1],
    ] as const) {
      const text = keyed(...keys);
      assert.deepEqual(counts(await bench.dryRun(text)), [keys.length, fresh, keys.length - fresh, 0], text);
      assert.deepEqual(counts(await bench.take(text)), [keys.length, fresh, keys.length - fresh, 0], text);
    }
    const edited = keyed('z1').replace('One', 'Other');
    assert.deepEqual(counts(await bench.take(edited)), [1, 0, 0, 1]);
  });

  it('knows rows again in a file that gained or lost a column of keys or of names', async (t) => {
    const files = {
      plain: 'board,title,email\nbugs,One,a@example.com\nbugs,One,a@example.com\n',
      keys: 'board,title,email,key\nbugs,One,a@example.com,1\nbugs,One,a@example.com,2\n',
      names: 'board,title,email,full_name\nbugs,One,a@example.com,Ann\nbugs,One,a@example.com,Ann\n',
    };
    for (const first of Object.values(files))
      for (const second of Object.values(files)) {
        const bench = importBenchFor(t);
        await bench.take(first);
        assert.deepEqual(counts(await bench.dryRun(second)), [2, 0, 2, 0], first + second);
        assert.deepEqual(counts(await bench.take(second)), [2, 0, 2, 0], first + second);
      }
    const bench = importBenchFor(t);
    await bench.take(files.keys);
    const others = files.keys.replace(',1\n', ',10\n').replace(',2\n', ',20\n');
    assert.deepEqual(counts(await bench.take(others)), [2, 2, 0, 0], 'rows with two keys are two rows');
  });

  const mended = (changes: Partial<PostText>) => async (bench: ImportBench) => {
    const post = { ...(await bench.row(1)), ...changes };
    assert.ok(
      await bench.store.edit({ id: 1, from: ['ready'], post, content_hash: contentHash(post), now: 0 }),
    );
  };
  const erased = async (bench: ImportBench) => {
    await bench.store.move(1, leading('ready', 'rejected'), { now: bench.clock.now() });
    const options = { path: bench.path, upstream: 'http://upstream.test', holder: 'a test' };
    const [store, { signal }] = [openErasureStore(options), new AbortController()];
    await erasePerson({ store, clock: bench.clock, signal, compact: async () => true }, 'kim@example.com');
    await store.close();
    assert.doesNotMatch((await bench.row(1)).content, /kim/);
  };
  for (const [how, change] of [
    ['a person has mended its title', mended({ title: 'Other' })],
    ['a person has mended its board', mended({ board: 'ideas' })],
    ['a person has mended its address', mended({ email: 'b@example.com' })],
    ['somebody was erased from its text', erased],
  ] as const)
    it(`knows a row again in a file that gained or lost a column of keys, where ${how}`, async (t) => {
      const files = [
        'board,title,content,email\nbugs,One,Ask kim@example.com,a@example.com\n',
        'board,title,content,email,key\nbugs,One,Ask kim@example.com,a@example.com,1\n',
      ];
      for (const [first = '', second = ''] of [files, files.toReversed()]) {
        const bench = importBenchFor(t);
        await bench.take(first);
        await change(bench);
        assert.deepEqual(counts(await bench.dryRun(second)), [1, 0, 1, 0], second);
        assert.deepEqual(counts(await bench.take(second)), [1, 0, 1, 0], second);
        assert.deepEqual(counts(await bench.take(first)), [1, 0, 1, 0], first);
        const other = second.replace('a@example.com', 'c@example.com').replace(',1\n', ',2\n');
        assert.deepEqual(counts(await bench.take(other)), [1, 1, 0, 0], other);
      }
    });

  it('knows rows that an older version named by the board as it was given', async (t) => {
    const bench = importBenchFor(t);
    const file = 'title\nOne\nOne\n';
    const given = { board: 'Feature Requests', chooseBoard: () => 'ideas' };
    await bench.take(file, given);
    const digest = hash('sha256', '16:feature requests3:One0:--', 'base64url');
    const mirror = new Database(bench.path);
    mirror.prepare("UPDATE outbox SET source_key = 'row:' || ? || ':' || id").run(digest);
    mirror.close();
    assert.deepEqual(counts(await bench.take(file, given)), [2, 0, 2, 0]);
  });

  it('knows rows that an older version named by their words exactly as written', async (t) => {
    const bench = importBenchFor(t);
    const file = 'board,title,content\nbugs,Two lines,"One\nand two"\nbugs,Two lines,"One\nand two"\n';
    await bench.take(file);
    const digest = hash('sha256', '4:bugs9:Two lines11:One\nand two--', 'base64url');
    const mirror = new Database(bench.path);
    mirror.prepare("UPDATE outbox SET source_key = 'row:' || ? || ':' || id").run(digest);
    mirror.close();
    assert.deepEqual(counts(await bench.take(file, { batch: 'two' })), [2, 0, 2, 0]);
  });

  it('adds what is new in a file that grew, wherever it grew', async (t) => {
    const bench = importBenchFor(t);
    await bench.take(FILE);
    const [head = '', ...rows] = FILE.trimEnd().split('\n');
    const grown = [head, 'bugs,First,,,,', ...rows, 'bugs,Two,,ada@example.com,Ada,', 'bugs,Last,,,,'].join(
      '\n',
    );
    assert.deepEqual(counts(await bench.take(grown)), [8, 3, 4, 1]);
    assert.deepEqual(counts(await bench.take(grown)), [8, 0, 7, 1]);
  });

  it('knows the rows of a tool that an older version took in under other keys', async (t) => {
    const posts = ['bugs,One,Why', 'bugs,Two,Why', 'bugs,Two,Why'];
    const canny = `Board,Title,Details,Post ID\n${posts.map((post, n) => `${post},p${n}\n`).join('')}`;
    const edited = canny.replace('One', 'Another one');
    const former = {
      'by content': `board,title,content\n${posts.join('\n')}\n`,
      'by the bare id': `board,title,content,key\n${posts.map((post, n) => `${post},p${n}\n`).join('')}`,
    };
    for (const [how, text] of Object.entries(former)) {
      const bench = importBenchFor(t);
      await bench.take(text);
      assert.deepEqual(counts(await bench.dryRun(canny)), [3, 0, 3, 0], how);
      assert.deepEqual(counts(await bench.take(canny)), [3, 0, 3, 0], how);
      assert.deepEqual(counts(await bench.take(edited)), [3, 0, 2, 1], how);
    }
  });

  it('knows a row again whose key was another of its columns, or is no longer seen to be of a tool', async (t) => {
    const numbered = 'board,title,key,other\nbugs,One,A1,77\nbugs,One,A2,78\n';
    const jira = 'Issue key,Issue id,Summary,Description\nFB-1,901,One,Why\nFB-2,902,One,Why\n';
    const lean = 'board,title,content,key\nbugs,One,Why,FB-1\nbugs,One,Why,FB-2\n';
    const [other, issueId] = [{ map: { key: 'other' } }, { board: 'bugs', map: { key: 'Issue id' } }];
    for (const [first, asked, second, then] of [
      [numbered, {}, numbered, other],
      [jira, { board: 'bugs' }, jira, issueId],
      [jira, { board: 'bugs' }, lean, {}],
    ] as const) {
      const bench = importBenchFor(t);
      await bench.take(first, asked);
      for (const [text, options] of [
        [second, then],
        [first, asked],
      ] as const) {
        assert.deepEqual(counts(await bench.dryRun(text, options)), [2, 0, 2, 0], text);
        assert.deepEqual(counts(await bench.take(text, options)), [2, 0, 2, 0], text);
      }
    }
  });

  it('takes rows of a tool without an id, and another text under the bare id, for rows of their own', async (t) => {
    const bench = importBenchFor(t);
    const canny = (id: string, ...titles: string[]): string =>
      `Board,Title,Details,Post ID\n${titles.map((title) => `bugs,${title},Why,${id}\n`).join('')}`;
    assert.deepEqual(counts(await bench.take(canny('', 'One', 'Two'))), [2, 2, 0, 0]);
    await bench.take('board,title,content,key\nbugs,Three,Why,p3\n');
    assert.deepEqual(counts(await bench.take(canny('p3', 'Another'))), [1, 1, 0, 0]);
  });

  it('refuses a key that belongs to other content in the outbox or earlier in the file', async (t) => {
    const bench = importBenchFor(t);
    await bench.take('board,title,key\nbugs,Old,K1\n');
    const text = 'board,title,key\nbugs,New,K1\nbugs,A,K2\nbugs,B,K2\nbugs,A,K2\n';
    const rehearsed = await bench.dryRun(text);
    assert.deepEqual(counts(rehearsed), [4, 1, 1, 2]);
    const tally = await bench.take(text);
    assert.deepEqual(counts(tally), [4, 1, 1, 2]);
    assert.deepEqual(tally.refusals, [
      { line: 2, reason: conflictReason('outbox row 1') },
      { line: 4, reason: conflictReason('outbox row 2') },
    ]);
    assert.deepEqual(
      rehearsed.refusals.map(({ line }) => line),
      [2, 4],
    );
  });

  it('knows a row by its key again where another program wrote its line ends, spaces and accents', async (t) => {
    const bench = importBenchFor(t);
    await bench.take('board,title,content,key\nbugs,Cafe\u0301,"One\r\n\r\nTwo",K1\n');
    const saved = 'board,title,content,key\nbugs,Café,"One\n\nTwo ",K1\n';
    assert.deepEqual(counts(await bench.dryRun(saved)), [1, 0, 1, 0]);
    assert.deepEqual(counts(await bench.take(saved)), [1, 0, 1, 0]);
  });

  it('takes the rest of a results file: what it calls confirmed is done, here or elsewhere', async (t) => {
    const bench = importBenchFor(t);
    const text = `board,title,state,post_id,url,reason
bugs,Same,confirmed,7,/p/7,
bugs,Same,ready,,,
bugs,Mended,refused,,,title is blank
`;
    const tally = await bench.take(text);
    assert.deepEqual([counts(tally), tally.alreadyBy], [[3, 2, 1, 0], { confirmed: 1 }]);
    // The second of two equal rows stays the second, also when the first is not taken.
    assert.equal(bench.keys().filter((key) => key.endsWith(':2')).length, 1);
  });

  it('counts what became of rows that were there already', async (t) => {
    const bench = importBenchFor(t);
    await bench.take('board,title\nbugs,A\nbugs,B\n');
    await bench.store.move(1, TRANSITIONS.cancel, { now: 0 });
    const again = await bench.take('board,title\nbugs,A\nbugs,B\n', { batch: 'two' });
    assert.deepEqual(again.alreadyBy, { cancelled: 1, ready: 1 });
  });

  it('groups what it noted and keeps the first lines', async (t) => {
    const bench = importBenchFor(t);
    const people = Array.from({ length: 7 }, (_, i) => `bugs,T${i},p${i}@example.com`);
    const long = [300, 400].map((n) => `bugs,${'x'.repeat(n)},`);
    const { notes } = await bench.take(['board,title,email', ...people, ...long].join('\n'));
    assert.deepEqual(notes, [
      { text: 'full_name was taken from the e-mail', rows: 7, lines: [2, 3, 4, 5, 6] },
      { text: 'title is unusually long', rows: 2, lines: [9, 10] },
    ]);
  });

  it('keeps the first thousand refusals and counts the rest', async (t) => {
    const bench = importBenchFor(t);
    const tally = await bench.take(`board,title\n${'bugs,\n'.repeat(2500)}`);
    assert.deepEqual([counts(tally), tally.refusals.length], [[2500, 0, 0, 2500], 1000]);
  });
});

describe('the rows that a file has met', () => {
  it('stay met, however high the numbers of those that follow', () => {
    const fileMatches = newFileMatches({ hasKeys: false, tools: new Set() });
    const met = [1, 8, 8191, 8192, 1_000_000];
    for (const id of met) fileMatches.add(id);
    assert.deepEqual(
      [...met, 2, 9, 8190, 999_999, 2_000_000].filter((id) => fileMatches.has(id)),
      met,
    );
  });
});

describe('a dry run', () => {
  it('judges as the import does and writes nothing', async (t) => {
    const bench = importBenchFor(t);
    await bench.take('board,title\nbugs,One\n');
    const before = bench.keys();
    const rehearsed = await bench.dryRun(FILE);
    assert.deepEqual(bench.keys(), before);
    const { preview, ...tally } = rehearsed;
    const { openBatches: _, ...real } = await bench.take(FILE);
    assert.deepEqual(tally, real);
    assert.equal(preview.mirror, 'empty');
    assert.deepEqual([preview.asOwner, preview.asNewCustomer, preview.newCustomers], [1, 2, 1]);
  });
});

describe('the name of a batch', () => {
  it('tells when it began, sorts by that, and differs within a second', () => {
    const at = Date.parse('2026-11-15T01:42:07.900Z');
    assert.equal(
      batchId('import', at, () => 0.5),
      'import-20261115-014207-i00000',
    );
    assert.ok(batchId('import', at, () => 0.999) < batchId('import', at + 1000, () => 0));
    assert.match(batchId('create', at, Math.random), /^create-20261115-014207-[0-9a-z]{6}$/);
  });
});

describe('a row that an earlier file has named', () => {
  it('keeps that name where a later file has none for it, and gets another where that has', (t) => {
    const { store, clock, query } = benchFor(t);
    const accept = (source_key: string, cells?: string[]) => {
      const fileMatches = newFileMatches({ hasKeys: cells !== undefined, tools: new Set() });
      const row = {
        ...TEXT,
        batch: 'import-1',
        line: 1,
        source_key,
        content_hash: contentHash(TEXT),
        fileMatches,
      };
      const [taken] = store.accept([{ ...row, ...(cells && { cells }) }], clock.now());
      return [
        taken?.outcome,
        query<{ key: string }>('SELECT source_key AS key FROM outbox').map(({ key }) => key),
      ];
    };
    assert.deepEqual(accept('key:A1', ['A1']), ['accepted', ['key:A1']]);
    assert.deepEqual(accept('row:words:1'), ['already', ['key:A1']]);
    assert.deepEqual(accept('key:B7', ['B7', 'A1']), ['already', ['key:B7']]);
  });
});
