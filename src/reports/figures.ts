import type { Numbers } from '../mirror/index/columns.ts';
import { keptWith, rowsFrom } from '../mirror/index/select.ts';
import { counted } from '../text/text.ts';
import { GAIN_COLUMNS, gainsIn } from './gains.ts';
import type { Bucket, Calendar, Span } from './moment.ts';
import type { ReportReader } from './store.ts';
import { bitsOf, bucketFinder, placesById, placesOf } from './tally.ts';
import { coverage } from './watching.ts';

/** How much there is and what was new in a period, as the report overview and the first page of the dashboard have it. */
interface Figures {
  figures: Record<'posts' | 'votes' | 'comments' | 'customers', Figure>;
  newPosts: number[];
  byBoard: Amount[];
  byStatus: (Amount & { color: string })[];
  /** Null where the mirror was not watching. */
  moved: Movement | null;
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
  /** What it is compared with. */
  prior: Span;
  board: number | null;
  buckets: readonly Bucket[];
  calendar: Calendar;
}

/** The one meaning of a total of comments: what the upstream itself counts. Reports that show one say so. */
const COMMENT_TOTALS =
  'The total of comments is what the upstream counts on its posts; new comments are those that the mirror has.';

export async function readFigures(reader: ReportReader, request: FiguresRequest): Promise<Figures> {
  const { period, prior, board, buckets } = request;
  const watched = await reader.watched();
  const { from, notes } = coverage(watched, period);
  const isPriorKnown = from !== null && watched.first !== null && prior.since >= watched.first;
  const facts = await reader.columns(WANTED);
  const moved =
    from === null || watched.first === null
      ? null
      : movementOf(facts, {
          ...{ now: request.now, observed: Date.parse(watched.first), board, buckets },
          recent: within({ since: from, until: period.until }),
          prior: isPriorKnown ? within(prior) : null,
        });
  const { comments, ...parts } = amounts(facts, request);
  const written = activity(facts, request);
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
    notes: [COMMENT_TOTALS, ...deletionNotes(facts, request), ...notes],
  };
}

const WANTED = {
  posts: [...GAIN_COLUMNS.posts, 'gone', 'status', 'comments', 'creator'],
  comments: ['post', 'created', 'creator', 'gone'],
  versions: GAIN_COLUMNS.versions,
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

/** The same for every period, so it is added up once until the mirror is written to. */
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
  const { created, gone } = facts.posts;
  const add = adderOf(facts, cells);
  for (const i of rowsFrom(created, now)) if (gone[i] === 0) add(i, -1);
  return cells;
}

function adderOf({ posts, boards, statuses }: Pick<Facts, 'posts' | 'boards' | 'statuses'>, cells: Cells) {
  const [boardAt, statusAt] = [placesById(boards), placesById(statuses)];
  const { counts, votes, comments } = cells;
  return (i: number, sign: 1 | -1): void => {
    const cell = boardAt(posts.board[i] ?? 0) * statuses.length + statusAt(posts.status[i] ?? 0);
    counts[cell] = (counts[cell] ?? 0) + sign;
    votes[cell] = (votes[cell] ?? 0) + sign * (posts.votes[i] ?? 0);
    comments[cell] = (comments[cell] ?? 0) + sign * (posts.comments[i] ?? 0);
  };
}

/** A period in milliseconds. */
interface Within {
  since: number;
  until: number;
}

function within({ since, until }: Span): Within {
  return { since: Date.parse(since), until: Date.parse(until) };
}

/** Which of two periods a moment is in, as bits: 1 for the one it is compared with, 2 for the period itself. */
function periodsAt(recent: Within, prior: Within | null): (at: number) => number {
  const isIn = ({ since, until }: Within, at: number): boolean => at >= since && at < until;
  return (at) => (prior !== null && isIn(prior, at) ? 1 : 0) + (isIn(recent, at) ? 2 : 0);
}

/** What was written in a period and in the one it is compared with; people are counted over the whole of each. */
function activity({ posts, comments, team }: Facts, { period, prior, board, buckets }: FiguresRequest) {
  const whenAt = periodsAt(within(period), within(prior));
  const least = Math.min(Date.parse(period.since), Date.parse(prior.since));
  /** A person has a bit for each of the two periods; those of the team have both from the beginning. */
  const isFirst = bitsOf(posts.creator, comments.creator);
  for (const id of team) {
    isFirst(id, 1);
    isFirst(id, 2);
  }
  const [asks, says, writers] = [new Int32Array(2), new Int32Array(2), new Int32Array(2)];
  const count = (counts: Int32Array, periods: number, creator: number): void => {
    for (let when = 0; when < 2; when++) {
      if ((periods & (1 << when)) === 0) continue;
      counts[when] = (counts[when] ?? 0) + 1;
      if (isFirst(creator, 1 << when)) writers[when] = (writers[when] ?? 0) + 1;
    }
  };
  const [newPosts, bucketOf] = [new Int32Array(buckets.length), bucketFinder(buckets)];
  const asked = rowsFrom(posts.created, least);
  for (let n = 0; n < asked.length; n++) {
    const i = asked[n] ?? 0;
    const at = posts.created[i] ?? 0;
    if (posts.gone[i] !== 0) continue;
    const periods = whenAt(at);
    if (periods === 0 || (board !== null && posts.board[i] !== board)) continue;
    count(asks, periods, posts.creator[i] ?? 0);
    const place = periods >= 2 ? bucketOf(at) : -1;
    if (place >= 0) newPosts[place] = (newPosts[place] ?? 0) + 1;
  }
  const placeOf = board === null ? null : placesOf(posts.id);
  const said = rowsFrom(comments.created, least);
  for (let n = 0; n < said.length; n++) {
    const i = said[n] ?? 0;
    const at = comments.created[i] ?? 0;
    if (comments.gone[i] !== 0) continue;
    const periods = whenAt(at);
    if (periods === 0) continue;
    if (placeOf !== null && posts.board[placeOf(comments.post[i] ?? 0)] !== board) continue;
    count(says, periods, comments.creator[i] ?? 0);
  }
  const both = ([prior = 0, recent = 0]: Int32Array) => ({ recent, prior });
  return { posts: both(asks), comments: both(says), customers: both(writers), newPosts: [...newPosts] };
}

interface MovementRequest {
  now: number;
  observed: number;
  recent: Within;
  /** Null where that was not watched. */
  prior: Within | null;
  board: number | null;
  buckets: readonly Bucket[];
}

/** The votes gained. With a board, a vote counts where its post was when the vote was seen. */
interface Movement {
  recent: number;
  prior: number | null;
  /** Votes gained in the period, by the bucket in which they were seen. */
  gained: number[];
}

function movementOf(facts: Facts, request: MovementRequest): Movement {
  const { now, observed, recent, prior, board: wanted, buckets } = request;
  const [gained, bucketOf] = [new Float64Array(buckets.length), bucketFinder(buckets)];
  const whenAt = periodsAt(recent, prior);
  const span = {
    now,
    observed,
    from: Math.min(recent.since, prior?.since ?? recent.since),
    until: recent.until,
  };
  const { rows, votes, at, board } = gainsIn(facts, span);
  let [before, since] = [0, 0];
  for (let n = 0; n < rows; n++) {
    if (wanted !== null && board[n] !== wanted) continue;
    const [when, more] = [at[n] ?? 0, votes[n] ?? 0];
    const periods = whenAt(when);
    if ((periods & 1) !== 0) before += more;
    if ((periods & 2) === 0) continue;
    since += more;
    const place = bucketOf(when);
    if (place >= 0) gained[place] = (gained[place] ?? 0) + more;
  }
  return { recent: since, prior: prior === null ? null : before, gained: [...gained] };
}

/** What totals lost in a period: posts whose deletion was seen in it, if they are still gone. */
function deletionNotes({ posts }: Facts, { period, board, now }: FiguresRequest): string[] {
  const [since, until] = [Date.parse(period.since), Date.parse(period.until)];
  const { gone, version, created } = posts;
  const changed = rowsFrom(version, since);
  let [count, votes] = [0, 0];
  for (let n = 0; n < changed.length; n++) {
    const i = changed[n] ?? 0;
    if (gone[i] === 0 || (version[i] ?? 0) >= until || (created[i] ?? 0) >= now) continue;
    if (board !== null && posts.board[i] !== board) continue;
    count++;
    votes += posts.votes[i] ?? 0;
  }
  return count === 0
    ? []
    : [
        `${counted(count, 'post')} with ${counted(votes, 'vote')} ${count === 1 ? 'was' : 'were'} deleted in the period: ` +
          'the totals fell by that, and votes gained before are still counted as gained.',
      ];
}
