import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import type { Session } from '../../src/postgres/session.ts';
import { type LastPublished, Publisher } from '../../src/publish/publisher.ts';
import { openPublishSource } from '../../src/publish/source.ts';
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

function openPublisher(
  t: TestContext,
  session: (path: string) => Session,
  last: (life: string) => LastPublished | null = () => null,
) {
  const path = join(folderFor(t, 'publisher'), 'mirror.db');
  placeNewMirror(path);
  const source = openPublishSource({ path, upstream: UPSTREAM });
  t.after(() => source.close());
  const opened = session(path);
  const clock = fakeClock();
  const noted: LastPublished[] = [];
  const publisher = new Publisher({
    source,
    schema: 'feedback',
    words: [],
    last: { read: () => last(source.life), write: (now) => void noted.push(now) },
    openSession: async () => opened,
    clock,
  });
  return { path, source, clock, noted, publisher };
}

describe('a copy that cannot be written', () => {
  it('is behind since the mirror changed, and is gone on with in another session', async (t) => {
    let [failure, closed]: [Error | null, number] = [new Error('the server is away'), 0];
    const session = willingSession(() => {
      if (failure) throw failure;
    });
    const { publisher, clock } = openPublisher(t, () => ({ ...session, close: async () => void closed++ }));
    const began = clock.now();
    await assert.rejects(publisher.step(), /the server is away/);
    clock.advance(9000);
    const { trouble, behindSince, behind, publishedAt } = publisher.progress();
    assert.deepEqual([trouble, behindSince, behind, publishedAt], ['the server is away', began, null, null]);
    assert.equal(closed, 1);
    failure = null;
    assert.ok((await publisher.step()) > 0);
    const now = publisher.progress();
    assert.deepEqual([now.trouble, now.behindSince, now.behind], [null, null, 0]);
    assert.deepEqual([now.publishedAt, now.place, now.schema], [clock.now(), 'a server', 'feedback']);
  });

  it('because another service writes it is left alone until that one is gone', async (t) => {
    let [isFree, copies, closed] = [false, 0, 0];
    const willing = willingSession(() => copies++);
    const session = { ...willing, lock: async () => isFree, close: async () => void closed++ };
    const { publisher } = openPublisher(t, () => session);
    assert.equal(await publisher.step(), 0);
    assert.deepEqual([publisher.progress().isElsewhere, copies, closed], [true, 0, 1]);
    isFree = true;
    assert.ok((await publisher.step()) > 0);
    assert.deepEqual([publisher.progress().isElsewhere, closed], [false, 1]);
  });

  it('in a session that has ended is written in a new one, whole', async (t) => {
    let [isOver, copies] = [false, 0];
    const asked: string[] = [];
    const session = { ...willingSession(() => copies++, asked), isOver: () => isOver };
    const { publisher } = openPublisher(t, () => session);
    await publisher.step();
    asked.length = 0;
    assert.deepEqual([await publisher.step(), asked], [0, []], 'where nothing is new, nothing is asked');
    [isOver, copies] = [true, 0];
    await publisher.step();
    assert.ok(copies > 0);
  });
});

describe('a copy of another mirror', () => {
  it('is refused also while it is being written, and stays unchanged', async (t) => {
    let copies = 0;
    const theirs = {
      mirror_id: 'another',
      life: 'x',
      upstream: 'http://other.test',
      version: 1,
      number: '1',
    };
    const session = willingSession(() => copies++);
    const query = async (text: string) => (text.includes('to_regclass') ? [{ ok: true }] : [theirs]);
    const busy = { ...session, query, lock: async () => false } as unknown as Session;
    const { publisher } = openPublisher(t, () => busy);
    await assert.rejects(publisher.step(), /holds the copy of another mirror, of http:\/\/other\.test/);
    assert.equal(copies, 0);
  });
});

describe('a publisher', () => {
  it('counts as behind as soon as the mirror has changed, before its next step', async (t) => {
    const { path, publisher, clock } = openPublisher(t, () => willingSession(() => undefined));
    await publisher.step();
    clock.advance(5000);
    assert.equal(publisher.progress().behindSince, null);
    const db = new Database(path);
    t.after(() => db.close());
    db.exec("INSERT INTO sent_boards (slug, confirmed_at) VALUES ('ideas', '2026-01-01T00:00:00.000Z')");
    assert.equal(publisher.progress().behindSince, clock.now());
    const since = clock.now();
    clock.advance(5000);
    assert.equal(publisher.progress().behindSince, since);
  });

  it('that was closed takes no lock and writes nothing more', async (t) => {
    let [copies, locks] = [0, 0];
    const session = { ...willingSession(() => copies++), lock: async () => ++locks > 0 };
    const { publisher } = openPublisher(t, () => session);
    await publisher.close();
    assert.deepEqual([await publisher.step(), copies, locks], [0, 0, 0]);
  });
});

describe('how far a copy was', () => {
  it('is known from the last time, unless that was another life of the mirror', (t) => {
    const at = Date.parse('2025-12-31T00:00:00.000Z');
    const told = (life?: string) => {
      const session = () => willingSession(() => undefined);
      const { publisher } = openPublisher(t, session, (own) => ({ life: life ?? own, number: 0, at }));
      const { publishedAt, behind } = publisher.progress();
      return [publishedAt, behind];
    };
    assert.deepEqual(
      [told(), told('another')],
      [
        [at, 0],
        [null, null],
      ],
    );
  });

  it('is never ahead of the mirror, and never dated in the future', async (t) => {
    const session = () => willingSession(() => undefined);
    const { publisher } = openPublisher(t, session, (life) => ({ life, number: 50, at: 0 }));
    assert.equal(publisher.progress().behind, 0);
    const { path, source, clock } = openPublisher(t, session);
    const outbox = openOutboxStore({ path, upstream: UPSTREAM, holder: 'a test' });
    t.after(() => outbox.close());
    const post = { board: 'ideas', title: 'One', content: 'One.', email: null, full_name: null };
    const key = { batch: 'b', source_key: 'k', line: null, content_hash: 'h' };
    outbox.accept([{ ...post, ...key }], clock.now() + 3_600_000);
    const last = { read: () => ({ life: source.life, number: 0, at: 0 }), write: () => undefined };
    const openSession = async () => session();
    const late = new Publisher({ source, schema: 'feedback', words: [], last, openSession, clock });
    assert.deepEqual([late.progress().behindSince, late.progress().behind], [clock.now(), 1]);
  });

  it('is noted again where the clock was set back', async (t) => {
    const { path, publisher, clock, noted } = openPublisher(t, () => willingSession(() => undefined));
    await publisher.step();
    clock.set(clock.now() - 3_600_000);
    const db = new Database(path);
    t.after(() => db.close());
    db.exec("INSERT INTO sent_boards (slug, confirmed_at) VALUES ('ideas', '2026-01-01T00:00:00.000Z')");
    await publisher.step();
    assert.deepEqual(
      noted.map(({ at }) => at - clock.now()),
      [3_600_000, 0],
    );
  });

  it('is noted once in five seconds, and at the end', async (t) => {
    const { path, publisher, clock, noted, source } = openPublisher(t, () => willingSession(() => undefined));
    const db = new Database(path);
    t.after(() => db.close());
    const change = (slug: string) =>
      void db.exec(
        `INSERT INTO sent_boards (slug, confirmed_at) VALUES ('${slug}', '2026-01-01T00:00:00.000Z')`,
      );
    const times: number[] = [];
    for (const [slug, wait] of Object.entries({ a: 4999, b: 1, c: 1 })) {
      change(slug);
      await publisher.step();
      times.push(clock.now());
      clock.advance(wait);
    }
    const life = source.life;
    assert.deepEqual(
      noted,
      [0, 2].map((n) => ({ life, number: 0, at: times[n] })),
    );
    change('d');
    await publisher.step();
    await publisher.close();
    assert.deepEqual(noted.at(-1), { life, number: 0, at: times[0] === undefined ? 0 : times[0] + 5001 });
  });
});

describe('what is written while a step publishes', () => {
  it('is published by the next one, and the copy counts as behind until then', async (t) => {
    let isWriting = true;
    let pass = (): void => undefined;
    const { publisher, clock } = openPublisher(t, (path) => {
      const outbox = openOutboxStore({ path, upstream: UPSTREAM, holder: 'a test' });
      t.after(() => outbox.close());
      return willingSession(() => {
        if (isWriting) outbox.setPaused('the upstream refused the token');
        isWriting = false;
        pass();
      });
    });
    const began = clock.now();
    pass = () => clock.advance(1000);
    await publisher.step();
    clock.advance(5000);
    assert.equal(publisher.progress().behindSince, began);
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
