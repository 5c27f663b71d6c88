import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '../../src/api/client.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { Secret } from '../../src/base/secret.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import type { MirrorStore, PassSummary } from '../../src/store/seam.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { type SyncRequest, syncOnce } from '../../src/sync/engine.ts';

export const UPSTREAM = 'http://upstream.test';

/** A sandbox, a client on it and a mirror file: what every sync test needs. */
export interface Workbench {
  sandbox: Sandbox;
  client: Client;
  path: string;
  /** The store in use; `restart` puts another one in its place, as a new process would. */
  store: MirrorStore;
  restart(): Promise<void>;
  sync(request: SyncRequest, extra?: SyncExtras): Promise<PassSummary>;
  close(): Promise<void>;
}

export interface SyncExtras {
  store?: MirrorStore;
  signal?: AbortSignal;
}

export async function openWorkbench(
  options: SandboxOptions = {},
  clock: Clock = systemClock,
): Promise<Workbench> {
  const folder = mkdtempSync(join(tmpdir(), 'feedback-mirror-sync-'));
  const path = join(folder, 'mirror.db');
  const sandbox = await startSandbox({ posts: 30, pageSize: 5, ...options });
  const token = new Secret('sandbox');
  const client = createClient({
    baseUrl: sandbox.url,
    auth: { kind: 'header' },
    token: () => token,
    clock,
    retry: { attempts: 3, firstDelayMs: 1, maxDelayMs: 2 },
    limits: { pageMs: 2000, idleMs: 500 },
  });
  const open = (): MirrorStore => openSqliteStore({ path, upstream: UPSTREAM, holder: 'test' });
  const bench: Workbench = {
    sandbox,
    client,
    path,
    store: open(),
    async restart() {
      await bench.store.close();
      bench.store = open();
    },
    async sync(request, { store = bench.store, signal = new AbortController().signal } = {}) {
      const outcome = await syncOnce({ client, store, clock, signal, ahead: 1, onPage: () => {} }, request);
      if (!outcome.done) throw new Error(outcome.reason);
      return outcome.summary;
    },
    async close() {
      await bench.store.close();
      await client.close();
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return bench;
}
