import type { Numbers, Packed } from '../store/index/columns.ts';
import type { ReportReader } from '../store/reports.ts';
import { type Bucket, type Calendar, coverage, priorTo, type Span } from './moment.ts';
import { bitsOf, bucketFinder, keptWith, placesOf } from './tally.ts';

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
  const { period, board, buckets } = request;
  const prior = priorTo(period);
  const watched = await reader.watched();
  const { from, notes } = coverage(watched, period);
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

/** Live posts by board and status; what is dated later than now is not counted yet. */
function amounts(facts: Facts, { now, board }: FiguresRequest) {
  const { posts, boards, statuses } = facts;
  const { counts, votes, comments } = laterTaken(cellsOf(posts.created, facts), facts, now);
  const boardAt = (cell: number): number => Math.floor(cell / statuses.length);
  const isWanted = (cell: number): boolean => board === null || boards[boardAt(cell)]?.id === board;
  const sumOf = (of: Float64Array, isOf: (cell: number) => boolean): number =>
    of.reduce((sum, value, cell) => (isWanted(cell) && isOf(cell) ? sum + value : sum), 0);
  /** Posts and votes of each, as far as there are any. */
  const sums = <T>(known: readonly T[], placeOf: (cell: number) => number) =>
    known
      .map((one, place) => ({
        ...one,
        posts: sumOf(counts, (cell) => placeOf(cell) === place),
        votes: sumOf(votes, (cell) => placeOf(cell) === place),
      }))
      .filter(({ posts: some }) => some > 0);
  return {
    byBoard: sums(boards, boardAt).sort((a, b) => b.posts - a.posts),
    byStatus: sums(statuses, (cell) => cell % statuses.length),
    comments: sumOf(comments, () => true),
  };
}

type Cells = Record<'counts' | 'votes' | 'comments', Float64Array>;

/** The same for every period, so it is added up once for as long as the columns are kept. */
const cellsOf = keptWith((_: Numbers, { posts, boards, statuses }: Facts): Cells => {
  const size = boards.length * statuses.length;
  const cells = {
    counts: new Float64Array(size),
    votes: new Float64Array(size),
    comments: new Float64Array(size),
  };
  const add = adderOf({ posts, boards, statuses }, cells);
  for (let i = 0; i < posts.rows; i++) if (posts.gone[i] === 0) add(i, 1);
  return cells;
});

function laterTaken(all: Cells, facts: Facts, now: number): Cells {
  const cells = { counts: all.counts.slice(), votes: all.votes.slice(), comments: all.comments.slice() };
  const { rows, created, gone } = facts.posts;
  const add = adderOf(facts, cells);
  for (let i = 0; i < rows; i++) if ((created[i] ?? 0) >= now && gone[i] === 0) add(i, -1);
  return cells;
}

function adderOf({ posts, boards, statuses }: Pick<Facts, 'posts' | 'boards' | 'statuses'>, cells: Cells) {
  const [boardAt, statusAt] = [idPlaces(boards), idPlaces(statuses)];
  const { counts, votes, comments } = cells;
  return (i: number, sign: 1 | -1): void => {
    const cell = boardAt(posts.board[i] ?? 0) * statuses.length + statusAt(posts.status[i] ?? 0);
    counts[cell] = (counts[cell] ?? 0) + sign;
    votes[cell] = (votes[cell] ?? 0) + sign * (posts.votes[i] ?? 0);
    comments[cell] = (comments[cell] ?? 0) + sign * (posts.comments[i] ?? 0);
  };
}

function idPlaces(known: readonly { id: number }[]): (id: number) => number {
  return placesOf(Float64Array.from(known, ({ id }) => id));
}

/** What was written in a period and in the one before it; people are counted over the whole of each. */
function activity(
  { posts, comments, team }: Facts,
  { period, board, buckets }: FiguresRequest,
  prior: number,
) {
  const [since, until] = [Date.parse(period.since), Date.parse(period.until)];
  /** A person has a bit for each of the two periods; those of the team have both from the beginning. */
  const isFirst = bitsOf(posts.creator, comments.creator);
  for (const id of team) isFirst(id, 3);
  const [asks, says, writers] = [new Int32Array(2), new Int32Array(2), new Int32Array(2)];
  const count = (counts: Int32Array, at: number, creator: number): void => {
    const when = at >= since ? 1 : 0;
    counts[when] = (counts[when] ?? 0) + 1;
    if (isFirst(creator, 1 << when)) writers[when] = (writers[when] ?? 0) + 1;
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

/** One walk through the history: the versions of a post stand together, in the order in which they were superseded. */
function movementOf({ posts, versions }: Moved, request: MovementRequest): Movement {
  const { from, before, until, board: wanted, buckets } = request;
  const start = before ?? from;
  const [sums, gained, bucketOf] = [
    new Float64Array(2),
    new Float64Array(buckets.length),
    bucketFinder(buckets),
  ];
  /** The votes that came with a state of a post, in the period before (0) or in this one (1). */
  const count = (gain: number, when: 0 | 1, at: number, board: number): void => {
    if (gain === 0 || at > until || (wanted !== null && board !== wanted)) return;
    sums[when] = (sums[when] ?? 0) + gain;
    const place = when === 1 ? bucketOf(at) : -1;
    if (place >= 0) gained[place] = (gained[place] ?? 0) + gain;
  };
  const { rows, created, version, gone } = posts;
  /** A post that was made within a period began it with none; of another it is not known how it came to what it had first. */
  const begin = (i: number, votes: number, at: number, board: number): void => {
    const made = created[i] ?? 0;
    if (made >= start) count(votes, made >= from ? 1 : 0, at, board);
  };
  /** Posts that changed in the periods, until they are counted. */
  const isLeft = new Uint8Array(rows);
  for (let i = 0; i < rows; i++)
    if ((version[i] ?? 0) > start && gone[i] === 0 && (created[i] ?? 0) < until) isLeft[i] = 1;
  const { rows: states, post, at, votes, board } = versions;
  const placeOf = placesOf(posts.id);
  let [last, place, had] = [-1, -1, 0];
  /** What the post has now came after its last version. */
  const end = (i: number): void => {
    const moment = version[i] ?? 0;
    count((posts.votes[i] ?? 0) - had, moment > from ? 1 : 0, moment, posts.board[i] ?? 0);
    isLeft[i] = 0;
  };
  for (let v = 0; v < states; v++) {
    const id = post[v] ?? 0;
    const isFirst = id !== last;
    if (isFirst) {
      if (isLeft[place] === 1) end(place);
      last = id;
      place = placeOf(id);
    }
    if (isLeft[place] !== 1) continue;
    const moment = at[v] ?? 0;
    const has = votes[v] ?? 0;
    if (isFirst) begin(place, has, moment, board[v] ?? 0);
    else if (moment > start) count(has - had, moment > from ? 1 : 0, moment, board[v] ?? 0);
    had = has;
  }
  if (isLeft[place] === 1) end(place);
  for (let i = 0; i < rows; i++)
    if (isLeft[i] === 1) begin(i, posts.votes[i] ?? 0, version[i] ?? 0, posts.board[i] ?? 0);
  const [prior = 0, recent = 0] = sums;
  return { recent, prior: before === null ? null : prior, gained: [...gained] };
}
