import type { Command } from 'commander';
import { mirrorOf } from '../app/place.ts';
import { AppError, messageOf } from '../base/errors.ts';
import type { ReportRequest, ReportResult } from '../reports/report.ts';
import type { SourceReport } from '../reports/together.ts';
import { counted } from '../text/text.ts';
import {
  type Context,
  closing,
  type Flags,
  openTogether,
  refuseElsewhere,
  type SourceContexts,
  sayIfElsewhere,
  wholeNumber,
  worstExit,
} from './context.ts';
import { screenWidth } from './table.ts';

type Text =
  | 'board'
  | 'status'
  | 'since'
  | 'until'
  | 'limit'
  | 'post'
  | 'delivered'
  | 'segment'
  | 'by'
  | 'against'
  | 'format';
type ReportFlags = Flags<Text, 'same' | 'includeClosed' | 'markTold' | 'all'>;

export const REPORT_FORMATS = ['table', 'csv', 'json'] as const;
type Format = (typeof REPORT_FORMATS)[number];

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('report')
    .argument('[name]', 'which report; without one, the list of them')
    .description('ready-made answers: trends, rankings, response times, demand by customer')
    .option('--all', 'of all sources of sources.yaml; each row says of which source it is')
    .option('--board <board>', 'only one board, by its short name, name or id')
    .option('--status <names>', 'only posts that are in these statuses now, with commas between')
    .option('--since <date>', 'from when: 2026-01-31, an ISO time, or how long ago (30d)')
    .option('--until <date>', 'until when, in the same spellings; a day itself is not counted')
    .option('--limit <number>', 'how many rows at most, for rankings (20 unless given)')
    .option(
      '--same',
      'count posts that people marked as the same as one, with all their votes: for top-posts, unanswered, stale',
    )
    .option('--include-closed', 'list finished posts too, in rankings')
    .option('--against <period>', 'compare with previous (just as long, right before), month or year earlier')
    .option('--post <id>', 'the post, for reports about one')
    .option('--delivered <names>', 'the statuses that count as delivered, with commas between')
    .option(
      '--segment <filter>',
      'only posts of these imported customers: plan=Pro, company=Acme, "value>=1000"',
    )
    .option(
      '--by <column>',
      'board, for first-reply and time-in-status; or the column of the customers file to group by',
    )
    .option(
      '--mark-told',
      'of shipped: note that the people of this list were told; the next list leaves them out',
    )
    .option('--format <format>', `${REPORT_FORMATS.join(', ')}; --json is the last of them`)
    .addHelpText('after', EXAMPLES)
    .action((name: string | undefined, flags: ReportFlags) =>
      report(openTogether(program, stop, flags), name, flags),
    );
}

const EXAMPLES = `
Examples:
  feedback-mirror report
  feedback-mirror report gaining-posts --since 30d --board mobile
  feedback-mirror report first-reply --since 2026-01-01 --tz Europe/Berlin --format csv
  feedback-mirror report overview --since 2026-11-01 --against month
  feedback-mirror report first-reply --by board
  feedback-mirror report top-posts --segment plan=Pro
  feedback-mirror report shipped --since 30d --format csv --mark-told > tell.csv
  feedback-mirror report demand --by company
  feedback-mirror report overview --all

Customers come from "feedback-mirror segments import customers.csv".`;

async function report(
  { contexts, isTogether }: SourceContexts,
  name: string | undefined,
  { all: _, ...flags }: ReportFlags,
): Promise<void> {
  const [context] = contexts as [Context];
  const format = formatOf(context, flags.format);
  const text = await import('./report-text.ts');
  if (name === undefined) {
    refuseFlags(flags);
    const { REPORT_NAMES, REPORTS } = await import('../reports/catalogue.ts');
    const list = REPORT_NAMES.map((each) => ({
      name: each,
      answers: REPORTS[each].answers,
      counts: REPORTS[each].counts,
      takes: REPORTS[each].takes,
    }));
    if (format === 'json') context.printData(JSON.stringify(list));
    else context.print(text.reportListText());
    return;
  }
  if (flags.markTold && name !== 'shipped')
    throw new AppError('usage', '--mark-told is for the report shipped');
  if (flags.markTold && isTogether)
    throw new AppError('usage', '--mark-told is for one source: say which with --source NAME');
  const place = await sayIfElsewhere(contexts);
  if (flags.markTold) await refuseElsewhere(context);
  const result = isTogether
    ? await answerTogether(contexts, name, flags)
    : await answer(context, name, flags);
  if (format === 'json') context.printData(JSON.stringify({ ...result, ...place }));
  else if (format === 'csv') {
    const [{ reportCsv }, { calendarOf }] = await Promise.all([
      import('../reports/report.ts'),
      import('../reports/moment.ts'),
    ]);
    process.stdout.write(reportCsv(result));
    for (const note of result.notes) context.say(calendarOf(result.timeZone).spoken(note));
  } else
    context.print(text.reportText(result, { width: screenWidth() ?? 120, charts: process.stdout.isTTY }));
  if (flags.markTold) await markTold(context, result);
}

/** After the list was printed: one that could not be written was not sent either. */
async function markTold({ settings, say }: Context, { rows, people = [] }: ReportResult): Promise<void> {
  const [{ openToldPeople }, { whoAmI }] = await Promise.all([
    import('../app/segments.ts'),
    import('./segments.ts'),
  ]);
  await using store = closing(openToldPeople(settings));
  const reached = rows.map(({ post_ids }, i) => ({
    user: people[i] ?? 0,
    posts: String(post_ids).split(' ').map(Number),
  }));
  const marked = store.mark(reached, whoAmI(), Date.now());
  say(`${counted(marked, 'person', 'people')} marked as told.`);
}

async function answer(
  { settings, json }: Pick<Context, 'settings' | 'json'>,
  name: string,
  flags: ReportFlags,
): Promise<ReportResult> {
  const [{ openReportReader }, { reportNamed, runReport }] = await Promise.all([
    import('../reports/store.ts'),
    import('../reports/run.ts'),
  ]);
  const known = reportNamed(name);
  const { timeZone, deliveredStatuses: usualDelivered } = settings;
  const request = { ...requestOf(flags), timeZone, usualDelivered };
  if (known !== 'duplicates') {
    await using reader = closing(openReportReader(mirrorOf(settings)));
    return await runReport(reader, known, request);
  }
  // A bar is drawn between other work, and there is none: the comparison does not pause.
  const line = (text: string): void => {
    if (!json && process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
  };
  await using reader = closing(
    openReportReader(mirrorOf(settings), (share) => line(`Comparing titles: ${Math.round(100 * share)} %`)),
  );
  try {
    return await runReport(reader, known, request);
  } finally {
    line('');
  }
}

/** A source that cannot answer is told of, and the others still do. */
async function answerTogether(
  contexts: readonly Context[],
  name: string,
  flags: ReportFlags,
): Promise<ReportResult> {
  const [{ reportNamed }, { refuseForSeveral, reportTogether }] = await Promise.all([
    import('../reports/run.ts'),
    import('../reports/together.ts'),
  ]);
  const known = reportNamed(name);
  refuseForSeveral(known);
  const found: SourceReport[] = [];
  const failures: unknown[] = [];
  for (const { settings, say, json } of contexts)
    try {
      // Days and weeks begin at the same time in all rows.
      const { timeZone } = (contexts[0] as Context).settings;
      const report = await answer({ json, settings: { ...settings, timeZone } }, name, flags);
      found.push({ source: settings.source ?? '', report });
    } catch (error) {
      failures.push(error);
      say(`${settings.source}: ${messageOf(error)}`);
    }
  if (found.length === 0) throw failures[0];
  process.exitCode = worstExit(failures);
  return reportTogether(known, found, requestOf(flags).limit);
}

function requestOf(flags: ReportFlags): Omit<ReportRequest, 'timeZone'> {
  const { board, since, until, segment, by, against } = flags;
  return {
    now: Date.now(),
    board,
    since,
    until,
    segment,
    by,
    limit: flags.limit === undefined ? undefined : wholeNumber('--limit', flags.limit),
    same: flags.same,
    includeClosed: flags.includeClosed,
    against,
    post: flags.post === undefined ? undefined : wholeNumber('--post', flags.post),
    status: listOf(flags.status),
    delivered: listOf(flags.delivered),
  };
}

function listOf(text: string | undefined): string[] | undefined {
  return text?.split(',').filter((part) => part.trim() !== '');
}

function formatOf({ json }: Context, text: string | undefined): Format {
  if (text === undefined) return json ? 'json' : 'table';
  const format = REPORT_FORMATS.find((known) => known === text);
  if (!format)
    throw new AppError('usage', `--format "${text}" is not known; it can be ${REPORT_FORMATS.join(', ')}`);
  if (json && format !== 'json')
    throw new AppError('usage', `--json and --format ${format} contradict each other: give one of them`);
  return format;
}

function refuseFlags(flags: ReportFlags): void {
  const idle = Object.keys(flags).find((flag) => flag !== 'format');
  if (idle)
    throw new AppError('usage', `--${idle} needs the name of a report`, {
      hint: '"feedback-mirror report" lists them.',
    });
}
