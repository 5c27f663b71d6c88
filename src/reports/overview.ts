import type { MirroredBoard } from '../mirror/store/boards.ts';
import { againstNamed, earlier } from './against.ts';
import { type Amount, type Figure, readFigures } from './figures.ts';
import { postFactsOf } from './lists.ts';
import { bucketsOf, calendarOf, periodOf, type Span } from './moment.ts';
import { amongPeople } from './narrowed.ts';
import type { ReportRequest, Row, Watching } from './report.ts';
import { boardOf, runReport } from './run.ts';
import type { ReportReader, Watched } from './store.ts';
import { bucketRemark, type WatchedBucket, watchedBuckets, watchingOf } from './watching.ts';

/** The state of feedback on one page: what there is, what moved, and what waits. */
export interface Overview {
  since: string;
  until: string;
  /** Whose days and weeks these are. */
  timeZone: string;
  board: string | null;
  boards: MirroredBoard[];
  /** Whether all posts were read once: a mirror without any is then that of a service without any. */
  isSwept: boolean;
  figures: Record<'posts' | 'votes' | 'comments' | 'customers', Figure>;
  /** What the period is compared with. */
  prior: Span;
  watching: Watching;
  /** By day or week, each with the date it begins on, and what is to be known of it. */
  step: 'day' | 'week';
  times: string[];
  buckets: OverviewBucket[];
  /** Null where the mirror has not looked since. */
  newPosts: (number | null)[];
  /** Null where the mirror was not watching. */
  newVotes: (number | null)[];
  byBoard: Amount[];
  byStatus: (Amount & { color: string })[];
  climbers: Climber[];
  unanswered: Unanswered[];
  firstReply: FirstReply[];
  /** What a reader has to know to read the figures right. */
  notes: string[];
}

interface OverviewBucket {
  /** What a picture and a table say beside it, such as "so far"; null for most. */
  remark: string | null;
  /** Its time is not over. */
  isUnfinished: boolean;
  isWatched: boolean;
  /** The last look before it, where nobody looked in the whole of the one before. */
  sinceLook: string | null;
}

export interface Titled {
  id: number;
  title: string;
  board: string;
  status: string;
  statusColor: string;
}

interface Climber extends Titled {
  votes: number;
  gained: number;
}

interface Unanswered extends Titled {
  votes: number;
  waitingSeconds: number;
}

interface FirstReply {
  week: string;
  posts: number;
  answered: number;
  medianSeconds: number | null;
  /** Where the median is not known: more than half wait at least so long. */
  atLeastSeconds: number | null;
  /** "not finished" where its posts are too young, or another remark. */
  remark: string | null;
}

export type OverviewRequest = Pick<
  ReportRequest,
  'now' | 'since' | 'until' | 'board' | 'segment' | 'timeZone' | 'usualDelivered' | 'against'
>;

const USUAL_DAYS = 30;
/** A longer period is drawn by the week. */
const MOST_DAYS = 92;
const LISTED = 8;
/** Days or weeks that a note names one by one. */
const MOST_PARTS = 6;
const DAY_MS = 86_400_000;

/** Everything the first page of the dashboard shows. Throws AppError('usage') for a board or date that makes no sense. */
export async function readOverview(reader: ReportReader, request: OverviewRequest): Promise<Overview> {
  const calendar = calendarOf(request.timeZone);
  const period = periodOf({ since: { days: USUAL_DAYS } }, request, calendar) as Span;
  const board = await boardOf(reader, request.board);
  const step = Date.parse(period.until) - Date.parse(period.since) <= MOST_DAYS * DAY_MS ? 'day' : 'week';
  const watched = await reader.watched();
  const now = request.now;
  const buckets = watchedBuckets(bucketsOf(step, period, calendar), {
    until: period.until,
    watched,
    now,
    calendar,
  });
  const prior = earlier(period, againstNamed(request.against ?? 'previous'), calendar);
  const asked = { now, period, prior, board: board?.id ?? null, buckets, calendar };
  const { segment } = request;
  const among = segment === undefined ? reader : amongPeople(reader, await reader.peopleIn(segment), true);
  const { figures, newPosts, byBoard, byStatus, moved, from, notes } = await readFigures(among, asked);
  const { against: _, ...plain } = request;
  const within = { ...plain, since: period.since };
  const climbing = await runReport(reader, 'climbers', { ...within, limit: LISTED });
  const waiting = await runReport(reader, 'unanswered', { ...within, limit: LISTED });
  const replies = await runReport(reader, 'first-reply', within);
  return {
    ...period,
    timeZone: calendar.zone,
    board: board?.slug ?? null,
    boards: await reader.boards(),
    isSwept: watched.first !== null,
    figures,
    step,
    prior,
    watching: watchingOf(watched, period),
    times: buckets.map(({ date }) => date),
    buckets: buckets.map((bucket) => ({
      remark: bucketRemark(bucket),
      ...{ isUnfinished: bucket.isUnfinished, isWatched: bucket.isWatched, sinceLook: bucket.sinceLook },
    })),
    newPosts: newPosts.map((posts, i) =>
      posts > 0 || isRead(watched, buckets[i]?.begins ?? '') ? posts : null,
    ),
    newVotes: buckets.map(votesIn(watched, moved?.gained ?? [], from)),
    byBoard,
    byStatus,
    climbers: (await titled(reader, climbing.rows)).map(({ row, ...post }) => ({
      ...post,
      votes: Number(row.votes),
      gained: Number(row.gained),
    })),
    unanswered: (await titled(reader, waiting.rows)).map(({ row, ...post }) => ({
      ...post,
      votes: Number(row.votes),
      waitingSeconds: Number(row.waiting),
    })),
    firstReply: replies.rows.map(toFirstReply),
    notes: [...notes, ...partialNotes(step, buckets), ...waiting.notes],
  };
}

/** What began after the last look is not known; before the first one has ended, the posts that were read are. */
function isRead({ first, last }: Watched, begins: string): boolean {
  return begins <= (last ?? first ?? begins);
}

/** The votes of a day or week; null where the mirror cannot know them. */
function votesIn(watched: Watched, gained: readonly number[], from: string | null) {
  return ({ begins, ends, isWatched }: WatchedBucket, i: number): number | null => {
    const votes = gained[i] ?? 0;
    const isKnown = votes !== 0 || (from !== null && ends > from && isRead(watched, begins) && isWatched);
    return isKnown ? votes : null;
  };
}

function partialNotes(step: 'day' | 'week', buckets: readonly WatchedBucket[]): string[] {
  const parts = buckets.filter(({ partial, sinceLook }) => partial !== null || sinceLook !== null);
  if (parts.length === 0) return [];
  const list = parts
    .slice(-MOST_PARTS)
    .map((bucket) => `${bucket.date} (${bucketRemark(bucket)})`)
    .join(', ');
  return [`Shown in part: the ${step}${parts.length > 1 ? 's' : ''} of ${list}.`];
}

async function titled(reader: ReportReader, rows: readonly Row[]): Promise<(Titled & { row: Row })[]> {
  const ids = rows.map(({ post }) => Number(post));
  const titles = await postFactsOf(reader, ids);
  return rows.map((row) => {
    const { title, board, status, statusColor } = titles.get(Number(row.post)) ?? {};
    return { row, ...({ id: Number(row.post), title, board, status, statusColor } as Titled) };
  });
}

function toFirstReply({ week, posts, answered, median, at_least, partial }: Row): FirstReply {
  return {
    week: String(week),
    posts: Number(posts),
    answered: Number(answered),
    medianSeconds: median === null ? null : Number(median),
    atLeastSeconds: at_least === null ? null : Number(at_least),
    remark: partial === null ? null : String(partial),
  };
}
