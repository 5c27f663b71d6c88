import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { eventually } from '../support/mirror-site.ts';
import { startChild } from './child.ts';
import { onFolder } from './conformance/on-folder.ts';
import { queueConformance } from './conformance.ts';
import { openTarget, type Target } from './target.ts';

describe('a queue in the data folder', () => {
  const station = onFolder();
  queueConformance(station);

  const open = async (t: TestContext, target: Target, lines?: string[]): Promise<QueueBackend> => {
    const backend = await openTarget(target, lines);
    t.after(() => backend.close());
    return backend;
  };

  it('belongs to one process: another is told who has it', async (t) => {
    const target = station.newTarget();
    const first = await open(t, target);
    await assert.rejects(openTarget(target), {
      code: 'busy',
      message: new RegExp(`in use by process ${process.pid} \\(a test\\)`),
    });
    await first.close();
    await (await open(t, target)).ping(5000);
  });

  it('is free the moment its process was killed, with everything that was added', async (t) => {
    const target = station.newTarget();
    const before = await open(t, target);
    await before.queue('work').addBulk(Array.from({ length: 20 }, (_, n) => ({ name: 'n', data: n })));
    await before.close();
    const child = startChild(target);
    try {
      await child.busy;
      await assert.rejects(openTarget(target), { code: 'busy' });
    } finally {
      await child.kill();
    }
    const queue = (await open(t, target)).queue('work');
    assert.deepEqual(await queue.getJobCounts('waiting', 'active'), { waiting: 19, active: 1 });
  });

  it('is for its owner alone', async (t) => {
    const target = station.newTarget();
    const backend = await open(t, target);
    await backend.queue('work').add('n', {});
    await backend.close();
    assert.equal(statSync(target.folder).mode & 0o777, 0o700);
    const files = readdirSync(target.folder, { recursive: true, withFileTypes: true });
    const seenByOthers = files.filter(
      ({ parentPath, name }) => statSync(join(parentPath, name)).mode & 0o077,
    );
    assert.ok(files.length > 500);
    assert.deepEqual(seenByOthers, []);
  });

  it('goes on after upkeep', async (t) => {
    const backend = await open(t, station.newTarget());
    const job = await backend.queue('work').add('n', {});
    await backend.upkeep();
    backend.worker('work', async () => undefined);
    await eventually('it is done', () => job.isCompleted());
  });

  it('takes a new place when the old one is damaged, keeps that aside and says so', async (t) => {
    const target = station.newTarget();
    for (const file of globSync(join(target.folder, 'base/5/*'))) rmSync(file);
    const lines: string[] = [];
    const backend = await open(t, target, lines);
    const job = await backend.queue('work').add('n', {});
    backend.worker('work', async () => undefined);
    await eventually('it works', () => job.isCompleted());
    const [aside = '', ...more] = globSync(`${target.folder}.broken-*`);
    assert.ok(existsSync(join(aside, 'PG_VERSION')) && more.length === 0);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /could not be opened .* it is now .*queue\.broken-/);
  });
});
