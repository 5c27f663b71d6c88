import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Database from 'better-sqlite3';
import { measured } from '../../bench/frame/child.ts';
import {
  peopleFloor,
  postsFloor,
  pythonFloor,
  pythonPagesFloor,
  shellFloor,
} from '../../bench/frame/floors.ts';
import { closeUpstreams, upstreamOf } from '../../bench/frame/upstream.ts';
import { temporaryFolder } from '../support/folder.ts';

const POSTS = 150;
const folder = temporaryFolder('bench-floors');
const bench = { repeat: 1, scale: (size: number) => size, folder, say: () => undefined };

after(async () => {
  await closeUpstreams(bench);
  rmSync(folder, { recursive: true });
});

/** A script that stopped early would pass for a fast one. */
for (const floor of [postsFloor, peopleFloor, shellFloor, pythonFloor, pythonPagesFloor]) {
  const skip = floor.lacks === '' ? false : `not installed: ${floor.lacks}`;
  test(`${floor.name} brings every post home`, { skip }, async () => {
    const file = join(folder, `${floor.name}.db`);
    await measured(floor.program(await upstreamOf(bench, POSTS), file));
    const every = Array.from({ length: POSTS }, (_, n) => n + 1);
    assert.deepEqual(idsIn(file), every);
  });
}

function idsIn(file: string): unknown[] {
  const db = new Database(file, { readonly: true });
  try {
    return db.prepare('SELECT id FROM posts ORDER BY id').pluck().all();
  } finally {
    db.close();
  }
}
