import { SETTINGS } from '../../../config/schema.ts';
import { RESOURCES } from '../../../src/contract/endpoints.ts';
import { compare, isExact } from '../judge.ts';
import type { Program } from '../program.ts';
import type { Notes } from '../report.ts';
import type { Service } from '../stack.ts';
import type { Context, Scenario } from './scenario.ts';

const SEED = { posts: 5000, comments: 20_000 };
/** The service adds the token of the query to `next`. */
const IN_QUERY = { FEEDBACK_AUTH: 'query', FEEDBACK_AUTH_PARAM: 'token' };
const HOUR_MS = 3_600_000;

/** A first sweep of a whole service. Paged by number, it is also what an idle mirror costs. */
export const mirrors: Scenario[] = (['page', 'offset', 'cursor'] as const).map((pagination) => ({
  name: `mirror by ${pagination}`,
  async run({ deploy, open, notes, isShort }: Context) {
    const isIdle = pagination === 'page' && !isShort;
    const service = await deploy({ seed: SEED, pagination, pageSize: isIdle ? 25 : 100 });
    const program = open(service, pagination === 'cursor' ? IN_QUERY : {});
    await mirrorOnce(service, program, notes);
    if (isIdle) await idleCost(service, program, notes);
  },
}));

async function mirrorOnce(service: Service, program: Program, notes: Notes): Promise<void> {
  const began = performance.now();
  const { code, stderr } = await program.run('sync');
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  notes.check('sync exits with 0', code === 0, `exit ${code}: ${stderr.slice(-300)}`);
  const differences = await compare(program.mirror, service.db);
  notes.figure(
    'rows, requests, time',
    `${SEED.posts + SEED.comments}, ${service.requests().length}, ${seconds} s`,
  );
  for (const resource of RESOURCES)
    notes.check(
      `every row of ${resource} equals the database`,
      isExact(differences[resource]),
      differences[resource].example,
    );
}

/** Counted from one sweep and one head pass of an unchanged service, and multiplied by the default intervals. */
async function idleCost(service: Service, program: Program, notes: Notes): Promise<void> {
  const requestsOf = async (...args: string[]): Promise<number> => {
    const before = service.requests().length;
    await program.run('sync', ...args);
    return service.requests().length - before;
  };
  const [sweep, head] = [await requestsOf(), await requestsOf('--head')];
  const { sweepEvery, headEvery } = SETTINGS;
  const heads = headEvery.fallback === 'off' ? 0 : HOUR_MS / headEvery.fallback;
  const sweeps = sweepEvery.fallback === 'auto' ? 1 : HOUR_MS / sweepEvery.fallback;
  const hour = Math.round(sweeps * sweep + heads * head);
  notes.figure('idle: requests of a sweep, of a head pass', `${sweep}, ${head}`);
  notes.figure('idle: requests an hour with the default intervals (calculated)', hour);
}
