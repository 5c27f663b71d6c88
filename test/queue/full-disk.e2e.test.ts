import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { limitFiles } from '../support/disk-limit.ts';
import { folderFor } from '../support/folder.ts';
import { skipUnless } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { startBusy } from './disk-child.ts';

describe('a queue in a folder whose disk is full', skipUnless('prlimit'), () => {
  it('says so and goes on by itself, without a failed job, as soon as there is space again', async (t) => {
    const dataDir = folderFor(t, 'disk');
    const child = startBusy({ url: null, dataDir, mirrorId: 'm' });
    t.after(() => child.kill());
    const count = (what: RegExp): number => child.said.filter((line) => what.test(line)).length;
    await until('it works', () => count(/^done/) > 5);

    await limitFiles(child.pid, 16_384);
    await until('it says why it is away', () => count(/cannot be used: (disk|database or disk)/) > 0);
    const before = count(/^done/);
    await limitFiles(child.pid, 'unlimited');
    await until('it goes on', () => count(/^done/) > before + 20);
    await until('it says that it is over', () => count(/answers again/) >= 1);
    assert.equal(count(/^failed/), 0);
    assert.deepEqual(readdirSync(dataDir).sort(), ['queue.db', 'queue.db-shm', 'queue.db-wal']);
  });
});
