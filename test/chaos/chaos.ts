import { setTimeout as delay } from 'node:timers/promises';
import { RESOURCES } from '../../src/contract/endpoints.ts';
import { changeBehaviour } from './faults/behaviour.ts';
import { clockFaults } from './faults/clock.ts';
import { crashPoints } from './faults/crash-points.ts';
import { diskFaults } from './faults/disk.ts';
import { processFaults, tokenFault } from './faults/processes.ts';
import { queueFaults } from './faults/queue.ts';
import { troubleUpstream, upstreamCounts } from './faults/upstream.ts';
import { type ChaosOptions, type Fixture, openFixture } from './fixture.ts';
import { checkFile, inMirror } from './invariants/file.ts';
import { checkLedger, readRows } from './invariants/ledger.ts';
import { checkDeletes, difference } from './invariants/mirror.ts';
import { mustBeReady, mustRecover, waitFor, watchReadiness } from './invariants/readiness.ts';
import { checkSecrets } from './invariants/secrets.ts';
import { runCommands } from './load/commands.ts';
import { createOverHttp, readOverHttp } from './load/http-clients.ts';
import { startUpstreamLife } from './load/upstream-life.ts';
import { type Incident, rounds, streamOf } from './plan.ts';
import { type Result, resultOf } from './report.ts';

export interface Outcome extends Result {
  /** Kept where the run did not pass. */
  folder: string;
}

/** The whole run: load and faults for so long, then quiet, then the invariants. */
export async function runChaos(options: ChaosOptions): Promise<Outcome> {
  const fixture = await openFixture(options);
  let passed = false;
  try {
    fixture.service.start();
    await mustRecover(fixture, 'the first start');
    await storm(fixture);
    await quiet(fixture);
    const result = resultOf(fixture.tally, upstreamCounts(fixture), options.readyWithinMs);
    ({ passed } = result);
    return { ...result, folder: fixture.folder };
  } finally {
    await fixture.close(!passed);
  }
}

async function storm(fixture: Fixture): Promise<void> {
  const over = new AbortController();
  const stopLife = startUpstreamLife(fixture);
  const lanes = [
    runCommands(fixture, over.signal),
    createOverHttp(fixture, over.signal),
    readOverHttp(fixture, over.signal),
    watchReadiness(fixture, over.signal),
    troubleUpstream(fixture, over.signal),
    changeBehaviour(fixture, over.signal),
    watchDeletes(fixture, over.signal),
  ];
  try {
    await Promise.race([strike(fixture).then(() => allTroubles(fixture)), ...lanes]);
  } finally {
    over.abort();
    stopLife();
    await Promise.all(lanes);
  }
}

/** One incident after the other until the time is over, and all of them once in any case. */
async function strike(fixture: Fixture): Promise<void> {
  const { options, journal, tally } = fixture;
  const random = streamOf(options.seed, 'incidents');
  const incidents: Incident[] = [
    ...processFaults(fixture, random),
    ...crashPoints(fixture),
    ...queueFaults(fixture, random),
    ...diskFaults(fixture, random),
    ...clockFaults(fixture),
    tokenFault(fixture),
  ];
  for (const { name } of incidents) tally.expect(name);
  const end = performance.now() + options.minutes * 60_000;
  for (const { round, card } of rounds(incidents, random, rankOf)) {
    if (round > 1 && performance.now() > end) return;
    journal.note(`incident: ${card.name}`);
    await card.run();
    await delay(500 + random.int(1500));
  }
}

/**
 * Some crash points wait for an unclear send to settle: by the end of a round some have. A clock that was set makes the list seem late,
 * and the program then waits longer before it looks for a post.
 */
function rankOf({ name }: Incident): number {
  if (name.startsWith('clock')) return 2;
  return name.includes('reconcile') ? 1 : 0;
}

/** On a slow machine the incidents are through before each kind of upstream trouble has found a request to spoil. */
async function allTroubles(fixture: Fixture): Promise<void> {
  await waitFor(180_000, () => [...upstreamCounts(fixture).values()].every((fired) => fired > 0), 500);
}

/** No living row may be deleted at any moment. */
async function watchDeletes(fixture: Fixture, until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    checkDeletes(fixture);
    await delay(1000);
  }
}

/**
 * A send whose process died may still be under way for 30 s, then it settles, and may have to be sent and looked for again. It settles for
 * as long as the list was ever late, which a clock that was put back and forth can make some minutes of.
 */
const FINISH_MS = 900_000;
/** Enough for a few sweeps; the number of those is what counts. */
const SWEEPS_MS = 120_000;
const QUIET_SWEEPS = 2;
const MOST_SWEEPS = 40;

/** The upstream is well and nothing moves: everything has to come right by itself. */
async function quiet(fixture: Fixture): Promise<void> {
  const { journal, tally, sandbox, service, mirror } = fixture;
  journal.note('quiet');
  sandbox.faults.set('');
  await mustBeReady(fixture);
  await waitFor(
    FINISH_MS,
    () => inMirror(mirror, readRows).every(({ state }) => !['ready', 'sending', 'ambiguous'].includes(state)),
    500,
  );
  const isEqual = async (): Promise<boolean> => {
    await quietSweeps(mirror);
    return difference(fixture) === null;
  };
  // A list that was shown in another order at every request is not trusted for 20 sweeps.
  let isRight = await isEqual();
  if (!isRight) await acceptDeletes(fixture);
  for (let sweeps = QUIET_SWEEPS; !isRight && sweeps < MOST_SWEEPS; sweeps += QUIET_SWEEPS)
    isRight = await isEqual();
  tally.check(EQUAL, difference(fixture) === null, () => difference(fixture) ?? '');
  // Only now: the sweeps have also shown what reconciling could not see.
  checkLedger(fixture);
  checkDeletes(fixture);
  await service.stop();
  checkFile(fixture, 'the end');
  checkSecrets(fixture);
}

const EQUAL = `the mirror equals the upstream after at most ${MOST_SWEEPS} quiet sweeps`;

/** Sweeps of both lists that began after this moment and have ended. */
async function quietSweeps(mirror: string): Promise<void> {
  const newest = 'SELECT coalesce(max(id), 0) FROM sync_runs';
  const since = inMirror(mirror, (db) => db.prepare<[], number>(newest).pluck().get() ?? 0);
  const sql = `SELECT count(*) FROM sync_runs WHERE id > ? AND resource = ? AND mode = 'sweep' AND outcome = 'complete'`;
  const ended = (resource: string): number =>
    inMirror(mirror, (db) => db.prepare<[number, string], number>(sql).pluck().get(since, resource) ?? 0);
  await waitFor(SWEEPS_MS, () => RESOURCES.every((resource) => ended(resource) >= QUIET_SWEEPS), 200);
}

/** So many rows may have gone while no sweep came through that the program rightly asks before it deletes them. */
async function acceptDeletes({ command, mirror, journal }: Fixture): Promise<void> {
  const sql = `SELECT sum(held) FROM (SELECT held, max(id) FROM sync_runs WHERE mode = 'sweep' GROUP BY resource)`;
  const held = inMirror(mirror, (db) => db.prepare<[], number>(sql).pluck().get() ?? 0);
  journal.note(`not equal by itself; ${held} deletions are held back`);
  if (held > 0) await command(['sync', '--accept-deletes', '--wait']).ended;
}
