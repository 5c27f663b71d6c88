import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom } from '../../src/sandbox/random.ts';
import { openServer, SimulatedMachine, STEP_MS } from './simulated-fleet.ts';

const SOURCES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
const TAKEOVER_MS = 60_000;

interface Seen {
  sends: number;
  moves: number;
  doubles: string[];
  unrun: string[];
}

interface Course {
  minutes: number;
  calmMs: number;
  kinds?: readonly number[];
}

const RESTART = 4;
const KINDS = [0, 1, 2, 3, RESTART, 5, 6];

/** Random crashes, freezes, suspended machines, cuts, ended sessions and restarts of PostgreSQL, one trouble every `calm` on average. */
function play(seed: number, { minutes, calmMs, kinds = KINDS }: Course): Seen {
  const random = createRandom(seed).next;
  const server = openServer();
  const newest = new Map<string, { epoch: number; machine: string }>();
  const sentAt = new Map<string, number>();
  const seen: Seen = { sends: 0, moves: 0, doubles: [], unrun: [] };
  const told = {
    sent(at: number, source: string, machine: string, epoch: number) {
      seen.sends++;
      sentAt.set(source, at);
      const last = newest.get(source);
      if (last && (last.epoch > epoch || (last.epoch === epoch && last.machine !== machine)))
        seen.doubles.push(
          `${source} at ${at}: ${machine} of ${epoch} after ${last.machine} of ${last.epoch}`,
        );
      else newest.set(source, { epoch, machine });
    },
    moved: () => void seen.moves++,
  };
  const machines = ['one', 'two', 'three'].map(
    (name) => new SimulatedMachine(name, server, SOURCES, random, told),
  );
  const suspended = new Set<SimulatedMachine>();
  const later: { at: number; run: (now: number) => void }[] = [];
  let serverUpSince = 0;
  for (const machine of machines) machine.start(0);
  /** When the machine that has the source, or may be about to take it, was last struck: two losses one after the other take two takeovers. */
  const struckAt = new Map<string, number>();
  const trouble = (now: number): void => {
    const machine = machines[Math.floor(random() * machines.length)] as SimulatedMachine;
    for (const source of SOURCES)
      if (server.rows.get(source)?.machine === machine.name || now - (sentAt.get(source) ?? 0) > 2000)
        struckAt.set(source, now);
    const lasts = now + 500 + random() * (random() < 0.5 ? 15_000 : 120_000);
    const until = (run: (now: number) => void): void => void later.push({ at: lasts, run });
    const kind = kinds[Math.floor(random() * kinds.length)];
    if (kind === 0) {
      machine.crash();
      until((at) => machine.upSince === null && machine.start(at));
    } else if (kind === 1) {
      machine.isFrozen = true;
      until(() => (machine.isFrozen = false));
    } else if (kind === 2) {
      machine.isCut = true;
      until(() => (machine.isCut = false));
    } else if (kind === 3) {
      suspended.add(machine);
      until(() => suspended.delete(machine));
    } else if (kind === RESTART) {
      server.restart();
      serverUpSince = Number.POSITIVE_INFINITY;
      until((at) => {
        server.isUp = true;
        serverUpSince = at;
      });
    } else if (kind === 5) server.sessions.clear();
    else {
      machine.isLeaving = true;
      later.push({ at: now + 10_000, run: () => machine.crash() });
      until((at) => machine.upSince === null && machine.start(at));
    }
  };
  for (let now = 0; now < minutes * 60_000; now += STEP_MS) {
    if (random() < STEP_MS / calmMs) trouble(now);
    for (const due of later.filter(({ at }) => at <= now)) {
      later.splice(later.indexOf(due), 1);
      due.run(now);
    }
    server.pass(now);
    for (const machine of machines) machine.pass(now, suspended.has(machine));
    const since = now - TAKEOVER_MS;
    const isSomebodyWell = machines.some((machine) => machine.isWell(since)) && serverUpSince <= since;
    for (const source of SOURCES) {
      const gap = now - Math.max(sentAt.get(source) ?? 0, struckAt.get(source) ?? 0);
      if (isSomebodyWell && since > 0) {
        if (gap > TAKEOVER_MS) seen.unrun.push(`${source} at ${now}`);
      }
    }
  }
  return seen;
}

describe('a simulated fleet', () => {
  it('never has two senders, and runs every source again within a minute', () => {
    for (let seed = 1; seed <= 3; seed++) {
      const { sends, doubles, unrun } = play(seed, { minutes: 60, calmMs: 20_000 });
      assert.deepEqual(doubles.slice(0, 3), [], `seed ${seed}`);
      assert.deepEqual(unrun.slice(0, 3), [], `seed ${seed}`);
      assert.ok(sends > 10_000, `seed ${seed}`);
    }
  });

  it('moves no lease while no machine comes or goes', () => {
    const { moves } = play(1, { minutes: 60, calmMs: Number.POSITIVE_INFINITY });
    // Every source moves into a folder once, and no more.
    assert.equal(moves, SOURCES.length);
  });

  it('moves no lease because PostgreSQL restarts', () => {
    const { moves } = play(2, { minutes: 60, calmMs: 60_000, kinds: [RESTART] });
    assert.equal(moves, SOURCES.length);
  });
});
