import { setTimeout as delay } from 'node:timers/promises';
import type { Behaviour } from '../../laboratory/server.ts';
import type { Fixture } from '../fixture.ts';
import { rounds, streamOf } from '../plan.ts';

type Upstream = Pick<Fixture, 'sandbox' | 'journal' | 'tally' | 'options'>;

const HOUR_MS = 3_600_000;

/** One way for the upstream to be, and what counts as its having mattered. */
interface Way {
  name: string;
  behaviour: Partial<Behaviour>;
  /** A count that grows whenever it does. */
  count(upstream: Upstream): number;
}

const ON_CREATES: [name: string, behaviour: Partial<Behaviour>][] = [
  ['folds addresses', { foldAddresses: true }],
  ['shows the owner as creator', { creator: 'owner' }],
  ['moves new posts', { movePosts: 0.5 }],
  ['cuts created to the day', { created: 'day' }],
  ['has created two hours behind', { created: 2 * HOUR_MS }],
  ['rewrites and moves', { rewrite: ['all'], movePosts: 0.3, created: 'second' }],
];

const ON_LISTS: [name: string, behaviour: Partial<Behaviour>][] = [
  ['sorts by activity', { order: 'activity' }],
  ['sorts at random', { order: 'random' }],
  ['writes times of posts without fractions', { postTimes: 'second' }],
  ['shows people in comments otherwise', { commentUsers: ['name', 'alias', 'registered', 'extra'] }],
];

const WAYS: Way[] = [
  { name: 'rewrites', behaviour: { rewrite: ['all'] }, count: rewrites },
  ...ON_CREATES.map(([name, behaviour]) => ({ name, behaviour, count: creates })),
  ...ON_LISTS.map(([name, behaviour]) => ({ name, behaviour, count: requests })),
];

function rewrites({ sandbox }: Upstream): number {
  return sandbox.world.ledger().filter(({ rewritten }) => rewritten !== '').length;
}

function creates({ sandbox }: Upstream): number {
  return sandbox.world.ledger().length;
}

function requests({ sandbox }: Upstream): number {
  return sandbox.requestCount;
}

function nameOf({ name }: Way): string {
  return `upstream ${name}`;
}

/** How long a way lasts at least: two sweeps. */
const LASTS_MS = 6000;

/** The upstream is now like this, now like that, as if its makers changed it all the time. */
export async function changeBehaviour(upstream: Upstream, until: AbortSignal): Promise<void> {
  const { sandbox, journal, tally } = upstream;
  const random = streamOf(upstream.options.seed, 'behaviour');
  const usual = { ...sandbox.world.behaviour };
  for (const way of WAYS) tally.expect(nameOf(way));
  for (const { card } of rounds(WAYS, random)) {
    if (until.aborted) break;
    const before = card.count(upstream);
    journal.note(`from now on the upstream ${card.name}`);
    Object.assign(sandbox.world.behaviour, usual, card.behaviour);
    await delay(LASTS_MS + random.int(4000), undefined, { signal: until }).catch(() => undefined);
    tally.fired(nameOf(card), card.count(upstream) - before);
  }
  Object.assign(sandbox.world.behaviour, usual);
}
