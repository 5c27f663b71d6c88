import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fixture } from '../fixture.ts';
import { checkFile } from '../invariants/file.ts';
import { recover } from '../invariants/readiness.ts';
import { redactedExport, writeCsv } from '../load/commands.ts';
import type { Incident } from '../plan.ts';

/** Named places in the program at which it kills itself when told to. */
const IN_SERVICE = ['push:claimed', 'push:answered', 'push:recorded', 'reconcile:read', 'reconcile:recorded'];
const IN_COMMANDS = ['import:accepted', 'import:results', 'export:written'];

/**
 * An unclear send has to settle before anybody looks for it: three times the longest delay that the program has seen, which kills and
 * stuck sweeps have made long by then. A refused token pauses all sending on top of it.
 */
const PATIENCE_MS = 120_000;

export function crashPoints(fixture: Fixture): Incident[] {
  return [
    ...IN_SERVICE.map((point) => ({ name: nameOf(point), run: () => crashService(fixture, point) })),
    ...IN_COMMANDS.map((point) => ({ name: nameOf(point), run: () => crashCommand(fixture, point) })),
  ];
}

function nameOf(point: string): string {
  return `crash at ${point}`;
}

async function crashService(fixture: Fixture, point: string): Promise<void> {
  const { service, sandbox, tally, journal } = fixture;
  await service.kill();
  checkFile(fixture, 'a kill before a crash point');
  await service.mayEnd(async () => {
    service.start({ FEEDBACK_TEST_CRASH: point });
    const died = service.ended().then(() => true);
    const troubled = keepUnclear(fixture, point, died);
    const isDead = await Promise.race([died, delay(PATIENCE_MS, false)]);
    if (isDead) tally.fired(nameOf(point));
    else journal.note(`${point} was not reached`);
    await service.kill();
    await troubled;
    sandbox.faults.set('');
  });
  await recover(fixture, nameOf(point));
}

/** Rows are reconciled only where something was unclear. */
async function keepUnclear(
  { sandbox, hushed }: Fixture,
  point: string,
  died: Promise<unknown>,
): Promise<void> {
  if (!point.startsWith('reconcile')) return;
  await hushed(async () => {
    sandbox.faults.set('status-after code=503 times=3');
    await Promise.race([died, delay(PATIENCE_MS)]);
  });
}

/** The file is imported again afterwards, as a person would: everything is in once. */
async function crashCommand(fixture: Fixture, point: string): Promise<void> {
  const { command, tally, drafts } = fixture;
  const posts = Array.from({ length: 3 }, () => drafts.draft());
  const file = writeCsv(fixture, posts);
  const isExport = point.startsWith('export');
  const args = isExport
    ? redactedExport(fixture, 'csv')
    : ['import', file, '--accept-unknown-boards', '--results', join(fixture.folder, 'crash-results.csv')];
  const victim = command(args, { FEEDBACK_TEST_CRASH: point });
  await victim.ended;
  if (victim.child.signalCode === 'SIGKILL') tally.fired(nameOf(point));
  if (isExport) return;
  const code = await command(['import', file, '--json', '--accept-unknown-boards']).ended;
  if (code === 0 || code === 5) drafts.accepted(posts, `import after ${nameOf(point)}`);
}
