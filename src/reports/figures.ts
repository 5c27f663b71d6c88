import type { Packed } from '../store/index/columns.ts';
import type { ReportReader } from '../store/reports.ts';
import { type Bucket, type Calendar, coverage, priorTo, type Span } from './moment.ts';
import { bucketFinder, flagged, numbered, placesOf, setOf } from './tally.ts';

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
  const [isTeam, people] = [setOf(team), numbered(posts.creator, comments.creator)];
  const [asks, says, writers] = [new Int32Array(2), new Int32Array(2), new Int32Array(2)];
  /** A bit for each of the two periods. */
  const wrote = new Uint8Array(posts.rows + comments.rows);
  const count = (counts: Int32Array, at: number, creator: number): void => {
    const when = at >= since ? 1 : 0;
    counts[when] = (counts[when] ?? 0) + 1;
    if (isTeam(creator)) return;
    const person = people.of(creator);
    const known = wrote[person] ?? 0;
    if ((known & (1 << when)) !== 0) return;
    wrote[person] = known | (1 << when);
    writers[when] = (writers[when] ?? 0) + 1;
  };
  const [newPosts, bucketOf] = [new Int32Array(buckets.length), bucketFinder(buckets)];
  for (let i = 0; i < posts.rows; i++) {
    const at = posts.created[i] ?? 0;
    if (posts.gone[i] !== 0 || at < prior || at >= until || (board !== null && posts.board[i] !== board))
      continue;
    count(asks, at, posts.creator[i] ?? 0);
    const place = at < since ? -1 : bucketOf(at);
    if (place >= 0) newPosts[place] = (newPosts[place] ?? 0) + 1;
  }
  const placeOf = board === null ? null : placesOf(posts.id);
  for (let i = 0; i < comments.rows; i++) {
    const at = comments.created[i] ?? 0;
    if (comments.gone[i] !== 0 || at < prior || at >= until) continue;
    if (placeOf !== null && posts.board[placeOf(comments.post[i] ?? 0)] !== board) continue;
    count(says, at, comments.creator[i] ?? 0);
  }
  const both = ([prior = 0, recent = 0]: Int32Array) => ({ recent, prior });
  return { posts: both(asks), comments: both(says), customers: both(writers), newPosts: [...newPosts] };
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

/** One walk back through the history of each post, from what it has now: versions are in the order in which they were superseded. */
function movementOf({ posts, versions }: Moved, request: MovementRequest): Movement {
  const { from, before, until, board: wanted, buckets } = request;
  const start = before ?? from;
  const [gained, bucketOf] = [new Float64Array(buckets.length), bucketFinder(buckets)];
  // The state that the walk has reached, and since when it was there.
  const [votes, at, board] = [posts.votes.slice(), posts.version.slice(), posts.board.slice()];
  const isCounted = flagged(posts.rows, (i) => posts.gone[i] === 0 && (posts.created[i] ?? 0) < until);
  let [recent, prior] = [0, 0];

  /** The votes that a post got when the state reached on the way back began. */
  const count = (i: number, gain: number, isRecent: boolean): void => {
    const moment = at[i] ?? 0;
    if (!isCounted(i) || moment > until || (wanted !== null && board[i] !== wanted)) return;
    if (!isRecent) {
      prior += gain;
      return;
    }
    recent += gain;
    const place = bucketOf(moment);
    if (place >= 0) gained[place] = (gained[place] ?? 0) + gain;
  };

  const placeOf = placesOf(posts.id);
  for (let v = versions.rows - 1; v >= 0; v--) {
    const i = placeOf(versions.post[v] ?? 0);
    const moment = at[i] ?? Number.NEGATIVE_INFINITY;
    if (moment <= start) continue;
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
  return { recent, prior: before === null ? null : prior, gained: [...gained] };
}
