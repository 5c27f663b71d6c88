import { iso } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { nearest } from '../base/text.ts';
import type { MirroredBoard } from '../store/boards.ts';
import type { ReportReader } from '../store/reports.ts';
import { type Definition, REPORT_NAMES, REPORTS, type ReportName } from './catalogue.ts';
import { duplicates } from './duplicates.ts';
import { type Figure, readFigures } from './figures.ts';
import { funnel, postVotes, timeInStatus, votes } from './history.ts';
import { gainedVotes, stale, topPosts, unanswered } from './lists.ts';
import {
  type Bucket,
  bucketsOf,
  type Calendar,
  calendarOf,
  coverage,
  type Period,
  periodOf,
  type Span,
} from './moment.ts';
import { customers, demand, requests, segments } from './people.ts';
import {
  type Answer,
  type Column,
  DEFAULT_LIMIT,
  REPORT_FLAGS,
  type ReportRequest,
  type ReportResult,
  type Row,
} from './report.ts';
import { findCustomers } from './segments.ts';
import { statusesNamed, statusNotes, statusSets } from './status-sets.ts';
import { boards, delivered, firstReply, newByWeek, syncHealth } from './sums.ts';
import type { Question } from './tally.ts';

/** Answers one question about the mirror. Throws AppError('usage') for a name, board, date or flag that makes no sense. */
export async function runReport(
  reader: ReportReader,
  name: string,
  request: ReportRequest,
): Promise<ReportResult> {
  const known = reportNamed(name);
  const definition: Definition = REPORTS[known];
  refuseIdleFlags(known, definition, request);
  const calendar = calendarOf(request.timeZone);
  const board = await boardOf(reader, request.board);
  const period = periodOf(definition, request, calendar);
  const asked: Asked = { request, definition, period, board, calendar };
  if (known === 'post-votes') await refuseUnknownPost(reader, request.post ?? 0);
  const { rows, notes } =
    known === 'overview' ? await overviewRows(reader, asked) : await answerOf(reader, known, asked);
  const columns = definition.columns.filter((column) => isAnswered(column, request));
  return {
    name: known,
    title: definition.answers,
    ...period,
    timeZone: calendar.zone,
    board: board?.name ?? null,
    columns,
    rows: rows.map((row) =>
      Object.fromEntries(columns.map((column) => [column.name, row[column.name] ?? null])),
    ),
    ...(rows.some(({ user }) => user !== undefined) && { people: rows.map(({ user }) => Number(user)) }),
    notes: [...fixedNotes(asked), ...notes, ...(await futureNotes(reader, asked))],
  };
}

function fixedNotes({ definition: { notes = [], boardNote }, board, request }: Asked): readonly string[] {
  return [...notes, ...(board && boardNote ? [boardNote] : []), ...(request.same ? [TOGETHER] : [])];
}

const TOGETHER =
  'Posts that people marked as the same count as one, under the one with the most votes; the column same says how many they are.';

async function answerOf(reader: ReportReader, known: ComputedName, asked: Asked): Promise<Answer> {
  const { question, notes } = await bind(reader, asked);
  const compute: Compute = COMPUTED[known];
  const found = await compute(reader, question);
  const answer = Array.isArray(found)
    ? { rows: found, notes: trendNotes(asked.definition, question.weeks) }
    : found;
  return { rows: answer.rows, notes: [...notes, ...answer.notes] };
}

type Compute = (reader: ReportReader, question: Question) => Promise<Row[] | Answer>;
type ComputedName = Exclude<ReportName, 'overview'>;

/** Reports over everything there is add up columns; those that read few rows are a statement of SQL. */
const COMPUTED: Record<ComputedName, Compute> = {
  'top-posts': topPosts,
  'gaining-posts': gainedVotes,
  climbers: gainedVotes,
  votes,
  'new-by-week': newByWeek,
  funnel,
  'time-in-status': timeInStatus,
  delivered,
  'first-reply': firstReply,
  unanswered,
  stale,
  customers,
  requests,
  segments,
  demand,
  boards,
  duplicates,
  'post-votes': postVotes,
  'sync-health': syncHealth,
};

export function reportNamed(name: string): ReportName {
  const found = REPORT_NAMES.find((known) => known === name.trim().toLowerCase());
  if (found) return found;
  const close = nearest(name, REPORT_NAMES);
  const others = REPORT_NAMES.filter((known) => known !== close && sharesWord(known, name));
  const meant = [close, ...others].filter((each) => each !== null);
  throw new AppError('usage', `there is no report "${name}"`, {
    hint:
      meant.length > 0
        ? `Did you mean ${meant.slice(0, 3).join(' or ')}? "feedback-mirror report" lists all of them.`
        : `The reports are ${REPORT_NAMES.join(', ')}.`,
  });
}

function sharesWord(known: string, name: string): boolean {
  const words = name
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word.length > 2);
  return words.some((word) => known.includes(word) || nearest(word, known.split('-'), 1) !== null);
}

/** A flag that changes nothing would look as if it had. */
function refuseIdleFlags(name: ReportName, { takes }: Definition, request: ReportRequest): void {
  const idle = REPORT_FLAGS.find((flag) => request[flag] !== undefined && !takes.includes(flag));
  if (idle)
    throw new AppError('usage', `--${idle} means nothing to the report ${name}`, {
      hint: `It takes ${takes.map((flag) => `--${flag}`).join(', ')}.`,
    });
  for (const flag of ['post', 'segments'] as const)
    if (takes.includes(flag) && request[flag] === undefined)
      throw new AppError('usage', `the report ${name} needs --${flag}`, {
        hint: flag === 'post' ? 'Give the id of a post.' : 'Give a CSV file of customers with their e-mails.',
      });
}

/** The board a person means; null where they mean all. */
export async function boardOf(
  reader: Pick<ReportReader, 'board'>,
  wanted: string | undefined,
): Promise<MirroredBoard | null> {
  return wanted === undefined ? null : await reader.board(wanted);
}

/** The statuses a person means, by name or id; several can share a name. */
export async function statusIds(
  reader: Pick<ReportReader, 'statuses'>,
  wanted: readonly string[] = [],
): Promise<number[]> {
  if (wanted.length === 0) return [];
  const known = await reader.statuses();
  return wanted.flatMap((text) => {
    const byId = known.filter(({ id }) => String(id) === text.trim());
    return (byId.length > 0 ? byId : statusesNamed(known, text, 'status')).map(({ id }) => id);
  });
}

async function refuseUnknownPost(reader: ReportReader, id: number): Promise<void> {
  if (await reader.hasPost(id)) return;
  throw new AppError('usage', `the mirror knows no post ${id}`, {
    hint: 'The id stands in the column post of "feedback-mirror report top-posts", and in the address of a post.',
  });
}

interface Asked {
  request: ReportRequest;
  definition: Definition;
  period: Period;
  board: MirroredBoard | null;
  calendar: Calendar;
}

interface Binding {
  question: Question;
  notes: string[];
}

async function bind(reader: ReportReader, asked: Asked): Promise<Binding> {
  const { request, definition, period, board } = asked;
  const watched = await reader.watched();
  const covered = definition.history ? coverage(watched, period) : null;
  const sets = definition.sets ? statusSets(await reader.statuses(), request) : null;
  const people = request.segments ? await findCustomers(reader, request.segments) : null;
  const statuses = await statusIds(reader, request.status);
  const question: Question = {
    now: request.now,
    since: period.since === null ? Number.NEGATIVE_INFINITY : Date.parse(period.since),
    until: Date.parse(period.until),
    from: timeOf(covered?.from),
    observed: timeOf(watched.first),
    last: timeOf(watched.last),
    weeks: weeksOf(asked, covered?.from),
    board: board?.id ?? null,
    post: request.post ?? null,
    statuses,
    delivered: sets?.delivered.map(({ id }) => id) ?? [],
    finished: sets?.finished.map(({ id }) => id) ?? [],
    same: request.same === true,
    limit: request.limit ?? DEFAULT_LIMIT,
    rank: definition.rank ?? 'gained',
    customers: people?.customers ?? [],
  };
  const ofStatuses = sets && definition.sets ? statusNotes(sets, definition.sets) : [];
  return { question, notes: [...(covered?.notes ?? []), ...ofStatuses, ...(people?.notes ?? [])] };
}

function timeOf(iso: string | null | undefined): number | null {
  return iso == null ? null : Date.parse(iso);
}

/** Only for reports by the week: the weeks of some years take milliseconds. */
function weeksOf(
  { definition: { columns }, period: { since, until }, calendar }: Asked,
  watchedFrom: string | null = null,
): Bucket[] {
  return since === null || !columns.some(({ name, kind }) => name === 'week' || kind === 'trend')
    ? []
    : bucketsOf('week', { since, until, watchedFrom: watchedFrom ?? since }, calendar);
}

/** A post can be dated after the moment of asking: by a clock that is ahead, or on purpose. */
async function futureNotes(reader: ReportReader, { request, board }: Asked): Promise<string[]> {
  const bound = { now: iso(request.now), board: board?.id ?? null };
  const [row] = await reader.rows(FUTURE, bound);
  const posts = Number(row?.posts);
  if (posts === 0) return [];
  const those = posts === 1 ? '1 post is' : `${posts.toLocaleString('en')} posts are`;
  return [`${those} dated after this moment, and not counted before then.`];
}

const FUTURE = `
  SELECT count(*) AS posts FROM posts
   WHERE created >= $now AND deleted_at IS NULL AND ($board IS NULL OR board_id = $board)`;

/** The report overview: the figures of the dashboard's first page, as rows. */
async function overviewRows(reader: ReportReader, asked: Asked): Promise<Answer> {
  const { request, period, board, calendar } = asked;
  const span = period as Span;
  const { figures, notes } = await readFigures(reader, {
    now: request.now,
    period: span,
    board: board?.id ?? null,
    buckets: [],
    calendar,
  });
  const row = (what: string, { total, recent, prior }: Figure): Row => {
    const isKnown = recent !== null && prior !== null && prior > 0;
    return { what, total, recent, prior, change: isKnown ? (recent - prior) / prior : null };
  };
  const rows = [
    row('posts', figures.posts),
    row('votes', figures.votes),
    row('comments', figures.comments),
    row('customers who wrote', figures.customers),
  ];
  return { rows, notes };
}

/** What a sparkline cannot mark. */
function trendNotes({ columns }: Definition, weeks: readonly Bucket[]): string[] {
  if (!columns.some(({ kind }) => kind === 'trend')) return [];
  return weeks.flatMap(({ date, partial }) =>
    partial === null ? [] : [`The number for the week of ${date} is of a part of it: ${partial}.`],
  );
}

/** Without a column to add up there is no amount, and posts are counted together only where that is asked. */
function isAnswered({ name }: Column, { segments, same }: ReportRequest): boolean {
  if (name === 'same') return same === true;
  return name !== 'amount' || segments?.sum !== null;
}
