import { type Found, play, randomFrom, type Story } from './evidence.ts';

/**
 * `npm run evidence -- SWEEPS SEED`: first how soon deletions are concluded in one kind of list after the other, then a long random mix
 * of orders, paging, movement, omissions, lag, truncation, empty pages and kills. Fails where a living row was deleted, but in the kinds
 * of service that the promise leaves out, and where a sweep took a request beyond the pages of its list.
 */
const wanted = Number(process.argv[2] ?? 20_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const random = randomFrom(seed);
const pick = <T>(...values: T[]): T => values[Math.floor(random() * values.length)] as T;

const CALM: Story = {
  posts: 600,
  pageSize: 20,
  paging: 'page',
  order: 'newest',
  sameDate: 1,
  rate: 0.5,
  bumps: 0,
  omission: 0,
  leak: 0,
  losesLast: false,
  lag: 0,
  repeats: false,
  truncation: { chance: 0, rows: 0 },
  emptyPage: 0,
  kill: 0,
  sweeps: 60,
  seed,
};

const LISTS: Record<string, Partial<Story>> = {
  'newest first by page': {},
  'newest first by offset': { paging: 'offset' },
  'newest first by cursor': { paging: 'cursor' },
  '5,000 posts by page': { posts: 5000, pageSize: 50, sweeps: 15 },
  '5,000 posts by cursor': { posts: 5000, pageSize: 50, sweeps: 15, paging: 'cursor' },
  '0.05 changes a request': { rate: 0.05, sweeps: 200 },
  'hardly any change': { rate: 0.005, sweeps: 400 },
  'by votes': { order: 'votes', bumps: 0.5, rate: 0.05, sweeps: 200 },
  'by votes, 0.5 changes a request': { order: 'votes', bumps: 0.5 },
  'by activity': { order: 'activity', bumps: 0.5, rate: 0.05, sweeps: 200 },
  'by activity, 0.5 changes a request': { order: 'activity', bumps: 0.5 },
  'in another order each sweep': { order: 'turns', bumps: 0.5 },
  'in random order': { order: 'random', sweeps: 30 },
  '0.05 % of rows left out of every read': { leak: 0.0005 },
  '0.5 % of rows left out of every read': { leak: 0.005 },
  '2 % of rows left out of every read': { leak: 0.02 },
  '5 % of rows left out of every read': { leak: 0.05 },
  '10 % of rows left out of every read': { leak: 0.1 },
  'equal dates, blocks of 200 of 800': { order: 'dates', sameDate: 200, posts: 800, rate: 0.05 },
  'equal dates, pairs': { order: 'dates', sameDate: 2, rate: 0.05 },
  'equal dates, all': { order: 'dates', sameDate: 10_000, rate: 0.05 },
  'by votes without a second key': { order: 'ties', bumps: 0.5, rate: 0.05 },
  'empty pages': { emptyPage: 0.2 },
  'lists cut short': { truncation: { chance: 0.1, rows: 19 } },
  'a replica behind in one sweep of ten': { lag: 0.1 },
};

/** Services that break the assumption that rows are missed by chance. */
const LEFT_OUT_OF_THE_PROMISE: Record<string, Partial<Story>> = {
  'every page loses its last row': { losesLast: true, rate: 0.05, sweeps: 200 },
  'a cursor over equal dates, blocks of 20': {
    order: 'dates',
    sameDate: 20,
    paging: 'cursor',
    rate: 0.05,
    sweeps: 200,
  },
  'a replica behind in a third of all sweeps': { lag: 1 / 3, repeats: true, sweeps: 200 },
};

type Order = Story['order'];
const ORDERS: Order[] = [
  'newest',
  'newest',
  'newest',
  'oldest',
  'activity',
  'votes',
  'random',
  'turns',
  'dates',
  'ties',
];

function anyStory(): Story {
  const order = pick(...ORDERS);
  const hasTies = order === 'dates' || order === 'ties';
  return {
    ...CALM,
    posts: pick(60, 120, 200, 600),
    pageSize: pick(5, 10, 20, 50),
    // A cursor over equal ranks loses rows where two pages meet, which the promise leaves out.
    paging: hasTies ? pick('page', 'offset') : pick('page', 'offset', 'cursor'),
    order,
    sameDate: pick(1, 2, 20, 200),
    rate: pick(0, 0.05, 0.2, 0.5, 1),
    bumps: pick(0, 0.3, 0.9),
    omission: pick(0, 0.01, 0.01, 0.05, 0.5),
    leak: pick(0, 0, 0.0005, 0.02, 0.1),
    lag: pick(0, 0.1),
    truncation: { chance: pick(0, 0.1), rows: 19 },
    emptyPage: pick(0, 0.1),
    kill: pick(0, 0, 0.2),
    seed: Math.floor(random() * 2 ** 31),
    sweeps: 40,
  };
}

const AFTER = [1, 2, 3, 5, 10];

function shares({ concludedAfter }: Pick<Found, 'concludedAfter'>): string {
  const within = (sweeps: number) => concludedAfter.filter((after) => after !== null && after <= sweeps);
  const share = (sweeps: number) =>
    ((100 * within(sweeps).length) / Math.max(1, concludedAfter.length)).toFixed(1);
  return `${AFTER.map(share).join(' / ')} % of ${concludedAfter.length} after ${AFTER.join(' / ')} sweeps`;
}

function say(what: string, found: Found): void {
  const times = (found.requests / Math.max(1, found.pages)).toFixed(2);
  const text = `${found.sweeps} sweeps, false deletions ${found.falseDeletions.length}, ${shares(found)}, ${times} requests a page`;
  process.stdout.write(`${what}: ${text}\n`);
  if (found.requests === found.pages) return;
  process.stdout.write(`${found.requests} requests for ${found.pages} pages\n`);
  process.exitCode = 1;
}

async function playAll(stories: Story[], isPromised = true): Promise<Found> {
  const all: Found = {
    sweeps: 0,
    pages: 0,
    requests: 0,
    falseDeletions: [],
    concludedAfter: [],
    held: 0,
  };
  for (const story of stories) {
    const found = await play(story);
    if (found.falseDeletions.length > 0 && isPromised) {
      process.stdout.write(`deleted, but alive: ${found.falseDeletions} in ${JSON.stringify(story)}\n`);
      process.exitCode = 1;
    }
    for (const key of ['sweeps', 'pages', 'requests'] as const) all[key] += found[key];
    all.falseDeletions.push(...found.falseDeletions);
    for (const after of found.concludedAfter) all.concludedAfter.push(after);
  }
  return all;
}

process.stdout.write(`seed ${seed}\n`);
const isMixedOnly = process.env.MIXED === '1';
for (const [what, list] of Object.entries(isMixedOnly ? {} : LISTS))
  say(what, await playAll([{ ...CALM, ...list }]));
for (const [what, list] of Object.entries(LEFT_OUT_OF_THE_PROMISE))
  say(`left out of the promise: ${what}`, await playAll([{ ...CALM, ...list }], false));
const byOrder = new Map<string, Story[]>();
for (let sweeps = 0; sweeps < wanted; ) {
  const story = anyStory();
  sweeps += story.sweeps;
  byOrder.set(story.order, [...(byOrder.get(story.order) ?? []), story]);
}
for (const [order, stories] of byOrder) say(`mixed troubles, ${order}`, await playAll(stories));
