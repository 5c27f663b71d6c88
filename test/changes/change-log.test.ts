import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { iso } from '../../src/base/clock.ts';
import type { Resource } from '../../src/contract/endpoints.ts';
import { changeLog, passEvents, pruneChanges } from '../../src/mirror/log/change-log.ts';
import { OUTBOX_STATES } from '../../src/outbox/decide/types.ts';
import { openTestMirror } from '../support/mirror.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-03-01T00:00:00.000Z');
const AT = iso(NOW);

function logFor(t: TestContext) {
  const mirror = openTestMirror();
  const db = new Database(mirror.path);
  t.after(() => {
    db.close();
    mirror.dispose();
  });
  const log = changeLog(db);
  const tellEnd = passEvents(db, log);
  const written = db
    .prepare<[number], string>('SELECT type FROM changes ORDER BY n LIMIT -1 OFFSET ?')
    .pluck();
  let seen = 0;
  return {
    db,
    log,
    /** The types of what was written since the last time. */
    news(): string[] {
      const types = written.all(seen);
      seen += types.length;
      return types;
    },
    end(resource: Resource, rest: Partial<Parameters<typeof tellEnd>[1]> = {}): void {
      const pass = { runId: 1, isWholeSweep: false, outcome: 'complete', newlyHeld: 0, ...rest } as const;
      tellEnd(AT, { resource, ...pass });
      log.refresh();
    },
  };
}

describe('the change feed', () => {
  it('tells of a list from its first whole sweep on, and of what its rows carry', (t) => {
    const { log, news, end, db } = logFor(t);
    const tell = (): void => {
      log.row('posts', 'post.edited', AT, { id: 1 });
      log.row('comments', 'comment.edited', AT, { id: 2 });
      for (const list of ['posts', 'comments'] as const) {
        log.entity(list, 'user.created', AT, { id: list === 'posts' ? 3 : 4 });
        log.entity(list, 'user.updated', AT, { id: list === 'posts' ? 3 : 4 });
      }
    };
    log.refresh();
    tell();
    end('posts', { isWholeSweep: false });
    assert.deepEqual(news(), []);
    end('posts', { isWholeSweep: true });
    assert.deepEqual(news(), ['sync.mirrored']);
    const start = db.prepare("SELECT start FROM feed_lists WHERE resource = 'posts'").pluck();
    assert.equal(start.get(), 1, 'it begins where that was told');
    tell();
    // Who is new in the comments is told with their first sweep; who changed is known from the posts already.
    assert.deepEqual(news(), ['post.edited', 'user.created', 'user.updated', 'user.updated']);
    end('posts', { isWholeSweep: true });
    assert.deepEqual(news(), [], 'once');
    end('comments', { isWholeSweep: true });
    news();
    tell();
    const both = ['post.edited', 'comment.edited'];
    const users = ['user.created', 'user.updated', 'user.created', 'user.updated'];
    assert.deepEqual(news(), [...both, ...users]);
  });

  it('tells that a list fails, and that it is read again, once each, and how many rows are held', (t) => {
    const { news, end } = logFor(t);
    const told = (...outcomes: ('failed' | 'complete' | 'interrupted')[]): string[] => {
      for (const outcome of outcomes) end('posts', { outcome });
      return news();
    };
    assert.deepEqual(told('complete'), []);
    assert.deepEqual(told('failed', 'failed', 'interrupted', 'failed'), ['sync.failed']);
    assert.deepEqual(told('complete', 'complete'), ['sync.recovered']);
    end('posts', { newlyHeld: 30 });
    end('posts', { newlyHeld: 0 });
    assert.deepEqual(news(), ['sync.held']);
  });

  it('tells what became of a row of the outbox', (t) => {
    const { log, news } = logFor(t);
    for (const state of OUTBOX_STATES) log.outbox(AT, 1, state === 'ready' ? 'sending' : 'ready', state);
    const types = Object.fromEntries(news().map((type, n) => [OUTBOX_STATES[n], type]));
    assert.deepEqual(types, {
      ...{ proposed: 'outbox.needs_decision', uncertain: 'outbox.needs_decision' },
      ...{ ready: 'outbox.updated', sending: 'outbox.updated', ambiguous: 'outbox.updated' },
      ...{ cancelled: 'outbox.updated', confirmed: 'outbox.sent', rejected: 'outbox.rejected' },
    });
    log.outbox(AT, 1, 'confirmed', 'confirmed');
    assert.deepEqual(news(), ['outbox.updated'], 'another post is no second one');
  });

  it('forgets all that is old at once, but for the newest of it, and what a clock ahead has dated', (t) => {
    const { log, db } = logFor(t);
    const days = [...Array<number>(2500).fill(40), -1, 39, 3, 2];
    db.transaction(() => {
      for (const ago of days) log.add('sync.failed', iso(NOW - ago * DAY), 1);
    })();
    const kept = () => db.prepare<[], number>('SELECT n FROM changes').pluck().all();
    assert.equal(pruneChanges(db, { keepMs: 7 * DAY, now: NOW }), 2501);
    assert.deepEqual(kept(), [2502, 2503, 2504]);
    assert.equal(pruneChanges(db, { keepMs: 7 * DAY, now: NOW }), 0);
    pruneChanges(db, { keepMs: 0, now: NOW + 100 * DAY });
    assert.deepEqual(kept(), [2504], 'the last of all stays');
  });

  it('forgets nothing because of times that have not come yet', (t) => {
    const { log, db } = logFor(t);
    for (const ahead of [1, 2, 3]) log.add('sync.failed', iso(NOW + ahead * DAY), 1);
    const kept = () => db.prepare<[], number>('SELECT n FROM changes').pluck().all();
    assert.equal(pruneChanges(db, { keepMs: 7 * DAY, now: NOW }), 0, 'the clock was set back');
    log.add('sync.failed', iso(NOW), 1);
    assert.equal(pruneChanges(db, { keepMs: 7 * DAY, now: NOW }), 0, 'or had been ahead');
    assert.equal(pruneChanges(db, { keepMs: 7 * DAY, now: NOW + 11 * DAY }), 3, 'and these are old');
    assert.deepEqual(kept(), [4]);
  });

  it('keeps what came after one that is not old yet, also where a clock behind has dated it', (t) => {
    const { log, db } = logFor(t);
    for (const ago of [3, 39, 2]) log.add('sync.failed', iso(NOW - ago * DAY), 1);
    assert.equal(pruneChanges(db, { keepMs: 7 * DAY, now: NOW }), 0);
  });

  it('keeps what an endpoint still waits for, also where another has had it and one is disabled', (t) => {
    const { log, db } = logFor(t);
    for (const ago of [20, 15, 10, 1]) log.add('sync.failed', iso(NOW - ago * DAY), 1);
    const endpoint = db.prepare('INSERT INTO webhooks (id, position, disabled_at) VALUES (?, ?, ?)');
    for (const [position, disabled] of [
      [1, AT],
      [2, null],
      [4, null],
    ] as const)
      endpoint.run(`hook ${position}`, position, disabled);
    pruneChanges(db, { keepMs: 7 * DAY, now: NOW });
    assert.deepEqual(db.prepare('SELECT n FROM changes').pluck().all(), [2, 3, 4]);
  });
});
