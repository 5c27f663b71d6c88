import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/log.ts';
import { addOverview } from '../../src/http/dashboard/overview.ts';
import { addPosts } from '../../src/http/dashboard/posts.ts';
import { openReads } from '../../src/http/dashboard/reads.ts';
import type { MirrorStore } from '../../src/store/mirror/store.ts';
import { openMirrorStore } from '../../src/store/mirror/store.ts';
import { openPulse } from '../../src/store/pulse.ts';
import { ask, type Reply } from '../http/client.ts';
import { open } from '../http/service.ts';

export const UPSTREAM = 'https://upstream.test/api';

/** A mirror written by the test, and the routes of overview and posts over it, with their threads. */
export interface InsightSite {
  /** To go on writing while the pages are open. */
  store: MirrorStore;
  get<T>(path: string): Promise<T>;
  /** Whatever the answer is. */
  ask(path: string): Promise<Reply>;
}

export interface InsightOptions {
  path?: string;
  clock?: Clock;
  upstream?: string | null;
  warmEveryMs?: number;
}

export async function openInsight(
  t: TestContext,
  write: (store: MirrorStore) => Promise<void>,
  options: InsightOptions = {},
): Promise<InsightSite> {
  const folder = mkdtempSync(join(tmpdir(), 'feedback-mirror-insight-'));
  const file = { path: options.path ?? join(folder, 'mirror.db'), upstream: UPSTREAM };
  const store = openMirrorStore({ ...file, holder: 'the test' });
  await write(store);
  while (await store.index());
  const [reads, pulse] = [openReads(file), openPulse(file)];
  const { clock = systemClock, upstream = `${UPSTREAM}/`, warmEveryMs = 0 } = options;
  const log = createLogger({ level: 'silent', format: 'json', secrets: () => [] });
  const http = await open(t, {
    parts: [
      (app) => {
        const shared = { reads, clock, timeZone: 'UTC' };
        addOverview(app, { ...shared, usualDelivered: null, version: pulse.version, log, warmEveryMs });
        addPosts(app, { ...shared, upstream });
      },
    ],
  });
  t.after(async () => {
    await reads.close();
    pulse.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    store,
    ask: (path) => ask(http, path),
    async get<T>(path: string) {
      const { status, body } = await ask(http, path);
      assert.equal(status, 200, body);
      return JSON.parse(body) as T;
    },
  };
}
