import { setTimeout as delay } from 'node:timers/promises';
import { RESOURCES, type Resource } from '../../../src/contract/endpoints.ts';
import { type Fixture, SWEEP_EVERY_MS } from '../fixture.ts';
import type { Readiness } from '../service.ts';
import { checkFile, inMirror } from './file.ts';

const WELL = 'the service gets well again after every fault';
const TRUTH = '/readyz tells the truth';
export const READY_AGAIN = 'ready again after a kill';
const HELD_UP = 'ready again after a kill while the upstream kept a list old or sending paused';

/** Longer than the program allows itself between two sweeps: then the mirror is old by any measure. */
const OLD_MS = SWEEP_EVERY_MS + 2 * 90_000 + 60_000;

/** Compares what the service says of itself with what can be seen from outside. */
export async function watchReadiness(fixture: Fixture, until: AbortSignal): Promise<void> {
  const { service, tally } = fixture;
  const oldList = watchSweeps(fixture);
  while (!until.aborted) {
    const said = await service.readiness();
    const old = oldList();
    if (said) {
      const isConsistent =
        said.ready === said.checks.every(({ ok, warning }) => ok || warning) &&
        said.ready === (said.status === 200);
      tally.check(TRUTH, isConsistent, () => `it contradicts itself: ${JSON.stringify(said)}`);
      tally.check(
        TRUTH,
        !said.ready || old === null,
        () => `ready, and no complete sweep of ${old} for long`,
      );
    }
    await delay(250);
  }
}

/** The list whose last complete sweep is old, by the clock of this process: the program's own is set now and then. */
function watchSweeps({ mirror }: Fixture): () => string | null {
  const last = new Map(RESOURCES.map((resource) => [resource, { id: 0, at: performance.now() }]));
  return () => {
    for (const resource of RESOURCES) {
      const id = lastSweep(mirror, resource);
      if (id !== last.get(resource)?.id) last.set(resource, { id, at: performance.now() });
    }
    return RESOURCES.find((resource) => performance.now() - (last.get(resource)?.at ?? 0) > OLD_MS) ?? null;
  };
}

/** The number of the last complete sweep; 0 when there was none. */
export function lastSweep(mirror: string, resource: Resource): number {
  const sql = `SELECT max(id) FROM sync_runs WHERE resource = ? AND mode = 'sweep' AND outcome = 'complete'`;
  return inMirror(mirror, (db) => db.prepare<[string], number | null>(sql).pluck().get(resource) ?? 0);
}

/** A fault that the service must notice: until it says so, it lies. */
export async function mustAdmit({ service, tally }: Fixture, fault: string, withinMs: number): Promise<void> {
  const admitted = await waitFor(withinMs, async () => (await service.readiness())?.ready === false);
  tally.check(TRUTH, admitted, () => `still ready ${withinMs / 1000} s into: ${fault}`);
}

/** An old list or a paused outbox is the upstream's doing, and rightly told; the rest is the service's own. */
const OWN = ['queue', 'loop', 'progress'];

/** Whether it gets well by itself, as far as that is up to it. One that does not is killed, so that the run can go on. */
export async function mustRecover(fixture: Fixture, fault: string, withinMs = 90_000): Promise<void> {
  const { service, tally, journal } = fixture;
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
  await readyAgain(fixture, `a kill after ${fault}`);
}

/** At the end nothing is left that could excuse it. Passes that failed are tried again after five minutes at most. */
export async function mustBeReady({ service, tally }: Fixture): Promise<void> {
  let last: Readiness | null = null;
  const isReady = await waitFor(330_000, async () => {
    last = await service.readiness();
    return last?.ready === true;
  });
  tally.check('ready once the upstream is quiet', isReady, () => JSON.stringify(last));
}

/** What an operator's supervisor does after a death, with a check of the file before it. */
export async function recover(fixture: Fixture, cause: string): Promise<void> {
  checkFile(fixture, cause);
  fixture.service.start();
  await readyAgain(fixture, cause);
}

/** Ready again after a start, and how long that took where nothing but the service itself was in its way. */
export async function readyAgain(fixture: Fixture, cause: string): Promise<void> {
  const { service, tally, journal } = fixture;
  const began = performance.now();
  let blockers: string[] = [];
  const isReady = await waitFor(90_000, async () => {
    const said = await service.readiness();
    if (said && !said.ready)
      blockers.push(...said.checks.filter(({ ok, warning }) => !ok && !warning).map(({ name }) => name));
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
