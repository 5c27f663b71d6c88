import { iso } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { setOf } from '../mirror/index/select.ts';
import type { MirroredBoard } from '../mirror/store/boards.ts';
import type { KnownCustomer } from '../segments/people.ts';
import { counted, grouped, nearest } from '../text/text.ts';
import { againstNamed, changeOf, comparedColumns, comparedRows, earlier } from './against.ts';
import { type Definition, REPORT_NAMES, REPORTS, type ReportName } from './catalogue.ts';
import { climbers } from './climbers.ts';
import { duplicates } from './duplicates.ts';
import { firstReply, timeInStatus } from './durations.ts';
import { type Figure, readFigures } from './figures.ts';
import { funnel, postVotes, votes } from './history.ts';
import { gainedVotes, stale, topPosts, unanswered } from './lists.ts';
import { bucketsOf, type Calendar, calendarOf, type Period, periodOf, type Span } from './moment.ts';
import { amongPeople } from './narrowed.ts';
import { customers, demand, requests, segments } from './people.ts';
import {
  DEFAULT_LIMIT,
  flagText,
  type Measure,
  REPORT_FLAGS,
  type ReportColumn,
  type ReportRequest,
  type ReportResult,
  type ReportRows,
  type Row,
} from './report.ts';
import { shipped } from './shipped.ts';
import { type StatusNoting, statusesNamed, statusNotes, statusSets } from './status-sets.ts';
import type { ReportReader, Watched } from './store.ts';
import { boards, delivered, newByWeek, syncHealth } from './sums.ts';
import type { TallyQuestion } from './tally.ts';
import { coverage, type WatchedBucket, watchedBuckets, watchingOf } from './watching.ts';

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
  const asked: Asked = { request, definition, period, board, calendar, watched: await reader.watched() };
  if (known === 'post-votes') await refuseUnknownPost(reader, request.post ?? 0);
  const { rows, notes, weeks } = await answerOf(reader, known, asked);
  const compared = await comparison(reader, known, asked, rows);
  const columns = columnsFor(asked);
  return {
    name: known,
    title: definition.answers,
    ...period,
    timeZone: calendar.zone,
    board: board?.name ?? null,
    counts: definition.counts,
    measure: measureOf(columns, period),
    watching: {
      ...watchingOf(asked.watched, period),
      unfinished: weeks.find((week) => week.isUnfinished)?.date ?? null,
    },
    columns,
    rows: compared.rows.map((row) =>
      Object.fromEntries(columns.map((column) => [column.name, row[column.name] ?? null])),
    ),
    ...(rows.some(({ user }) => user !== undefined) && { people: rows.map(({ user }) => Number(user)) }),
    notes: [...fixedNotes(asked), ...notes, ...compared.notes, ...(await futureNotes(reader, asked))],
  };
}

function measureOf(columns: readonly ReportColumn[], { since, until }: Period): Measure | null {
  const column = columns.find(({ bar }) => bar);
  if (!column) return null;
  return {
    column: column.name,
    unit: column.unit ?? column.name,
    since: column.allTime ? null : since,
    until,
  };
}

/** The columns that are answered, with those of the other period where two are compared. */
function columnsFor({ definition, request }: Asked): readonly ReportColumn[] {
  const columns = definition.columns.filter((column) => isAnswered(column, definition, request));
  return request.against === undefined
    ? columns
    : comparedColumns(columns, definition.compares?.columns ?? []);
}

/** The rows beside those of the other period, and whether the mirror watched both. The overview compares by itself. */
async function comparison(
  reader: ReportReader,
  known: ReportName,
  asked: Asked,
  rows: Row[],
): Promise<ReportRows> {
  const { request, definition, period, calendar } = asked;
  if (request.against === undefined || period.since === null) {
    if (request.against !== undefined)
      throw new AppError('usage', '--against needs a period', { hint: 'Give --since, such as --since 30d.' });
    return { rows, notes: [] };
  }
  const then = earlier(period as Span, againstNamed(request.against), calendar);
  const notes = [againstNote(asked, then)];
  const { compares } = definition;
  if (known === 'overview') return { rows, notes };
  if (!compares || columnsFor(asked).some(({ name }) => name === 'week'))
    throw new AppError('usage', `--against compares the report ${known} only by board`, {
      hint: 'Give --by board too.',
    });
  const all = { ...request, limit: Number.MAX_SAFE_INTEGER };
  const only = new Set(rows.map(({ post, user }) => Number(post ?? user)));
  const answer = await answerOf(reader, known, { ...asked, request: all, period: then, only });
  return { rows: comparedRows(rows, answer.rows, compares.key, compares.columns), notes };
}

function againstNote({ watched, definition, period }: Asked, then: Span): string {
  const compared = `Compared with the time from ${then.since} to ${then.until}.`;
  if (!definition.history) return compared;
  const isWatched = watched.first !== null && watched.first <= then.since;
  const isPaused = [then, period].some((span) => watchingOf(watched, span).gaps.length > 0);
  if (!isWatched) return `${compared} The mirror did not watch the whole of it.`;
  return `${compared} The mirror watched both${isPaused ? ', with pauses' : ''}.`;
}

function fixedNotes({ definition: { notes = [], boardNote }, board, request }: Asked): readonly string[] {
  return [...notes, ...(board && boardNote ? [boardNote] : []), ...(request.same ? [TOGETHER] : [])];
}

const TOGETHER =
  'Posts that people marked as the same count as one, under the one with the most votes; the column same says how many they are.';

async function answerOf(
  reader: ReportReader,
  known: ReportName,
  asked: Asked,
): Promise<ReportRows & { weeks: readonly WatchedBucket[] }> {
  const { question, people, notes } = await bind(reader, asked);
  const narrowed =
    people === null ? reader : amongPeople(reader, people, asked.definition.about === 'writing');
  const found = await (known === 'overview'
    ? overviewRows(narrowed, asked)
    : (COMPUTED[known] as Compute)(narrowed, question));
  const answer = Array.isArray(found)
    ? { rows: found, notes: trendNotes(asked.definition, question.weeks) }
    : found;
  return { rows: answer.rows, notes: [...new Set([...notes, ...answer.notes])], weeks: question.weeks };
}

type Compute = (reader: ReportReader, question: TallyQuestion) => Promise<Row[] | ReportRows>;
type ComputedName = Exclude<ReportName, 'overview'>;

/** Reports over everything there is add up columns; those that read few rows are a statement of SQL. */
const COMPUTED: Record<ComputedName, Compute> = {
  'top-posts': topPosts,
  'gaining-posts': gainedVotes,
  climbers,
  votes,
  'new-by-week': newByWeek,
  funnel,
  'time-in-status': timeInStatus,
  delivered,
  shipped,
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
function refuseIdleFlags(name: ReportName, definition: Definition, request: ReportRequest): void {
  const { takes } = definition;
  const idle = REPORT_FLAGS.find((flag) => request[flag] !== undefined && !takes.includes(flag));
  if (idle)
    throw new AppError('usage', `${flagText(idle)} means nothing to the report ${name}`, {
      hint: `It takes ${takes.map(flagText).join(', ')}.`,
    });
  if (takesBoards(definition) && request.by !== undefined && request.by !== 'board')
    throw new AppError('usage', `the report ${name} knows no rows by "${request.by}"`, {
      hint: 'Give --by board.',
    });
  if (takes.includes('post') && request.post === undefined)
    throw new AppError('usage', `the report ${name} needs --post`, { hint: 'Give the id of a post.' });
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
  watched: Watched;
  request: ReportRequest;
  definition: Definition;
  period: Period;
  board: MirroredBoard | null;
  calendar: Calendar;
  /** Of a list: only these posts or people. */
  only?: ReadonlySet<number>;
}

interface Binding {
  question: TallyQuestion;
  /** Whose posts are meant; null for everybody's. */
  people: number[] | null;
  notes: string[];
}

async function bind(reader: ReportReader, asked: Asked): Promise<Binding> {
  const { request, definition, period, board, watched } = asked;
  const covered = definition.history ? coverage(watched, period) : null;
  const sets = definition.sets ? statusSets(await reader.statuses(), request) : null;
  const asking = await askingOf(reader, asked);
  const statuses = await statusIds(reader, request.status);
  const question: TallyQuestion = {
    now: request.now,
    since: period.since === null ? Number.NEGATIVE_INFINITY : Date.parse(period.since),
    until: Date.parse(period.until),
    from: timeOf(covered?.from),
    observed: timeOf(watched.first),
    last: timeOf(watched.last),
    lastComments: timeOf(watched.comments),
    weeks: weeksOf(asked, covered?.from),
    board: board?.id ?? null,
    post: request.post ?? null,
    statuses,
    delivered: sets?.delivered.map(({ id }) => id) ?? [],
    finished: sets?.finished.map(({ id }) => id) ?? [],
    same: request.same === true,
    limit: request.limit ?? DEFAULT_LIMIT,
    only: asked.only ?? null,
    includeClosed: request.includeClosed === true,
    byBoard: takesBoards(definition) && request.by === 'board',
    customers: asking.customers,
    people: definition.about === 'people' ? asking.people : null,
  };
  const ofStatuses = sets && definition.sets ? statusNotes(sets, leavingOut(asked, statuses)) : [];
  return {
    question,
    people: definition.about === 'people' ? null : asking.people,
    notes: [...(covered?.notes ?? []), ...ofStatuses, ...asking.notes],
  };
}

interface Asking {
  customers: readonly KnownCustomer[];
  people: number[] | null;
  notes: string[];
}

/** Whose posts are meant. A report about customers is about those of the segment; any other is about the posts that they wrote. */
async function askingOf(reader: ReportReader, { request, definition }: Asked): Promise<Asking> {
  const { segment, by } = request;
  const people = segment === undefined ? null : await reader.peopleIn(segment);
  const note = people === null ? [] : [segmentNote(segment, people.length, definition.about)];
  if (!definition.groups) return { customers: [], people, notes: note };
  const { customers, importedAt } = await reader.customers(by);
  const isMeant = people === null ? () => true : setOf(people);
  const meant = customers.filter(({ users }) => people === null || users.some(isMeant));
  const found = customers.filter(({ users }) => users.length > 0).length;
  const matched = `${grouped(found)} of the ${counted(customers.length, 'imported customer')} wrote something that the mirror has. The file was imported on ${importedAt.slice(0, 10)}.`;
  return { customers: meant, people, notes: [matched] };
}

function segmentNote(segment = '', people: number, about: Definition['about']): string {
  const who = `${segment} (${counted(people, 'person', 'people')})`;
  if (about === 'people') return `Only people of ${who}.`;
  if (about === 'writing') return `Only what people of ${who} wrote. Votes carry no names in this API.`;
  return `Only posts written by ${who}. Votes carry no names in this API.`;
}

/** What a note says of statuses: which deliver, or which are left out, and how to have them. */
function leavingOut({ definition, request }: Asked, statuses: readonly number[]): StatusNoting {
  if (definition.sets === 'delivered') return { set: 'delivered' };
  const isRanking = definition.takes.includes('includeClosed');
  const isAsked = isRanking && (request.includeClosed === true || statuses.length > 0);
  return { set: isAsked ? 'none' : 'finished', isRanking, asked: statuses };
}

function timeOf(iso: string | null | undefined): number | null {
  return iso == null ? null : Date.parse(iso);
}

/** Only for reports by the week: the weeks of some years take milliseconds. */
function weeksOf(
  { definition: { columns }, period: { since, until }, calendar, watched, request: { now } }: Asked,
  watchedFrom: string | null = null,
): WatchedBucket[] {
  if (since === null || !columns.some(({ name, kind }) => name === 'week' || kind === 'trend')) return [];
  const weeks = bucketsOf('week', { since, until, watchedFrom: watchedFrom ?? since }, calendar);
  return watchedBuckets(weeks, { until, watched, now, calendar });
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
async function overviewRows(reader: ReportReader, asked: Asked): Promise<ReportRows> {
  const { request, period, board, calendar } = asked;
  const span = period as Span;
  const { figures, notes } = await readFigures(reader, {
    now: request.now,
    period: span,
    prior: earlier(span, againstNamed(request.against ?? 'previous'), calendar),
    board: board?.id ?? null,
    buckets: [],
    calendar,
  });
  const row = (what: string, { total, recent, prior }: Figure): Row => ({
    ...{ what, total, recent, prior },
    change: changeOf(recent, prior),
  });
  const rows = [
    row('posts', figures.posts),
    row('votes', figures.votes),
    row('comments', figures.comments),
    row('customers who wrote', figures.customers),
  ];
  return { rows, notes };
}

/** What a sparkline cannot mark. */
function trendNotes({ columns }: Definition, weeks: readonly WatchedBucket[]): string[] {
  if (!columns.some(({ kind }) => kind === 'trend')) return [];
  return weeks.flatMap(({ date, partial }) =>
    partial === null ? [] : [`The number for the week of ${date} is of a part of it: ${partial}.`],
  );
}

/** Whether its rows can be boards in place of weeks: of other reports --by names a column of the customers. */
function takesBoards({ takes, groups }: Definition): boolean {
  return takes.includes('by') && !groups;
}

/** Posts are counted together only where that is asked. */
function isAnswered({ name }: ReportColumn, definition: Definition, { same, by }: ReportRequest): boolean {
  if (name === 'same') return same === true;
  if (takesBoards(definition) && name === 'board') return by === 'board';
  if (takesBoards(definition) && (name === 'week' || name === 'partial')) return by !== 'board';
  return true;
}
