import { setTimeout as delay } from 'node:timers/promises';
import { clockFaults } from './faults/clock.ts';
import { crashPoints } from './faults/crash-points.ts';
import { diskFaults } from './faults/disk.ts';
import { processFaults } from './faults/processes.ts';
import { queueFaults } from './faults/queue.ts';
import { tokenFaults } from './faults/token.ts';
import { troubleUpstream, upstreamCounts } from './faults/upstream.ts';
import { checkFile, inMirror } from './judge/file.ts';
import { checkDoubled, checkLedger, readRows } from './judge/ledger.ts';
import { checkDeletes, difference } from './judge/mirror.ts';
import { mustBeReady, mustRecover, waitFor, watchReadiness } from './judge/readiness.ts';
import { checkSecrets } from './judge/secrets.ts';
import { runCommands } from './load/commands.ts';
import { createOverHttp, readOverHttp } from './load/http-clients.ts';
import { startUpstreamLife } from './load/upstream-life.ts';
import { type Incident, rounds, streamOf } from './plan.ts';
import { openStage, type Stage, type TortureOptions } from './stage.ts';
import { type Result, resultOf } from './table.ts';

export interface Outcome extends Result {
  /** Kept where the run did not pass. */
  folder: string;
}

/** The whole run: load and faults for so long, then quiet, then judgement. */
export async function torture(options: TortureOptions): Promise<Outcome> {
  const stage = await openStage(options);
  let passed = false;
  try {
    stage.service.start();
    await mustRecover(stage, 'the first start');
    await storm(stage);
    await quiet(stage);
    const result = resultOf(stage.tally, upstreamCounts(stage));
    ({ passed } = result);
    return { ...result, folder: stage.folder };
  } finally {
    await stage.close(!passed);
  }
}

async function storm(stage: Stage): Promise<void> {
  const over = new AbortController();
  const stopLife = startUpstreamLife(stage);
  const lanes = [
    runCommands(stage, over.signal),
    createOverHttp(stage, over.signal),
    readOverHttp(stage, over.signal),
    watchReadiness(stage, over.signal),
    troubleUpstream(stage, over.signal),
    watchBooks(stage, over.signal),
  ];
  try {
    await Promise.race([strike(stage).then(() => allTroubles(stage)), ...lanes]);
  } finally {
    over.abort();
    stopLife();
    await Promise.all(lanes);
  }
}

/** One incident after the other until the time is over, and all of them once in any case. */
async function strike(stage: Stage): Promise<void> {
  const { options, journal, tally } = stage;
  const random = streamOf(options.seed, 'incidents');
  const incidents: Incident[] = [
    ...processFaults(stage, random),
    ...crashPoints(stage),
    ...queueFaults(stage, random),
    ...diskFaults(stage, random),
    ...clockFaults(stage),
    ...tokenFaults(stage),
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
async function allTroubles(stage: Stage): Promise<void> {
  await waitFor(180_000, () => [...upstreamCounts(stage).values()].every((fired) => fired > 0), 500);
}

/** What must hold at every moment is looked at every second. */
async function watchBooks(stage: Stage, until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    checkDoubled(stage);
    checkDeletes(stage);
    await delay(1000);
  }
}

/** A send whose process died may still be under way for 30 s, then it settles, and may have to be sent and looked for again. */
const FINISH_MS = 240_000;
/** Two sweeps and their second looks; after that only deletions that wait for a person can be in the way. */
const SOON_EQUAL_MS = 15_000;
const EQUAL_MS = 60_000;

/** The upstream is well and nothing moves: everything has to come right by itself. */
async function quiet(stage: Stage): Promise<void> {
  const { journal, tally, sandbox, service, mirror } = stage;
  journal.note('quiet');
  sandbox.faults.set('');
  await mustBeReady(stage);
  await waitFor(
    FINISH_MS,
    () => inMirror(mirror, readRows).every(({ state }) => !['ready', 'sending', 'ambiguous'].includes(state)),
    500,
  );
  checkLedger(stage);
  const isEqual = (ms: number): Promise<boolean> => waitFor(ms, () => difference(stage) === null, 500);
  if (!(await isEqual(SOON_EQUAL_MS))) {
    await acceptDeletes(stage);
    await isEqual(EQUAL_MS);
  }
  tally.check('the mirror equals the upstream', difference(stage) === null, () => difference(stage) ?? '');
  checkDeletes(stage);
  await service.stop();
  checkFile(stage, 'the end');
  checkSecrets(stage);
}

/** So many rows may have gone while no sweep came through that the program rightly asks before it deletes them. */
async function acceptDeletes({ command, mirror, journal }: Stage): Promise<void> {
  const sql = `SELECT sum(held) FROM (SELECT held, max(id) FROM sync_runs WHERE mode = 'sweep' GROUP BY resource)`;
  const held = inMirror(mirror, (db) => db.prepare<[], number>(sql).pluck().get() ?? 0);
  journal.note(`not equal by itself; ${held} deletions are held back`);
  if (held > 0) await command(['sync', '--accept-deletes', '--wait']).ended;
}
