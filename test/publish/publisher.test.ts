import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import type { Session } from '../../src/postgres/session.ts';
import { createPublisher } from '../../src/publish/publisher.ts';
import { openOutboxStore } from '../../src/store/outbox/store.ts';
import { openPublishSource } from '../../src/store/publish-source.ts';
import { fakeClock } from '../support/clock.ts';
import { folderFor } from '../support/folder.ts';
import { placeNewMirror } from '../support/mirror.ts';

const UPSTREAM = 'http://upstream.test';

/** A server that takes whatever it is given; `onCopy` is called when rows arrive, and `asked` gets every statement. */
function willingSession(onCopy: () => void, asked: string[] = []): Session {
  return {
    place: 'a server',
    async query(text) {
      asked.push(text);
      return text.includes('RETURNING 1') ? [{} as never] : [];
    },
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

function openPublisher(t: TestContext, session: (path: string) => Session) {
  const path = join(folderFor(t, 'publisher'), 'mirror.db');
  placeNewMirror(path);
  const source = openPublishSource({ path, upstream: UPSTREAM });
  t.after(() => source.close());
  const opened = session(path);
  const publisher = createPublisher({
    source,
    schema: 'feedback',
    words: [],
    last: { read: () => null, write: () => undefined },
    openSession: async () => opened,
    clock: fakeClock(),
  });
  return { path, publisher };
}

describe('what is written while a step publishes', () => {
  it('is published by the next one, and the copy counts as behind until then', async (t) => {
    let isWriting = true;
    const { publisher } = openPublisher(t, (path) => {
      const outbox = openOutboxStore({ path, upstream: UPSTREAM, holder: 'a test' });
      t.after(() => outbox.close());
      return willingSession(() => {
        if (isWriting) outbox.setPaused('the upstream refused the token');
        isWriting = false;
      });
    });
    await publisher.step();
    assert.notEqual(publisher.progress().behindSince, null);
    assert.ok((await publisher.step()) > 0);
    assert.equal(publisher.progress().behindSince, null);
    assert.equal(await publisher.step(), 0);
  });
});

describe('a person who is erased and wrote nothing', () => {
  it('makes all passes be written anew: the errors of old ones may have named them', async (t) => {
    const asked: string[] = [];
    const { path, publisher } = openPublisher(t, () => willingSession(() => undefined, asked));
    const db = new Database(path);
    t.after(() => db.close());
    const stepped = async (): Promise<boolean> => {
      asked.length = 0;
      await publisher.step();
      return asked.some((text) => /^DELETE FROM \S*sync_runs"?$/.test(text));
    };
    await publisher.step();
    db.exec("INSERT INTO sent_boards (slug, confirmed_at) VALUES ('ideas', '2026-01-01T00:00:00.000Z')");
    assert.equal(await stepped(), false);
    db.exec("INSERT INTO suppressed_users (user_id, hash) VALUES (7, 'theirs')");
    assert.equal(await stepped(), true);
  });
});
