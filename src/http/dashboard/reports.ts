import type { FastifyInstance } from 'fastify';
import { AppError } from '../../base/errors.ts';
import { REPORT_NAMES, REPORTS, type ReportName } from '../../reports/catalogue.ts';
import { type ReportFlag, type ReportRequest, type ReportResult, reportCsv } from '../../reports/report.ts';
import { reportNamed } from '../../reports/run.ts';
import { readSegments } from '../../reports/segments.ts';
import type { Choices } from '../../store/browse/browse.ts';
import { keepAnswers, type OverviewDeps } from './overview.ts';
import { listOf, numberOf, oneOf, required, textOf } from './parameters.ts';

export type ReportsDeps = Pick<OverviewDeps, 'reads' | 'version' | 'clock' | 'timeZone' | 'usualDelivered'>;

/** What can be asked, and what it can be narrowed down to. */
export interface ReportsAnswer extends Choices {
  reports: ReportInfo[];
  timeZone: string;
}

export interface ReportInfo {
  name: ReportName;
  answers: string;
  takes: readonly ReportFlag[];
  /** Its period unless told; null for everything. */
  since: { days: number } | { weeks: number } | null;
}

export interface ReportAnswer extends ReportResult {
  /** When it was worked out. */
  asOf: string;
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
    return { reports: REPORT_NAMES.map(infoOf), timeZone, ...(await reads.ask('choices', null)) };
  });
  app.get('/data/reports/:name', async ({ params, query }, reply) => {
    const name = nameOf(params);
    const { value, at } = await answers.ask(JSON.stringify([name, choiceOf(query)]));
    if (oneOf(query, 'format', ['csv', 'json']) !== 'csv')
      return { ...value, asOf: new Date(at).toISOString() } satisfies ReportAnswer;
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${name}.csv"`)
      .send(reportCsv(value));
  });
  // A file of customers comes in the body, is used for this one answer and not kept.
  app.post('/data/reports/:name', async ({ params, body }, reply) => {
    const segments = readSegments(required(textOf(body, 'segments'), 'segments'), {
      by: textOf(body, 'by') ?? undefined,
      sum: textOf(body, 'sum') ?? undefined,
    });
    const value = await ask(nameOf(params), { ...choiceOf(body), segments });
    if (oneOf(body, 'format', ['csv', 'json']) === 'csv')
      return reply.type('text/csv; charset=utf-8').send(reportCsv(value));
    return { ...value, asOf: new Date(clock.now()).toISOString() } satisfies ReportAnswer;
  });
}

function infoOf(name: ReportName): ReportInfo {
  const { answers, takes, ...rest } = REPORTS[name];
  return { name, answers, takes, since: 'since' in rest ? rest.since : null };
}

function nameOf(params: unknown): ReportName {
  return reportNamed(required(textOf(params, 'name'), 'name'));
}

type Choice = Omit<Partial<ReportRequest>, 'now' | 'usualDelivered'>;

/** Only what was said: the same question is the same text. */
function choiceOf(given: unknown): Choice {
  const limit = numberOf(given, 'limit');
  const [status, delivered] = [listOf(given, 'status'), listOf(given, 'delivered')];
  const said = {
    board: textOf(given, 'board'),
    since: textOf(given, 'since'),
    until: textOf(given, 'until'),
    post: numberOf(given, 'post'),
    timeZone: zoneOf(textOf(given, 'tz')),
    limit: limit === null ? null : Math.min(limit, MOST_ROWS),
    same: oneOf(given, 'same', ['1']) === null ? null : true,
    status: status.length === 0 ? null : status,
    delivered: delivered.length === 0 ? null : delivered,
  };
  return Object.fromEntries(Object.entries(said).filter((pair) => pair[1] !== null)) as Choice;
}

function zoneOf(text: string | null): string | null {
  try {
    return text && new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch (cause) {
    throw new AppError('usage', `"${text}" is no time zone`, {
      hint: 'Give one such as UTC or Europe/Berlin.',
      cause,
    });
  }
}
