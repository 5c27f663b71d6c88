import { ensureUser } from './access.ts';
import { prepared } from './listing.ts';
import { createRandom, type Random } from './random.ts';
import type { World } from './world.ts';
import { BOARDS, makePerson, writeReply, writeStatusNote } from './writing.ts';

/** What just happened in the world. */
interface LiveEvent {
  what: 'vote' | 'post' | 'comment' | 'status' | 'move' | 'delete post' | 'delete comment';
  /** The post or comment it happened to. */
  id: number;
}

/** How the events are shared out: up to which number of a draw from 0 to 1 each happens, and a removal beyond the last. */
const PACES = {
  busy: { vote: 0.6, post: 0.75, comment: 0.92, status: 0.96, move: 0.975 },
  // A day of it fits to the days before it in the history of a demonstration: mostly votes.
  calm: { vote: 0.94, post: 0.95, comment: 0.98, status: 0.993, move: 0.997 },
} as const;

export type LifePace = keyof typeof PACES;

/** Lets people use the service: each call of the returned function is one event, the same ones for the same seed. */
export function createLife(world: World, seed: number, pace: LifePace = 'busy'): () => LiveEvent {
  const random = createRandom(seed ^ 0x11fe);
  const until = PACES[pace];
  return () => {
    const post = anyPost(world, random);
    if (post === null) return newPost(world, random);
    const draw = random.next();
    if (draw < until.vote) return vote(world, random, post);
    if (draw < until.post) return newPost(world, random);
    if (draw < until.comment) return comment(world, random, post);
    if (draw < until.status) return status(world, random, post);
    if (draw < until.move) return move(world, random, post);
    return remove(world, random, post);
  };
}

/** An event every so often, until the returned function is called. It keeps no process alive. */
export function startLife(
  world: World,
  seed: number,
  { everyMs, pace }: { everyMs: number; pace?: LifePace },
): () => void {
  const step = createLife(world, seed, pace);
  const timer = setInterval(() => unlessDiskFails(step), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** On a full disk nothing happens for a while: thrown in a timer, it would end the service that the sandbox lives in. */
function unlessDiskFails(step: () => unknown): void {
  try {
    step();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!/^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|BUSY)/.test(code)) throw error;
  }
}

/** Newer posts get more attention. Ids have holes, so it is the next post at or below the drawn one. */
function anyPost(world: World, random: Random): number | null {
  const { last } = prepared(world.db, 'SELECT max(id) AS last FROM posts').get() as { last: number | null };
  if (last === null) return null;
  const drawn = last - Math.floor(last * random.next() ** 2);
  const sql = 'SELECT id FROM posts WHERE id <= ? ORDER BY id DESC LIMIT 1';
  const found = prepared(world.db, sql).get(drawn) as { id: number } | undefined;
  return found?.id ?? last;
}

function vote(world: World, random: Random, post: number): LiveEvent {
  const back = random.chance(0.08) && world.post(post).votes_count > 0;
  world.vote(post, back ? -1 : 1);
  return { what: 'vote', id: post };
}

function newPost(world: World, random: Random): LiveEvent {
  const board = random.pick(BOARDS).slug;
  return { what: 'post', id: world.addPost({ board, votes: 1, ...author(world, random) }).id };
}

function comment(world: World, random: Random, post: number): LiveEvent {
  const content = writeReply(random, false);
  return { what: 'comment', id: world.addComment({ post, content, ...author(world, random) }).id };
}

/** The team moves a post on and says so. */
function status(world: World, random: Random, post: number): LiveEvent {
  const next = random.pick(world.statuses());
  world.setStatus(post, next.id);
  const content = writeStatusNote(random, next.name);
  world.addComment({ post, kind: 'status_change', status: next, content });
  return { what: 'status', id: post };
}

/** Somebody of the team puts it where it belongs. */
function move(world: World, random: Random, post: number): LiveEvent {
  const { url } = world.post(post).board;
  world.editPost(post, { board: random.pick(world.boards().filter((board) => board.url !== url)).slug });
  return { what: 'move', id: post };
}

function remove(world: World, random: Random, post: number): LiveEvent {
  const sql = 'SELECT id FROM comments WHERE post_id = ? ORDER BY id DESC LIMIT 1';
  const last = prepared(world.db, sql).get(post) as { id: number } | undefined;
  if (last && random.chance(0.5)) {
    world.deleteComment(last.id);
    return { what: 'delete comment', id: last.id };
  }
  world.deletePost(post);
  return { what: 'delete post', id: post };
}

/** Without an e-mail the world picks an existing person. In 15 % of all events the author is a new person. */
function author(world: World, random: Random): { email?: string } {
  if (!random.chance(0.15)) return {};
  const { name, email } = makePerson(random, 1_000_000 + random.int(1_000_000));
  ensureUser(world.db, email, name, world.clock.now());
  return { email };
}
