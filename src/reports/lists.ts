import { iso } from '../base/clock.ts';
import type { Packed } from '../mirror/index/columns.ts';
import { firstBy, rowsFrom, rowsWhere, setOf } from '../mirror/index/select.ts';
import { GAIN_COLUMNS, gainsByPost, gainsIn } from './gains.ts';
import type { Row } from './report.ts';
import type { ReportReader } from './store.ts';
import { firstReplies, flagged, placesOf, secondOf, selected, type TallyQuestion } from './tally.ts';

/** Reports that list single posts: the rows are chosen by their numbers before their texts are read. */

const RANKED = ['id', 'created', 'board', 'status', 'votes', 'gone'] as const;
export const REPLY_COLUMNS = ['post', 'created', 'creator', 'gone', 'reply'] as const;

export async function topPosts(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const { posts } = await reader.columns({ posts: RANKED });
  const { best, counts } = await mostVoted(reader, posts, asked, openOnly(posts, asked));
  return await withPostFacts(reader, idsOf(posts, best), counts);
}

/** Posts of customers in a status that is not an end, without a reply. */
export async function unanswered(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const { posts, comments, team } = await reader.columns({
    posts: [...RANKED, 'creator'],
    comments: REPLY_COLUMNS,
  });
  const replies = firstReplies(posts, comments, team);
  const [isTeam, isFinished] = [setOf(team), setOf(asked.finished)];
  const waiting = rowsWhere(
    selected(posts, asked),
    (i) =>
      replies[i] === Number.POSITIVE_INFINITY &&
      !isFinished(posts.status[i] ?? 0) &&
      !isTeam(posts.creator[i] ?? 0),
  );
  const { best, counts } = await mostVoted(reader, posts, asked, waiting);
  return await withPostFacts(reader, idsOf(posts, best), (i) => ({
    ...counts(i),
    waiting: secondOf(asked.now) - secondOf(posts.created[best[i] ?? 0] ?? 0),
  }));
}

/** Open posts made before the period, in which none of what counts as activity happened: a comment, a vote, an edit, a new status. */
export async function stale(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const { since } = asked;
  const { posts, comments, versions } = await reader.columns({
    posts: [...RANKED, 'version'],
    comments: ['post', 'created', 'gone'],
    versions: ['post', 'at', 'votes', 'status'],
  });
  const placeOf = placesOf(posts.id);
  const active = Float64Array.from(posts.created);
  const happened = (place: number, at: number): void => {
    if (at > (active[place] ?? at)) active[place] = at;
  };
  for (let i = 0; i < comments.rows; i++)
    if (comments.gone[i] === 0) happened(placeOf(comments.post[i] ?? 0), comments.created[i] ?? 0);
  /** Whether a change since then may be an edit: nothing that is counted changed with it. */
  const isUnclear = new Uint8Array(posts.rows);
  eachChange(posts, versions, (place, at, isCounted) => {
    if (isCounted) happened(place, at);
    else if (at >= since) isUnclear[place] = 1;
  });
  const isFinished = setOf(asked.finished);
  const quiet = rowsWhere(
    selected(posts, { ...asked, since: Number.NEGATIVE_INFINITY, until: since }),
    (i) => !isFinished(posts.status[i] ?? 0) && (active[i] ?? 0) < since,
  );
  const unclear = rowsWhere(quiet, (i) => isUnclear[i] === 1);
  for (const [id, at] of await editsOf(reader, idsOf(posts, [...unclear]))) happened(placeOf(id), at);
  const still = rowsWhere(quiet, (i) => (active[i] ?? 0) < since);
  const { best, counts } = await mostVoted(reader, posts, asked, still);
  const ids = idsOf(posts, best);
  for (const [id, at] of await editsOf(reader, ids)) happened(placeOf(id), at);
  return await withPostFacts(reader, ids, (i) => ({
    ...counts(i),
    last_activity: iso(active[best[i] ?? 0] ?? 0),
  }));
}

type Changed = Packed<'id' | 'votes' | 'status' | 'version'>;
type Before = Packed<'post' | 'at' | 'votes' | 'status'>;

/** Calls back with every change of a post, and whether its votes or its status changed. Of others the words may have changed. */
function eachChange(
  posts: Changed,
  versions: Before,
  tell: (place: number, at: number, isCounted: boolean) => void,
): void {
  const placeOf = placesOf(posts.id);
  for (let v = 0; v < versions.rows; v++) {
    const id = versions.post[v] ?? 0;
    const place = placeOf(id);
    if (place < 0) continue;
    const isLast = versions.post[v + 1] !== id;
    const at = isLast ? posts.version[place] : versions.at[v + 1];
    const votes = isLast ? posts.votes[place] : versions.votes[v + 1];
    const status = isLast ? posts.status[place] : versions.status[v + 1];
    tell(place, at ?? 0, versions.votes[v] !== votes || versions.status[v] !== status);
  }
}

const EDITS = `
  WITH
  told AS (
    SELECT post_id, title IS NOT NULL OR content IS NOT NULL AS is_edit, lead(observed_at) OVER (PARTITION BY post_id ORDER BY n) AS next
      FROM post_versions WHERE post_id IN (SELECT value FROM json_each($ids))
  )
  SELECT told.post_id AS post, max(coalesce(told.next, p.version_at)) AS at
    FROM told JOIN posts p ON p.id = told.post_id WHERE told.is_edit GROUP BY 1`;

/** When the words of posts were last seen to change, for those of them whose words did. */
async function editsOf(reader: ReportReader, ids: readonly number[]): Promise<[id: number, at: number][]> {
  if (ids.length === 0) return [];
  const rows = await reader.rows(EDITS, { ids: JSON.stringify(ids) });
  return rows.map(({ post, at }) => [Number(post), Date.parse(String(at))]);
}

/** The votes gained by each post, and what it had at the end of the period. Deleted posts are in the sums of other reports, and not listed. */
export async function gainedVotes(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const { from, until, now, observed, limit, only } = asked;
  if (from === null || observed === null) return [];
  const { posts, versions } = await reader.columns({
    posts: [...GAIN_COLUMNS.posts, 'status', 'gone'],
    versions: GAIN_COLUMNS.versions,
  });
  const gains = gainsIn({ posts, versions }, { now, observed, from });
  const { gained, later } = gainsByPost(gains, posts.rows, until);
  const after = (i: number): number => (posts.votes[i] ?? 0) - (later[i] ?? 0);
  const meant = rowsWhere(rowsFrom(gained, 1), (i) => only === null || only.has(posts.id[i] ?? 0));
  const open = openOnly(posts, { ...asked, since: Number.NEGATIVE_INFINITY }, meant);
  const best = firstBy(open, limit, {
    weight: (i) => gained[i] ?? 0,
    ties: (a, b) => after(b) - after(a) || (posts.id[a] ?? 0) - (posts.id[b] ?? 0),
  });
  return await withPostFacts(reader, idsOf(posts, best), (place) => {
    const i = best[place] ?? 0;
    const made = posts.created[i] ?? 0;
    const before = after(i) - (gained[i] ?? 0);
    return {
      gained: gained[i] ?? 0,
      votes: after(i),
      a_day: perDay(gained[i] ?? 0, Math.max(from, made), until),
      a_day_before: made < from ? perDay(before, made, from) : 0,
    };
  });
}

const DAY_MS = 86_400_000;

/** To hundredths. Less than a day counts as one. */
function perDay(votes: number, from: number, until: number): number {
  return Number((votes / Math.max(1, (until - from) / DAY_MS)).toFixed(2));
}

/** The selected posts without finished ones, unless the reader asks for those or names statuses. */
export function openOnly(
  posts: Packed<'created' | 'board' | 'status' | 'gone'>,
  asked: TallyQuestion,
  among?: Int32Array,
): Int32Array {
  const rows = selected(posts, asked, among);
  if (asked.includeClosed || asked.statuses.length > 0) return rows;
  const isFinished = setOf(asked.finished);
  return rowsWhere(rows, (i) => !isFinished(posts.status[i] ?? 0));
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
  { same, limit }: TallyQuestion,
  wanted: Int32Array,
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
  const isWanted = groups.length > 0 ? flagged(posts.rows, wanted) : () => true;
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
  const best = firstBy(wanted, limit, { weight, ties }, (row) => !hidden.has(row));
  return {
    best,
    counts: (place) => ({ votes: votes[best[place] ?? 0] ?? 0, same: sizes.get(best[place] ?? 0) ?? 1 }),
  };
}

function idsOf({ id }: Packed<'id'>, rows: readonly number[]): number[] {
  return rows.map((row) => id[row] ?? 0);
}

/** The posts with what is told of every post, and with more about each where there is more. */
export async function withPostFacts(
  reader: ReportReader,
  ids: readonly number[],
  more: (place: number) => Row = () => ({}),
): Promise<Row[]> {
  const texts = await postFactsOf(reader, ids);
  return ids.map((id, place) => ({ post: id, ...texts.get(id), ...more(place) }));
}

const TITLES = `
  SELECT p.id, p.votes_count AS votes, p.comments_count AS comments, p.created, p.title, b.name AS board, s.name AS status,
         s.color AS statusColor
    FROM posts p JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id
   WHERE p.id IN (SELECT value FROM json_each($ids))`;

/** What is told of single posts, by their ids. */
export async function postFactsOf(reader: ReportReader, ids: readonly number[]): Promise<Map<number, Row>> {
  const rows = await reader.rows(TITLES, { ids: JSON.stringify(ids) });
  return new Map(rows.map(({ id, ...text }) => [Number(id), text]));
}
