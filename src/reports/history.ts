import type { Packed } from '../mirror/index/columns.ts';
import { rowsFrom, rowsWhere } from '../mirror/index/select.ts';
import { GAIN_COLUMNS, gainsIn } from './gains.ts';
import type { Row } from './report.ts';
import type { ReportReader } from './store.ts';
import {
  asOfNow,
  flagged,
  placesById,
  placesOf,
  selected,
  sqlTimeOf,
  type TallyQuestion,
  weekFinder,
} from './tally.ts';
import { bucketRemark } from './watching.ts';

/** Reports that follow posts through their versions. Those are in the order in which they were superseded. */

/** A post reached a status when it is in it now, or was once seen in it. */
export async function funnel(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const { posts, versions, statuses } = await reader.columns({
    posts: ['id', 'created', 'board', 'status', 'votes', 'gone'],
    versions: ['post', 'status'],
  });
  const there = selected(posts, asOfNow(asked));
  const isThere = flagged(posts.rows, there);
  const placeOf = placesOf(posts.id);
  const statusOf = placesById(statuses);
  const sums = statuses.map(({ id, name }) => ({ id, name, posts: 0, votes: 0, left: 0 }));
  for (let n = 0; n < there.length; n++) {
    const i = there[n] ?? 0;
    const sum = sums[statusOf(posts.status[i] ?? 0)];
    if (!sum) continue;
    sum.posts++;
    sum.votes += posts.votes[i] ?? 0;
  }
  // One bit for each post and status: a post that came back to a status counts once.
  const seen = new Uint8Array(Math.ceil((posts.rows * statuses.length) / 8));
  for (let i = 0; i < versions.rows; i++) {
    const post = placeOf(versions.post[i] ?? 0);
    const status = statusOf(versions.status[i] ?? 0);
    if (status < 0 || !isThere(post) || posts.status[post] === versions.status[i]) continue;
    const bit = post * statuses.length + status;
    const byte = bit >> 3;
    const mask = 1 << (bit & 7);
    const sum = sums[status];
    if (!sum || ((seen[byte] ?? 0) & mask) !== 0) continue;
    seen[byte] = (seen[byte] ?? 0) | mask;
    sum.left++;
  }
  const total = sums.reduce((all, sum) => all + sum.posts, 0);
  const shareOf = (n: number): number | null => (total === 0 ? null : n / total);
  const isKnown = asked.from !== null;
  const ever = (sum: { posts: number; left: number }): number => sum.posts + (isKnown ? sum.left : 0);
  return sums
    .filter((sum) => sum.posts + sum.left > 0)
    .sort((a, b) => ever(b) - ever(a) || a.id - b.id)
    .map((sum) => ({
      status: sum.name,
      posts: sum.posts,
      votes: sum.votes,
      share: shareOf(sum.posts),
      ever: isKnown ? ever(sum) : null,
      ever_share: isKnown ? shareOf(ever(sum)) : null,
    }));
}

/**
 * The total at the end of a week is the total of now less all later steps. Besides the votes gained, it moves where a post is deleted or
 * restored, where an older post is first seen, and with a board where a post moves there or away.
 */
export async function votes(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const { from, until, now, observed, last, weeks, board } = asked;
  const nothing = weeks.map(
    (week): Row => ({
      week: week.date,
      votes: null,
      gained: null,
      votes_deleted: null,
      partial: bucketRemark(week),
    }),
  );
  if (from === null || last === null || observed === null) return nothing;
  const facts = await reader.columns({
    posts: [...GAIN_COLUMNS.posts, 'status', 'gone'],
    versions: [...GAIN_COLUMNS.versions, 'gone'],
  });
  const gained = weeks.map(() => 0);
  const weekAt = weekFinder(weeks);
  const gains = gainsIn(facts, { now, observed, from, until });
  for (let n = 0; n < gains.rows; n++) {
    const week = board === null || gains.board[n] === board ? weekAt(gains.at[n] ?? 0) : -1;
    if (week >= 0) gained[week] = (gained[week] ?? 0) + (gains.votes[n] ?? 0);
  }
  const totals = totalsOf(facts, asked, from);
  return weeks.map((week, i) => {
    const isKnown = Date.parse(week.ends) > from && Date.parse(week.begins) <= last;
    const moved = gained[i] !== 0 || totals.deleted[i] !== 0;
    if (!isKnown || !(week.isWatched || moved)) return nothing[i] ?? {};
    return {
      ...nothing[i],
      votes: totals.ends[i] ?? 0,
      gained: gained[i] ?? 0,
      votes_deleted: totals.deleted[i] ?? 0,
    };
  });
}

type Standing = Packed<'id' | 'created' | 'board' | 'status' | 'votes' | 'version' | 'gone'>;
type Stood = Packed<'post' | 'at' | 'votes' | 'board' | 'gone'>;

/** The total at the end of each week, and the votes that went with posts that were deleted in it, less those of restored ones. */
function totalsOf(
  { posts, versions }: { posts: Standing; versions: Stood },
  asked: TallyQuestion,
  from: number,
) {
  const { until, weeks, board, now } = asked;
  /** By week, with one for everything later at the end. */
  const [deltas, deleted] = [[...weeks, null].map(() => 0), [...weeks, null].map(() => 0)];
  const tracked = rowsWhere(rowsFrom(posts.version, from), (i) => (posts.created[i] ?? 0) < now);
  const isTracked = flagged(posts.rows, tracked);
  // How much of a post counted before, and whether it was gone.
  const [counted, wasGone] = [new Float64Array(posts.rows), new Uint8Array(posts.rows).fill(2)];
  const weekAt = weekFinder(weeks);
  const step = (post: number, at: number, votes: number, on: number, isGone: number): void => {
    const before = counted[post] ?? 0;
    const counts = isGone === 0 && (board === null || on === board) ? votes : 0;
    const found = at >= until ? -1 : weekAt(at);
    const week = found < 0 ? weeks.length : found;
    if (at >= from) {
      deltas[week] = (deltas[week] ?? 0) + counts - before;
      if ((wasGone[post] ?? 2) + isGone === 1)
        deleted[week] = (deleted[week] ?? 0) + (isGone === 1 ? before : -counts);
    }
    counted[post] = counts;
    wasGone[post] = isGone;
  };
  const placeOf = placesOf(posts.id);
  for (let i = 0; i < versions.rows; i++) {
    const post = placeOf(versions.post[i] ?? 0);
    if (!isTracked(post)) continue;
    step(post, versions.at[i] ?? 0, versions.votes[i] ?? 0, versions.board[i] ?? 0, versions.gone[i] ?? 0);
  }
  for (let n = 0; n < tracked.length; n++) {
    const i = tracked[n] ?? 0;
    step(i, posts.version[i] ?? 0, posts.votes[i] ?? 0, posts.board[i] ?? 0, posts.gone[i] ?? 0);
  }
  const there = selected(posts, asOfNow(asked));
  let total = 0;
  for (let n = 0; n < there.length; n++) total += posts.votes[there[n] ?? 0] ?? 0;
  const ends = weeks.map(() => 0);
  for (let week = weeks.length - 1; week >= 0; week--) {
    total -= deltas[week + 1] ?? 0;
    ends[week] = total;
  }
  return { ends, deleted };
}

const POST_VOTES = `
  WITH
  told (n, at, votes, status_id, deleted) AS (
    SELECT n, observed_at, votes_count, status_id, deleted FROM post_versions WHERE post_id = $post
    UNION ALL
    SELECT 9223372036854775807, version_at, votes_count, status_id, deleted_at IS NOT NULL FROM posts WHERE id = $post
  ),
  step AS (
    SELECT *, votes - lag(votes) OVER told_order AS change, lag(status_id) OVER told_order AS status_before,
           lag(deleted) OVER told_order AS deleted_before
      FROM told WINDOW told_order AS (ORDER BY n)
  )
  SELECT step.at, step.votes, step.change, iif(step.deleted, 'deleted', s.name) AS status
    FROM step JOIN statuses s ON s.id = step.status_id
   WHERE (step.change IS NOT 0 OR step.status_before IS NOT step.status_id OR step.deleted_before IS NOT step.deleted)
     AND step.at >= $since AND step.at < $until
   ORDER BY step.n`;

/** One row for each time the votes or the status of a post were seen to change. */
export async function postVotes(reader: ReportReader, { post, since, until }: TallyQuestion): Promise<Row[]> {
  return await reader.rows(POST_VOTES, { post, since: sqlTimeOf(since), until: sqlTimeOf(until) });
}
