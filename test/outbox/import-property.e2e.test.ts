import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { identities } from '../../src/outbox/import/csv/source-key.ts';
import { resultLine } from '../../src/outbox/import/results.ts';
import type { OutboxStore } from '../../src/outbox/store/store.ts';
import { readChunked } from './csv/feed.ts';
import { counts, importBenchFor } from './import-feed.ts';

const HEAD = ['board', 'title', 'content', 'email', 'key'];
const word = fc.constantFrom('a', 'b', 'c', '', 'x"y', 'l\nm', ' ');
const row = fc.tuple(
  fc.constantFrom('bugs', 'ideas', ''),
  word,
  word,
  fc.constantFrom('', '', 'ada@example.com', 'not one'),
  fc.constantFrom('', '', '', 'K1', 'K2'),
);

/** The file as it is, then as it grew; each run dies after so many transactions, or comes to its end. */
const history = fc.record({
  rows: fc.array(row, { maxLength: 30 }),
  added: fc.array(row, { maxLength: 10 }),
  at: fc.nat(30),
  kills: fc.array(fc.nat(6), { maxLength: 3 }),
  rowsAtOnce: fc.integer({ min: 1, max: 8 }),
});

const KILLED = new Error('killed');

/** Dies after so many commits: what was committed stays, nobody learns of the last one. */
function mortal(store: OutboxStore, commits: number): Pick<OutboxStore, 'accept'> {
  let left = commits;
  return {
    accept(rows, now) {
      if (left-- <= 0) throw KILLED;
      const accepted = store.accept(rows, now);
      if (left === 0) throw KILLED;
      return accepted;
    },
  };
}

function csv(rows: readonly (readonly string[])[]): string {
  return [HEAD, ...rows].map((cells) => resultLine(cells, ',')).join('');
}

/** Every key that the rows of the file stand for; a key with several contents stands for its first row. */
async function expectedKeys(text: string): Promise<string[]> {
  const { rows } = await readChunked(Buffer.from(text));
  const identify = identities(false);
  return [...new Set(rows.flatMap((each) => (each.ok ? [identify(each).source_key] : [])))].sort((a, b) =>
    a < b ? -1 : 1,
  );
}

describe('any file, killed at any commit, run again and grown', () => {
  it('has each of its rows in the outbox exactly once', async (t) => {
    await fc.assert(
      fc.asyncProperty(history, async ({ rows, added, at, kills, rowsAtOnce }) => {
        const bench = importBenchFor(t);
        const grown = [...rows.slice(0, at), ...added, ...rows.slice(at)];
        const run = (text: string, store: Pick<OutboxStore, 'accept'> = bench.store) =>
          bench.take(text, { store, rowsAtOnce });
        for (const commits of kills)
          await run(csv(rows), mortal(bench.store, commits)).catch((error) => assert.equal(error, KILLED));
        const tally = await run(csv(rows));
        assert.equal(tally.accepted + tally.already + tally.refused, rows.length);
        await run(csv(grown));
        const [total, accepted] = counts(await run(csv(grown)));
        assert.deepEqual([total, accepted], [grown.length, 0]);
        const [wanted, found] = [new Set(await expectedKeys(csv(grown))), bench.keys()];
        assert.deepEqual(new Set(found), wanted);
        assert.equal(found.length, wanted.size);
      }),
      { numRuns: 12 },
    );
  });
});
