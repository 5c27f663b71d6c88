import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { limitFiles } from '../support/disk-limit.ts';
import { eventually } from '../support/mirror-site.ts';
import { skipUnless } from '../support/programs.ts';
import { startBusy } from './disk-child.ts';

describe('a queue in a folder whose disk is full', skipUnless('prlimit'), () => {
  it('says so and goes on by itself, without a failed job, as soon as there is space again', async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'fm-disk-'));
    t.after(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 }));
    const child = startBusy({ url: null, dataDir, mirrorId: 'm' });
    t.after(() => child.kill());
    const count = (what: RegExp): number => child.said.filter((line) => what.test(line)).length;
    await eventually('it works', () => count(/^done/) > 5);

    await limitFiles(child.pid, 16_384);
    await eventually('it says why it is away', () => count(/cannot be used: (disk|database or disk)/) > 0);
    const before = count(/^done/);
    await limitFiles(child.pid, 'unlimited');
    await eventually('it goes on', () => count(/^done/) > before + 20);
    await eventually('it says that it is over', () => count(/answers again/) === 1);
    assert.equal(count(/^failed/), 0);
    assert.deepEqual(readdirSync(dataDir).sort(), ['queue.db', 'queue.db-shm', 'queue.db-wal']);
  });
});
