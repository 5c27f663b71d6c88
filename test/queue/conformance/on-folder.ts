import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import type { QueueBackend } from '../../../src/queue/backend.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { openTarget, type Target } from '../target.ts';
import type { Station } from './station.ts';

/** A station in folders that are gone after the tests. */
export function onFolder(): Station {
  const root = temporaryFolder('queue');
  const newTarget = (): Target => ({ url: null, dataDir: join(root, randomUUID()), mirrorId: 'm' });
  let shared: Promise<QueueBackend> | undefined;
  after(async () => {
    await (await shared)?.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 10 });
  });
  return {
    newTarget,
    shared() {
      shared ??= openTarget(newTarget());
      return shared;
    },
    server: null,
    async flush({ dataDir }) {
      for (const file of ['queue.db', 'queue.db-wal', 'queue.db-shm'])
        rmSync(join(dataDir, file), { force: true });
    },
  };
}
