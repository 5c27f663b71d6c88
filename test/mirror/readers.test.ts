import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { loadSettings, type Settings } from '../../config/load.ts';
import { mirrorOf } from '../../src/app/place.ts';
import { openQueries } from '../../src/app/queries.ts';
import { rebuildSums } from '../../src/app/upkeep.ts';
import { openChangeFeed } from '../../src/changes/feed.ts';
import { openForWriting } from '../../src/db/open.ts';
import { closeAfter } from '../../src/db/sql.ts';
import { openExportSource } from '../../src/export/store/export.ts';
import { openSyncView } from '../../src/mirror/store/status.ts';
import { readMirrorStatus } from '../../src/mirror/store/store.ts';
import { openImportReads } from '../../src/outbox/store/imports.ts';
import { openOutboxView } from '../../src/outbox/store/view.ts';
import { openSaved } from '../../src/query/saved.ts';
import { openReplicaReads } from '../../src/replica/replica.ts';
import { openRecentPosts } from '../../src/search/browse/browse.ts';
import { openSamePosts } from '../../src/search/same-posts.ts';
import { openLiveStats } from '../../src/state/live-stats.ts';
import { folderFor } from '../support/folder.ts';
import { placeNewMirror, UPSTREAM } from '../support/mirror.ts';

function mirrorFor(t: TestContext): { settings: Settings; opened(): string[] } {
  const folder = folderFor(t, 'readers');
  const path = join(folder, 'mirror.db');
  placeNewMirror(path);
  closeAfter(openForWriting({ path, upstream: UPSTREAM }), () => undefined);
  const env = { FEEDBACK_BASE_URL: UPSTREAM, DATA_DIR: folder };
  const settings = loadSettings({ flags: {}, env, cwd: folder, isTerminal: false });
  /** The files of the mirror that this process has open; Linux tells them in its own file system. */
  const opened = (): string[] =>
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        const file = readlinkSync(`/proc/self/fd/${fd}`);
        return file.startsWith(path) ? [file] : [];
      } catch {
        return [];
      }
    });
  return { settings, opened };
}

describe('the mirror', () => {
  it('is left unchanged by readers', async (t) => {
    const { settings, opened } = mirrorFor(t);
    readMirrorStatus(mirrorOf(settings));
    assert.deepEqual(opened(), []);
    openQueries(settings, 1);
    assert.deepEqual(opened(), [], 'statements run in processes of their own');
    await rebuildSums(settings, new AbortController().signal);
    assert.deepEqual(opened(), []);
  });

  const reads = { openOutboxView, openSyncView, openChangeFeed, openRecentPosts, openReplicaReads };
  const more = { openImportReads, openSaved, openSamePosts, openLiveStats, openExportSource };
  for (const [name, read] of Object.entries({ ...reads, ...more }))
    it(`is closed with ${name}`, async (t) => {
      const { settings, opened } = mirrorFor(t);
      const reader = read(mirrorOf(settings));
      assert.ok(reader);
      assert.notEqual(opened().length, 0);
      await reader.close();
      assert.deepEqual(opened(), []);
    });
});
