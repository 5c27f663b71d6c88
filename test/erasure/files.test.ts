import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { it } from 'node:test';
import { untouchedFiles } from '../../src/erasure/files.ts';
import { folderFor } from '../support/folder.ts';

const EMAIL = 'ada@example.com';
/** What a stream of a file yields at once. */
const PIECE = 65_536;

function write(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `\0${EMAIL}\0`);
  }
}

it('copies that a restore, an upgrade or a crash left in the data folder are named, and what erase reaches is not', async (t) => {
  const dataDir = folderFor(t, 'left');
  const at = (name: string): string => join(dataDir, name);
  const left = [
    'backup/.mirror.db.1-a.part',
    'mirror-schema-3.db',
    'mirror.db.before-restore-2026',
    'mirror.db.before-restore-2026-wal',
  ];
  write(...left.map(at), at('mirror.db'), at('mirror.db-wal'), at('backup/mirror.db'), at('queue.db'));
  const request = {
    dataDir,
    exportDir: at('exports'),
    mirror: at('mirror.db'),
    needles: [EMAIL],
    hasTexts: false,
  };
  const { naming } = await untouchedFiles(request);
  assert.deepEqual(
    naming,
    left.map((name) => relative('', at(name))),
  );
});

it('copies beside a mirror outside of the data folder are named, and other files there are not', async (t) => {
  const [dataDir, elsewhere] = [folderFor(t, 'data'), folderFor(t, 'elsewhere')];
  const mirror = join(elsewhere, 'feedback.db');
  write(mirror, `${mirror}.before-restore-2026`, join(elsewhere, 'letter.txt'));
  const request = { dataDir, exportDir: join(dataDir, 'exports'), mirror, needles: [EMAIL], hasTexts: false };
  const { naming } = await untouchedFiles(request);
  assert.deepEqual(naming, [relative('', `${mirror}.before-restore-2026`)]);
});

it('an exported history, which has texts without names, is named where texts were erased', async (t) => {
  const dataDir = folderFor(t, 'history');
  const files = ['comment_history.ndjson', 'post_history.csv'].map((name) => join(dataDir, 'exports', name));
  mkdirSync(join(dataDir, 'exports'));
  for (const path of [...files, join(dataDir, 'exports/posts.csv')])
    writeFileSync(path, 'id,title\n7,A wish\n');
  const search = { dataDir, exportDir: join(dataDir, 'exports'), mirror: join(dataDir, 'mirror.db') };
  for (const hasTexts of [true, false]) {
    const { exports } = await untouchedFiles({ ...search, needles: [EMAIL], hasTexts });
    assert.deepEqual(
      exports,
      files.filter(() => hasTexts).map((path) => relative('', path)),
    );
  }
});

it('finds files that contain the address, also where it spans two chunks', async (t) => {
  const folder = folderFor(t, 'files');
  const places = [0, 1000, PIECE - EMAIL.length, PIECE - 5, PIECE, 2 * PIECE - 1];
  for (const place of places)
    writeFileSync(join(folder, `at-${place}.txt`), `${'x'.repeat(place)}${EMAIL}${'.'.repeat(PIECE)}`);
  writeFileSync(join(folder, 'nobody.txt'), 'x'.repeat(3 * PIECE));
  const looked = { dataDir: folder, exportDir: join(folder, 'exports'), mirror: join(folder, 'mirror.db') };
  const { naming, exports } = await untouchedFiles({ ...looked, needles: [EMAIL], hasTexts: false });
  assert.deepEqual(new Set(naming.map((path) => basename(path))), new Set(places.map((n) => `at-${n}.txt`)));
  assert.deepEqual(exports, []);
});

it('a file that cannot be read is named: it may show them', async (t) => {
  const folder = folderFor(t, 'broken');
  const exportDir = join(folder, 'exports');
  mkdirSync(exportDir);
  writeFileSync(join(exportDir, 'posts.parquet'), 'no such file');
  const request = { dataDir: folder, exportDir, mirror: join(folder, 'mirror.db'), hasTexts: false };
  const { exports } = await untouchedFiles({ ...request, needles: [EMAIL] });
  assert.deepEqual(exports, [relative('', join(exportDir, 'posts.parquet'))]);
});
