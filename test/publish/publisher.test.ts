import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Session } from '../../src/postgres/session.ts';
import { createPublisher } from '../../src/publish/publisher.ts';
import { openOutboxStore } from '../../src/store/outbox/store.ts';
import { openPublishSource } from '../../src/store/publish-source.ts';
import { fakeClock } from '../support/clock.ts';
import { folderFor } from '../support/folder.ts';
import { placeNewMirror } from '../support/mirror.ts';

/** A server that takes whatever it is given; `onCopy` is called when the first rows arrive. */
function willingSession(onCopy: () => void): Session {
  return {
    place: 'a server',
    query: async (text) => (text.includes('RETURNING 1') ? [{} as never] : []),
    transaction: async (work) => await work(),
    async copyIn(_table, _types, rows) {
      onCopy();
      return [...rows].length;
    },
    copyOut: async () => undefined,
    lock: async () => true,
    isOver: () => false,
    close: async () => undefined,
  };
}

describe('what is written while a step publishes', () => {
  it('is published by the next one, and the copy counts as behind until then', async (t) => {
    const path = join(folderFor(t, 'publisher'), 'mirror.db');
    placeNewMirror(path);
    const mirror = { path, upstream: 'http://upstream.test' };
    const outbox = openOutboxStore({ ...mirror, holder: 'a test' });
    const source = openPublishSource(mirror);
    t.after(() => {
      outbox.close();
      source.close();
    });
    let isWriting = true;
    const session = willingSession(() => {
      if (isWriting) outbox.setPaused('the upstream refused the token');
      isWriting = false;
    });
    const publisher = createPublisher({
      source,
      schema: 'feedback',
      words: [],
      last: { read: () => null, write: () => undefined },
      openSession: async () => session,
      clock: fakeClock(),
    });
    await publisher.step();
    assert.notEqual(publisher.progress().behindSince, null);
    assert.ok((await publisher.step()) > 0);
    assert.equal(publisher.progress().behindSince, null);
    assert.equal(await publisher.step(), 0);
  });
});
