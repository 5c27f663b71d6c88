import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { makeFolder, removeLeftovers, replaceFile, temporaryName } from '../../src/base/files.ts';
import { folderFor } from '../support/folder.ts';

describe('a file that is replaced', () => {
  it('is flushed before it gets its name, and the folder after that', async (t) => {
    const path = join(folderFor(t, 'files'), 'kept.txt');
    const flushed: string[] = [];
    await replaceFile(path, async (handle) => {
      const { sync } = handle;
      t.mock.method(Object.getPrototypeOf(handle) as FileHandle, 'sync', function (this: FileHandle) {
        const what = basename(readlinkSync(`/proc/self/fd/${this.fd}`)).replace(
          /^\.kept\.txt\..*\.part$/,
          'file',
        );
        flushed.push(`${what === 'file' ? what : 'folder'}, ${existsSync(path) ? 'named' : 'not named'}`);
        return sync.call(this);
      });
      await handle.writeFile('whole');
    });
    assert.deepEqual(flushed, ['file, not named', 'folder, named']);
    assert.equal(readFileSync(path, 'utf8'), 'whole');
  });

  it('stays as it was, with nothing beside it, where writing fails', async (t) => {
    const folder = folderFor(t, 'files');
    const path = join(folder, 'kept.txt');
    await replaceFile(path, (handle) => handle.writeFile('before'));
    await assert.rejects(
      replaceFile(path, async (handle) => {
        await handle.writeFile('half');
        throw new Error('the disk is full');
      }),
      /the disk is full/,
    );
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    const written = replaceFile(path, () => Promise.reject(full));
    await assert.rejects(written, {
      code: 'storage',
      hint: new RegExp(`^Make room on the disk of ${path}, `),
    });
    assert.equal(readFileSync(path, 'utf8'), 'before');
    assert.deepEqual(readdirSync(folder), ['kept.txt']);
  });
});

describe('what a killed run left', () => {
  it('is removed even if the process id was reused, and files that are being written are kept', async (t) => {
    const folder = folderFor(t, 'leftovers');
    const own = temporaryName(join(folder, 'posts.csv'));
    const names = {
      own: basename(own),
      namesake: `.posts.csv.${process.pid}-deadbeef-1234.part`,
      dead: '.posts.csv.4711-deadbeef-1234.part',
      alive: '.posts.csv.4712-deadbeef-1234.part',
      anothers: '.users.csv.4711-deadbeef-1234.part',
      file: 'posts.csv',
    };
    for (const name of Object.values(names)) writeFileSync(join(folder, name), '');
    t.mock.method(process, 'kill', (pid: number) => {
      throw Object.assign(new Error('no'), { code: pid === 4712 ? 'EPERM' : 'ESRCH' });
    });
    await removeLeftovers(folder, (name) => name === 'posts.csv');
    assert.deepEqual(readdirSync(folder).sort(), [names.own, names.alive, names.anothers, names.file].sort());
  });
});

describe('a folder', () => {
  it('is made with those above it, for its owner alone', (t) => {
    const path = join(folderFor(t, 'made'), 'one', 'two');
    makeFolder(path);
    makeFolder(path);
    assert.deepEqual(
      [path, join(path, '..')].map((each) => statSync(each).mode & 0o777),
      [0o700, 0o700],
    );
    writeFileSync(join(path, 'file'), '');
    assert.throws(() => makeFolder(join(path, 'file', 'below')));
  });
});
