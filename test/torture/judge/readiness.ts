import { setTimeout as delay } from 'node:timers/promises';
import { RESOURCES } from '../../../src/contract/resources.ts';
import type { Readiness } from '../service.ts';
import { type Stage, SWEEP_EVERY_MS } from '../stage.ts';
import { inMirror } from './file.ts';

const WELL = 'the service gets well again after every fault';
const TRUTH = '/readyz tells the truth';
export const READY_AGAIN = 'ready again after a kill';
const HELD_UP = 'ready again after a kill while the upstream kept a list old or sending paused';

/** Longer than the program allows itself, with the jumps of the clock on top: then the mirror is old by any measure. */
const OLD_MS = SWEEP_EVERY_MS + 2 * 90_000 + 60_000;

/** Compares what the service says of itself with what can be seen from outside. */
export async function watchReadiness(stage: Stage, until: AbortSignal): Promise<void> {
  const { service, tally } = stage;
  while (!until.aborted) {
    const said = await service.readiness();
    if (said) {
      const isConsistent =
        said.ready === said.checks.every(({ ok }) => ok) && said.ready === (said.status === 200);
      tally.check(TRUTH, isConsistent, () => `it contradicts itself: ${JSON.stringify(said)}`);
      const old = said.ready ? oldList(stage) : null;
      tally.check(TRUTH, old === null, () => `ready, and no complete sweep of ${old} for long`);
    }
    await delay(250);
  }
}

function oldList({ mirror }: Stage): string | null {
  const sql = `SELECT max(finished_at) FROM sync_runs WHERE resource = ? AND mode = 'sweep' AND outcome = 'complete'`;
  const last = (resource: string): string | null =>
    inMirror(mirror, (db) => db.prepare<[string], string | null>(sql).pluck().get(resource) ?? null);
  return RESOURCES.find((resource) => Date.now() - Date.parse(last(resource) ?? '0') > OLD_MS) ?? null;
}

/** A fault that the service must notice: until it says so, it lies. */
export async function mustAdmit({ service, tally }: Stage, fault: string, withinMs: number): Promise<void> {
  const admitted = await waitFor(withinMs, async () => (await service.readiness())?.ready === false);
  tally.check(TRUTH, admitted, () => `still ready ${withinMs / 1000} s into: ${fault}`);
}

/** An old list or a paused outbox is the upstream's doing, and rightly told; the rest is the service's own. */
const OWN = ['queue', 'loop', 'progress'];

/** Whether it gets well by itself, as far as that is up to it. One that does not is killed, so that the run can go on. */
export async function mustRecover(stage: Stage, fault: string, withinMs = 90_000): Promise<void> {
  const { service, tally, journal } = stage;
  let last: Readiness | null = null;
  const began = performance.now();
  const isWell = await waitFor(withinMs, async () => {
    last = await service.readiness();
    return last?.checks.every(({ name, ok }) => ok || !OWN.includes(name)) === true;
  });
  journal.note(`${isWell ? 'well' : 'not well'} ${Math.round(performance.now() - began)} ms after ${fault}`);
  tally.check(WELL, isWell, () => `${fault}: ${JSON.stringify(last)}`);
  if (isWell) return;
  await service.kill();
  service.start();
  await readyAgain(stage, `a kill after ${fault}`);
}

/** At the end nothing is left that could excuse it. Passes that failed are tried again after five minutes at most. */
export async function mustBeReady({ service, tally }: Stage): Promise<void> {
  let last: Readiness | null = null;
  const isReady = await waitFor(330_000, async () => {
    last = await service.readiness();
    return last?.ready === true;
  });
  tally.check('ready once the upstream is quiet', isReady, () => JSON.stringify(last));
}

/** Ready again after a start, and how long that took where nothing but the service itself was in its way. */
export async function readyAgain(stage: Stage, cause: string): Promise<void> {
  const { service, tally, journal } = stage;
  const began = performance.now();
  let blockers: string[] = [];
  const isReady = await waitFor(90_000, async () => {
    const said = await service.readiness();
    if (said && !said.ready) blockers.push(...said.checks.filter(({ ok }) => !ok).map(({ name }) => name));
    return said?.ready === true;
  });
  blockers = [...new Set(blockers)];
  const ms = Math.round(performance.now() - began);
  journal.note(
    `ready ${ms} ms after ${cause}${blockers.length > 0 ? `, held up by ${blockers.join(', ')}` : ''}`,
  );
  tally.check(
    'the service gets well again after every fault',
    isReady,
    () => `${cause}: ${blockers.join(', ')}`,
  );
  const isOwn = blockers.every((name) => OWN.includes(name));
  if (isReady) tally.took(isOwn ? READY_AGAIN : HELD_UP, ms);
}

export async function waitFor(
  withinMs: number,
  holds: () => boolean | Promise<boolean>,
  everyMs = 150,
): Promise<boolean> {
  for (const end = performance.now() + withinMs; performance.now() < end; await delay(everyMs))
    if (await holds()) return true;
  return false;
}
