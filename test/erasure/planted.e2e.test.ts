import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { readCustomers } from '../../src/segments/file.ts';
import { openSegmentStore } from '../../src/segments/store.ts';
import { assertWhole, UPSTREAM } from '../support/mirror.ts';
import { allRows, type ErasureBench, openBench } from './bench.ts';
import { EMAIL, fillOutbox, PLANTED, sweepUpstream } from './planted.ts';

/** Everything is seen to stand in the file at some time; what was overwritten since may be gone or not. */
async function plant(bench: ErasureBench): Promise<Record<string, number>> {
  const seen = new Set<string>();
  const look = (): void => {
    for (const hit of bench.found(PLANTED)) seen.add(hit.slice(hit.indexOf(': ') + 2));
  };
  await sweepUpstream(bench, 1, 1);
  look();
  for (const version of [2, 3]) await sweepUpstream(bench, version, version);
  const outbox = await fillOutbox(bench);
  importCustomers(bench);
  look();
  assert.deepEqual(
    PLANTED.filter((text) => !seen.has(text)),
    [],
  );
  return outbox;
}

/** Their own row, and a company's whose contact they are. */
function importCustomers({ path }: ErasureBench): void {
  const store = openSegmentStore({ path, upstream: UPSTREAM, holder: 'an import' });
  const text = `email,domain,company,contact\n${EMAIL},,Quandt,me\n,quandt.example,Quandt,${EMAIL}\n`;
  store.import(readCustomers(text), 'the test', 0);
  store.close();
}

/** Words of the full-text index, whatever row they stand for. */
function indexedWords(path: string): string[] {
  const db = new Database(path);
  try {
    db.exec("CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'posts_text', 'row')");
    return db.prepare<[], string>('SELECT term FROM temp.words').pluck().all();
  } finally {
    db.close();
  }
}

function assertNothingLeft(bench: ErasureBench): void {
  assert.deepEqual(bench.found(PLANTED), []);
  assert.deepEqual(
    indexedWords(bench.path).filter((word) => /zq|quandt/.test(word)),
    [],
  );
  assertWhole(bench.path);
}

describe('erasing a person', () => {
  it('leaves nothing of them in any file, although others have the mirror open; and no sweep brings it back', async (t) => {
    const bench = await openBench(t);
    const outbox = await plant(bench);

    const { counts, isClean, underWay, unsettled, isNew } = await bench.erase(EMAIL.toUpperCase());
    assert.deepEqual(
      { isClean, isNew, underWay, unsettled },
      { isClean: true, isNew: true, underWay: [], unsettled: [] },
    );
    assert.deepEqual(counts, {
      users: 1,
      posts: 85,
      comments: 44,
      quarantine: 2,
      outbox: 4,
      cancelled: 1,
      unclear: 1,
      segments: 1,
      mentions: 3,
    });
    assertNothingLeft(bench);
    const states = bench.query<{ id: number; state: string }>('SELECT id, state FROM outbox ORDER BY id');
    assert.deepEqual(
      states.map(({ state }) => state),
      ['confirmed', 'cancelled', 'rejected', 'cancelled', 'rejected', 'ready'],
    );
    assert.equal((await bench.outbox.find(outbox.confirmed ?? 0))?.post_id, 7);

    await sweepUpstream(bench, 3, 4);
    assertNothingLeft(bench);
    const before = allRows(bench.path);
    await sweepUpstream(bench, 3, 5);
    assert.deepEqual(withoutSeen(allRows(bench.path)), withoutSeen(before));
    await sweepUpstream(bench, 4, 6);
    assertNothingLeft(bench);
    const { counts: again } = await bench.erase(EMAIL);
    assert.equal(
      Object.values(again).reduce((a, b) => a + b),
      0,
    );
  });

  it('leaves every row of others as it was, but for the address in it', async (t) => {
    const bench = await openBench(t);
    await plant(bench);
    const before = allRows(bench.path);
    await bench.erase(EMAIL);
    const after = allRows(bench.path);
    const own = (row: Record<string, unknown>): boolean => row.creator_id === 500 || row.id === 500;
    for (const table of ['users', 'posts', 'comments'])
      assert.deepEqual(
        withoutMention(after[table]?.filter((row) => !own(row))),
        withoutMention(before[table]?.filter((row) => !own(row))),
        table,
      );
    const numbers = (row: Record<string, unknown>) => [
      row.id,
      row.creator_id,
      row.board_id,
      row.votes_count,
      row.created,
      row.deleted_at,
      row.version_at,
    ];
    for (const table of ['posts', 'comments'])
      assert.deepEqual(after[table]?.map(numbers), before[table]?.map(numbers));
    assert.deepEqual(bench.query('SELECT content FROM comments WHERE id = 5'), [
      { content: 'Ask [erased], or mail joe@x.org' },
    ]);
    for (const table of ['boards', 'statuses']) assert.deepEqual(after[table], before[table]);
  });
});

/** Rows that could not be read are noted with each sweep that meets them. */
function withoutSeen({ quarantine, ...tables }: ReturnType<typeof allRows>) {
  return { ...tables, quarantine: quarantine?.map(({ seen_at, run_id, ...row }) => row) };
}

function withoutMention(rows: Record<string, unknown>[] | undefined) {
  return rows?.filter((row) => row.id !== 5 || !('likes_count' in row));
}
