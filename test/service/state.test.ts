import assert from 'node:assert/strict';
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openForWriting } from '../../src/db/open.ts';
import { openServiceState } from '../../src/state/state.ts';
import { doHousekeeping } from '../../src/upkeep/housekeeping.ts';
import { folderFor } from '../support/folder.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const DAY = 86_400_000;

function fileFor(t: TestContext) {
  const folder = folderFor(t, 'state');
  return { path: join(folder, 'mirror.db'), upstream: 'http://upstream.test' };
}

describe('what the processes of a mirror tell each other', () => {
  it('is the same name for all of them, for ever, and another for another mirror', (t) => {
    const file = fileFor(t);
    const [first, second] = [openServiceState(file), openServiceState(file)];
    const other = openServiceState(fileFor(t));
    assert.match(first.mirrorId, /^[\w-]{10,64}$/);
    assert.equal(second.mirrorId, first.mirrorId);
    assert.notEqual(other.mirrorId, first.mirrorId);
    for (const state of [first, second, other]) state.close();
    const again = openServiceState(file);
    assert.equal(again.mirrorId, first.mirrorId);
    again.close();
  });

  it('stops when the file is removed or replaced, and continues when it is put back', (t) => {
    const file = fileFor(t);
    const state = openServiceState(file);
    t.after(() => state.close());
    const [aside, log] = [`${file.path}.aside`, `${file.path}-wal`];
    assert.equal(state.mirrorFile(), 'in place');
    renameSync(file.path, aside);
    assert.equal(state.mirrorFile(), 'removed');
    copyFileSync(aside, file.path);
    assert.equal(state.mirrorFile(), 'replaced');
    renameSync(aside, file.path);
    assert.equal(state.mirrorFile(), 'in place');
    // What was written last is only there.
    rmSync(log);
    assert.equal(state.mirrorFile(), 'removed');
  });

  it('includes the latest time until which the upstream wants no calls', (t) => {
    const file = fileFor(t);
    const [first, second] = [openServiceState(file), openServiceState(file)];
    assert.equal(first.closing('creates'), null);
    first.noteClosing('creates', { askedAt: NOW, until: NOW + 9000 });
    second.noteClosing('creates', { askedAt: NOW + 1, until: NOW + 1000 });
    for (const state of [first, second])
      assert.deepEqual(state.closing('creates'), { askedAt: NOW, until: NOW + 9000 });
    for (const state of [first, second]) state.close();
  });

  it('forgets a wait that was asked for while the clock was ahead as soon as another is', (t) => {
    const state = openServiceState(fileFor(t));
    state.noteClosing('creates', { askedAt: NOW + 86_400_000, until: NOW + 90_000_000 });
    state.noteClosing('creates', { askedAt: NOW, until: NOW + 1000 });
    assert.deepEqual(state.closing('creates'), { askedAt: NOW, until: NOW + 1000 });
    state.close();
  });

  it('is when each list was last read, and which sweep is under way', (t) => {
    const file = fileFor(t);
    const state = openServiceState(file);
    const db = openForWriting(file);
    addRun(db, { mode: 'sweep', outcome: 'complete', daysAgo: 2 });
    addRun(db, { mode: 'sweep', outcome: 'failed', daysAgo: 1 });
    const running = addRun(db, { mode: 'sweep', outcome: 'running', daysAgo: 0 });
    const [posts] = state.lastPasses();
    assert.deepEqual(posts, {
      resource: 'posts',
      mode: 'sweep',
      startedAt: NOW - 2 * DAY,
      finishedAt: NOW - 2 * DAY,
      unfinished: false,
    });
    assert.deepEqual(state.sweepUnderWay('posts'), { runId: running, pages: 0, startedAt: NOW });
    assert.equal(state.sweepUnderWay('comments'), null);
    db.prepare("UPDATE sync_runs SET outcome = 'failed' WHERE id = ?").run(running);
    assert.equal(state.sweepUnderWay('posts'), null, 'a sweep that has ended is none');
    db.prepare("INSERT INTO sync_state (resource, run_id, state) VALUES ('posts', ?, '{}')").run(running);
    const unfinished = state.lastPasses().map((pass) => pass.unfinished);
    assert.deepEqual(unfinished, [true, false, false, false], 'only a sweep is taken up again');
    db.close();
    state.close();
  });

  it('is which sessions have ended, each until its time has come, and what they are signed with', (t) => {
    const file = fileFor(t);
    const [one, other] = [openServiceState(file), openServiceState(file)];
    one.endedSessions.add('first', NOW + DAY, NOW);
    one.endedSessions.add('second', NOW + 2 * DAY, NOW + DAY - 1);
    assert.ok(other.endedSessions.has('first') && other.endedSessions.has('second'));
    one.endedSessions.add('third', NOW + 3 * DAY, NOW + DAY);
    const kept = ['first', 'second', 'third'].filter((id) => other.endedSessions.has(id));
    assert.deepEqual(kept, ['second', 'third']);
    assert.equal(other.endedSessions.key(), one.endedSessions.key());
    assert.match(one.endedSessions.key(), /^[0-9a-f-]{36}$/);
    for (const state of [one, other]) state.close();
  });
});

describe('keeping the file in order', () => {
  it('removes passes that are old and beyond the newest 1000, except those in use', (t) => {
    const file = fileFor(t);
    const db = openForWriting(file);
    const needed = addRun(db, { mode: 'sweep', outcome: 'interrupted', daysAgo: 400 });
    db.prepare("INSERT INTO sync_state (resource, run_id, state) VALUES ('posts', ?, '{}')").run(needed);
    const compared = addRun(db, { mode: 'sweep', outcome: 'complete', daysAgo: 400 });
    db.prepare("INSERT INTO sweep_pages (run_id, n, ids) VALUES (?, 0, x'')").run(compared);
    const lastSweep = addRun(db, { mode: 'sweep', outcome: 'complete', daysAgo: 399 });
    db.transaction(() => {
      for (let n = 0; n < 2500; n++) addRun(db, { mode: 'head', outcome: 'complete', daysAgo: 300 });
      for (let n = 0; n < 900; n++) addRun(db, { mode: 'head', outcome: 'complete', daysAgo: 3 });
    })();
    const step = 'trim the log of passes';
    // The newest thousand stay, a hundred of them old.
    assert.equal(doHousekeeping({ ...file, step, now: NOW, changesKeepMs: 0 }), 2400);
    assert.equal(doHousekeeping({ ...file, step, now: NOW, changesKeepMs: 0 }), 0);
    const left = db.prepare<[], number>('SELECT id FROM sync_runs').pluck().all();
    assert.ok([needed, compared, lastSweep].every((id) => left.includes(id)));
    assert.equal(left.length, 1003);
    db.close();
  });

  it('cuts the write-ahead log short, renews statistics, and says what fails', (t) => {
    const file = fileFor(t);
    const db = openForWriting(file);
    addRun(db, { mode: 'head', outcome: 'complete', daysAgo: 1 });
    assert.ok(
      doHousekeeping({ ...file, step: 'shorten the write-ahead log', now: NOW, changesKeepMs: 0 }) > 0,
    );
    assert.equal(doHousekeeping({ ...file, step: 'renew statistics', now: NOW, changesKeepMs: 0 }), 0);
    db.close();
    const other = { ...file, upstream: 'http://other.test', now: NOW, changesKeepMs: 0 };
    assert.throws(() => doHousekeeping({ ...other, step: 'renew statistics' }), /belongs to/);
  });
});

function addRun(
  db: ReturnType<typeof openForWriting>,
  { mode, outcome, daysAgo }: { mode: string; outcome: string; daysAgo: number },
): number {
  const at = new Date(NOW - daysAgo * DAY).toISOString();
  const { lastInsertRowid } = db
    .prepare(
      'INSERT INTO sync_runs (resource, mode, started_at, finished_at, outcome) VALUES (?, ?, ?, ?, ?)',
    )
    .run('posts', mode, at, outcome === 'running' ? null : at, outcome);
  return Number(lastInsertRowid);
}
