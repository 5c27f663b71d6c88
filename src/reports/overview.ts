import { readFileSync } from 'node:fs';
import type { KnownBoard, ReportReader } from '../store/reports.ts';
import { coverage } from './coverage.ts';
import { daysOf, mondays } from './moment.ts';
import { type Movement, type PostMovement, readMovement } from './movement.ts';
import type { ReportRequest } from './report.ts';
import { boardOf, type Period, periodOf, priorTo, runReport } from './run.ts';

/** The state of feedback on one page: what there is, what moved, and what waits. */
export interface Overview {
  since: string;
  until: string;
  board: string | null;
  boards: KnownBoard[];
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

export type OverviewRequest = Pick<ReportRequest, 'now' | 'since' | 'until' | 'board'>;

const USUAL_DAYS = 30;
/** A longer period is drawn by the week. */
const MOST_DAYS = 92;
const LISTED = 8;
const DAY_MS = 86_400_000;

/** Everything the first page of the dashboard shows. Throws AppError('usage') for a board or date that makes no sense. */
export async function readOverview(reader: ReportReader, request: OverviewRequest): Promise<Overview> {
  const period = { ...periodOf({ since: { days: USUAL_DAYS } }, request) } as Span;
  const board = await boardOf(reader, request.board);
  const boards = await reader.boards();
  const prior = priorTo(period.since, period.until);
  const watched = await reader.watched();
  const { from, notes } = coverage(watched, period.since, period.until);
  const before = from !== null && watched.first !== null && prior >= watched.first ? prior : null;
  const asked = { from, before, until: period.until, board: board?.id ?? null };
  const moved = from === null ? null : await readMovement(reader, { ...asked, from });
  const parts = await amounts(reader, asked.board, boards);
  const written = await activity(reader, { ...period, prior, board: asked.board });
  const buckets = bucketsOf(period, from);
  const waiting = await runReport(reader, 'unanswered', { ...request, since: period.since, limit: LISTED });
  const replies = await runReport(reader, 'first-reply', { ...request, since: period.since });
  return {
    ...period,
    board: board?.slug ?? null,
    boards,
    figures: {
      posts: { total: sum(parts.byBoard, 'posts'), ...written.posts },
      votes: {
        total: sum(parts.byBoard, 'votes'),
        recent: moved?.recent ?? null,
        prior: moved?.prior ?? null,
      },
      comments: { total: parts.comments, ...written.comments },
      customers: { total: null, ...written.customers },
    },
    step: buckets.step,
    times: buckets.times,
    newPosts: buckets.fill(written.days).map((posts) => posts ?? 0),
    newVotes: moved ? buckets.fill(moved.days, from) : buckets.times.map(() => null),
    byBoard: parts.byBoard,
    byStatus: parts.byStatus,
    climbers: moved && from ? await climbers(reader, moved, { ...period, since: from }) : [],
    unanswered: await withColors(reader, waiting.rows),
    firstReply: replies.rows.map(toFirstReply),
    notes: [...notes, ...waiting.notes.filter((note) => note.startsWith('Left out'))],
  };
}

type Span = Period & { since: string };

/** Reports have their SQL in sql/, and this page its own beside it. */
function sqlOf(name: 'standing' | 'activity' | 'titles'): string {
  return readFileSync(new URL(`./page-sql/${name}.sql`, import.meta.url), 'utf8');
}

function sum(rows: readonly Amount[], what: 'posts' | 'votes'): number {
  return rows.reduce((total, row) => total + row[what], 0);
}

async function amounts(reader: ReportReader, board: number | null, boards: readonly KnownBoard[]) {
  const parts = (await reader.rows(sqlOf('standing'), { board })) as unknown as Part[];
  const of = <T extends { id: number; name: string }>(known: readonly T[], key: 'board' | 'status') =>
    known
      .map((one) => ({ ...one, ...added(parts.filter((part) => part[key] === one.id)) }))
      .filter(({ posts }) => posts > 0);
  return {
    byBoard: of(boards, 'board').sort((a, b) => b.posts - a.posts),
    byStatus: of(await reader.statuses(), 'status'),
    comments: parts.reduce((total, { comments }) => total + comments, 0),
  };
}

interface Part {
  board: number;
  status: number;
  posts: number;
  votes: number;
  comments: number;
}

function added(parts: readonly Part[]): { posts: number; votes: number } {
  return {
    posts: parts.reduce((total, { posts }) => total + posts, 0),
    votes: parts.reduce((total, { votes }) => total + votes, 0),
  };
}

async function activity(reader: ReportReader, bound: Span & { prior: string; board: number | null }) {
  const rows = await reader.rows(sqlOf('activity'), { ...bound });
  const total = (what: 'posts' | 'comments' | 'customers', isRecent: number): number =>
    rows.reduce((n, row) => n + (row.isRecent === isRecent ? Number(row[what]) : 0), 0);
  const both = (what: 'posts' | 'comments' | 'customers') => ({
    recent: total(what, 1),
    prior: total(what, 0),
  });
  const recent = rows.filter(({ day, isRecent }) => day !== null && isRecent === 1);
  return {
    posts: both('posts'),
    comments: both('comments'),
    customers: both('customers'),
    days: new Map(recent.map(({ day, posts }) => [String(day), Number(posts)])),
  };
}

function bucketsOf({ since, until }: Span, watchedFrom: string | null) {
  const isByDay = Date.parse(until) - Date.parse(since) <= MOST_DAYS * DAY_MS;
  const times = isByDay ? daysOf(since, until) : mondays(since, until);
  const firstWatched = watchedFrom?.slice(0, 10) ?? '';
  const isSeen = (start: string, next: string | undefined): boolean =>
    next === undefined || next > firstWatched || start >= firstWatched;
  return {
    step: isByDay ? ('day' as const) : ('week' as const),
    times,
    fill(days: ReadonlyMap<string, number>, from: string | null = null): (number | null)[] {
      return times.map((start, i) => {
        const next = times[i + 1];
        if (from !== null && !isSeen(start, next)) return null;
        let total = 0;
        for (const [day, n] of days) if (day >= start && (next === undefined || day < next)) total += n;
        return total;
      });
    },
  };
}

/** In order of votes a day in the period, less votes a day in the life before it: as the report climbers has it. */
async function climbers(
  reader: ReportReader,
  { posts }: Movement,
  { since, until }: Span,
): Promise<Climber[]> {
  const paced = posts.map((post) => ({ ...post, pace: paceOf(post, since, until) }));
  const best = paced.sort((a, b) => b.pace - a.pace || b.votes - a.votes || a.id - b.id).slice(0, LISTED);
  const titles = await titlesOf(
    reader,
    best.map(({ id }) => id),
  );
  return best.flatMap(({ id, votes, gained }) => {
    const titled = titles.get(id);
    return titled ? [{ ...titled, votes, gained }] : [];
  });
}

function paceOf({ created, votes, gained }: PostMovement, since: string, until: string): number {
  const days = (a: string, b: string): number => Math.max(1, (Date.parse(b) - Date.parse(a)) / DAY_MS);
  if (created >= since) return gained / days(created, until);
  return gained / days(since, until) - (votes - gained) / days(created, since);
}

async function titlesOf(reader: ReportReader, ids: readonly number[]): Promise<Map<number, Titled>> {
  const rows = await reader.rows(sqlOf('titles'), { ids: JSON.stringify(ids) });
  return new Map(rows.map((row) => [Number(row.id), row as unknown as Titled]));
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
