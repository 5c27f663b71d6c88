import { setOf } from '../mirror/index/select.ts';
import { REPLY_COLUMNS } from './lists.ts';
import type { Row } from './report.ts';
import type { ReportReader } from './store.ts';
import {
  asOfNow,
  firstReplies,
  placesById,
  placesOf,
  selected,
  sqlTimeOf,
  type TallyQuestion,
  weekFinder,
} from './tally.ts';
import { countIfRead } from './watching.ts';

/** Reports that count posts and comments by board, status or week. */

const COUNTED = ['created', 'board', 'status', 'votes', 'gone'] as const;

/** One row a board, and one for all of them at the end. */
export async function delivered(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const { posts, boards } = await reader.columns({ posts: COUNTED });
  const sums = boards.map(({ name }) => ({
    board: name,
    posts: 0,
    delivered_posts: 0,
    votes: 0,
    delivered_votes: 0,
  }));
  const placeOf = placesById(boards);
  const [rows, isDelivered] = [selected(posts, asked), setOf(asked.delivered)];
  for (let n = 0; n < rows.length; n++) {
    const i = rows[n] ?? 0;
    const sum = sums[placeOf(posts.board[i] ?? 0)];
    if (!sum) continue;
    const votes = posts.votes[i] ?? 0;
    sum.posts++;
    sum.votes += votes;
    if (!isDelivered(posts.status[i] ?? 0)) continue;
    sum.delivered_posts++;
    sum.delivered_votes += votes;
  }
  const lines = sums.filter((sum) => sum.posts > 0).map(withShare);
  // Boards are in the order of their names.
  lines.sort((a, b) => (b.share ?? -1) - (a.share ?? -1));
  if (lines.length < 2) return lines;
  const add = (what: 'posts' | 'delivered_posts' | 'votes' | 'delivered_votes'): number =>
    lines.reduce((total, line) => total + line[what], 0);
  const all = { posts: add('posts'), delivered_posts: add('delivered_posts') };
  return [
    ...lines,
    withShare({ board: 'all boards', ...all, votes: add('votes'), delivered_votes: add('delivered_votes') }),
  ];
}

function withShare<T extends { votes: number; delivered_votes: number }>(
  sum: T,
): T & { share: number | null } {
  return { ...sum, share: sum.votes === 0 ? null : sum.delivered_votes / sum.votes };
}

/** The boards side by side; the trend is that of new posts, a number a week, the running one last. */
export async function boards(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const {
    posts,
    comments,
    team,
    boards: known,
  } = await reader.columns({
    posts: [...COUNTED, 'id', 'comments', 'creator'],
    comments: REPLY_COLUMNS,
  });
  const replies = firstReplies(posts, comments, team);
  const placeOf = placesById(known);
  const [there, fresh] = [selected(posts, asOfNow(asked)), selected(posts, { ...asked, statuses: [] })];
  const [isDelivered, isTeam, weekAt] = [setOf(asked.delivered), setOf(team), weekFinder(asked.weeks)];
  const sums = known.map(({ id, name }) => ({
    ...{ id, name, posts: 0, votes: 0, comments: 0, delivered: 0, asked: 0, replied: 0 },
    fresh: asked.weeks.map(() => 0),
  }));
  for (let n = 0; n < fresh.length; n++) {
    const i = fresh[n] ?? 0;
    const weeks = sums[placeOf(posts.board[i] ?? 0)]?.fresh ?? [];
    const week = weekAt(posts.created[i] ?? 0);
    weeks[week] = (weeks[week] ?? 0) + 1;
  }
  for (let n = 0; n < there.length; n++) {
    const i = there[n] ?? 0;
    const sum = sums[placeOf(posts.board[i] ?? 0)];
    if (!sum) continue;
    sum.posts++;
    sum.votes += posts.votes[i] ?? 0;
    sum.comments += posts.comments[i] ?? 0;
    if (isDelivered(posts.status[i] ?? 0)) sum.delivered++;
    if (isTeam(posts.creator[i] ?? 0)) continue;
    sum.asked++;
    if (replies[i] !== Number.POSITIVE_INFINITY) sum.replied++;
  }
  const seen = asked.weeks.filter(
    ({ begins }) => countIfRead(asked.last ?? asked.observed, begins) !== null,
  ).length;
  const total = sums.reduce((votes, sum) => votes + sum.votes, 0);
  return sums
    .filter((sum) => sum.posts > 0)
    .sort((a, b) => b.votes - a.votes || a.id - b.id)
    .map((sum) => ({
      board: sum.name,
      posts: sum.posts,
      votes: sum.votes,
      votes_a_post: sum.votes / sum.posts,
      vote_share: total === 0 ? null : sum.votes / total,
      comments: sum.comments,
      answered: sum.asked === 0 ? null : sum.replied / sum.asked,
      delivered: sum.delivered / sum.posts,
      // Weeks after the last look are not known to be empty.
      new_posts: sum.fresh.slice(0, seen),
    }));
}

/** A comment can stand on a post that the mirror does not have: those have no board. */
export async function newByWeek(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const { since, until, board, weeks, observed, last, lastComments } = asked;
  const {
    posts,
    comments,
    boards: known,
  } = await reader.columns({
    posts: ['id', 'created', 'board', 'status', 'gone'],
    comments: ['post', 'created', 'gone'],
  });
  const shown = board === null ? known : known.filter(({ id }) => id === board);
  const [lineOf, weekAt] = [placesById(shown), weekFinder(weeks)];
  const lines = shown.length + 1;
  const counts = {
    posts: new Float64Array(lines * weeks.length),
    comments: new Float64Array(lines * weeks.length),
  };
  const count = (what: 'posts' | 'comments', line: number, at: number): void => {
    const week = weekAt(at);
    const place = week * lines + line;
    if (week >= 0 && line >= 0) counts[what][place] = (counts[what][place] ?? 0) + 1;
  };
  const fresh = selected(posts, { ...asked, statuses: [] });
  for (let n = 0; n < fresh.length; n++) {
    const i = fresh[n] ?? 0;
    count('posts', lineOf(posts.board[i] ?? 0), posts.created[i] ?? 0);
  }
  const placeOf = placesOf(posts.id);
  let hasNoBoard = false;
  for (let i = 0; i < comments.rows; i++) {
    const at = comments.created[i] ?? 0;
    if (comments.gone[i] !== 0 || at < since || at >= until) continue;
    const place = placeOf(comments.post[i] ?? 0);
    if (place < 0 && board === null) hasNoBoard = true;
    count('comments', place >= 0 ? lineOf(posts.board[place] ?? 0) : board === null ? lines - 1 : -1, at);
  }
  const names = [...shown.map(({ name }) => name), ...(hasNoBoard ? [null] : [])];
  return weeks.flatMap(({ date, begins, partial }, week) =>
    names.map((name, line) => ({
      week: date,
      board: name,
      posts: countIfRead(
        last ?? observed,
        begins,
        counts.posts[week * lines + (name === null ? lines - 1 : line)],
      ),
      comments: countIfRead(
        lastComments,
        begins,
        counts.comments[week * lines + (name === null ? lines - 1 : line)],
      ),
      partial,
    })),
  );
}

const SYNC_HEALTH = `
  WITH
  pass AS (
    SELECT resource, mode, outcome, rows, inserted, updated, deleted, held, quarantined, finished_at,
           (julianday(finished_at) - julianday(started_at)) * 86400 AS seconds
      FROM sync_runs WHERE started_at >= $since AND started_at < $until
  )
  SELECT resource AS list, mode AS pass, count(*) AS passes, count(*) FILTER (WHERE outcome IN ('complete', 'incomplete')) AS complete,
         count(*) FILTER (WHERE outcome IN ('failed', 'interrupted')) AS cut_short,
         median(iif(outcome IN ('complete', 'incomplete'), seconds, NULL)) AS median_time,
         unixepoch($now) - unixepoch(max(iif(outcome IN ('complete', 'incomplete'), finished_at, NULL))) AS last_complete,
         sum(inserted) AS added, sum(updated) AS changed, sum(deleted) AS deleted, sum(quarantined) AS quarantined
    FROM pass GROUP BY resource, mode ORDER BY resource DESC, mode DESC`;

/** How the passes went. One that is cut short is taken up by the next one: it costs time, not rows. */
export async function syncHealth(reader: ReportReader, { now, since, until }: TallyQuestion): Promise<Row[]> {
  const bound = { now: sqlTimeOf(now), since: sqlTimeOf(since), until: sqlTimeOf(until) };
  return await reader.rows(SYNC_HEALTH, bound);
}
