import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NewRow } from '../../src/outbox/decide/types.ts';
import { boardChooser, knownTargets, readBoardMap, unknownBoards } from '../../src/outbox/import/boards.ts';
import type { CsvRow } from '../../src/outbox/import/csv/rows.ts';
import { intake, type RowVerdict } from '../../src/outbox/import/intake.ts';
import { openResults } from '../../src/outbox/import/results.ts';
import type { ImportReads } from '../../src/outbox/store/imports.ts';

const BOARDS = [
  { id: 1, slug: 'ideas', name: 'Ideas' },
  { id: 2, slug: 'bugs', name: 'Bugs' },
];
const reads = { boards: () => BOARDS, knowsAllBoards: () => true } as unknown as ImportReads;

describe('the boards that a person maps', () => {
  it('are pairs of a name and a board, or of a name and nothing', () => {
    assert.deepEqual(readBoardMap([' Old = ideas ', 'a=b=bugs', 'Gone=']), {
      Old: 'ideas',
      'a=b': 'bugs',
      Gone: null,
    });
    for (const pair of ['ideas', '=ideas', ' =ideas', ''])
      assert.throws(() => readBoardMap([pair]), /is not of the form/, pair);
    assert.throws(() => readBoardMap(['Old=ideas', 'old=bugs']), /says two things about "old"/);
    assert.deepEqual(readBoardMap(['Old=ideas', 'old=ideas', 'C++=a', 'C#=b']), {
      Old: 'ideas',
      old: 'ideas',
      'C++': 'a',
      'C#': 'b',
    });
  });

  it('lead to boards that there are', () => {
    const told = (target: string | null, acceptUnknown = false) =>
      knownTargets(reads, { map: { Old: target }, acceptUnknown }).map.Old;
    assert.deepEqual(
      [told('Ideas'), told('2'), told(null), told('zebras', true)],
      ['ideas', 'bugs', null, 'zebras'],
    );
    assert.throws(() => told('idea'), /no board is known as "idea", perhaps ideas/);
  });

  it('count more than what the boards are called, however a row writes them', () => {
    const map = { Ideas: 'bugs', 'C++': 'cpp', 'C#': 'cs', Gone: null };
    const { choose, unknown } = boardChooser(reads, { map, acceptUnknown: false });
    assert.deepEqual(['Ideas', 'IDEAS', 'C++', 'C#', 'gone', 'Bugs', 'cs', 'Zebras'].map(choose), [
      'bugs',
      'bugs',
      'cpp',
      'cs',
      null,
      'bugs',
      'cs',
      'Zebras',
    ]);
    assert.deepEqual(
      ['Ideas', 'cs', 'Gone', 'Zebras'].map((text) => unknown(text) !== null),
      [false, false, false, true],
    );
    assert.equal(boardChooser(reads, { map, acceptUnknown: true }).unknown('Zebras'), null);
  });

  it('are asked for once each, with their spellings, and those beyond a hundred are counted', () => {
    const found = unknownBoards(boardChooser(reads, { map: {}, acceptUnknown: false }));
    for (const [line, board] of ['Idea', 'idea', 'IDEA', 'Bugs', 'idea'].entries())
      found.note({ board, line });
    assert.deepEqual(found.unknownBoards, [
      { board: 'Idea', alsoWritten: ['idea', 'IDEA'], rows: 4, line: 0, suggestions: ['ideas'] },
    ]);
    for (let n = 0; n < 101; n++) found.note({ board: `Zebra ${n} zebra`, line: n });
    assert.deepEqual([found.unknownBoards.length, found.moreUnknownBoards], [100, 2]);
  });
});

function aRow(line: number, more: object = {}): CsvRow {
  const post = { board: 'ideas', title: `Post ${line}`, content: '', email: null, full_name: null };
  const known = { writtenBoard: 'ideas', isDropped: false, state: null, key: null, notes: [] as string[] };
  return { ok: true, line, cells: [], post, ...known, ...more } as CsvRow;
}

describe('the rows of a file', () => {
  async function taken(
    rows: CsvRow[],
    options: object = {},
    verdict: (row: NewRow) => RowVerdict = () => ({ outcome: 'accepted' }),
  ) {
    const groups: (number | null)[][] = [];
    const told: number[] = [];
    async function* one() {
      for (const row of rows) yield [row];
    }
    const sink = {
      async take(given: readonly NewRow[]) {
        groups.push(given.map(({ line }) => line));
        return given.map(verdict);
      },
    };
    const onRows = (count: number): void => void told.push(count);
    const tally = await intake(one(), { batch: 'b', sink, hasKeys: false, onRows, ...options });
    return { tally, groups, told };
  }

  it('go in together, so many at a time', async () => {
    const rows = [1, 2, 3, 4, 5].map((line) => aRow(line));
    const { tally, groups, told } = await taken(rows, { rowsAtOnce: 2 });
    assert.deepEqual(
      [groups, told],
      [
        [[1, 2], [3, 4], [5]],
        [2, 4, 5],
      ],
    );
    assert.deepEqual([tally.rows, tally.accepted], [5, 5]);
    assert.deepEqual((await taken(rows)).groups, [[1, 2, 3, 4, 5]]);
  });

  it('are counted once each, whatever becomes of them', async () => {
    const refused = { ok: false, line: 6, cells: [], reason: 'is empty' } as CsvRow;
    const rows = [
      ...[1, 2, 3].map((line) => aRow(line, { notes: ['odd'] })),
      ...[
        aRow(4, { isDropped: true }),
        aRow(5),
        refused,
        aRow(7, { previous: { state: 'confirmed', post_id: '9' } }),
        aRow(8),
      ],
    ];
    const verdicts: Record<number, RowVerdict> = {
      2: { outcome: 'already', state: 'rejected' },
      3: { outcome: 'conflict', with: 'outbox row 7' },
      8: { outcome: 'refused', reason: 'erased' },
    };
    const skipLines = new Set([5]);
    const { tally, groups } = await taken(
      rows,
      { skipLines },
      ({ line }) => verdicts[line ?? 0] ?? { outcome: 'accepted' },
    );
    assert.deepEqual(groups, [[1, 2, 3, 8]]);
    const { refusals, notes, alreadyBy, held: _, workStates: __, titles: ___, ...counts } = tally;
    assert.deepEqual(counts, { rows: 8, accepted: 1, already: 2, skipped: 2, refused: 3 });
    assert.deepEqual(alreadyBy, { rejected: 1, confirmed: 1 });
    assert.deepEqual(
      refusals.map(({ line }) => line),
      [3, 6, 8],
    );
    assert.deepEqual(notes, [{ text: 'odd', rows: 2, lines: [1, 2] }]);
  });
});

describe('the results of a file', () => {
  const choices = {
    map: {},
    boards: { map: { Gone: null }, acceptUnknown: true },
    board: undefined,
    encoding: undefined,
  };
  const inputOf = (text: string) => ({
    bytes: text.length,
    async *read() {
      yield Buffer.from(text);
    },
    isSame: () => false,
    close: async () => undefined,
  });
  const told = (known: object[] = []) =>
    ({
      ...reads,
      zeroesApart: (rows: NewRow[]) => rows.map(() => null),
      otherSlugs: () => [],
      known: (rows: NewRow[]) => rows.map((_, n) => known[n] ?? null),
      suppressed: (emails: string[]) => new Set(emails.filter((email) => email.startsWith('erased'))),
    }) as unknown as ImportReads;
  const linesOf = async (text: string, known: object[] = [], more: object = {}) => {
    let all = '';
    for await (const piece of await openResults(inputOf(text), { ...choices, ...more }, told(known)))
      all += piece;
    return all.trimEnd().split('\r\n').slice(1);
  };

  it('say of each row what became of it', async () => {
    const text = [
      'board,title,content,email',
      'ideas,One,,',
      'ideas,Two,,',
      'Gone,Three,,',
      'ideas,Four,,',
      'ideas,Five,,erased@example.com',
      'ideas,Six,,',
    ].join('\n');
    const sent = { same: true, state: 'confirmed', post_id: 7, url: '/p/7', last_error: null };
    const lines = await linesOf(text, [sent, { same: false, id: 3 }], { skipLines: new Set([5]) });
    assert.deepEqual(
      lines.map((line) => line.split(',').slice(4, 7).join()),
      ['confirmed,7,/p/7', 'refused,,', 'skipped,,', 'skipped,,', 'refused,,', 'refused,,'],
    );
    const reasons = [
      /^$/,
      /has the key of outbox row 3/,
      /its board was left out/,
      /looks like a post/,
      /erased|suppress/i,
      /was not there yet/,
    ];
    for (const [n, reason] of reasons.entries())
      assert.match(lines[n]?.split(',').slice(7).join() ?? '', n === 0 ? /^$/ : reason);
  });

  it('keep what an earlier file says of a post that this outbox does not know', async () => {
    const text =
      'board,title,content,state,post_id,url,reason\nideas,One,,confirmed,9,/p/9,\nideas,Two,,rejected,,,no';
    const lines = await linesOf(text);
    assert.equal(lines[0], 'ideas,One,,confirmed,9,/p/9,');
    assert.match(lines[1] ?? '', /^ideas,Two,,refused,,,"was not there yet/);
  });
});
