import type { Packed } from '../store/index/columns.ts';
import type { ReportReader } from '../store/reports.ts';
import { type Bucket, bucketAt, type Calendar, coverage, priorTo, type Span } from './moment.ts';
import { flagged, numbered, placesOf, setOf } from './tally.ts';

/** How much there is and what was new in a period, as the report overview and the first page of the dashboard have it. */
interface Figures {
  figures: Record<'posts' | 'votes' | 'comments' | 'customers', Figure>;
  /** New posts by bucket. */
  newPosts: number[];
  byBoard: Amount[];
  byStatus: (Amount & { color: string })[];
  /** Null where the mirror was not watching. */
  moved: Movement | null;
  /** From when on votes are counted. */
  from: string | null;
  notes: string[];
}

/** Null where it is not known. */
export interface Figure {
  total: number | null;
  recent: number | null;
  prior: number | null;
}

export interface Amount {
  id: number;
  name: string;
  posts: number;
  votes: number;
}

interface FiguresRequest {
  now: number;
  period: Span;
  board: number | null;
  buckets: readonly Bucket[];
  calendar: Calendar;
}

/** The one meaning of a total of comments: what the upstream itself counts. Reports that show one say so. */
const COMMENT_TOTALS =
  'The total of comments is what the upstream counts on its posts; new comments are those that the mirror has.';

export async function readFigures(reader: ReportReader, request: FiguresRequest): Promise<Figures> {
  const { period, board, buckets, calendar } = request;
  const prior = priorTo(period);
  const watched = await reader.watched();
  const { from, notes } = coverage(watched, period, calendar);
  const before = from !== null && watched.first !== null && prior >= watched.first ? Date.parse(prior) : null;
  const facts = await reader.columns(WANTED);
  const until = Date.parse(period.until);
  const moved =
    from === null ? null : movementOf(facts, { from: Date.parse(from), before, until, board, buckets });
  const { comments, ...parts } = amounts(facts, request);
  const written = activity(facts, request, Date.parse(prior));
  const sum = (what: 'posts' | 'votes'): number => parts.byBoard.reduce((total, row) => total + row[what], 0);
  return {
    figures: {
      posts: { total: sum('posts'), ...written.posts },
      votes: { total: sum('votes'), recent: moved?.recent ?? null, prior: moved?.prior ?? null },
      comments: { total: comments, ...written.comments },
      customers: { total: null, ...written.customers },
    },
    newPosts: written.newPosts,
    ...parts,
    moved,
    from,
    notes: [COMMENT_TOTALS, ...notes],
  };
}

const MOVED = {
  posts: ['id', 'created', 'board', 'votes', 'version', 'gone'],
  versions: ['post', 'at', 'votes', 'board'],
} as const;

const WANTED = {
  posts: [...MOVED.posts, 'status', 'comments', 'creator'],
  comments: ['post', 'created', 'creator', 'gone'],
  versions: MOVED.versions,
} as const;

type Facts = Awaited<ReturnType<typeof wanted>>;
const wanted = (reader: ReportReader) => reader.columns(WANTED);

/** Live posts by board and status. */
function amounts({ posts, boards, statuses }: Facts, { now, board }: FiguresRequest) {
  const [byBoard, byStatus] = [counter(boards), counter(statuses)];
  let comments = 0;
  for (let i = 0; i < posts.rows; i++) {
    if (posts.gone[i] !== 0 || (posts.created[i] ?? 0) >= now) continue;
    if (board !== null && posts.board[i] !== board) continue;
    comments += posts.comments[i] ?? 0;
    byBoard.add(posts.board[i] ?? 0, posts.votes[i] ?? 0);
    byStatus.add(posts.status[i] ?? 0, posts.votes[i] ?? 0);
  }
  return {
    byBoard: byBoard.sums().sort((a, b) => b.posts - a.posts),
    byStatus: byStatus.sums(),
    comments,
  };
}

/** Posts and votes of each, as far as there are any. */
function counter<T extends { id: number }>(known: readonly T[]) {
  const placeOf = placesOf(Float64Array.from(known, ({ id }) => id));
  const [posts, votes] = [new Float64Array(known.length), new Float64Array(known.length)];
  return {
    add(id: number, more: number): void {
      const place = placeOf(id);
      posts[place] = (posts[place] ?? 0) + 1;
      votes[place] = (votes[place] ?? 0) + more;
    },
    sums: () =>
      known
        .map((one, place) => ({ ...one, posts: posts[place] ?? 0, votes: votes[place] ?? 0 }))
        .filter((sum) => sum.posts > 0),
  };
}

/** What was written in a period and in the one before it; people are counted over the whole of each. */
function activity(
  { posts, comments, team }: Facts,
  { period, board, buckets }: FiguresRequest,
  prior: number,
) {
  const [since, until] = [Date.parse(period.since), Date.parse(period.until)];
  const begins = buckets.map((bucket) => Date.parse(bucket.begins));
  const [isTeam, people] = [setOf(team), numbered(posts.creator, comments.creator)];
  const counts = {
    posts: { recent: 0, prior: 0 },
    comments: { recent: 0, prior: 0 },
    customers: { recent: 0, prior: 0 },
  };
  /** A bit for each of the two periods. */
  const wrote = new Uint8Array(posts.rows + comments.rows);
  const newPosts = buckets.map(() => 0);
  const count = (what: 'posts' | 'comments', at: number, creator: number): void => {
    const when = at >= since ? 'recent' : 'prior';
    counts[what][when]++;
    if (isTeam(creator)) return;
    const person = people.of(creator);
    const known = wrote[person] ?? 0;
    const bit = when === 'recent' ? 2 : 1;
    if ((known & bit) !== 0) return;
    wrote[person] = known | bit;
    counts.customers[when]++;
  };
  for (let i = 0; i < posts.rows; i++) {
    const at = posts.created[i] ?? 0;
    if (posts.gone[i] !== 0 || at < prior || at >= until || (board !== null && posts.board[i] !== board))
      continue;
    count('posts', at, posts.creator[i] ?? 0);
    const place = at < since ? -1 : bucketAt(begins, at);
    if (newPosts[place] !== undefined) newPosts[place]++;
  }
  const placeOf = board === null ? null : placesOf(posts.id);
  for (let i = 0; i < comments.rows; i++) {
    const at = comments.created[i] ?? 0;
    if (comments.gone[i] !== 0 || at < prior || at >= until) continue;
    if (placeOf !== null && posts.board[placeOf(comments.post[i] ?? 0)] !== board) continue;
    count('comments', at, comments.creator[i] ?? 0);
  }
  return { ...counts, newPosts };
}

interface MovementRequest {
  /** From when on votes count for the period; for the one before it, or null where that was not watched. */
  from: number;
  before: number | null;
  until: number;
  board: number | null;
  /** The days or weeks that votes are counted by. */
  buckets: readonly Bucket[];
}

/** How the votes of live posts moved. With a board, a vote counts where its post was when the vote was seen. */
interface Movement {
  recent: number;
  prior: number | null;
  /** Votes gained in the period, by the bucket in which they were seen. */
  gained: number[];
}

interface Moved {
  posts: Packed<(typeof MOVED.posts)[number]>;
  versions: Packed<(typeof MOVED.versions)[number]>;
}

/** So many versions in a row from before the period end the walk; a clock that was set back does not. */
const OLD_IN_A_ROW = 1000;

/** One walk back through the history, from what posts have now: versions are in the order in which they were superseded. */
function movementOf({ posts, versions }: Moved, request: MovementRequest): Movement {
  const { from, before, until, board: wanted, buckets } = request;
  const start = before ?? from;
  const gained = buckets.map(() => 0);
  const begins = buckets.map((bucket) => Date.parse(bucket.begins));
  const isWanted = (board: number): boolean => wanted === null || board === wanted;
  // The state that the walk has reached, and since when it was there.
  const [votes, at, board] = [posts.votes.slice(), posts.version.slice(), posts.board.slice()];
  const isCounted = flagged(posts.rows, (i) => posts.gone[i] === 0 && (posts.created[i] ?? 0) < until);
  let [recent, prior] = [0, 0];

  /** The votes that a post got when the state reached on the way back began. */
  const count = (i: number, gain: number, isRecent: boolean): void => {
    const moment = at[i] ?? 0;
    if (!isCounted(i) || moment > until || !isWanted(board[i] ?? 0)) return;
    if (!isRecent) {
      prior += gain;
      return;
    }
    recent += gain;
    const place = bucketAt(begins, moment);
    if (gained[place] !== undefined) gained[place] += gain;
  };

  const placeOf = placesOf(posts.id);
  for (let [v, old] = [versions.rows - 1, 0]; v >= 0 && old < OLD_IN_A_ROW; v--) {
    const i = placeOf(versions.post[v] ?? 0);
    const moment = at[i] ?? Number.NEGATIVE_INFINITY;
    old = moment <= start ? old + 1 : 0;
    if (old > 0) continue;
    const earlier = versions.votes[v] ?? 0;
    count(i, (votes[i] ?? 0) - earlier, moment > from);
    votes[i] = earlier;
    at[i] = versions.at[v] ?? 0;
    board[i] = versions.board[v] ?? 0;
  }
  for (let i = 0; i < posts.rows; i++) {
    if ((posts.version[i] ?? 0) <= start) continue;
    const created = posts.created[i] ?? 0;
    // Posts that were made within a period began it with none.
    if (created >= from) count(i, votes[i] ?? 0, true);
    else if (before !== null && created >= before) count(i, votes[i] ?? 0, false);
  }
  return { recent, prior: before === null ? null : prior, gained };
}
