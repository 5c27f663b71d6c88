import { setTimeout as delay } from 'node:timers/promises';
import { RESOURCES } from '../../../src/contract/endpoints.ts';
import { LONG_RUN_MS, until } from '../../support/until.ts';
import {
  compare,
  type Deletion,
  falselyDeleted,
  isExact,
  shares,
  sweepsOf,
  sweepsUntilFound,
} from '../judge.ts';
import type { Program } from '../program.ts';
import type { Notes } from '../report.ts';
import { startTraffic } from '../traffic.ts';
import type { Context, Scenario } from './scenario.ts';

/** Each deletion gets so many sweeps that begin after it. */
const QUIET_SWEEPS = 5;

const SETTINGS = { SYNC_SWEEP_EVERY: '5s', SYNC_HEAD_EVERY: '2s' };
const CHANGES_PER_SECOND = 12;
const LISTS = [
  { name: 'by page', pagination: 'page' },
  { name: 'by cursor', pagination: 'cursor' },
  { name: 'oldest first', ordering: 'id' },
] as const;

/** The service runs beside people who post, edit, vote and delete. In the end the mirror equals the database. */
export const lives: Scenario[] = LISTS.map(({ name, ...list }) => ({
  name: `live traffic ${name}`,
  async run({ deploy, open, notes, seed, isShort }: Context) {
    const service = await deploy({ seed: { posts: 1500, comments: 3000 }, ...list });
    const program = open(service, SETTINGS);
    await program.run('sync');
    const running = program.start();
    const traffic = startTraffic(service, seed, CHANGES_PER_SECOND);
    await delay(isShort ? 35_000 : 120_000);
    await traffic.stop();
    await quietSweeps(program.mirror);
    running.child.kill('SIGTERM');
    notes.check('the service ends with 0 on SIGTERM', (await running.ended) === 0);
    const done = [...traffic.done].map(([name, times]) => `${name} ${times}`);
    notes.figure('changes meanwhile', done.join(', '));
    judgeDeletions(program, traffic.deletions, notes);
    const differences = await compare(program.mirror, service.db);
    for (const resource of RESOURCES)
      notes.check(
        `${resource} equal the database in the end`,
        isExact(differences[resource]),
        differences[resource].example,
      );
  },
}));

/** Each sweep has a limit of its own, because a busy machine takes minutes for all of them. */
async function quietSweeps(mirror: string): Promise<void> {
  const now = new Date().toISOString();
  const haveFollowed = (count: number): boolean => {
    const later = sweepsOf(mirror).filter(({ started_at }) => started_at > now);
    return RESOURCES.every(
      (resource) => later.filter((sweep) => sweep.resource === resource).length >= count,
    );
  };
  for (let count = 1; count <= QUIET_SWEEPS; count++)
    await until(`sweep ${count} has followed the last change`, () => haveFollowed(count), LONG_RUN_MS);
}

function judgeDeletions({ mirror }: Program, deletions: readonly Deletion[], notes: Notes): void {
  for (const resource of RESOURCES) {
    const sweeps = sweepsUntilFound(
      mirror,
      deletions.filter((deletion) => deletion.resource === resource),
    );
    if (sweeps.length === 0) continue;
    notes.figure(
      `deletions of ${resource} in the mirror after 1 / 2 / 3 / 5 sweeps`,
      `${shares(sweeps)} of ${sweeps.length}`,
    );
  }
  const wrong = falselyDeleted(mirror, deletions);
  notes.check('no living row was ever deleted', wrong === 0, `${wrong} rows`);
}
