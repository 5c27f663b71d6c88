import type { Random } from '../../src/sandbox/random.ts';
import { minute } from '../support/rows.ts';

/** An upstream over some weeks, with everything it was at each look of the mirror. The ledger knows no table of the program. */

export const DAY = 86_400_000;
const BOARDS = [1, 2];
/** Open, Planned, Done. */
const DONE = 3;

export interface Post {
  id: number;
  created: number;
  creator: number;
  board: number;
  status: number;
  votes: number;
}

export interface Reply {
  id: number;
  post: number;
  at: number;
}

export interface Look {
  at: number;
  posts: ReadonlyMap<number, Post>;
}

export interface Ledger {
  looks: Look[];
  replies: Reply[];
  now: number;
}

/** A day for each look; between some of them nobody looks for more than a week. */
const LOOKS = [0, 1, 2, 3, 5, 6, 8, 9, 10, 23, 24, 25, 26, 28, 29, 30, 31, 33, 35, 36, 37, 38];
const DAYS = 40;

export function createLedger(random: Random): Ledger {
  const posts = new Map<number, Post>();
  const replies: Reply[] = [];
  const looks: Look[] = [];
  let next = 1;
  const add = (created: number, votes: number, status: number): void => {
    const post = {
      id: next,
      created,
      creator: random.chance(0.9) ? 1 : 2,
      board: random.pick(BOARDS),
      status,
      votes,
    };
    posts.set(next++, post);
    if (random.chance(0.6)) replies.push({ id: post.id, post: post.id, at: created + random.int(12 * DAY) });
  };
  for (let i = 0; i < 60; i++) add(minute(0) - 1 - random.int(200 * DAY), random.int(40), 1 + random.int(3));
  for (let day = 0; day < DAYS; day++) {
    const at = minute(day * 1440);
    if (day > 0)
      for (let i = random.int(5); i > 0; i--)
        add(at - random.int(DAY), random.int(3), random.chance(0.9) ? 1 : 2);
    for (const post of posts.values()) {
      if (random.chance(0.2)) post.votes = Math.max(0, post.votes + random.int(5) - 1);
      if (random.chance(0.05)) post.status = Math.min(DONE, post.status + 1);
      if (random.chance(0.01)) post.board = random.pick(BOARDS);
      if (random.chance(0.008)) posts.delete(post.id);
    }
    if (LOOKS.includes(day))
      looks.push({ at, posts: new Map([...posts].map(([id, post]) => [id, { ...post }])) });
  }
  const last = looks.at(-1)?.at ?? 0;
  return { looks, replies: replies.filter(({ at }) => at <= last), now: minute(DAYS * 1440) };
}

export interface Gain {
  post: number;
  votes: number;
  at: number;
  board: number;
  age: number;
}

/** Votes that came to light with each look. */
export function gainsOf({ looks }: Ledger): Gain[] {
  const [first] = looks;
  const had = new Map<number, number>();
  return looks.flatMap(({ at, posts }) =>
    [...posts.values()].flatMap(({ id, votes, board, created }) => {
      const before = had.get(id) ?? (created >= (first?.at ?? 0) ? 0 : votes);
      had.set(id, votes);
      return votes === before ? [] : [{ post: id, votes: votes - before, at, board, age: at - created }];
    }),
  );
}

export interface Stay {
  post: number;
  status: number;
  /** When it was seen to begin; null where it began before the first look. */
  began: number | null;
  /** When it was seen to be over; null where it was not by the last look. */
  ended: number | null;
}

/** The stays of posts that live at the last look. */
export function staysOf({ looks }: Ledger): Stay[] {
  const [first, last] = [looks[0], looks.at(-1)];
  return [...(last?.posts.keys() ?? [])].flatMap((id) => {
    const seen = looks.flatMap(({ at, posts }) => {
      const post = posts.get(id);
      return post ? [{ at, ...post }] : [];
    });
    const changes = seen.filter((post, i) => i === 0 || post.status !== seen[i - 1]?.status);
    return changes.map(({ at, status, created }, i) => ({
      post: id,
      status,
      began: i > 0 ? at : created >= (first?.at ?? 0) ? created : null,
      ended: changes[i + 1]?.at ?? null,
    }));
  });
}
