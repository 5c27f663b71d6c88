import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { iso } from '../../src/base/clock.ts';
import { readMirrorStatus } from '../../src/mirror/store/store.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import { type OutboxStore, openOutboxStore } from '../../src/outbox/store/store.ts';
import { newRow } from '../erasure/bench.ts';
import { folderFor } from '../support/folder.ts';
import { placeNewMirror, UPSTREAM } from '../support/mirror.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-01-01T00:00:00.000Z');
const SETTLE_MS = 1000;

/** A mirror that is opened and closed for each step, as by commands, on a clock that only moves when told to. */
function mirrorFor(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: START });
  const path = join(folderFor(t, 'older'), 'mirror.db');
  placeNewMirror(path);
  const options = { path, upstream: UPSTREAM, holder: 'a test', settleMs: SETTLE_MS };
  const use = <T>(work: (outbox: OutboxStore) => T): T => {
    const outbox = openOutboxStore(options);
    try {
      return work(outbox);
    } finally {
      outbox.close();
    }
  };
  const sql = (text: string, ...values: unknown[]): void => {
    const db = new Database(path);
    db.prepare(text).run(...values);
    db.close();
  };
  const now = () => Date.now();
  const claim = (id: number) =>
    use((outbox) =>
      outbox.claim({ id, transition: TRANSITIONS.claim, now: now(), deadline: now(), listedMaxId: null }),
    );
  return {
    use,
    sql,
    claim,
    accept: (...keys: string[]) =>
      use((outbox) =>
        outbox.accept(
          keys.map((source_key) => newRow({ source_key })),
          now(),
        ),
      ),
    row: (id: number) => use((outbox) => outbox.find(id)),
    told: () => readMirrorStatus(options).olderCopy,
    run: (mode: string, at: number) =>
      sql(
        "INSERT INTO sync_runs (resource, mode, started_at, outcome) VALUES ('posts', ?, ?, 'complete')",
        mode,
        iso(at),
      ),
    /** The file as it is now, put back after the row of this id was claimed. */
    putBackAfterClaimOf(id: number): void {
      copyFileSync(path, `${path}.earlier`);
      assert.ok(!('refused' in claim(id)));
      copyFileSync(`${path}.earlier`, path);
    },
  };
}

describe('a mirror that was put back to an earlier state', () => {
  it('has rows looked for that were held, and keeps what it knew of those it was looking for', (t) => {
    const mirror = mirrorFor(t);
    mirror.accept('key:1', 'key:2', 'key:3');
    mirror.claim(1);
    const later = iso(START + HOUR);
    mirror.sql('UPDATE outbox SET on_hold = 1 WHERE id = 2');
    mirror.sql(
      `UPDATE outbox SET state = 'ambiguous', was_ambiguous = 1, first_sent_at = ?, not_before = ?, known_max_id = 5 WHERE id = 1`,
      later,
      later,
    );
    mirror.putBackAfterClaimOf(3);
    const { since } = mirror.told() ?? {};
    assert.equal(since, iso(START));
    const [sought, held] = [mirror.row(1), mirror.row(2)];
    assert.deepEqual([held?.state, held?.on_hold, held?.known_max_id], ['ambiguous', false, null]);
    assert.equal(held?.not_before, iso(START + SETTLE_MS));
    assert.deepEqual([sought?.not_before, sought?.known_max_id], [later, 5]);
    assert.equal(sought?.first_sent_at, since, 'the earlier of the two');
  });

  it('was as it is at the latest moment of which it knows, but for those that have not come', (t) => {
    const mirror = mirrorFor(t);
    mirror.accept('key:1', 'key:2');
    mirror.claim(1);
    t.mock.timers.tick(HOUR);
    mirror.run('head', Date.now());
    mirror.putBackAfterClaimOf(2);
    assert.equal(mirror.told()?.since, iso(START + HOUR), 'its last pass began after its last claim');
    mirror.run('head', Date.now() + HOUR);
    assert.equal(mirror.told()?.since, iso(START), 'a pass in the future says nothing');
  });

  it('is settled by a sweep that began after it was noticed, and by no other pass', (t) => {
    const mirror = mirrorFor(t);
    mirror.accept('key:1');
    mirror.putBackAfterClaimOf(1);
    mirror.use((outbox) => outbox.move(1, TRANSITIONS.sendAgain, { now: Date.now() }));
    const isTold = (): boolean => mirror.told() !== null;
    assert.equal(isTold(), true);
    mirror.run('sweep', Date.now());
    mirror.run('head', Date.now() + 1);
    assert.equal(isTold(), true);
    mirror.run('sweep', Date.now() + 1);
    assert.equal(isTold(), false);
  });
});
