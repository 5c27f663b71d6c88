/**
 * A mirror of a size that nobody has at hand, with a year of history, written straight into its tables:
 *   node bench/mirror-data.ts --posts 1000000 --out /tmp/large/mirror.db
 * The same arguments give the same file. Words follow Zipf's law, so that searching it costs what searching real text costs.
 */
import { parseArgs } from 'node:util';
import { type Db, openForWriting } from '../src/db/open.ts';
import { openMirrorStore } from '../src/mirror/store/store.ts';
import { createRandom, type Random } from '../src/sandbox/random.ts';
import { BOARDS, STATUSES } from '../src/sandbox/writing.ts';
import { zipfLanguage } from './words.ts';

const DAY = 86_400_000;
/** How long the service has existed, and for how long of that it has been mirrored. */
const YEARS = 3;
const MIRRORED_DAYS = 365;
/** One in so many users works for the company. */
const TEAM = 200;

export interface MirrorRequest {
  path: string;
  upstream: string;
  posts: number;
  /** As many as posts unless given. */
  comments?: number | undefined;
  seed?: number;
  /** The moment the file pretends to be written, in milliseconds since the epoch. */
  now: number;
}

interface Plan {
  posts: number;
  comments: number;
  users: number;
  now: number;
  random: Random;
  words: (count: number) => string;
}

/** Writes the mirror, its index included; nothing may be at the path yet. */
export async function makeMirror({ path, upstream, ...request }: MirrorRequest): Promise<void> {
  const made = planOf(request);
  const db = openForWriting({ path, upstream });
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -400000');
  for (const write of [writePeople, writePosts, writeComments, writeRuns])
    db.transaction(() => write(db, made))();
  db.close();
  const store = openMirrorStore({ path, upstream, holder: 'bench' });
  while (await store.index());
  await store.close();
}

function planOf({ posts, comments = posts, seed = 1, now }: Omit<MirrorRequest, 'path' | 'upstream'>): Plan {
  const random = createRandom(seed);
  const { text } = zipfLanguage();
  const users = Math.max(20, Math.ceil(posts / 10));
  return { posts, comments, users, now, random, words: (count) => text(count, random) };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function writePeople(db: Db, { users, now, random }: Plan): void {
  const seen = iso(now - MIRRORED_DAYS * DAY);
  const board = db.prepare(
    'INSERT INTO boards (id, name, url, slug, first_seen_at, changed_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  for (const [i, { name, slug }] of BOARDS.entries()) board.run(i + 1, name, `/b/${slug}/`, slug, seen, seen);
  const status = db.prepare(
    'INSERT INTO statuses (id, name, color, first_seen_at, changed_at) VALUES (?, ?, ?, ?, ?)',
  );
  for (const [i, { name, color }] of STATUSES.entries()) status.run(i + 1, name, color, seen, seen);
  const user = db.prepare(`
    INSERT INTO users (id, email, name, alias, registered, is_admin, is_team, first_seen_at, changed_at)
    VALUES (?, ?, ?, '', ?, 0, ?, ?, ?)`);
  for (let id = 1; id <= users; id++) {
    const registered = iso(now - random.int(YEARS * 365) * DAY);
    user.run(id, `user${id}@example.com`, `User ${id}`, registered, id % TEAM === 1 ? 1 : 0, seen, seen);
  }
}

interface Version {
  post: number;
  from: number;
  until: number;
  status: number;
  votes: number;
}

/** Few people write much: the square draws low ids more often. */
function someone({ random, users }: Plan): number {
  return 1 + Math.floor(random.next() ** 2 * users);
}

function writePosts(db: Db, made: Plan): void {
  const { posts, now, random, words } = made;
  const began = now - MIRRORED_DAYS * DAY;
  const insert = db.prepare(`
    INSERT INTO posts (id, title, content, url, creator_id, board_id, status_id, votes_count, comments_count, created,
                       first_seen_at, changed_at, version_at, deleted_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const superseded: Version[] = [];
  for (let id = 1; id <= posts; id++) {
    const created = now - Math.floor(((posts - id + random.next()) / posts) * YEARS * 365 * DAY);
    const seen = Math.max(created + random.int(3_600_000), began);
    const current = livePost(made, id, seen, superseded);
    const title = words(3 + random.int(10));
    const row = [title, words(15 + random.int(91)), `/p/${id}/`, someone(made), boardOf(random)];
    const times = [iso(created), iso(seen), iso(current.from), iso(current.from)];
    const deleted = random.chance(0.01) ? iso(current.from) : null;
    insert.run(id, ...row, current.status, current.votes, random.int(6), ...times, deleted);
  }
  writeVersions(db, superseded);
}

function boardOf(random: Random): number {
  return 1 + Math.floor(random.next() ** 1.5 * BOARDS.length);
}

/** What the post is now; each state it had before that goes to the list. Young posts change most. */
function livePost({ random, now }: Plan, post: number, seen: number, superseded: Version[]): Version {
  const state = { post, from: seen, until: now, status: 1, votes: Math.floor(random.next() ** -0.7) };
  if (random.chance(0.4)) state.status = 1 + random.int(STATUSES.length);
  const changes = random.chance(0.5) ? 1 + random.int(4) : 0;
  for (let i = 0; i < changes; i++) {
    const until = state.from + Math.floor(random.next() ** 3 * (now - state.from));
    if (until <= state.from) continue;
    superseded.push({ ...state, until });
    state.from = until;
    if (random.chance(0.3)) state.status = 1 + random.int(STATUSES.length);
    else state.votes += 1 + random.int(5);
  }
  return state;
}

/** In the order in which they were superseded, as a mirror writes them. */
function writeVersions(db: Db, superseded: Version[]): void {
  const insert = db.prepare(`
    INSERT INTO post_versions (post_id, observed_at, board_id, status_id, votes_count, comments_count, deleted)
    VALUES (?, ?, 1, ?, ?, 0, 0)`);
  superseded.sort((a, b) => a.until - b.until);
  for (const { post, from, status, votes } of superseded) insert.run(post, iso(from), status, votes);
}

function writeComments(db: Db, made: Plan): void {
  const { comments, posts, users, now, random, words } = made;
  const began = now - MIRRORED_DAYS * DAY;
  db.exec(`INSERT INTO commented_posts (id, title, url, first_seen_at, changed_at)
           SELECT id, title, url, first_seen_at, first_seen_at FROM posts`);
  const insert = db.prepare(`
    INSERT INTO comments (id, post_id, creator_id, kind, likes_count, highlighted, internal, content, created,
                          first_seen_at, changed_at, version_at)
    VALUES (?, ?, ?, 'reply', ?, 0, ?, ?, ?, ?, ?, ?)`);
  for (let id = 1; id <= comments; id++) {
    const created = now - Math.floor(((comments - id) / comments) * YEARS * 365 * DAY);
    const seen = iso(Math.max(created + random.int(3_600_000), began));
    // On a post that existed by then, rather a young one.
    const post = Math.max(1, Math.ceil((id / comments) * posts * (1 - random.next() ** 4)));
    const isTeam = random.chance(0.3);
    const author = isTeam ? 1 + TEAM * random.int(Math.ceil(users / TEAM)) : someone(made);
    const internal = isTeam && random.chance(0.1) ? 1 : 0;
    const text = words(5 + random.int(25));
    insert.run(id, post, author, random.int(4), internal, text, iso(created), seen, seen, seen);
  }
}

/** A sweep of each list a day for as long as there is history. */
function writeRuns(db: Db, { now, posts }: Plan): void {
  const insert = db.prepare(`
    INSERT INTO sync_runs (resource, mode, started_at, finished_at, outcome, pages, rows, unchanged)
    VALUES (?, 'sweep', ?, ?, 'complete', ?, ?, ?)`);
  for (let day = MIRRORED_DAYS; day >= 0; day--)
    for (const resource of ['posts', 'comments']) {
      const at = now - day * DAY;
      insert.run(resource, iso(at - 60_000), iso(at), Math.ceil(posts / 100), posts, posts);
    }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      posts: { type: 'string', default: '10000' },
      comments: { type: 'string' },
      out: { type: 'string' },
      upstream: { type: 'string', default: 'https://feedback.example.com' },
      seed: { type: 'string', default: '1' },
      now: { type: 'string', default: '2026-11-01T00:00:00.000Z' },
    },
  });
  const { out: path, upstream, posts, comments, seed, now } = values;
  if (path === undefined) throw new Error('--out FILE is missing: where the mirror is to be written');
  await makeMirror({
    path,
    upstream,
    posts: Number(posts),
    comments: comments === undefined ? undefined : Number(comments),
    seed: Number(seed),
    now: Date.parse(now),
  });
}

if (import.meta.main) await main();
