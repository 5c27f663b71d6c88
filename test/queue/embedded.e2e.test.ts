import assert from 'node:assert/strict';
import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { until } from '../support/until.ts';
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

  const runsOneJob = async (backend: QueueBackend): Promise<void> => {
    const job = await backend.queue('work').add('n', {});
    const worker = backend.worker('work', async () => undefined);
    await until('it is done', () => job.isCompleted());
    await worker.close();
  };

  it('takes a new file when the old one is damaged, keeps that aside and says so', async (t) => {
    const target = station.newTarget();
    mkdirSync(target.dataDir);
    writeFileSync(
      join(target.dataDir, 'queue.db'),
      'this is no database, whatever its name says'.repeat(200),
    );
    const lines: string[] = [];
    await runsOneJob(await open(t, target, lines));
    assert.equal(globSync(join(target.dataDir, 'queue.db.broken-*')).length, 1);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /is damaged .* it is now .*queue\.db\.broken-/);
  });
});
