import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { aComment, aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';
import { type ErasureBench, openBench } from './bench.ts';

const KIM = { ...wire.user, id: 50, email: 'kim@planted.example', name: 'Kim', alias: 'kim' };
const NOBODY = { ...wire.user, id: 60, email: '', name: 'Deleted user', alias: '' };
const ANN = { ...wire.user, id: 70, email: 'ann@other.example', name: 'Ann', alias: 'ann' };

type Row = Record<string, unknown>;
const hers = (words: string): Row => ({ title: words, content: words, creator: KIM });

/** Reads a post and a comment at their steps, a minute each. */
async function read(bench: ErasureBench, ...steps: Row[]): Promise<void> {
  for (const { title, ...step } of steps) {
    const at = clock++;
    await sweep(bench.store, 'posts', [aPost(1, { ...step, ...(title !== undefined && { title }) })], at);
    const post = { id: 1, title: title ?? 'Dark mode', url: `/b/${title}` };
    await sweep(bench.store, 'comments', [aComment(2, { ...step, post })], at);
  }
}
let clock = 0;

async function open(t: TestContext): Promise<ErasureBench> {
  clock = 0;
  return await openBench(t);
}

const past = ({ query }: ErasureBench, table: 'post' | 'comment'): string[] =>
  query<{ content: string }>(`SELECT content FROM ${table}_history ORDER BY observed_at`).map(
    ({ content }) => content,
  );

describe('a row of a person that the service gave to somebody else', () => {
  it('loses the words that it had under their name, and keeps those it got since', async (t) => {
    const bench = await open(t);
    await read(bench, hers('Kims first'), hers('Kims second'));
    await read(bench, { title: '[removed]', content: '[removed]', creator: NOBODY });
    const { counts, unknownAuthors } = await bench.erase(KIM.email);
    assert.deepEqual([counts.posts, counts.comments, unknownAuthors], [1, 1, 0]);
    for (const table of ['post', 'comment'] as const)
      assert.deepEqual(past(bench, table), ['[erased]', '[erased]', '[removed]']);
    assert.deepEqual(bench.found(['Kims']), []);
    assert.deepEqual((await bench.erase(KIM.email)).counts.posts, 0);
  });

  it('loses the words that it kept, and does not get them back', async (t) => {
    const bench = await open(t);
    await read(bench, hers('Kims words'), { ...hers('Kims words'), creator: NOBODY });
    await bench.erase(KIM.email);
    for (let n = 0; n < 3; n++) {
      assert.deepEqual(bench.found(['Kims']), []);
      await read(bench, { ...hers('Kims words'), creator: NOBODY });
    }
  });

  it('keeps what others wrote before and after, also where a version shows the words of the next', async (t) => {
    const bench = await open(t);
    const anns = { ...hers('Anns words'), creator: ANN };
    await read(bench, anns, { ...anns, votes_count: 1, likes_count: 5 });
    await read(bench, { ...anns, creator: KIM }, hers('Kims words'), { ...hers('Others'), creator: NOBODY });
    await bench.erase(KIM.email);
    for (const table of ['post', 'comment'] as const)
      assert.deepEqual(past(bench, table), ['Anns words', 'Anns words', '[erased]', '[erased]', 'Others']);
  });

  it('is treated as its next known author has it where an old version does not say whose it was', async (t) => {
    const bench = await open(t);
    await read(bench, hers('Kims old'), hers('Kims'), { ...hers('Others'), creator: NOBODY });
    const db = new Database(bench.path);
    db.exec('UPDATE post_versions SET creator_id = NULL WHERE n = 1');
    await bench.erase(KIM.email);
    assert.deepEqual(past(bench, 'post'), ['[erased]', '[erased]', 'Others']);
    db.close();
  });

  it('is named in the receipt where it may have old words of theirs that do not say whose they were', async (t) => {
    const bench = await open(t);
    await read(bench, hers('Words'), { ...hers('Others'), creator: NOBODY });
    const db = new Database(bench.path);
    db.exec('UPDATE post_versions SET creator_id = NULL');
    db.close();
    assert.equal((await bench.erase(KIM.email)).unknownAuthors, 1);
  });
});

describe('an erased row that the service gives to somebody else', () => {
  it('stays without words, link and title beside comments, until the person is taken off the list', async (t) => {
    const bench = await open(t);
    await read(bench, hers('Kims words'));
    await bench.erase(KIM.email);
    const moved = { ...hers('Kims words'), creator: NOBODY, url: '/b/Kims-words', tags: 'Kims' };
    await read(bench, moved, moved, { ...moved, votes_count: 3 });
    assert.deepEqual(bench.found(['Kims']), []);
    assert.deepEqual(bench.query('SELECT creator_id FROM posts'), [{ creator_id: NOBODY.id }]);
    assert.ok(bench.erasure.lift(KIM.email));
    await read(bench, moved);
    assert.partialDeepStrictEqual(bench.query('SELECT title, content FROM posts'), [
      { title: 'Kims words', content: 'Kims words' },
    ]);
    assert.equal(past(bench, 'comment').at(-1), 'Kims words');
  });

  it('is another one where its number was given to a new row', async (t) => {
    const bench = await open(t);
    await read(bench, hers('Kims words'));
    await bench.erase(KIM.email);
    await read(bench, { ...hers('Anns words'), creator: ANN, created: '2026-02-01T00:00:00Z' });
    assert.equal(past(bench, 'post').at(-1), 'Anns words');
    assert.equal(past(bench, 'comment').at(-1), 'Anns words');
  });
});
