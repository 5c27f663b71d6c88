import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { replaceFile } from '../../src/base/files.ts';
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
