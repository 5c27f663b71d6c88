import type { ReportReader } from '../store/reports.ts';
import type { Row } from './report.ts';
import {
  boundOf,
  flagged,
  groups,
  placesOf,
  present,
  type Question,
  quantile,
  secondOf,
  selection,
  weekFinder,
} from './tally.ts';

/** Reports that follow posts through their versions. Those are in the order in which they were superseded. */

/** A post reached a status when it is in it now, or was once seen in it. */
export async function funnel(reader: ReportReader, asked: Question): Promise<Row[]> {
  const { posts, versions, statuses } = await reader.columns({
    posts: ['id', 'created', 'board', 'status', 'votes', 'gone'],
    versions: ['post', 'status'],
  });
  const isThere = flagged(posts.rows, selection(posts, present(asked)));
  const placeOf = placesOf(posts.id);
  const statusOf = placesOf(Float64Array.from(statuses, ({ id }) => id));
  const sums = statuses.map(({ id, name }) => ({ id, name, posts: 0, votes: 0, left: 0 }));
  for (let i = 0; i < posts.rows; i++) {
    const sum = isThere(i) ? sums[statusOf(posts.status[i] ?? 0)] : undefined;
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

/** A stay begins when the post was seen to enter the status or, if the mirror was watching, was made. Others would be too short, and do not count. */
export async function timeInStatus(reader: ReportReader, asked: Question): Promise<Row[]> {
  const { since, until, now, observed } = asked;
  const { posts, versions, statuses } = await reader.columns({
    posts: ['id', 'created', 'board', 'status', 'version', 'gone'],
    versions: ['post', 'at', 'status'],
  });
  const isThere = flagged(posts.rows, selection(posts, present(asked)));
  const placeOf = placesOf(posts.id);
  const statusOf = placesOf(Float64Array.from(statuses, ({ id }) => id));
  const [past, waiting] = [groups(statuses.length), groups(statuses.length)];
  /** When the status that a post has on the way was entered; not a number where nobody saw that. */
  const entered = new Float64Array(posts.created);
  for (let i = 0; i < posts.rows; i++)
    if (observed === null || (entered[i] ?? 0) < observed) entered[i] = Number.NaN;
  /** The status of the last version on the way; -1 before the first. */
  const current = new Float64Array(posts.rows).fill(-1);
  const leave = (post: number, next: number, at: number): void => {
    const status = current[post] ?? -1;
    if (status === -1 || status === next) return;
    const began = entered[post] ?? Number.NaN;
    if (!Number.isNaN(began) && at >= since && at < until)
      past.add(statusOf(status), secondOf(at) - secondOf(began));
    entered[post] = at;
  };
  for (let i = 0; i < versions.rows; i++) {
    const post = placeOf(versions.post[i] ?? 0);
    if (post < 0 || !isThere(post)) continue;
    leave(post, versions.status[i] ?? 0, versions.at[i] ?? 0);
    current[post] = versions.status[i] ?? 0;
  }
  const nowIn = statuses.map(() => 0);
  for (let i = 0; i < posts.rows; i++) {
    if (!isThere(i)) continue;
    leave(i, posts.status[i] ?? 0, posts.version[i] ?? 0);
    const status = statusOf(posts.status[i] ?? 0);
    nowIn[status] = (nowIn[status] ?? 0) + 1;
    const began = entered[i] ?? Number.NaN;
    if (!Number.isNaN(began)) waiting.add(status, secondOf(now) - secondOf(began));
  }
  return statuses
    .map(({ id, name }, status) => {
      const seconds = past.of(status);
      const stays = seconds.length;
      const [median, p90] = [quantile(seconds, 0.5), quantile(seconds, 0.9)];
      const sofar = quantile(waiting.of(status), 0.5);
      return { id, status: name, stays, median, p90, now_in_it: nowIn[status] ?? 0, median_so_far: sofar };
    })
    .filter(({ stays, now_in_it }) => stays + now_in_it > 0)
    .sort((a, b) => (b.median ?? -1) - (a.median ?? -1) || a.id - b.id);
}

/**
 * Every step of a post's votes happens when it was seen, on the board that the post was then on. The total at the end of a week is the
 * total of now less all later steps. A post that was older when it was first seen, one that was deleted, or one that moved to another
 * board moves the total without being a gain.
 */
export async function votes(reader: ReportReader, asked: Question): Promise<Row[]> {
  const { from, until, last, weeks, board } = asked;
  const nothing = weeks.map(({ date, partial }) => ({ week: date, votes: null, gained: null, partial }));
  if (from === null || last === null) return nothing;
  const { posts, versions } = await reader.columns({
    posts: ['id', 'created', 'board', 'status', 'votes', 'version', 'gone'],
    versions: ['post', 'at', 'votes', 'board', 'gone'],
  });
  const isThere = selection(posts, present(asked));
  /** By week, with one for everything later at the end. */
  const [gained, deltas] = [weeks.map(() => 0), [...weeks, null].map(() => 0)];
  const isTracked = flagged(
    posts.rows,
    (i) => (posts.version[i] ?? 0) > from && (posts.created[i] ?? 0) < asked.now,
  );
  const isHere = (on: number): boolean => board === null || on === board;
  // What a post had before, and how much of that counted; not a number before its first version.
  const [had, counted] = [new Float64Array(posts.rows).fill(Number.NaN), new Float64Array(posts.rows)];
  const weekAt = weekFinder(weeks);
  const step = (post: number, at: number, votes: number, on: number, isGone: number): void => {
    const before = had[post] ?? Number.NaN;
    const counts = isGone === 0 && isHere(on) ? votes : 0;
    if (at > from) {
      const began = Number.isNaN(before) ? ((posts.created[post] ?? 0) >= from ? 0 : votes) : before;
      const found = at > until ? -1 : weekAt(at);
      const week = found < 0 ? weeks.length : found;
      deltas[week] = (deltas[week] ?? 0) + counts - (counted[post] ?? 0);
      if (found >= 0 && isHere(on)) gained[week] = (gained[week] ?? 0) + votes - began;
    }
    had[post] = votes;
    counted[post] = counts;
  };
  const placeOf = placesOf(posts.id);
  for (let i = 0; i < versions.rows; i++) {
    const post = placeOf(versions.post[i] ?? 0);
    if (!isTracked(post)) continue;
    step(post, versions.at[i] ?? 0, versions.votes[i] ?? 0, versions.board[i] ?? 0, versions.gone[i] ?? 0);
  }
  let total = 0;
  for (let i = 0; i < posts.rows; i++) {
    const votes = posts.votes[i] ?? 0;
    if (isThere(i)) total += votes;
    if (!isTracked(i)) continue;
    step(i, posts.version[i] ?? 0, votes, posts.board[i] ?? 0, posts.gone[i] ?? 0);
  }
  for (let week = weeks.length - 1; week >= 0; week--) {
    total -= deltas[week + 1] ?? 0;
    const row = nothing[week];
    const bucket = weeks[week];
    if (!row || !bucket || Date.parse(bucket.ends) <= from || Date.parse(bucket.begins) > last) continue;
    Object.assign(row, { votes: total, gained: gained[week] ?? 0 });
  }
  return nothing;
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
export async function postVotes(reader: ReportReader, { post, since, until }: Question): Promise<Row[]> {
  return await reader.rows(POST_VOTES, { post, since: boundOf(since), until: boundOf(until) });
}
