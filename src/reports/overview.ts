import type { KnownBoard, ReportReader } from '../store/reports.ts';
import { type Amount, type Figure, pageSql, readFigures } from './figures.ts';
import { type Bucket, bucketsOf, calendarOf, periodOf, type Span } from './moment.ts';
import type { Movement, PostMovement } from './movement.ts';
import type { ReportRequest } from './report.ts';
import { boardOf, runReport } from './run.ts';
import { firstBy } from './tally.ts';

/** The state of feedback on one page: what there is, what moved, and what waits. */
export interface Overview {
  since: string;
  until: string;
  /** Whose days and weeks these are. */
  timeZone: string;
  board: string | null;
  boards: KnownBoard[];
  /** Whether all posts were read once: a mirror without any is then that of a service without any. */
  isSwept: boolean;
  figures: Record<'posts' | 'votes' | 'comments' | 'customers', Figure>;
  /** By day or week, each with the date it begins on. */
  step: 'day' | 'week';
  times: string[];
  newPosts: number[];
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

/** A post as a line of a list. */
export interface Titled {
  id: number;
  title: string;
  board: string;
  status: string;
  statusColor: string;
}

export interface Climber extends Titled {
  votes: number;
  gained: number;
}

export interface Unanswered extends Titled {
  votes: number;
  waitingSeconds: number;
}

export interface FirstReply {
  week: string;
  posts: number;
  answered: number;
  medianSeconds: number | null;
}

export type OverviewRequest = Pick<
  ReportRequest,
  'now' | 'since' | 'until' | 'board' | 'timeZone' | 'usualDelivered'
>;

const USUAL_DAYS = 30;
/** A longer period is drawn by the week. */
const MOST_DAYS = 92;
const LISTED = 8;
const DAY_MS = 86_400_000;

/** Everything the first page of the dashboard shows. Throws AppError('usage') for a board or date that makes no sense. */
export async function readOverview(reader: ReportReader, request: OverviewRequest): Promise<Overview> {
  const calendar = calendarOf(request.timeZone);
  const period = periodOf({ since: { days: USUAL_DAYS } }, request, calendar) as Span;
  const board = await boardOf(reader, request.board);
  const step = Date.parse(period.until) - Date.parse(period.since) <= MOST_DAYS * DAY_MS ? 'day' : 'week';
  const buckets = bucketsOf(step, period, calendar);
  const asked = { now: request.now, period, board: board?.id ?? null, buckets, calendar };
  const { figures, newPosts, byBoard, byStatus, moved, from, notes } = await readFigures(reader, asked);
  const waiting = await runReport(reader, 'unanswered', { ...request, since: period.since, limit: LISTED });
  const replies = await runReport(reader, 'first-reply', { ...request, since: period.since });
  return {
    ...period,
    timeZone: calendar.zone,
    board: board?.slug ?? null,
    boards: await reader.boards(),
    isSwept: (await reader.watched()).first !== null,
    figures,
    step,
    times: buckets.map(({ date }) => date),
    newPosts,
    newVotes: buckets.map(({ ends }, i) =>
      from !== null && ends > from ? (moved?.gained[i] ?? null) : null,
    ),
    byBoard,
    byStatus,
    climbers: moved && from ? await climbers(reader, moved, Date.parse(from), Date.parse(period.until)) : [],
    unanswered: await withColors(reader, waiting.rows),
    firstReply: replies.rows.map(toFirstReply),
    notes: [...notes, ...partialNotes(step, buckets), ...waiting.notes],
  };
}

/** Which days or weeks at the ends of a chart are shown in part. */
function partialNotes(step: 'day' | 'week', buckets: readonly Bucket[]): string[] {
  const parts = buckets.filter(({ partial }) => partial !== null);
  if (parts.length === 0) return [];
  const list = parts.map(({ date, partial }) => `${date} (${partial})`).join(', ');
  return [`Shown in part: the ${step}${parts.length > 1 ? 's' : ''} of ${list}.`];
}

/** In order of votes a day in the period, less votes a day in the life before it: as the report climbers has it. */
async function climbers(
  reader: ReportReader,
  { posts }: Movement,
  since: number,
  until: number,
): Promise<Climber[]> {
  const paces = new Float64Array(posts.length);
  posts.forEach((post, place) => {
    paces[place] = paceOf(post, since, until);
  });
  const best = firstBy(
    posts.length,
    () => true,
    LISTED,
    (a, b) =>
      (paces[b] ?? 0) - (paces[a] ?? 0) ||
      (posts[b]?.votes ?? 0) - (posts[a]?.votes ?? 0) ||
      (posts[a]?.id ?? 0) - (posts[b]?.id ?? 0),
  ).flatMap((place) => posts[place] ?? []);
  const titles = await titlesOf(
    reader,
    best.map(({ id }) => id),
  );
  return best.flatMap(({ id, votes, gained }) => {
    const titled = titles.get(id);
    return titled ? [{ ...titled, votes, gained }] : [];
  });
}

function paceOf({ created, votes, gained }: PostMovement, since: number, until: number): number {
  const days = (a: number, b: number): number => Math.max(1, (b - a) / DAY_MS);
  if (created >= since) return gained / days(created, until);
  return gained / days(since, until) - (votes - gained) / days(created, since);
}

async function titlesOf(reader: ReportReader, ids: readonly number[]): Promise<Map<number, Titled>> {
  const rows = await reader.rows(pageSql('titles'), { ids: JSON.stringify(ids) });
  return new Map(
    rows.map(({ id, title, board, status, statusColor }) => [
      Number(id),
      { id, title, board, status, statusColor } as Titled,
    ]),
  );
}

async function withColors(
  reader: ReportReader,
  rows: readonly Record<string, unknown>[],
): Promise<Unanswered[]> {
  const titles = await titlesOf(
    reader,
    rows.map(({ post }) => Number(post)),
  );
  return rows.flatMap(({ post, votes, waiting }) => {
    const titled = titles.get(Number(post));
    return titled ? [{ ...titled, votes: Number(votes), waitingSeconds: Number(waiting) }] : [];
  });
}

function toFirstReply({ week, posts, answered, median }: Record<string, unknown>): FirstReply {
  return {
    week: String(week),
    posts: Number(posts),
    answered: Number(answered),
    medianSeconds: median === null ? null : Number(median),
  };
}
