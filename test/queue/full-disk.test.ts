import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, it } from 'node:test';
import { limitFiles } from '../support/disk-limit.ts';
import { eventually } from '../support/mirror-site.ts';
import { skipUnless } from '../support/programs.ts';
import { startBusy } from './disk-child.ts';
import { copiesOfQueue } from './reviving-site.ts';

describe('a queue in a folder whose disk is full', skipUnless('prlimit'), () => {
  const { newFolder } = copiesOfQueue();

  it('goes on by itself, with all its jobs, as soon as there is space again', async (t) => {
    const folder = newFolder();
    const child = startBusy({ url: null, folder, mirrorId: 'm' });
    t.after(() => child.kill());
    const count = (what: RegExp): number => child.said.filter((line) => what.test(line)).length;
    await eventually('it works', () => count(/^done/) > 5);

    await limitFiles(child.pid, 16_384);
    await eventually('it says that it broke down', () => count(/broken down \(could not write/) > 0);
    await eventually('it says why it stays away', () => count(/nothing can be written beside/) > 0);
    const before = count(/^done/);
    await limitFiles(child.pid, 'unlimited');
    const lifted = performance.now();
    await eventually('it works again', () => count(/^done/) > before);
    t.diagnostic(
      `a job was done ${Math.round(performance.now() - lifted)} ms after the disk had space again`,
    );
    await eventually('it goes on', () => count(/^done/) > before + 20);
    assert.equal(count(/answers again/), 1);
    assert.deepEqual(globSync(`${folder}.{broken-*,probe}`), []);
  });
});
