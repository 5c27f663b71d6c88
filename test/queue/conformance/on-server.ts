import { randomUUID } from 'node:crypto';
import { after, before } from 'node:test';
import type { QueueBackend } from '../../../src/queue/backend.ts';
import type { Server } from '../../support/servers.ts';
import { openTarget, type Target } from '../target.ts';
import type { Station } from './station.ts';

/** A station on a server that runs while the tests of the surrounding `describe` do. */
export function onServer(start: () => Promise<Server>, flush: (url: string) => Promise<void>): Station {
  let server: Server;
  let shared: Promise<QueueBackend> | undefined;
  const newTarget = (): Target => ({ url: server.url, dataDir: 'none', mirrorId: randomUUID() });
  before(async () => {
    server = await start();
  });
  after(async () => {
    await (await shared)?.close();
    await server.stop();
  });
  return {
    newTarget,
    shared() {
      shared ??= openTarget(newTarget());
      return shared;
    },
    server: { kill: () => server.kill(), restart: () => server.restart() },
    flush: () => flush(server.url),
  };
}
