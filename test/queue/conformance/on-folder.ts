import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { QueueBackend } from '../../../src/queue/backend.ts';
import { eventually } from '../../support/mirror-site.ts';
import { startChild } from '../child.ts';
import { openTarget, type Target } from '../target.ts';
import type { Station } from './station.ts';

/** A station in folders that are gone after the tests. Copying a prepared one takes a tenth of the time of making it. */
export function onFolder(): Station {
  const root = mkdtempSync(join(tmpdir(), 'fm-queue-'));
  const emptyTarget = (): Target => ({ url: null, folder: join(root, randomUUID(), 'queue'), mirrorId: 'm' });
  const { shared, copy } = prepared(emptyTarget());
  after(async () => {
    await (await shared()).close();
    rmSync(root, { recursive: true, force: true, maxRetries: 10 });
  });
  return {
    newTarget() {
      const target = emptyTarget();
      copy(target.folder);
      return target;
    },
    shared,
    server: null,
    // As a first start would leave it: to make it from nothing each time would take most of the time of the suite.
    async flush({ folder }) {
      rmSync(folder, { recursive: true });
      copy(folder);
    },
  };
}

function prepared(target: Target): { shared(): Promise<QueueBackend>; copy(folder: string): void } {
  const asMade = `${target.folder}-as-made`;
  let shared: Promise<QueueBackend> | undefined;
  const prepare = async (): Promise<QueueBackend> => {
    await killFirstStart(target);
    await (await openTarget(target)).close();
    cpSync(target.folder, asMade, { recursive: true });
    return openTarget(target);
  };
  return {
    shared() {
      shared ??= prepare();
      return shared;
    },
    copy: (folder) => cpSync(asMade, folder, { recursive: true }),
  };
}

/** Every test on a folder that was once left half-made also shows that a queue gets over that. */
async function killFirstStart(target: Target): Promise<void> {
  const half = join(target.folder, 'base/1');
  const child = startChild(target);
  try {
    await eventually('half of it is made', () => existsSync(half) && readdirSync(half).length > 20);
  } finally {
    await child.kill();
  }
}
