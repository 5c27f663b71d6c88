import { isUtf8 } from 'node:buffer';
import { tmpdir } from 'node:os';
import type { Command } from 'commander';
import { AppError } from '../base/errors.ts';
import type { ReportRequest, ReportResult } from '../reports/report.ts';
import { type Context, closing, type Flags, openContext, wholeNumber } from './context.ts';
import { screenWidth } from './table.ts';

type Text =
  | 'board'
  | 'status'
  | 'since'
  | 'until'
  | 'limit'
  | 'post'
  | 'delivered'
  | 'segments'
  | 'by'
  | 'sum'
  | 'format';
type ReportFlags = Flags<Text, 'same'>;

export const FORMATS = ['table', 'csv', 'json'] as const;
type Format = (typeof FORMATS)[number];

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('report')
    .argument('[name]', 'which report; without one, the list of them')
    .description('ready-made answers: trends, rankings, response times, demand by customer')
    .option('--board <board>', 'only one board, by its short name, name or id')
    .option('--status <names>', 'only posts that are in these statuses now, with commas between')
    .option('--since <date>', 'from when: 2026-01-31, an ISO time, or how long ago (30d)')
    .option('--until <date>', 'until when, in the same spellings; a day itself is not counted')
    .option('--limit <number>', 'how many rows at most, for rankings (20 unless given)')
    .option(
      '--same',
      'count posts that people marked as the same as one, with all their votes: for top-posts, unanswered, stale',
    )
    .option('--post <id>', 'the post, for reports about one')
    .option('--delivered <names>', 'the statuses that count as delivered, with commas between')
    .option('--segments <file>', 'a CSV file of customers: email, then columns such as company, plan, mrr')
    .option('--by <column>', 'the column of that file that customers are grouped by')
    .option('--sum <column>', 'the column of that file that is added up, such as mrr')
    .option('--format <format>', `${FORMATS.join(', ')}; --json is the last of them`)
    .addHelpText('after', EXAMPLES)
    .action((name: string | undefined, flags: ReportFlags) =>
      report(openContext(program, stop), name, flags),
    );
}

const EXAMPLES = `
Examples:
  feedback-mirror report
  feedback-mirror report gaining-posts --since 30d --board mobile
  feedback-mirror report first-reply --since 2026-01-01 --tz Europe/Berlin --format csv
  feedback-mirror report demand --segments customers.csv --by plan --sum mrr`;

async function report(context: Context, name: string | undefined, flags: ReportFlags): Promise<void> {
  const format = formatOf(context, flags.format);
  const text = await import('./report-text.ts');
  if (name === undefined) {
    refuseFlags(flags);
    const { REPORT_NAMES, REPORTS } = await import('../reports/catalogue.ts');
    const list = REPORT_NAMES.map((each) => ({
      name: each,
      answers: REPORTS[each].answers,
      takes: REPORTS[each].takes,
    }));
    if (format === 'json') context.printData(JSON.stringify(list));
    else context.print(text.listText());
    return;
  }
  const result = await answer(context, name, flags);
  if (format === 'json') context.printData(JSON.stringify(result));
  else if (format === 'csv') {
    const [{ reportCsv }, { calendarOf }] = await Promise.all([
      import('../reports/report.ts'),
      import('../reports/moment.ts'),
    ]);
    process.stdout.write(reportCsv(result));
    for (const note of result.notes) context.say(calendarOf(result.timeZone).spoken(note));
  } else
    context.print(text.reportText(result, { width: screenWidth() ?? 120, charts: process.stdout.isTTY }));
}

async function answer({ settings }: Context, name: string, flags: ReportFlags): Promise<ReportResult> {
  const [{ readForReports }, { reportNamed, runReport }] = await Promise.all([
    import('../app/readers.ts'),
    import('../reports/run.ts'),
  ]);
  const known = reportNamed(name);
  const { timeZone, deliveredStatuses: usualDelivered } = settings;
  const request = { ...(await requestOf(flags)), timeZone, usualDelivered };
  await using reader = closing(readForReports(settings));
  return await runReport(reader, known, request);
}

async function requestOf(flags: ReportFlags): Promise<Omit<ReportRequest, 'timeZone'>> {
  const { board, since, until, segments, by, sum } = flags;
  if (segments === undefined && (by ?? sum) !== undefined)
    throw new AppError('usage', `--${by === undefined ? 'sum' : 'by'} names a column of a customers file`, {
      hint: 'Give the file with --segments FILE.',
    });
  return {
    now: Date.now(),
    board,
    since,
    until,
    limit: flags.limit === undefined ? undefined : wholeNumber('--limit', flags.limit),
    same: flags.same,
    post: flags.post === undefined ? undefined : wholeNumber('--post', flags.post),
    status: listOf(flags.status),
    delivered: listOf(flags.delivered),
    segments: segments === undefined ? undefined : await customersOf(segments, { by, sum }),
  };
}

function listOf(text: string | undefined): string[] | undefined {
  return text?.split(',').filter((part) => part.trim() !== '');
}

async function customersOf(path: string, choice: { by: string | undefined; sum: string | undefined }) {
  const { readSegments } = await import('../reports/segments.ts');
  return readSegments(await readText(path), choice);
}

function formatOf({ json }: Context, text: string | undefined): Format {
  if (text === undefined) return json ? 'json' : 'table';
  const format = FORMATS.find((known) => known === text);
  if (!format)
    throw new AppError('usage', `--format "${text}" is not known; it can be ${FORMATS.join(', ')}`);
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

/** A list of customers is read as a whole; one that is larger is some other file. */
const MOST_BYTES = 64 * 1024 * 1024;

/** A text file as a string, whichever encoding its mark names; what is no text is refused with a sentence about it. */
async function readText(path: string): Promise<string> {
  const [{ openInput }, { openText }] = await Promise.all([
    import('../outbox/import/input.ts'),
    import('../outbox/csv/text.ts'),
  ]);
  await using input = closing(await openInput({ path, stdin: () => process.stdin, spoolIn: tmpdir() }));
  const { pieces } = await openText(input.read, {});
  const read: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > MOST_BYTES) throw new AppError('usage', `${path} is larger than 64 MiB`);
    read.push(piece);
  }
  const bytes = Buffer.concat(read);
  if (isUtf8(bytes)) return bytes.toString();
  throw new AppError('usage', `${path} is not UTF-8 text`, { hint: 'Save it as "CSV UTF-8".' });
}
