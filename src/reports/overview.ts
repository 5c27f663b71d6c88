import type { MirroredBoard } from '../store/boards.ts';
import type { ReportReader } from '../store/reports.ts';
import { type Amount, type Figure, readFigures } from './figures.ts';
import { titlesOf } from './lists.ts';
import { type Bucket, bucketsOf, calendarOf, periodOf, type Span } from './moment.ts';
import type { ReportRequest, Row } from './report.ts';
import { boardOf, runReport } from './run.ts';

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
  const within = { ...request, since: period.since };
  const climbing = await runReport(reader, 'climbers', { ...within, limit: LISTED });
  const waiting = await runReport(reader, 'unanswered', { ...within, limit: LISTED });
  const replies = await runReport(reader, 'first-reply', within);
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

/** Which days or weeks at the ends of a chart are shown in part. */
function partialNotes(step: 'day' | 'week', buckets: readonly Bucket[]): string[] {
  const parts = buckets.filter(({ partial }) => partial !== null);
  if (parts.length === 0) return [];
  const list = parts.map(({ date, partial }) => `${date} (${partial})`).join(', ');
  return [`Shown in part: the ${step}${parts.length > 1 ? 's' : ''} of ${list}.`];
}

/** The rows of a list as the page shows posts. */
async function titled(reader: ReportReader, rows: readonly Row[]): Promise<(Titled & { row: Row })[]> {
  const ids = rows.map(({ post }) => Number(post));
  const titles = await titlesOf(reader, ids);
  return rows.map((row) => {
    const { title, board, status, statusColor } = titles.get(Number(row.post)) ?? {};
    return { row, ...({ id: Number(row.post), title, board, status, statusColor } as Titled) };
  });
}

function toFirstReply({ week, posts, answered, median }: Row): FirstReply {
  return {
    week: String(week),
    posts: Number(posts),
    answered: Number(answered),
    medianSeconds: median === null ? null : Number(median),
  };
}
