import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TABLES } from '../../../src/export/store/tables.ts';
import { resultsColumns } from '../../../src/outbox/import/csv/rows.ts';
import { identities, sourceKey } from '../../../src/outbox/import/csv/source-key.ts';
import { resultLine, resultsWriter } from '../../../src/outbox/import/results.ts';
import { csvCell } from '../../../src/text/csv.ts';
import { accepted, outcomes, type Read, read } from './feed.ts';

const POST = { board: 'b', title: 't', content: 'c', email: null, full_name: null };

const FILE = [
  'board;title;content;email',
  'b;"one; ""two""";"line\r\nbreak";ann@example.org',
  'b;=1+1; kept ;',
  'b;short',
  'b;twin;;',
  'b;twin;;',
  'b;long;;;;x',
].join('\n');

function results(file: Read): string {
  const writer = resultsWriter(file);
  const lines = file.rows.map((row, i) =>
    writer.line(
      row,
      row.ok ? { state: 'confirmed', post_id: i, url: '/p/1' } : { state: 'refused', reason: row.reason },
    ),
  );
  return writer.header + lines.join('');
}

function keysOf(file: Read): string[] {
  const identify = identities(false);
  return file.rows.flatMap((row) => (row.ok ? [identify(row).source_key] : []));
}

describe('an export of the table of the outbox', () => {
  test('is refused with the file to import in its place, for all of it would be sent again', async () => {
    const header = TABLES.outbox.columns.map(({ name }) => name);
    const values: Record<string, string> = { board: 'b', title: "'=t", state: 'confirmed', post_id: '7' };
    const cells = header.map((name) => values[name] ?? '');
    await assert.rejects(read(`${header.join()}\n${cells.join()}\n`), {
      code: 'usage',
      message: /an export of the outbox: all its posts would be sent a second time/,
      hint: /outbox list --batch BATCH --format csv/,
    });
  });
});

describe('a results file', () => {
  test('is the file that came in with four columns behind it', async () => {
    const text = results(await read(FILE));
    assert.deepEqual(text.split('\r\n').slice(0, 3), [
      'board;title;content;email;state;post_id;url;reason',
      'b;"one; ""two""";"line',
      'break";ann@example.org;confirmed;0;/p/1;',
    ]);
    assert.match(text, /\r\nb;short;;;refused;;;has 2 cells where the header has 4\r\n/);
  });

  test('whose person had a column of the same name keeps it, and takes the last one for its own', () => {
    const found = resultsColumns(
      ['url', 'board', 'title', 'state', 'post_id', 'url', 'reason'],
      [['theirs', 'b', 't', 'confirmed', '7', 'ours', '']],
    );
    assert.deepEqual(found?.headers.slice(0, 3), ['url', 'board', 'title']);
    const cells = found?.arrange(['theirs', 'b', 't', 'confirmed', '7', 'ours', '']);
    assert.deepEqual(cells, ['theirs', 'b', 't', 'confirmed', '7', 'ours', '']);
  });

  test('fed back, says what became of each row and gives the same source keys', async () => {
    const first = await read(FILE);
    const back = await read(results(first));
    const sent = back.rows.flatMap((row) => (row.ok && row.previous ? [row.previous] : []));
    assert.deepEqual(sent.slice(0, 2), [
      { state: 'confirmed', post_id: '0' },
      { state: 'confirmed', post_id: '1' },
    ]);
    const again = { ...back, rows: back.rows.filter((row) => row.ok && row.previous?.state === 'confirmed') };
    assert.deepEqual(keysOf(again), keysOf(first));
    assert.deepEqual(back.ignored, []);
  });

  test('keeps a row with too many cells refused when it is fed back', async () => {
    const back = await read(results(await read(FILE)));
    assert.deepEqual(outcomes(back).at(-1), [8, 'has 10 cells where the header has 8']);
  });

  test('with empty cells at the end of its rows, as spreadsheets write them, says the same', async () => {
    const text = 'board,title,state,post_id,url,reason\nb,t,confirmed,7,/p/7,';
    const plain = await read(`${text}\n`);
    assert.deepEqual((await read(`${text},,\n`)).rows, plain.rows);
    assert.equal(accepted(plain.rows[0]).previous?.state, 'confirmed');
  });

  test('fed back and written again has its four columns once', async () => {
    const once = results(await read(FILE));
    const twice = results(await read(once));
    assert.equal(twice.split('\r\n')[0], once.split('\r\n')[0]);
  });

  test('is recognised by all four columns, or by states of ours beside the number of the post', async () => {
    for (const text of ['board,title,state,post_id\nb,t,open,7\n', 'board,title,state\nb,t,confirmed\n']) {
      const file = await read(text);
      assert.equal(accepted(file.rows[0]).previous, undefined);
      assert.equal(file.ignored[0], 'state');
    }
    const plain = await read('title,state,post_id,url,reason\nt,,,,\n', { board: 'b' });
    assert.equal(accepted(plain.rows[0]).previous, undefined, 'a row that was never sent has no past');
  });

  test('is recognised with columns of a person behind the four, with the four in front, and with two of them gone', async () => {
    for (const text of [
      "board,title,state,post_id,url,reason,Checked\nb,'=t,confirmed,7,/p/7,,seen\n",
      "url,reason,state,post_id,board,title,Checked\n/p/7,,confirmed,7,b,'=t,seen\n",
      "board,title,Checked,State, post_id \nb,'=t,seen,confirmed,7\n",
    ]) {
      const file = await read(text);
      const { post, previous } = accepted(file.rows[0]);
      assert.deepEqual([post.title, previous], ['=t', { state: 'confirmed', post_id: '7' }]);
      assert.deepEqual(file.ignored, ['Checked']);
      const again = results(file).split('\r\n');
      assert.equal(again[0], 'board,title,Checked,state,post_id,url,reason');
      assert.equal(again[1], "b,'=t,seen,confirmed,0,/p/1,");
    }
  });

  test('hands no text to a spreadsheet as a formula', async () => {
    const writer = resultsWriter(await read('board,=title\nb,=1\n', { map: { title: '=title' } }));
    assert.equal(writer.header, "board,'=title,state,post_id,url,reason\r\n");
    assert.equal(
      writer.line({ cells: ['b', '=1'] }, { state: 'rejected', reason: '=cmd()' }),
      "b,'=1,rejected,,,'=cmd()\r\n",
    );
  });

  test('fed back, gives every text as it was, whatever it begins with', async () => {
    const signs = [...'=+-@\uFF1D\uFF0B\uFF0D\uFF20\uFE66\t\r\n', ' =', '\u200B='];
    const texts = signs.flatMap((sign) => ['', "'", "''", '"'].map((before) => `${before}${sign}x`));
    const all = [...texts, "'", "'x", 'x=1'];
    const written = all.map((text) => `b,t,${csvCell(text)}\n`).join('');
    const back = await read(results(await read(`board,title,content\n${written}`)));
    assert.deepEqual(
      back.rows.map((row) => accepted(row).post.content),
      all,
    );
    assert.equal(results(back), results(await read(results(back))));
  });

  test('is the only file whose apostrophes are taken off', async () => {
    const file = await read("board,title\nb,'=1\n");
    assert.equal(accepted(file.rows[0]).post.title, "'=1");
  });

  test('has a byte order mark when the file had one', async () => {
    assert.equal(resultsWriter(await read('\uFEFFboard,title\n')).header.codePointAt(0), 0xfeff);
    assert.equal(resultsWriter(await read('board,title\n')).header[0], 'b');
  });

  test('a name that starts with a byte order mark is not taken for one', async () => {
    const file = await read(`${resultLine(['\uFEFFx', 'title'], ',')}1,t\r\n`, { board: 'b' });
    assert.deepEqual([file.bom, file.headers[0]], [false, '\uFEFFx']);
  });

  test('a lone empty cell is written so that it stays a record', () => {
    assert.equal(resultLine([''], ','), '""\r\n');
  });
});

describe('a source key', () => {
  test('comes from the key column if there is one', () => {
    assert.equal(sourceKey({ key: 'A-1', post: POST }, 3), 'key:A-1');
  });

  test('is the same for the same content and another for another count', () => {
    const row = { key: null, post: POST };
    assert.equal(sourceKey(row, 1), sourceKey({ key: null, post: { ...POST } }, 1));
    assert.notEqual(sourceKey(row, 1), sourceKey(row, 2));
    assert.match(sourceKey(row, 1), /^row:[\w-]{43}:1$/);
  });

  test('does not change from one release to the next', () => {
    assert.equal(
      sourceKey({ key: null, post: POST }, 1),
      'row:XNJ7CiDrFU_qYhvLcBBh2knadM0_tRLRPLEdgH4Wphs:1',
    );
  });

  test('tells text apart that only moved between fields, and nothing from empty', () => {
    const posts = [
      POST,
      { ...POST, title: 'tc', content: '' },
      { ...POST, title: '', content: 'tc' },
      { ...POST, board: 'bt', title: '' },
      { ...POST, email: '' },
      { ...POST, full_name: '' },
      { ...POST, title: 't1:c', content: '' },
    ];
    assert.equal(new Set(posts.map((post) => sourceKey({ key: null, post }, 1))).size, posts.length);
  });

  test('counts equal rows in their order', () => {
    const identify = identities(false);
    const rows = [POST, { ...POST, title: 'x' }, POST].map((post) => identify({ key: null, post }));
    assert.deepEqual(
      rows.map(({ source_key }) => source_key.split(':')[2]),
      ['1', '1', '2'],
    );
  });
});
