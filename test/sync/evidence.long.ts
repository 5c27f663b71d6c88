import { type Found, play, randomFrom, type Story } from './evidence.ts';

/**
 * `npm run evidence -- SWEEPS SEED`: first the rates at which deletions are concluded, then a long random mix of orders, paging,
 * movement, omissions, lag, truncation, empty pages and kills. Fails at the first living row that was deleted.
 */
const wanted = Number(process.argv[2] ?? 20_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const random = randomFrom(seed);
const pick = <T>(...values: T[]): T => values[Math.floor(random() * values.length)] as T;

const CALM = {
  order: 'newest',
  rate: 0.5,
  bumps: 0,
  omission: 0,
  lag: 0,
  truncation: { chance: 0, rows: 0 },
  emptyPage: 0,
  kill: 0,
} as const;

function anyStory(): Story {
  const posts = pick(30, 60, 120, 200, 600);
  return {
    posts,
    pageSize: pick(5, 10, 20, 50),
    paging: pick('page', 'offset', 'cursor'),
    order: pick('newest', 'newest', 'newest', 'oldest', 'activity', 'votes', 'random', 'turns'),
    rate: pick(0, 0.05, 0.2, 0.5, 1),
    bumps: pick(0, 0.3, 0.9),
    omission: pick(0, 0.01, 0.01, 0.05, 0.5),
    lag: pick(0, 0.1),
    truncation: { chance: pick(0, 0.1), rows: 19 },
    emptyPage: pick(0, 0.1),
    kill: pick(0, 0, 0.2),
    seed: Math.floor(random() * 2 ** 31),
    sweeps: 40,
  };
}

function shares({ concludedAfter }: Pick<Found, 'concludedAfter'>): string {
  const within = (sweeps: number) => concludedAfter.filter((after) => after !== null && after <= sweeps);
  const share = (sweeps: number) => ((100 * within(sweeps).length) / concludedAfter.length).toFixed(1);
  return `${[1, 2, 3, 5, 8].map(share).join(' / ')} % of ${concludedAfter.length} after 1 / 2 / 3 / 5 / 8 sweeps`;
}

function say(what: string, found: Found): void {
  const times = (found.requests / found.pages).toFixed(2);
  const text = `${found.sweeps} sweeps, false deletions ${found.falseDeletions.length}, ${shares(found)}, ${times} x the requests`;
  process.stdout.write(`${what}: ${text}\n`);
}

async function playAll(stories: Story[]): Promise<Found> {
  const all: Found = { sweeps: 0, pages: 0, requests: 0, falseDeletions: [], concludedAfter: [], held: 0 };
  for (const story of stories) {
    const found = await play(story);
    if (found.falseDeletions.length > 0) {
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
for (const [posts, pageSize, sweeps] of [
  [600, 20, 60],
  [5000, 50, 15],
] as const)
  for (const paging of ['page', 'offset', 'cursor'] as const)
    say(
      `${posts} posts, ${paging}, 0.5 changes a request`,
      await playAll([{ ...CALM, posts, pageSize, paging, sweeps, seed }]),
    );
for (const order of ['votes', 'activity', 'turns'] as const)
  say(
    `600 posts by ${order}, 0.5 changes a request, half of them votes`,
    await playAll([
      { ...CALM, order, bumps: 0.5, posts: 600, pageSize: 20, paging: 'page', sweeps: 60, seed },
    ]),
  );
const byOrder = new Map<string, Story[]>();
for (let sweeps = 0; sweeps < wanted; ) {
  const story = anyStory();
  sweeps += story.sweeps;
  byOrder.set(story.order, [...(byOrder.get(story.order) ?? []), story]);
}
for (const [order, stories] of byOrder) say(`mixed troubles, ${order}`, await playAll(stories));
