import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '../../src/api/client.ts';
import { boundaryHolds } from '../../src/sync/boundary.ts';
import { post, reject } from './rows.ts';

type Answer = { ids: number[]; unreadable?: { at: number; id: number | null } };

const QUIET: Record<string, Answer> = { '': { ids: [9, 8] }, p2: { ids: [7, 6] }, p3: { ids: [3, 2] } };
const BOUNDARY = {
  resource: 'posts',
  before: { cursor: 'p2', lastId: 6 },
  after: { cursor: 'p3', firstId: 3 },
} as const;

/** A list of three pages that may look different from some reading on. */
function listOf(change: (reading: number, cursor: string) => Answer | undefined = () => undefined) {
  const read: string[] = [];
  const page = (async (_: string, cursor: string) => {
    read.push(cursor);
    const { ids, unreadable } = change(read.length, cursor) ?? QUIET[cursor] ?? { ids: [] };
    const rejects = unreadable ? [reject(unreadable.at, unreadable.id)] : [];
    return { rows: ids.map((id) => post(id)), rejects };
  }) as unknown as Client['page'];
  return { client: { page }, read };
}

describe('the check of a boundary between two pages', () => {
  it('holds when both sides and the start of the list stand still in two looks', async () => {
    const { client, read } = listOf();
    assert.equal(await boundaryHolds(client, BOUNDARY), true);
    assert.deepEqual(read, ['', 'p2', 'p3', 'p2', '', 'p2', 'p3', 'p2', '']);
  });

  it('fails when anything moved at any of its nine readings', async () => {
    for (let moved = 2; moved <= 9; moved++) {
      const { client } = listOf((reading) => (reading === moved ? { ids: [99, 98] } : undefined));
      assert.equal(await boundaryHolds(client, BOUNDARY), false, `reading ${moved}`);
    }
  });

  it('stops asking at the first sign that something moved', async () => {
    const { client, read } = listOf((reading) => (reading === 2 ? { ids: [8, 7] } : undefined));
    await boundaryHolds(client, BOUNDARY);
    assert.equal(read.length, 2);
  });

  it('is not fooled by a row that cannot be read and has moved to the end of the first page', async () => {
    const shifted = (_: number, cursor: string): Answer | undefined =>
      cursor === 'p2' ? { ids: [7, 6], unreadable: { at: 2, id: 5 } } : undefined;
    assert.equal(await boundaryHolds(listOf(shifted).client, BOUNDARY), false);
    const nameless = (_: number, cursor: string): Answer | undefined =>
      cursor === 'p3' ? { ids: [3, 2], unreadable: { at: 0, id: null } } : undefined;
    assert.equal(await boundaryHolds(listOf(nameless).client, BOUNDARY), false);
  });

  it('holds at the end of a list whose last page stays empty, and not when a row shows there', async () => {
    const end = { ...BOUNDARY, after: { cursor: 'p4', firstId: undefined } };
    assert.equal(await boundaryHolds(listOf().client, end), true);
    const readable = (_: number, cursor: string) => (cursor === 'p4' ? { ids: [1] } : undefined);
    assert.equal(await boundaryHolds(listOf(readable).client, end), false);
    const nameless = (_: number, cursor: string) =>
      cursor === 'p4' ? { ids: [], unreadable: { at: 0, id: null } } : undefined;
    assert.equal(await boundaryHolds(listOf(nameless).client, end), false);
  });

  it('fails on a list that has become empty', async () => {
    const { client } = listOf((_, cursor) => (cursor === '' ? { ids: [] } : undefined));
    assert.equal(await boundaryHolds(client, BOUNDARY), false);
  });
});
