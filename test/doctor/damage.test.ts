import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import Database from 'better-sqlite3';
import { type Mirror, story } from '../support/mirror.ts';
import { posts } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { aboutMirror } from './examined.ts';

const RESTORE =
  'Stop the service, move the file away and restore a backup. Or sync again, which loses the history and the outbox.';

/** What is advised for a copy of the mirror that came to harm. */
async function adviceFor(
  { path, upstream, store }: Mirror,
  harm: (copy: string) => void,
): Promise<unknown[]> {
  sweep(store, 'posts', posts(1, 2, 3), 1);
  const copy = `${path}.copy`;
  const db = new Database(path);
  db.prepare('VACUUM INTO ?').run(copy);
  db.close();
  harm(copy);
  const found = (await aboutMirror({ path: copy, upstream })).find(({ name }) => name === 'mirror');
  return [/is damaged/.test(found?.detail ?? ''), found?.advice];
}

describe('the doctor about the file of the mirror', () => {
  story('says what to do where it is cut short', async (mirror) => {
    assert.deepEqual(await adviceFor(mirror, (copy) => truncateSync(copy, 40_000)), [true, RESTORE]);
  });

  story('says what to do where its pages are lost', async (mirror) => {
    const harm = (copy: string): void => writeFileSync(copy, readFileSync(copy).fill(0, 4096, 81_920));
    assert.deepEqual(await adviceFor(mirror, harm), [true, RESTORE]);
  });

  story('does not call it damaged where it cannot be opened', async (mirror) => {
    const [isDamaged, advice] = await adviceFor(mirror, (copy) => mkdirSync(`${copy}-wal`));
    assert.equal(isDamaged, false);
    assert.notEqual(advice, RESTORE);
  });
});
