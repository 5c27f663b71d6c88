import { openBytes, openDataFile, openMemory, type SandboxDb } from './database.ts';
import { createRandom, type Random } from './random.ts';
import { stamp } from './wire.ts';
import {
  BOARDS,
  drawTopic,
  makePerson,
  STATUSES,
  writeContent,
  writeReply,
  writeStatusNote,
  writeTitle,
} from './writing.ts';

interface SeedOptions {
  seed: number;
  posts: number;
  referenceTime: number;
  /** Spreads the history over so many days, in the rhythm of a product in use; over two years without one where it is left out. */
  days?: number | undefined;
}

/** Where a seeded world ends unless told otherwise: fixed, so that a seed gives the same bytes on every day. */
export const REFERENCE_TIME = Date.parse('2026-01-01T00:00:00.000Z');

const DAY = 86_400_000;
const SPAN = 730 * DAY;
const TEAM = 5;

interface Plan {
  random: Random;
  customers: number;
  /** The moment at which `share` of the world existed: more happens lately than long ago. */
  moment(share: number): number;
  habits: Habits;
}

interface Habits {
  /** On average: most posts have one or two, a few have six or more, some have none. */
  commentsPerPost: number;
  teamShare: number;
  /** How many posts back the team answers, on average; null for any post. */
  teamReach: number | null;
  /** The share of the customers who were there before the first post. */
  knownAtStart: number;
  /** Whether posts have the status that the team gave them last, or any. */
  hasCourse: boolean;
}

const SAMPLE: Habits = {
  commentsPerPost: 1.8,
  teamShare: 0.25,
  teamReach: null,
  knownAtStart: 0,
  hasCourse: false,
};
const IN_USE: Habits = {
  commentsPerPost: 2.6,
  teamShare: 0.45,
  teamReach: 9,
  knownAtStart: 0.5,
  hasCourse: true,
};

const templates = new Map<string, Buffer>();
const TEMPLATES = 8;
const TEMPLATE_POSTS = 1000;

/**
 * The data file, or a world in memory. Small worlds in memory are copied from the first of their kind, because tests
 * start hundreds of them: half a millisecond instead of nine for 200 posts.
 */
export function openSeeded(file: string | undefined, options: SeedOptions): SandboxDb {
  const fill = (empty: SandboxDb): void => seedWorld(empty, options);
  if (file !== undefined && file !== ':memory:') return openDataFile(file, fill);
  if (options.posts > TEMPLATE_POSTS) return openMemory(fill);
  const key = JSON.stringify(options);
  const known = templates.get(key);
  if (known) return openBytes(known);
  const db = openMemory(fill);
  if (templates.size < TEMPLATES) templates.set(key, db.serialize());
  return db;
}

/** Fills an empty database with the sample world of a seed. */
function seedWorld(db: SandboxDb, { seed, posts, referenceTime, days }: SeedOptions): void {
  const start = referenceTime - SPAN;
  const plan: Plan = {
    random: createRandom(seed),
    customers: Math.min(50_000, 12 + Math.ceil(posts / 5)),
    moment: days ? rhythm(referenceTime, days) : (share) => start + Math.floor(SPAN * share ** 0.8),
    habits: days ? IN_USE : SAMPLE,
  };
  const meta = db.prepare('INSERT INTO meta (name, value) VALUES (?, ?)');
  for (const [name, value] of Object.entries({ seed, posts, referenceTime, ...(days ? { days } : {}) }))
    meta.run(name, value);
  seedWords(db);
  seedUsers(db, plan);
  seedPosts(db, plan, posts);
  seedComments(db, plan, posts);
}

/** How much is written by the hour of the day, in UTC, and by the day of the week from Sunday on. */
const HOURS = [2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 12, 11, 9, 11, 12, 12, 11, 9, 7, 6, 5, 5, 4, 3];
const WEEK = [0.3, 1, 1.1, 1.05, 1, 0.85, 0.35];
const HOUR = 3_600_000;

/** Busy hours, quiet weekends, and half as much again at the end of the time as at its beginning. */
function rhythm(referenceTime: number, days: number): Plan['moment'] {
  const start = referenceTime - days * DAY;
  const grown: number[] = [0];
  for (let hour = 0; hour < days * 24; hour++) {
    const at = new Date(start + hour * HOUR);
    const weight = (HOURS[at.getUTCHours()] ?? 1) * (WEEK[at.getUTCDay()] ?? 1) * (1 + hour / (days * 48));
    grown.push((grown.at(-1) ?? 0) + weight);
  }
  const all = grown.at(-1) ?? 1;
  return (share) => {
    const wanted = Math.min(Math.max(share, 0), 1) * all;
    const next = grown.findIndex((sum) => sum > wanted);
    if (next <= 0) return share <= 0 ? start : referenceTime;
    const [low = 0, high = 1] = [grown[next - 1], grown[next]];
    return Math.floor(start + (next - 1 + (wanted - low) / (high - low)) * HOUR);
  };
}

function seedWords(db: SandboxDb): void {
  const board = db.prepare('INSERT INTO boards (slug, name) VALUES (?, ?)');
  for (const { slug, name } of BOARDS) board.run(slug, name);
  const status = db.prepare('INSERT INTO statuses (name, color) VALUES (?, ?)');
  for (const { name, color } of STATUSES) status.run(name, color);
}

/** The team comes first (ids 1 to 5), then customers in the order in which they signed up. */
function seedUsers(db: SandboxDb, { random, customers, moment, habits: { knownAtStart } }: Plan): void {
  const insert = db.prepare(
    `INSERT INTO users (email, email_key, name, alias, registered, is_admin, is_team)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const signedUp = (n: number): number =>
    Math.max(0, (n - TEAM - 1) / customers - knownAtStart) / (1 - knownAtStart);
  for (let n = 1; n <= TEAM + customers; n++) {
    const { name, email, alias } = makePerson(random, n);
    const team = n <= TEAM;
    const joined = team ? moment(0) - (60 + n) * DAY : moment(signedUp(n)) - 30 * DAY;
    const registered = stamp(joined - random.int(DAY), random.int(1000));
    insert.run(email, email.toLowerCase(), name, alias, registered, n <= 2 ? 1 : 0, team ? 1 : 0);
  }
}

function seedPosts(db: SandboxDb, plan: Plan, count: number): void {
  const { random, moment } = plan;
  const insert = db.prepare(
    `INSERT INTO posts (board_id, status_id, creator_id, votes_count, created, title, content)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  for (let n = 0; n < count; n++) {
    const share = (n + random.next()) / count;
    const about = drawTopic(random);
    const title = writeTitle(random, about);
    insert.run(
      skewed(random, BOARDS.length),
      plan.habits.hasCourse ? 1 : skewed(random, STATUSES.length),
      random.chance(0.04) ? 1 + random.int(TEAM) : customer(plan, share),
      votes(random),
      stamp(moment(share), random.int(1000)),
      title,
      writeContent(random, about),
    );
  }
}

/**
 * Comments are written in the order of time over all posts, as their ids say. A comment at `share` picks among the
 * posts that were there, lately made ones more often.
 */
function seedComments(db: SandboxDb, plan: Plan, posts: number): void {
  const { random, moment, habits } = plan;
  const insert = db.prepare(
    `INSERT INTO comments (post_id, creator_id, kind, status, likes_count, created, highlighted, internal, content)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const setStatus = db.prepare('UPDATE posts SET status_id = ? WHERE id = ?');
  const count = Math.floor(posts * habits.commentsPerPost);
  for (let n = 0; n < count; n++) {
    const share = 1 / posts + (1 - 1 / posts) * ((n + random.next()) / count);
    const there = Math.floor(share * posts);
    const drawn = random.next();
    const fromTeam = random.chance(habits.teamShare);
    const status = fromTeam && random.chance(0.3) ? 1 + random.int(STATUSES.length) : null;
    const isAnswer = fromTeam && status === null && habits.teamReach !== null;
    const back = isAnswer ? -Math.log(1 - drawn) * (habits.teamReach ?? 0) : there * drawn ** 1.3;
    const post = Math.max(1, there - Math.floor(back));
    if (status !== null && habits.hasCourse) setStatus.run(status, post);
    insert.run(
      post,
      fromTeam ? 1 + random.int(TEAM) : customer(plan, share),
      status === null ? 'reply' : 'status_change',
      status === null ? null : statusJson(status),
      Math.floor(votes(random) / 6),
      stamp(moment(share), random.int(1000)),
      random.chance(0.05) ? 1 : 0,
      fromTeam && random.chance(0.2) ? 1 : 0,
      status === null ? writeReply(random, fromTeam) : writeStatusNote(random, statusName(status)),
    );
  }
}

/** A customer who had signed up by then; early customers write more. */
function customer({ random, customers, habits: { knownAtStart } }: Plan, share: number): number {
  const there = knownAtStart + (1 - knownAtStart) * share;
  return TEAM + 1 + Math.floor(Math.floor(there * customers) * random.next() ** 1.4);
}

/** An id from 1 to `count`, low ones more often. */
function skewed(random: Random, count: number): number {
  return 1 + Math.floor(count * random.next() ** 1.6);
}

/** Long-tailed: half of the posts have one or two votes, one in a thousand has hundreds. */
function votes(random: Random): number {
  return Math.min(9_999, Math.floor((1 - random.next()) ** -0.9));
}

function statusName(id: number): string {
  return STATUSES[id - 1]?.name ?? '';
}

function statusJson(id: number): string {
  return JSON.stringify({ id, ...STATUSES[id - 1] });
}
