import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  areKnown,
  CONFIRMED_MS,
  endedAt,
  GRACE_MS,
  maySend,
  noteHeartbeats,
  SILENT_MS,
  takingOf,
} from '../../src/fleet/decide/lease.ts';
import { type Machine, shareOut, stepOf } from '../../src/fleet/decide/share.ts';

const SOURCES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

function machine(name: string, more: Partial<Machine> = {}): Machine {
  return { name, isAlive: true, isLeaving: false, ...more };
}

function counts(share: ReadonlyMap<string, string>): Record<string, number> {
  return Object.fromEntries(
    [...Map.groupBy(share.values(), (name) => name)].map(([name, own]) => [name, own.length]),
  );
}

describe('which machine runs which source', () => {
  it('shares out evenly, and moves nothing once it is even', () => {
    const machines = [machine('one'), machine('two'), machine('three')];
    const share = shareOut(SOURCES, machines, new Map());
    assert.deepEqual(Object.values(counts(share)).toSorted(), [2, 2, 3]);
    assert.deepEqual(shareOut(SOURCES, machines, share), share);
  });

  it('moves only what was held where a machine dies or leaves', () => {
    const before = shareOut(SOURCES, [machine('one'), machine('two'), machine('three')], new Map());
    for (const gone of [{ isAlive: false }, { isLeaving: true }]) {
      const machines = [machine('one'), machine('two', gone), machine('three')];
      const after = shareOut(SOURCES, machines, before);
      for (const [source, holder] of before) {
        if (holder === 'two') assert.notEqual(after.get(source), 'two');
        else assert.equal(after.get(source), holder);
      }
    }
  });

  it('gives a new machine its share from those that hold most, and no more', () => {
    const before = shareOut(SOURCES, [machine('one'), machine('two')], new Map());
    const after = shareOut(SOURCES, [machine('one'), machine('three'), machine('two')], before);
    const moved = SOURCES.filter((source) => before.get(source) !== after.get(source));
    assert.equal(moved.length, 2);
    assert.ok(moved.every((source) => after.get(source) === 'three'));
    const held = new Set(SOURCES.filter((source) => before.get(source) === 'one'));
    const step = stepOf('one', after, held);
    assert.deepEqual([step.take, step.keep.length, step.handOver.length], [[], 3, 1]);
  });

  it('keeps what it holds where no machine is left to take it', () => {
    const share = shareOut(SOURCES, [machine('one', { isAlive: false })], new Map());
    assert.equal(share.size, 0);
    assert.deepEqual(stepOf('one', share, new Set(['a'])), { take: [], keep: ['a'], handOver: [] });
  });
});

describe('whether the other machines are known', () => {
  const beats = (two: number) =>
    new Map([
      ['one', 5],
      ['two', two],
    ]);
  const first = noteHeartbeats(new Map(), beats(7), 0, false);

  it('takes a heartbeat that moved, or a whole silence', () => {
    assert.equal(areKnown(first, 'one', 0), false);
    assert.equal(areKnown(noteHeartbeats(first, beats(8), 1000, true), 'one', 1000), true);
    const still = noteHeartbeats(first, beats(7), SILENT_MS - 1, true);
    assert.equal(areKnown(still, 'one', SILENT_MS - 1), false);
    assert.equal(areKnown(still, 'one', SILENT_MS), true);
  });

  it('begins again after a time in which the machine could not look', () => {
    const moved = noteHeartbeats(first, beats(8), 1000, true);
    const again = noteHeartbeats(moved, beats(8), 9000, false);
    assert.equal(areKnown(again, 'one', 9000), false);
    assert.equal(areKnown(noteHeartbeats(again, beats(9), 10_000, true), 'one', 10_000), true);
  });
});

describe('when the machine before has ended', () => {
  const known = { beat: 7, movedAt: 1000, hasMoved: true };

  it('counts from its last heartbeat, if that has not moved by the time its lock was taken', () => {
    assert.equal(endedAt(known, 7, 17_000), 1000 + GRACE_MS);
  });

  it('counts from now where it has asked meanwhile, or is not known', () => {
    for (const now of [
      endedAt(known, 8, 17_000),
      endedAt(known, null, 17_000),
      endedAt(undefined, 7, 17_000),
    ])
      assert.equal(now, 17_000 + GRACE_MS);
  });
});

describe('whether a request may leave', () => {
  const asked = { monotonic: 1000, sinceBoot: 90_000 };
  const after = (monotonic: number, sinceBoot: number) => ({
    monotonic: asked.monotonic + monotonic,
    sinceBoot: asked.sinceBoot + sinceBoot,
  });

  it('needs an answered question that is not older than five seconds', () => {
    assert.equal(maySend(null, asked), false);
    assert.equal(maySend(asked, after(CONFIRMED_MS, CONFIRMED_MS)), true);
    assert.equal(maySend(asked, after(CONFIRMED_MS + 1, CONFIRMED_MS + 1)), false);
  });

  it('counts the time in which the machine was suspended', () => {
    assert.equal(maySend(asked, after(10, 60_000)), false);
  });
});

describe('what a machine does with a source that it takes', () => {
  const row = { machine: 'one', epoch: 4, handedOver: null };

  it('goes on with its own folder as long as nobody has run the source since', () => {
    const own = { epoch: 4, hasMirror: true };
    const kept = { epoch: 4, folder: 'keep', whole: null, waits: false };
    assert.deepEqual(takingOf(row, 'one', own), kept);
    assert.deepEqual(takingOf({ ...row, handedOver: 'all' }, 'one', own), kept);
    assert.deepEqual(takingOf(null, 'one', { epoch: null, hasMirror: true }), { ...kept, epoch: 1 });
  });

  it('restores the copy otherwise, and waits for a machine that did not hand over', () => {
    const old = { epoch: 3, hasMirror: true };
    const restored = { epoch: 5, folder: 'restore', whole: null, waits: true };
    assert.deepEqual(takingOf(row, 'one', old), restored);
    assert.deepEqual(takingOf(row, 'two', old), restored);
    assert.deepEqual(takingOf(row, 'one', { epoch: 4, hasMirror: false }), restored);
    const whole = { ...restored, whole: 'all', waits: false };
    assert.deepEqual(takingOf({ ...row, handedOver: 'all' }, 'two', old), whole);
  });
});
