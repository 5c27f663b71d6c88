import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { create, open } from '../laboratory/client.ts';
import { folderFor } from '../support/folder.ts';
import { changeBehaviour } from './faults/behaviour.ts';
import { checkLedger } from './invariants/ledger.ts';
import { openDrafts } from './load/drafts.ts';
import { createTally } from './tally.ts';

const SILENT = 'creates doubled in silence: none';
const LOST = 'accepted creates lost: none';

/** One create that was sent `times` times to an upstream that rewrites it, and the row that the program keeps of it. */
async function judged(t: TestContext, times: number, row: Record<string, unknown>): Promise<string[]> {
  const sandbox = await open(t, { posts: 0, rewrite: ['all'] });
  const drafts = openDrafts(1);
  const wanted = { ...drafts.draft(), board: 'bugs' };
  for (let n = 0; n < times; n++) await create(sandbox, { title: wanted.title, content: wanted.content });
  drafts.accepted([wanted], 'test');
  const tally = createTally({ path: '', note: () => undefined });
  const mirror = mirrorWith(t, { title: wanted.title, board: 'bugs', ...row });
  checkLedger({ sandbox, drafts, tally, mirror, journal: { path: '', note: () => undefined } });
  return [...tally.invariants.values()].filter(({ breaks }) => breaks > 0).map(({ name }) => name);
}

function mirrorWith(t: TestContext, row: Record<string, unknown>): string {
  const folder = folderFor(t, 'invariants');
  const path = join(folder, 'mirror.db');
  const db = new Database(path);
  const values = { id: 1, state: 'confirmed', post_id: 1, attempts: 1, last_error: null, duplicate_of: null };
  const columns = { ...values, was_ambiguous: 1, ...row };
  db.exec(`CREATE TABLE outbox (${Object.keys(columns).join(', ')})`);
  db.prepare(`INSERT INTO outbox VALUES (${Object.keys(columns).map((name) => `@${name}`)})`).run(columns);
  db.close();
  return path;
}

test('a create that was sent once and found under other words breaks nothing', async (t) => {
  assert.deepEqual(await judged(t, 1, {}), []);
});

test('a second post is a broken promise unless the row shows it', async (t) => {
  assert.deepEqual(await judged(t, 2, {}), [SILENT]);
  assert.deepEqual(await judged(t, 2, { duplicate_of: 2 }), []);
  assert.deepEqual(await judged(t, 2, { state: 'uncertain', post_id: null, last_error: 'two posts' }), []);
});

test('a create that never arrived, or that a row mistakes for another post, is lost', async (t) => {
  assert.ok((await judged(t, 0, {})).includes(LOST));
  assert.ok((await judged(t, 1, { post_id: 99 })).includes(LOST));
  assert.ok((await judged(t, 1, { state: 'rejected', post_id: null })).includes(LOST));
});

test('the upstream is as it was once its ways are over', async (t) => {
  const sandbox = await open(t, { boardIds: true });
  const usual = { ...sandbox.world.behaviour };
  const tally = createTally({ path: '', note: () => undefined });
  const over = new AbortController();
  const journal = { path: '', note: () => over.abort() };
  const options = { minutes: 1, seed: 1, queue: 'embedded', readyWithinMs: null } as const;
  const changing = changeBehaviour({ sandbox, tally, journal, options }, over.signal);
  const changed = { ...sandbox.world.behaviour };
  await changing;
  assert.notDeepEqual(changed, usual);
  assert.deepEqual(sandbox.world.behaviour, usual);
  assert.equal(tally.faults.size, 11);
});
