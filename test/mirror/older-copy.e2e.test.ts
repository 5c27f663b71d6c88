import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import type { OlderCopy, PassEnd } from '../../src/mirror/decide/types.ts';
import { openMirrorReadOnly } from '../../src/mirror/file/open.ts';
import { openMirrorStore, readMirrorStatus } from '../../src/mirror/store/store.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import type { OutboxRow, OutboxState, Refusal } from '../../src/outbox/decide/types.ts';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import { backUp } from '../../src/upkeep/backup.ts';
import { withPath } from '../db/folder.ts';
import { newRow } from '../erasure/bench.ts';
import { UPSTREAM } from '../support/mirror.ts';
import { aPost, posts, range } from '../support/rows.ts';
import { oneSweep, sweep } from '../support/steps.ts';

const SETTLE_MS = 1000;

/** One mirror under a path; every step opens and closes it, as a command would. */
function mirrorAt(path: string, dataDir = dirname(path)) {
  const options = { path, upstream: UPSTREAM, holder: 'a test', dataDir, settleMs: SETTLE_MS };
  const withOutbox = async <T>(
    use: (outbox: ReturnType<typeof openOutboxStore>) => T | Promise<T>,
  ): Promise<T> => {
    const outbox = openOutboxStore(options);
    try {
      return await use(outbox);
    } finally {
      await outbox.close();
    }
  };
  return {
    options,
    withOutbox,
    accept: (...keys: string[]) =>
      withOutbox((outbox) =>
        outbox.accept(
          keys.map((source_key) => newRow({ source_key, content_hash: `words of ${source_key}` })),
          Date.now(),
        ),
      ),
    claim: (id: number) => withOutbox((outbox) => claimed(outbox, id)),
    states: (): Promise<OutboxState[]> =>
      withOutbox(async (outbox) => (await outbox.list({ limit: 100 })).map(({ state }) => state)),
    row: (id: number): Promise<OutboxRow | null> => withOutbox((outbox) => outbox.find(id)),
    told: (): OlderCopy | null => readMirrorStatus(options).olderCopy,
    copyTo: (to: string) => backUp(options, to),
    erase: async (email: string): Promise<void> => {
      const erasure = openErasureStore(options);
      await erasure.suppress(email, Date.now());
      await erasure.close();
    },
    sweep: async (...rows: ReturnType<typeof aPost>[]): Promise<void> => {
      const store = openMirrorStore(options);
      await sweep(store, 'posts', rows, 60 * 24 * 365 * 100);
      await store.close();
    },
    /** What one sweep that shows these posts concludes about the others. */
    oneSweep: async (ids: number[], end: Partial<PassEnd> = {}) => {
      const store = openMirrorStore(options);
      const { suspects, held, deleted } = oneSweep(store, 'posts', posts(...ids), 0, end);
      await store.close();
      return { suspects, held, deleted };
    },
  };
}

async function claimed(outbox: ReturnType<typeof openOutboxStore>, id: number): Promise<OutboxRow | Refusal> {
  const now = Date.now();
  return await outbox.claim({
    id,
    transition: TRANSITIONS.claim,
    now,
    deadline: now + 1000,
    listedMaxId: null,
  });
}

function edit(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

describe('the newest state of a mirror', () => {
  it('is no older copy, however often it is opened, claims rows and is copied', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1', 'key:2');
      await mirror.claim(1);
      await mirror.copyTo(join(dirname(path), 'copy.db'));
      await mirror.claim(2);
      assert.deepEqual([mirror.told(), await mirror.states()], [null, ['sending', 'sending']]);
    }));

  it('is the file in which a claim stands that a crash kept from the log', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1', 'key:2');
      await mirror.claim(1);
      // The second claim is on disk, and the process died before it was logged: nothing went out.
      const before = join(dirname(path), 'before.db');
      copyFileSync(join(dirname(path), 'recovery.db'), before);
      await mirror.claim(2);
      copyFileSync(before, join(dirname(path), 'recovery.db'));
      assert.deepEqual([mirror.told(), await mirror.states()], [null, ['sending', 'sending']]);
      assert.equal(mirror.told(), null);
    }));

  it('stays so while a copy is only read, or written to without sending', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1');
      const copy = mirrorAt(join(dirname(path), 'copy.db'));
      await mirror.copyTo(copy.options.path);
      assert.deepEqual([copy.told()?.checking, copy.told()?.noticedAt], [1, null]);
      assert.deepEqual(await copy.states(), ['ambiguous']);
      assert.deepEqual([mirror.told(), await mirror.states()], [null, ['ready']]);
    }));
});

describe('a file that was put back', () => {
  it('has every row that could still be sent looked for, from the moment of the copy on', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1', 'key:2', 'key:3');
      await mirror.withOutbox((outbox) => outbox.move(3, TRANSITIONS.cancel, { now: Date.now() }));
      const copy = mirrorAt(join(dirname(path), 'copy.db'));
      await mirror.copyTo(copy.options.path);
      await mirror.claim(1);
      const { since } = copy.told() ?? {};
      assert.deepEqual(await copy.states(), ['ambiguous', 'ambiguous', 'cancelled']);
      const row = await copy.row(1);
      assert.deepEqual([row?.first_sent_at, row?.was_ambiguous, row?.attempts], [since, true, 0]);
      assert.equal(Date.parse(row?.not_before ?? '') - Date.parse(copy.told()?.noticedAt ?? ''), SETTLE_MS);
      // A person may have sent this one again since the copy: if they do it once more, it is looked for first.
      assert.equal((await copy.row(3))?.was_ambiguous, true);
      assert.equal(await refused(copy.claim(1)), 'gone');
    }));

  it('counts no row as missed by an attempt that was only looked for after an earlier copy', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1', 'key:2');
      await mirror.claim(2);
      // Both were looked for once, and are to be sent: the first for the first time.
      edit(path, "UPDATE outbox SET state = 'ready', was_ambiguous = 1, not_found = 1");
      const copy = mirrorAt(join(dirname(path), 'copy.db'));
      await mirror.copyTo(copy.options.path);
      assert.deepEqual(await copy.states(), ['ambiguous', 'ambiguous']);
      assert.deepEqual([(await copy.row(1))?.not_found, (await copy.row(2))?.not_found], [0, 1]);
    }));

  it('is told from the newest without a mark, also where only one claim lies between them', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1', 'key:2');
      await mirror.claim(1);
      const earlier = join(dirname(path), 'earlier.db');
      copyFileSync(path, earlier);
      await mirror.claim(2);
      copyFileSync(earlier, path);
      assert.equal(mirror.told()?.checking, 2);
      assert.deepEqual(await mirror.states(), ['sending', 'ambiguous']);
    }));

  it('is any file of a data folder that has lost its log', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1');
      rmSync(join(dirname(path), 'recovery.db'));
      assert.equal(mirror.told()?.isCovered, false);
      assert.deepEqual(await mirror.states(), ['ambiguous']);
    }));

  it('keeps another copy that is open from sending on: that one becomes an older copy itself', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1', 'key:2');
      const copy = mirrorAt(join(dirname(path), 'copy.db'));
      await mirror.copyTo(copy.options.path);
      await mirror.withOutbox(async (outbox) => {
        await copy.withOutbox(async (other) => {
          await other.move(1, TRANSITIONS.sendAgain, { now: Date.now(), notBefore: null });
          assert.ok(!('refused' in (await claimed(other, 1))));
        });
        assert.equal(await refused(claimed(outbox, 2)), 'gone');
        assert.deepEqual(await mirror.states(), ['ambiguous', 'ambiguous']);
      });
    }));

  it('is settled once a whole sweep was read and no row is looked for any more', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1');
      const copy = mirrorAt(join(dirname(path), 'copy.db'));
      await mirror.copyTo(copy.options.path);
      await copy.sweep();
      assert.equal(copy.told()?.checking, 1);
      await copy.withOutbox((outbox) => outbox.move(1, TRANSITIONS.sendAgain, { now: Date.now() }));
      assert.equal(copy.told(), null);
    }));

  it('has nothing against a row that was missing when it was made: it may have been seen since', () =>
    withPath(async (path) => {
      const [mirror, copy] = [mirrorAt(path), mirrorAt(join(dirname(path), 'copy.db'))];
      await mirror.oneSweep([1, 2, 3]);
      assert.deepEqual(await mirror.oneSweep([1, 3]), { suspects: 1, held: 0, deleted: 0 });
      await mirror.copyTo(copy.options.path);
      await mirror.oneSweep([1, 2, 3]);
      assert.deepEqual(await copy.oneSweep([1, 3]), { suspects: 1, held: 0, deleted: 0 });
      let deleted = 0;
      for (let n = 0; n < 4; n++) deleted += (await copy.oneSweep([1, 3])).deleted;
      assert.equal(deleted, 1);
    }));

  it('finds held rows again, and asks again for deletions that a person had accepted', () =>
    withPath(async (path) => {
      const [mirror, copy] = [mirrorAt(path), mirrorAt(join(dirname(path), 'copy.db'))];
      const left = range(1, 10);
      await mirror.oneSweep(range(1, 40));
      for (let n = 0; n < 4; n++) await mirror.oneSweep(left);
      // Accepted, but this sweep brings no evidence: they wait for one that does.
      const accepted = await mirror.oneSweep(left, { acceptDeletes: true, verdict: null });
      assert.deepEqual(accepted, { suspects: 30, held: 0, deleted: 0 });
      await mirror.copyTo(copy.options.path);
      for (let n = 0; n < 3; n++)
        assert.deepEqual(await copy.oneSweep(left), { suspects: 30, held: 0, deleted: 0 });
      assert.deepEqual(await copy.oneSweep(left), { suspects: 0, held: 30, deleted: 0 });
    }));

  it('copied once more before anything wrote to it, shows the moment of the first copy', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      const [first, second] = ['first.db', 'second.db'].map((name) => mirrorAt(join(dirname(path), name)));
      assert.ok(first && second);
      await mirror.accept('key:1');
      await mirror.copyTo(first.options.path);
      await first.copyTo(second.options.path);
      assert.equal(second.told()?.since, first.told()?.since);
    }));

  it('put back once more before it is settled, keeps to the moment of the first copy', () =>
    withPath(async (path) => {
      const [mirror, copy] = [mirrorAt(path), mirrorAt(join(dirname(path), 'copy.db'))];
      await mirror.accept('key:1', 'key:2');
      await mirror.copyTo(copy.options.path);
      await copy.withOutbox(async (outbox) => {
        for (const id of [1, 2]) await outbox.move(id, TRANSITIONS.sendAgain, { now: Date.now() });
      });
      const since = copy.told()?.since;
      await copy.claim(1);
      const earlier = join(dirname(path), 'earlier.db');
      copyFileSync(copy.options.path, earlier);
      await copy.claim(2);
      copyFileSync(earlier, copy.options.path);
      assert.deepEqual(await copy.states(), ['sending', 'ambiguous']);
      assert.equal(copy.told()?.since, since);
    }));

  it('with a time in the future has everything looked for, and says that its time is not known', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1');
      edit(path, "INSERT INTO meta VALUES ('copied_at', '2999-01-01T00:00:00.000Z')");
      const again = mirrorAt(join(dirname(path), 'again.db'));
      await mirror.copyTo(again.options.path);
      for (const copy of [mirror, again]) {
        assert.equal(copy.told()?.since, null, 'only read so far');
        assert.deepEqual(await copy.states(), ['ambiguous']);
        const { first_sent_at } = (await copy.row(1)) ?? {};
        assert.deepEqual([copy.told()?.since, first_sent_at], [null, '1970-01-01T00:00:00.000Z']);
      }
    }));
});

async function refused(claim: Promise<OutboxRow | Refusal>): Promise<string> {
  const result = await claim;
  return 'refused' in result ? result.refused : 'claimed';
}

describe('rows that an older copy takes in', () => {
  it('are looked for where the data folder knows that they were sent, and are ready where it does not', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1');
      const copy = mirrorAt(join(dirname(path), 'copy.db'));
      await mirror.copyTo(copy.options.path);
      await mirror.accept('key:2', 'key:3');
      await mirror.claim(2);
      const opened = Date.now();
      await copy.accept('key:2', 'key:3', 'create:4');
      assert.deepEqual(await copy.states(), ['ambiguous', 'ambiguous', 'ready', 'ready']);
      const notBefore = Date.parse((await copy.row(2))?.not_before ?? '');
      assert.ok(notBefore >= opened + SETTLE_MS, 'its post may still be on its way into the list');
    }));

  it('are looked for by their words where the file has other keys by now, and not where they are called for anew', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1');
      const copy = mirrorAt(join(dirname(path), 'copy.db'));
      await mirror.copyTo(copy.options.path);
      await mirror.accept('key:2');
      await mirror.claim(2);
      const words = { content_hash: 'words of key:2' };
      await copy.withOutbox((outbox) =>
        outbox.accept(
          ['row:a:1', 'key:other', 'create:3', 'api:4'].map((source_key) => newRow({ source_key, ...words })),
          Date.now(),
        ),
      );
      assert.deepEqual((await copy.states()).slice(1), ['ambiguous', 'ambiguous', 'ready', 'ready']);
    }));

  it('are all looked for where it knows nothing, save those of a create, for 30 days and also once it is settled', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1');
      mkdirSync(join(dirname(path), 'elsewhere'));
      const copy = mirrorAt(join(dirname(path), 'elsewhere/mirror.db'));
      await mirror.copyTo(copy.options.path);
      await copy.accept('row:2', 'create:3', 'api:4');
      assert.deepEqual(await copy.states(), ['ambiguous', 'ambiguous', 'ready', 'ambiguous']);
      await copy.sweep();
      await copy.withOutbox(async (outbox) => {
        for (const id of [1, 2, 4]) await outbox.move(id, TRANSITIONS.sendAgain, { now: Date.now() });
        assert.equal(copy.told(), null, 'it is settled');
        const [soon, later] = [29, 31].map((days) => Date.now() + days * 86_400_000);
        assert.ok(soon && later);
        await outbox.accept([newRow({ source_key: 'row:5' }), newRow({ source_key: 'api:6' })], soon);
        await outbox.accept([newRow({ source_key: 'row:7' }), newRow({ source_key: 'api:8' })], later);
      });
      assert.deepEqual((await copy.states()).slice(4), ['ambiguous', 'ambiguous', 'ready', 'ready']);
    }));
});

describe('a claim that cannot be recorded', () => {
  it('is taken back, and nothing was sent', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1');
      await mirror.withOutbox(async (outbox) => {
        edit(join(dirname(path), 'recovery.db'), 'DROP TABLE claims');
        await assert.rejects(claimed(outbox, 1), /no such table/);
        const row = await outbox.find(1);
        assert.deepEqual([row?.state, row?.was_ambiguous], ['ready', false]);
        assert.match(row?.last_error ?? '', /could not be recorded/);
      });
    }));
});

const ADA = 'ada@example.com';

function holdsAda(path: string, dataDir = dirname(path)): boolean {
  const db = openMirrorReadOnly({ path, upstream: UPSTREAM, dataDir });
  try {
    return (
      db.prepare("SELECT count(*) FROM posts WHERE content LIKE '%ada%'").pluck().get() !== 0 ||
      db.prepare('SELECT count(*) FROM users WHERE email = ?').pluck().get(ADA) !== 0
    );
  } finally {
    db.close();
  }
}

/** A copy from before a person was erased. */
async function copyBeforeErasure(path: string) {
  const mirror = mirrorAt(path);
  const creator = { ...aPost(1).creator, email: ADA };
  await mirror.sweep(aPost(1, { creator }), aPost(2, { content: `ask ${ADA}` }));
  const copy = join(dirname(path), 'copy.db');
  await mirror.copyTo(copy);
  await mirror.erase(ADA);
  return { mirror, copy };
}

describe('erasures made after a copy', () => {
  it('are applied before it is read, and looking at it claims nothing', () =>
    withPath(async (path) => {
      const { mirror, copy } = await copyBeforeErasure(path);
      assert.equal(holdsAda(copy), false);
      assert.equal(mirror.told(), null);
      assert.equal(mirrorAt(copy).told()?.erasures, 1);
    }));

  it('are also applied to a new mirror in the same data folder', () =>
    withPath(async (path) => {
      await copyBeforeErasure(path);
      const fresh = mirrorAt(join(dirname(path), 'fresh.db'));
      await fresh.sweep(aPost(1, { creator: { ...aPost(1).creator, email: ADA } }));
      assert.equal(holdsAda(fresh.options.path), false);
    }));

  it('are not applied if the erasure was lifted before', () =>
    withPath(async (path) => {
      const { mirror, copy } = await copyBeforeErasure(path);
      const erasure = openErasureStore(mirror.options);
      await erasure.lift(ADA);
      await erasure.close();
      assert.equal(holdsAda(copy), true);
    }));

  it('keep a copy that cannot be written to from being read', () =>
    withPath(async (path) => {
      const { copy } = await copyBeforeErasure(path);
      // In the place of what SQLite needs in order to write; the rights of root do not help against that.
      mkdirSync(`${copy}-shm`);
      assert.throws(() => holdsAda(copy), /is an older copy that holds people who were erased since/);
    }));

  it('keep a copy from being read while their key is missing', () =>
    withPath(async (path) => {
      const { copy } = await copyBeforeErasure(path);
      rmSync(join(dirname(path), 'suppression.key'));
      assert.throws(() => holdsAda(copy), /the key of the suppression list, .* is missing/);
    }));

  it('under a new key are applied to a copy whose list has the old one', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.erase('bob@example.com');
      const { copy } = await copyBeforeErasure(path);
      const erasure = openErasureStore(mirror.options);
      await erasure.newKey();
      writeFileSync(join(dirname(path), 'suppression.key'), 'another\n');
      await erasure.suppress(ADA, Date.now());
      await erasure.close();
      assert.equal(holdsAda(copy), false);
      assert.deepEqual(await mirrorAt(copy).states(), []);
    }));

  it('whose key was lost and given up are applied by number, and keep no copy from being read', () =>
    withPath(async (path) => {
      const { mirror, copy } = await copyBeforeErasure(path);
      rmSync(join(dirname(path), 'suppression.key'));
      const erasure = openErasureStore(mirror.options);
      await erasure.newKey();
      await erasure.close();
      const db = openMirrorReadOnly({ path: copy, upstream: UPSTREAM, dataDir: dirname(path) });
      assert.equal(db.prepare('SELECT count(*) FROM users WHERE email = ?').pluck().get(ADA), 0);
      db.close();
    }));

  it('under the key of another data folder are not taken into the log of this one', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.sweep(aPost(1));
      const erasure = openErasureStore(mirror.options);
      await erasure.suppress('bob@example.com', Date.now());
      await erasure.lift('bob@example.com');
      await erasure.close();
      mkdirSync(join(dirname(path), 'elsewhere'));
      const theirs = mirrorAt(join(dirname(path), 'elsewhere/mirror.db'));
      await theirs.sweep(aPost(1));
      await theirs.erase(ADA);
      const brought = mirrorAt(join(dirname(path), 'brought.db'));
      await theirs.copyTo(brought.options.path);
      await brought.states();
      assert.deepEqual(await mirror.states(), []);
    }));
});

describe('the recovery log', () => {
  it('that is damaged is told, with what to do', () =>
    withPath(async (path) => {
      const mirror = mirrorAt(path);
      await mirror.accept('key:1');
      const log = join(dirname(path), 'recovery.db');
      for (const rest of ['-wal', '-shm']) assert.equal(existsSync(log + rest), false);
      writeFileSync(log, 'no database at all, but long enough to be taken for one by its size'.repeat(99));
      await assert.rejects(mirror.states(), /recovery\.db is damaged/);
    }));
});
