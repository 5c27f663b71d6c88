import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { eventually } from '../support/mirror-site.ts';
import { startChild } from './child.ts';
import { onFolder } from './conformance/on-folder.ts';
import { queueConformance } from './conformance.ts';
import { openTarget, type Target } from './target.ts';

describe('a queue in the data folder', () => {
  const station = onFolder();
  queueConformance(station);

  const opened: QueueBackend[] = [];
  const open = async (target: Target, lines?: string[]): Promise<QueueBackend> => {
    const backend = await openTarget(target, lines);
    opened.push(backend);
    return backend;
  };
  after(() => Promise.all(opened.map((backend) => backend.close())));

  it('belongs to one process: another is told who has it', async () => {
    const target = station.newTarget();
    const first = await open(target);
    await assert.rejects(openTarget(target), {
      code: 'busy',
      message: new RegExp(`in use by process ${process.pid} \\(a test\\)`),
    });
    await first.close();
    await (await open(target)).ping(5000);
  });

  it('is free the moment its process was killed, with everything that was added', async () => {
    const target = station.newTarget();
    const before = await open(target);
    await before.queue('work').addBulk(Array.from({ length: 20 }, (_, n) => ({ name: 'n', data: n })));
    await before.close();
    const child = startChild(target);
    try {
      await child.busy;
      await assert.rejects(openTarget(target), { code: 'busy' });
    } finally {
      await child.kill();
    }
    const queue = (await open(target)).queue('work');
    assert.deepEqual(await queue.getJobCounts('waiting', 'active'), { waiting: 19, active: 1 });
  });

  it('is for its owner alone', async () => {
    const target = station.newTarget();
    const backend = await open(target);
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

  it('goes on after upkeep', async () => {
    const backend = await open(station.newTarget());
    const job = await backend.queue('work').add('n', {});
    await backend.upkeep();
    backend.worker('work', async () => undefined);
    await eventually('it is done', () => job.isCompleted());
  });

  it('takes a new place when the old one is damaged, keeps that aside and says so', async () => {
    const target = station.newTarget();
    for (const file of globSync(join(target.folder, 'base/5/*'))) rmSync(file);
    const lines: string[] = [];
    const backend = await open(target, lines);
    const job = await backend.queue('work').add('n', {});
    backend.worker('work', async () => undefined);
    await eventually('it works', () => job.isCompleted());
    const [aside = '', ...more] = globSync(`${target.folder}.broken-*`);
    assert.ok(existsSync(join(aside, 'PG_VERSION')) && more.length === 0);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /could not be opened .* it is now .*queue\.broken-/);
  });

  it('gets over a kill in the middle of its first start', async () => {
    const target = station.emptyTarget();
    const child = startChild(target);
    const half = join(target.folder, 'base/1');
    await eventually('half of it is made', () => existsSync(half) && readdirSync(half).length > 20);
    await child.kill();
    const backend = await open(target);
    await backend.ping(5000);
    const job = await backend.queue('work').add('n', {});
    assert.equal(await job.getState(), 'waiting');
  });
});
