import { iso } from '../base/clock.ts';
import type { Packed } from '../store/index/columns.ts';
import type { ReportReader } from '../store/reports.ts';
import type { Row } from './report.ts';
import { firstBy, firstReplies, placesOf, type Question, secondOf, selection, setOf } from './tally.ts';

/** Reports that list single posts: the rows are chosen by their numbers before their texts are read. */

const RANKED = ['id', 'created', 'board', 'status', 'votes', 'gone'] as const;
export const REPLIES = ['post', 'created', 'creator', 'gone', 'reply'] as const;

export async function topPosts(reader: ReportReader, asked: Question): Promise<Row[]> {
  const { posts } = await reader.columns({ posts: RANKED });
  const { best, counts } = await mostVoted(reader, posts, asked, selection(posts, asked));
  return await described(reader, idsOf(posts, best), counts);
}

/** Posts of customers in a status that is not an end, without a reply. */
export async function unanswered(reader: ReportReader, asked: Question): Promise<Row[]> {
  const { posts, comments, team } = await reader.columns({
    posts: [...RANKED, 'creator'],
    comments: REPLIES,
  });
  const replies = firstReplies(posts, comments, team);
  const [isSelected, isTeam, isFinished] = [selection(posts, asked), setOf(team), setOf(asked.finished)];
  const isWaiting = (i: number): boolean =>
    isSelected(i) &&
    replies[i] === Number.POSITIVE_INFINITY &&
    !isFinished(posts.status[i] ?? 0) &&
    !isTeam(posts.creator[i] ?? 0);
  const { best, counts } = await mostVoted(reader, posts, asked, isWaiting);
  const waiting = (i: number): Row => ({
    ...counts(i),
    waiting: secondOf(asked.now) - secondOf(posts.created[best[i] ?? 0] ?? 0),
  });
  return await described(reader, idsOf(posts, best), waiting);
}

/** Open posts made before the period, without a comment or a seen change in it. Being first seen later is no change: it left no version. */
export async function stale(reader: ReportReader, asked: Question): Promise<Row[]> {
  const { since } = asked;
  const { posts, comments, versions } = await reader.columns({
    posts: [...RANKED, 'version'],
    comments: ['post', 'created', 'gone'],
    versions: ['post'],
  });
  const placeOf = placesOf(posts.id);
  const [isChanged, lastComment] = [new Uint8Array(posts.rows), new Float64Array(posts.rows)];
  for (let i = 0; i < versions.rows; i++) isChanged[placeOf(versions.post[i] ?? 0)] = 1;
  lastComment.fill(Number.NEGATIVE_INFINITY);
  for (let i = 0; i < comments.rows; i++) {
    const place = placeOf(comments.post[i] ?? 0);
    const at = comments.created[i] ?? 0;
    if (comments.gone[i] === 0 && at > (lastComment[place] ?? at)) lastComment[place] = at;
  }
  const lastChange = (i: number): number =>
    isChanged[i] === 1 ? (posts.version[i] ?? 0) : Number.NEGATIVE_INFINITY;
  const isSelected = selection(posts, { ...asked, since: Number.NEGATIVE_INFINITY, until: since });
  const isFinished = setOf(asked.finished);
  const isStale = (i: number): boolean =>
    isSelected(i) &&
    !isFinished(posts.status[i] ?? 0) &&
    lastChange(i) < since &&
    (lastComment[i] ?? 0) < since;
  const { best, counts } = await mostVoted(reader, posts, asked, isStale);
  const activity = (i: number): Row => {
    const row = best[i] ?? 0;
    const last = Math.max(posts.created[row] ?? 0, lastComment[row] ?? 0, lastChange(row));
    return { ...counts(i), last_activity: iso(last) };
  };
  return await described(reader, idsOf(posts, best), activity);
}

const DAY_MS = 86_400_000;
/** So that days are counted with the rounding that julianday of SQLite has: people compare the figures with their own SQL. */
const JULIAN_MS = 210_866_760_000_000;

function daysBetween(a: number, b: number): number {
  return Math.max(1, (b + JULIAN_MS) / DAY_MS - (a + JULIAN_MS) / DAY_MS);
}

/**
 * What each post that changed in the period had at its end, less what it had at its beginning. A post made within the period began with
 * none; one that was older when it was first seen begins with what it had then.
 */
export async function gainedVotes(reader: ReportReader, asked: Question): Promise<Row[]> {
  const { from, until, rank, limit } = asked;
  if (from === null) return [];
  const { posts, versions } = await reader.columns({
    posts: [...RANKED, 'version'],
    versions: ['post', 'at', 'votes'],
  });
  const isSelected = selection(posts, { ...asked, since: Number.NEGATIVE_INFINITY });
  const { count, places, before, after } = votesAt(posts, versions, from, until, isSelected);
  const gained = (i: number): number => (after[i] ?? 0) - (before[i] ?? 0);
  const made = (i: number): number => posts.created[places[i] ?? 0] ?? 0;
  const id = (i: number): number => posts.id[places[i] ?? 0] ?? 0;
  const aDay = (i: number): number => gained(i) / daysBetween(Math.max(from, made(i)), until);
  const aDayBefore = (i: number): number => {
    const created = made(i);
    return created < from ? (before[i] ?? 0) / daysBetween(created, from) : 0;
  };
  const pace = (i: number): number => (gained(i) > 0 ? aDay(i) - aDayBefore(i) : Number.NEGATIVE_INFINITY);
  const best = firstBy(count, (i) => gained(i) > 0, limit, {
    weight: rank === 'pace' ? pace : gained,
    ties: (a, b) => (after[b] ?? 0) - (after[a] ?? 0) || id(a) - id(b),
  });
  return await described(reader, best.map(id), (i) => {
    const row = best[i] ?? 0;
    return {
      gained: gained(row),
      votes: after[row] ?? 0,
      a_day: hundredths(aDay(row)),
      a_day_before: hundredths(aDayBefore(row)),
    };
  });
}

/** As SQLite rounds: halves away from zero, by the digits of the number and not by its double. */
function hundredths(value: number): number {
  return Number(value.toFixed(2));
}

/** The votes that the wanted posts had at two moments, if they changed after the first; not a number where that is not known. */
function votesAt(
  posts: Packed<'id' | 'created' | 'votes' | 'version'>,
  versions: Packed<'post' | 'at' | 'votes'>,
  from: number,
  until: number,
  isWanted: (row: number) => boolean,
): { count: number; places: Int32Array; before: Float64Array; after: Float64Array } {
  const [places, before, after] = [
    new Int32Array(posts.rows),
    new Float64Array(posts.rows),
    new Float64Array(posts.rows),
  ];
  /** From 1 on; 0 for the others, which are most of them. */
  const numbers = new Int32Array(posts.rows);
  let count = 0;
  for (let i = 0; i < posts.rows; i++) {
    const last = posts.version[i] ?? 0;
    if (last <= from || !isWanted(i)) continue;
    places[count] = i;
    before[count] = (posts.created[i] ?? 0) >= from ? 0 : Number.NaN;
    after[count] = last <= until ? (posts.votes[i] ?? 0) : Number.NaN;
    numbers[i] = ++count;
  }
  const placeOf = placesOf(posts.id);
  const { rows, post, at, votes } = versions;
  // In the order in which they were superseded: the first one counts, or else the last one that is old enough.
  for (let v = 0; v < rows; v++) {
    const place = placeOf(post[v] ?? 0);
    const i = (numbers[place] ?? 0) - 1;
    if (i < 0) continue;
    const moment = at[v] ?? 0;
    const had = votes[v] ?? 0;
    if (moment <= from || Number.isNaN(before[i])) before[i] = had;
    if (moment <= until && (posts.version[place] ?? 0) > until) after[i] = had;
  }
  return { count, places, before, after };
}

type Ranked = Packed<'id' | 'votes' | 'gone'>;

interface MostVoted {
  best: number[];
  /** The votes of one of the best, and how many posts they are on. */
  counts(place: number): Row;
}

/** The posts with the most votes. Where asked, posts held to be the same count as one: the wanted one with the most votes stands for all. */
async function mostVoted(
  reader: ReportReader,
  posts: Ranked,
  { same, limit }: Question,
  isWanted: (row: number) => boolean,
): Promise<MostVoted> {
  const groups = same ? await reader.rows('SELECT post_id, group_id FROM post_groups', {}) : [];
  const [votes, sizes, hidden] = [
    groups.length > 0 ? new Float64Array(posts.votes) : posts.votes,
    new Map<number, number>(),
    new Set<number>(),
  ];
  const weight = (row: number): number => votes[row] ?? 0;
  const ties = (a: number, b: number): number => (posts.id[a] ?? 0) - (posts.id[b] ?? 0);
  const placeOf = groups.length > 0 ? placesOf(posts.id) : () => -1;
  for (const members of Map.groupBy(groups, (row) => row.group_id).values()) {
    const live = members
      .map((row) => placeOf(Number(row.post_id)))
      .filter((place) => posts.gone[place] === 0);
    const [first, ...others] = live.filter(isWanted).sort((a, b) => weight(b) - weight(a) || ties(a, b));
    if (first === undefined) continue;
    votes[first] = live.reduce((sum, place) => sum + (posts.votes[place] ?? 0), 0);
    sizes.set(first, live.length);
    for (const other of others) hidden.add(other);
  }
  const best = firstBy(posts.rows, (row) => isWanted(row) && !hidden.has(row), limit, { weight, ties });
  return {
    best,
    counts: (place) => ({ votes: votes[best[place] ?? 0] ?? 0, same: sizes.get(best[place] ?? 0) ?? 1 }),
  };
}

function idsOf({ id }: Packed<'id'>, rows: readonly number[]): number[] {
  return rows.map((row) => id[row] ?? 0);
}

/** The posts with what is told of every post, and with more about each where there is more. */
async function described(
  reader: ReportReader,
  ids: readonly number[],
  more: (place: number) => Row = () => ({}),
): Promise<Row[]> {
  const texts = await titlesOf(reader, ids);
  return ids.map((id, place) => ({ post: id, ...texts.get(id), ...more(place) }));
}

const TITLES = `
  SELECT p.id, p.votes_count AS votes, p.comments_count AS comments, p.created, p.title, b.name AS board, s.name AS status,
         s.color AS statusColor
    FROM posts p JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id
   WHERE p.id IN (SELECT value FROM json_each($ids))`;

/** What is told of single posts, by their ids. */
export async function titlesOf(reader: ReportReader, ids: readonly number[]): Promise<Map<number, Row>> {
  const rows = await reader.rows(TITLES, { ids: JSON.stringify(ids) });
  return new Map(rows.map(({ id, ...text }) => [Number(id), text]));
}
