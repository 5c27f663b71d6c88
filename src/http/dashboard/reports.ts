import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { AGAINST } from '../../reports/against.ts';
import { REPORT_NAMES, REPORTS, type ReportName } from '../../reports/catalogue.ts';
import type { Overview } from '../../reports/overview.ts';
import { type ReportFlag, type ReportRequest, type ReportResult, reportCsv } from '../../reports/report.ts';
import { reportNamed } from '../../reports/run.ts';
import { sortedReport } from '../../reports/sort.ts';
import type { Choices } from '../../search/browse/browse.ts';
import { sendFile } from '../server/replies.ts';
import { listOf, numberOf, required, textIn, wordIn, zoneOf } from './parameters.ts';
import type { DashboardReads } from './reading-pool.ts';

type ReportsDeps = Pick<OverviewDeps, 'reads' | 'version' | 'clock' | 'timeZone' | 'usualDelivered'>;

export interface ReportsAnswer extends Choices {
  reports: ReportInfo[];
}

export interface ReportInfo {
  name: ReportName;
  answers: string;
  /** What the figures count, in one sentence. */
  counts: string;
  takes: readonly ReportFlag[];
  /** Whether `by` names a column of the imported customers; else it is `board`. */
  isOfCustomers: boolean;
  /** Its period unless told; null for everything. */
  since: { days: number } | { weeks: number } | null;
}

export interface ReportAnswer extends ReportResult {
  asOf: string;
}

/** The answer while a report still runs: how much of it is done, 0 to 1, if that is known. */
export interface WorkingAnswer {
  isWorking: true;
  share: number | null;
}

const MOST_ROWS = 1000;

/** `/data/reports`: every report of the command line, as JSON or, with `format=csv`, as a file. */
export function addReports(app: FastifyInstance, deps: ReportsDeps): void {
  const { reads, version, clock, timeZone, usualDelivered } = deps;
  const ask = (name: ReportName, choice: Choice): Promise<ReportResult> =>
    reads.ask('report', { name, request: { now: clock.now(), timeZone, usualDelivered, ...choice } });
  const answers = keepAnswers<ReportResult>({
    compute: (key) => ask(...(JSON.parse(key) as [ReportName, Choice])),
    version,
    clock,
  });
  app.get('/data/reports', async (): Promise<ReportsAnswer> => {
    return { reports: REPORT_NAMES.map(infoOf), ...(await reads.ask('choices', null)) };
  });
  app.post('/data/reports/cancel', async () => {
    reads.cancelSlow();
    return {};
  });
  app.get('/data/reports/:name', async ({ params, query }, reply) => {
    const name = nameOf(params);
    const key = JSON.stringify([name, choiceOf(query)]);
    const found = await (wordIn(query, 'working', ['1']) === null ? answers.ask(key) : answers.soon(key));
    if (found === null)
      return reply.code(202).send({ isWorking: true, share: reads.progress() } satisfies WorkingAnswer);
    const { value: given, at } = found;
    const value = sortedReport(given, textIn(query, 'sort'));
    if (wordIn(query, 'format', ['csv', 'json']) !== 'csv')
      return { ...value, asOf: new Date(at).toISOString() } satisfies ReportAnswer;
    return sendFile(reply, `${name}.csv`, reportCsv(value));
  });
}

function infoOf(name: ReportName): ReportInfo {
  const { answers, counts, takes, ...rest } = REPORTS[name];
  return {
    ...{ name, answers, counts, takes },
    isOfCustomers: 'groups' in rest,
    since: 'since' in rest ? rest.since : null,
  };
}

function nameOf(params: unknown): ReportName {
  return reportNamed(required(textIn(params, 'name'), 'name'));
}

type Choice = Omit<Partial<ReportRequest>, 'now' | 'usualDelivered'>;

function choiceOf(given: unknown): Choice {
  const limit = numberOf(given, 'limit');
  const [status, delivered] = [listOf(given, 'status'), listOf(given, 'delivered')];
  const said = {
    board: textIn(given, 'board'),
    since: textIn(given, 'since'),
    until: textIn(given, 'until'),
    post: numberOf(given, 'post'),
    segment: textIn(given, 'segment'),
    by: textIn(given, 'by'),
    timeZone: zoneOf(given, 'tz'),
    limit: limit === null ? null : Math.min(limit, MOST_ROWS),
    same: wordIn(given, 'same', ['1']) === null ? null : true,
    includeClosed: wordIn(given, 'closed', ['1']) === null ? null : true,
    against: wordIn(given, 'against', AGAINST),
    status: status.length === 0 ? null : status,
    delivered: delivered.length === 0 ? null : delivered,
  };
  return whatWasSaid(said) as Choice;
}

/** Leaves out what the query does not say, so that equal questions are equal texts. */
function whatWasSaid(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter((pair) => pair[1] !== null));
}

export interface OverviewDeps {
  reads: DashboardReads;
  version(): number;
  clock: Clock;
  /** Whose days and weeks are shown. */
  timeZone: string;
  /** The statuses that count as delivered; null for those whose names say so. */
  usualDelivered: readonly string[] | null;
}

export interface OverviewAnswer extends Overview {
  asOf: string;
}

/** `/data/overview`: the state of feedback, for a period and a board. */
export function addOverviewData(app: FastifyInstance, deps: OverviewDeps): void {
  const { reads, version, clock, timeZone, usualDelivered } = deps;
  const answers = keepAnswers<Overview>({
    compute: (key) =>
      reads.ask('overview', {
        now: clock.now(),
        timeZone,
        usualDelivered,
        ...(JSON.parse(key) as OverviewChoice),
      }),
    version,
    clock,
  });
  app.get('/data/overview', async ({ query }): Promise<OverviewAnswer> => {
    const { value, at } = await answers.ask(keyOf(query));
    return { ...value, asOf: new Date(at).toISOString() };
  });
}

interface OverviewChoice {
  since?: string;
  until?: string;
  board?: string;
  segment?: string;
  against?: string;
  timeZone?: string;
}

function keyOf(query: unknown): string {
  const [since, until, board] = [textIn(query, 'since'), textIn(query, 'until'), textIn(query, 'board')];
  const [segment, against] = [textIn(query, 'segment'), wordIn(query, 'against', AGAINST)];
  return JSON.stringify(
    whatWasSaid({ since, until, board, segment, against, timeZone: zoneOf(query, 'tz') }),
  );
}

interface KeptOptions<T> {
  compute(key: string): Promise<T>;
  version(): number;
  clock: Clock;
}

interface Kept<T> {
  value: T;
  at: number;
}

/** An answer moves on with the time although nothing changes: periods end now. */
const FRESH_MS = 60_000;
/** How long somebody waits for the newest figures when the last ones are at hand. */
const WAIT_MS = 200;
/** How long a page waits before it says how far a long answer is: before the router offers to cancel the question alone. */
const PATIENCE_MS = 1000;
/** Older answers are not shown. */
const OLDEST_MS = 15 * 60_000;
const MOST_KEYS = 40;
/** At most a tenth of a thread's time goes to a page that is open while the mirror changes. */
const REST = 10;

interface Entry<T> extends Kept<T> {
  /** The same on the monotonic clock. */
  began: number;
  version: number;
  tookMs: number;
}

/**
 * Answers that take long in a large mirror, kept for whoever asks next. In a small one everybody gets the newest; where that takes
 * longer than people like to wait, they get the last one at once, with its age, and the newest is under way.
 */
export function keepAnswers<T>({ compute, version, clock }: KeptOptions<T>) {
  const kept = new Map<string, Entry<T>>();
  const underWay = new Map<string, Promise<Entry<T>>>();

  const isFresh = (entry: Entry<T>): boolean =>
    entry.version === version() && clock.monotonic() - entry.began < FRESH_MS;
  const isSettled = (entry: Entry<T>): boolean =>
    isFresh(entry) || clock.monotonic() - entry.began < entry.tookMs * REST;
  const renew = (key: string): Promise<Entry<T>> => {
    const running = underWay.get(key);
    if (running !== undefined) return running;
    const started = work(key).finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  };
  const work = async (key: string): Promise<Entry<T>> => {
    // Noted before: what is written meanwhile makes the answer an old one.
    const [at, began, seen] = [clock.now(), clock.monotonic(), version()];
    const value = await compute(key);
    const entry = { value, at, began, version: seen, tookMs: clock.monotonic() - began };
    kept.delete(key);
    kept.set(key, entry);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEYS && oldest !== undefined) kept.delete(oldest);
    return entry;
  };

  const ask = async (key: string): Promise<Kept<T>> => {
    const last = kept.get(key);
    if (last && isSettled(last)) return last;
    const newest = renew(key);
    if (!last || clock.monotonic() - last.began > OLDEST_MS) return await newest;
    return (await within(newest, WAIT_MS, clock)) ?? last;
  };
  return {
    ask,
    /** Null where it takes longer than a page waits; it goes on for whoever asks again. */
    soon: (key: string): Promise<Kept<T> | null> => within(ask(key), PATIENCE_MS, clock),
  };
}

/** Null where it takes longer. What fails late is tried again with the next question; what fails soon is said. */
async function within<T>(asked: Promise<T>, ms: number, clock: Clock): Promise<T | null> {
  asked.catch(() => undefined);
  const answered = new AbortController();
  const wait = clock.sleep(ms, answered.signal).then(
    () => null,
    () => null,
  );
  try {
    return await Promise.race([asked, wait]);
  } finally {
    answered.abort();
  }
}
