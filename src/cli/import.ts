import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { addAbortSignal } from 'node:stream';
import type { Command } from 'commander';
import { mirrorOf } from '../app/place.ts';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { StateCounts } from '../outbox/decide/types.ts';
import { knownTargets, readBoardMap } from '../outbox/import/boards.ts';
import { ENCODINGS } from '../outbox/import/csv/text.ts';
import {
  DUPLICATE_KINDS,
  type DuplicateSearch,
  type DuplicateSearchOptions,
} from '../outbox/import/duplicates.ts';
import type { FileFacts, ImportChoices, Imported, ImportRequest } from '../outbox/import/import.ts';
import type { Input } from '../outbox/import/input.ts';
import { markExample, markLabel } from '../outbox/send/mark.ts';
import type { ImportReads } from '../outbox/store/imports.ts';
import {
  type Context,
  canAsk,
  closing,
  collect,
  EXIT_CODES,
  type Flags,
  openContext,
  stoppable,
  wholeNumber,
} from './context.ts';
import type { AskedChoices } from './import-questions.ts';
import * as words from './import-text.ts';
import { openProgress, type ProgressBars } from './progress.ts';
import { type OpenSending, openSending } from './sending.ts';

type Text = 'board' | 'encoding' | 'mark' | 'perMinute' | 'results';
type Switch =
  | 'dryRun'
  | 'acceptUnknownBoards'
  | 'acceptRepeatedTitles'
  | 'acceptStrippedKeys'
  | 'includeClosed'
  | 'wait';
type ImportFlags = Flags<Text, Switch> & {
  [K in 'map' | 'boardMap' | 'skipDuplicates']?: string[];
};

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('import')
    .argument('<file>', 'a CSV file with a header line, or - for standard input')
    .description('put the rows of a CSV file into the outbox, each of them once')
    .option('--dry-run', 'only show what would happen; nothing is written')
    .option(
      '--map <field=Header>',
      'which column is board, title, content, email, full_name or key; "--map content=" says that none is',
      collect,
    )
    .option('--board <board>', 'one board for all rows: its name, its id or the short part of its URL')
    .option(
      '--board-map <Old name=board>',
      'where the rows of a board go; a file has one such line each',
      collect,
    )
    .option('--accept-unknown-boards', 'send to boards that the mirror does not know')
    .option('--include-closed', 'also rows whose state says done, closed or archived')
    .option('--accept-repeated-titles', 'send rows although more than a fifth of them repeat a title')
    .option('--accept-stripped-keys', 'send rows whose keys differ from known ones in leading zeros alone')
    .option(
      '--skip-duplicates <kind>',
      'leave out rows like posts that exist: same, title, content or all',
      collect,
    )
    .option('--encoding <name>', `instead of the detected one: ${ENCODINGS.join(', ')}`)
    .option(
      '--mark <text>',
      'end each post with this and a reference, by which an unclear one is found for certain',
    )
    .option('--per-minute <number>', 'send this import slower than PUSH_PER_MINUTE')
    .option('--results <file>', 'write the rows with what became of each; can be imported again')
    .option('--wait', 'send them now and wait until each is confirmed or needs a decision')
    .addHelpText('after', HELP)
    .action((file: string, flags: ImportFlags) => importCsv(openContext(program, stop), file, flags));
}

const HELP = `
A row with an e-mail goes out as that customer, a row without one as the owner of the token. Exports of Canny, UserVoice,
Featurebase, Productboard, Zendesk, Jira, Linear, GitHub, Trello, Asana, Notion and Airtable are recognised, and so are
columns by other usual names (Subject, Description, Category, Author email ...); the mapping used is printed. Importing
a file again adds only what is new in it.

Examples:
  feedback-mirror import ideas.csv --dry-run
  feedback-mirror import ideas.csv --map title=Wish --board feature-requests
  feedback-mirror import canny.csv --board-map "Feature Requests=ideas" --skip-duplicates same
  feedback-mirror import ideas.csv --results results.csv --wait
  cat ideas.csv | feedback-mirror import -`;

async function importCsv(context: Context, path: string, flags: ImportFlags): Promise<void> {
  const { openInput } = await import('../outbox/import/input.ts');
  const choices = choicesOf(flags);
  const perMinute = flags.perMinute === undefined ? null : wholeNumber('--per-minute', flags.perMinute);
  refuseContradictions(flags);
  // A dry run leaves the folder of the mirror alone.
  const spoolIn = flags.dryRun ? tmpdir() : await spoolFolder(context);
  const stdin = () => addAbortSignal(context.signal, process.stdin);
  await using input = closing(await openInput({ path, stdin, spoolIn, signal: context.signal }));
  const progress = await openProgress(context);
  try {
    if (path !== '-') await askWhatIsOpen(context, input, choices, flags.dryRun === true);
    const { pushMark: setting } = context.settings;
    const marking = { label: flags.mark === undefined ? null : markLabel(flags.mark), setting };
    const request = { ...requestOf(context, { input, ...choices }, progress), perMinute, marking };
    if (flags.dryRun) await runDry(context, request, progress);
    else await realRun(context, request, { ...flags, progress });
  } finally {
    progress.stop();
  }
}

function choicesOf(flags: ImportFlags): AskedChoices {
  const { map, board, boardMap, acceptUnknownBoards, encoding } = flags;
  const known = ENCODINGS.find((name) => name === encoding?.toLowerCase());
  if (encoding !== undefined && known === undefined)
    throw new AppError('usage', `--encoding "${encoding}" is not known; it can be ${ENCODINGS.join(', ')}`);
  const boards = {
    map: readBoardMap((boardMap ?? []).flatMap(linesOf)),
    acceptUnknown: acceptUnknownBoards === true,
  };
  const { includeClosed, acceptRepeatedTitles, acceptStrippedKeys } = flags;
  const accepted = { includeClosed, acceptRepeatedTitles, acceptStrippedKeys };
  return { map: readMap(map ?? []), board, encoding: known, boards, ...accepted };
}

/** A text without "=" is the path of a file of such lines. */
function linesOf(text: string): string[] {
  if (text.includes('=')) return [text];
  try {
    const lines = readFileSync(text, 'utf8').split(/\r?\n/);
    return lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
  } catch (cause) {
    throw new AppError(
      'usage',
      `--board-map "${text}" is neither "Old name=board" nor a file that can be read`,
      {
        cause,
      },
    );
  }
}

/** Asks the person in a terminal. A script gets the question as an error, with the flag that answers it. */
async function askWhatIsOpen(
  context: Context,
  input: Input,
  choices: AskedChoices,
  isDryRun: boolean,
): Promise<void> {
  if (!canAsk(context)) return;
  const [{ inspectCsv }, { asking, askQuestion }] = await Promise.all([
    import('../outbox/import/csv/read.ts'),
    import('./import-questions.ts'),
  ]);
  for (;;) {
    const {
      questions: [question],
      headers,
    } = await inspectCsv(input.read, choices);
    if (!question) break;
    await askQuestion(asking(context), question, headers, choices);
  }
  if (!isDryRun) await askAboutRows(context, input, choices);
}

/** Asks about the rows: unknown boards, and titles that repeat. */
async function askAboutRows(context: Context, input: Input, choices: AskedChoices): Promise<void> {
  const [{ openImportReads }, { surveyFile }, { inspectCsv }, { asking, askQuestion }] = await Promise.all([
    import('../outbox/store/imports.ts'),
    import('../outbox/import/import.ts'),
    import('../outbox/import/csv/read.ts'),
    import('./import-questions.ts'),
  ]);
  await using reads = closing(openImportReads(mirrorOf(context.settings)));
  if (!reads) return;
  const quiet = { signal: context.signal, onFile: () => {}, onBytes: () => {}, onRows: () => {} };
  for (;;) {
    const { questions } = await surveyFile(reads, { ...choices, input, ...quiet });
    const [question] = questions.filter(({ isBlocking }) => isBlocking);
    if (!question) return;
    const { headers } = await inspectCsv(input.read, choices);
    await askQuestion(asking(context), question, headers, choices);
  }
}

function refuseContradictions({ dryRun, wait, results, board, boardMap }: ImportFlags): void {
  if (board !== undefined && boardMap !== undefined)
    throw new AppError('usage', '--board and --board-map contradict each other: give one of them', {
      hint: '--board sends all rows to one board, whatever the file says.',
    });
  if (dryRun && wait)
    throw new AppError('usage', '--dry-run sends nothing, so there is nothing to --wait for');
  if (dryRun && results !== undefined)
    throw new AppError('usage', '--dry-run writes nothing, so there are no --results');
}

async function spoolFolder({ settings }: Context): Promise<string> {
  const { makeFolder } = await import('../base/files.ts');
  makeFolder(settings.dataDir);
  return settings.dataDir;
}

async function runDry(context: Context, request: Request, progress: ProgressBars): Promise<void> {
  const [{ openImportReads }, { openOutboxView }, flow, estimates] = await Promise.all([
    import('../outbox/store/imports.ts'),
    import('../outbox/store/view.ts'),
    import('../outbox/import/import.ts'),
    import('../outbox/send/estimate.ts'),
  ]);
  await using reads = closing(openImportReads(mirrorOf(context.settings)));
  await using view = closing(openOutboxView(mirrorOf(context.settings)));
  await using duplicates = closing(reads ? await searchIn(context) : null);
  const boards = knownTargets(reads, request.boards);
  const chosen = { ...request, boards };
  const { tally, preview, ...open } = await flow.dryRun({ reads, duplicates }, chosen);
  progress.stop();
  const rates = { perMinute: context.settings.pushPerMinute, ownPerMinute: request.perMinute ?? null };
  const now = systemClock.now();
  const estimate = estimates.estimateOf(estimates.paceOfNewRows(view, tally.accepted, rates, now), now);
  if (context.json)
    context.print(
      JSON.stringify({ dryRun: true, ...request.facts(), ...tally, ...preview, ...open, estimate }),
    );
  else words.printPreview(context, tally, preview, { estimate, ...open, mark: exampleOf(request) });
  if (tally.refused > 0) process.exitCode = EXIT_CODES.partial;
}

/** The last line of the posts, where they carry a mark. */
function exampleOf({ marking }: Request): string | null {
  return marking ? (markExample(marking, null) ?? markExample(marking, '')) : null;
}

async function searchIn(
  { settings }: Context,
  onFound?: DuplicateSearchOptions['onFound'],
): Promise<DuplicateSearch> {
  const { openDuplicateSearch } = await import('../outbox/import/duplicates.ts');
  return openDuplicateSearch({ mirror: mirrorOf(settings), onFound });
}

/** The lines of rows that look like posts in one of these ways. */
async function duplicateLines(
  context: Context,
  request: Request,
  reads: ImportReads,
  kinds: readonly string[],
): Promise<ReadonlySet<number>> {
  const lines = new Set<number>();
  for (const kind of kinds)
    if (kind !== 'all' && !DUPLICATE_KINDS.some((known) => known === kind))
      throw new AppError(
        'usage',
        `--skip-duplicates "${kind}" is not known; it can be same, title, content or all`,
      );
  if (kinds.length === 0) return lines;
  const isMeant = (kind: string): boolean => kinds.includes('all') || kinds.includes(kind);
  const flow = await import('../outbox/import/import.ts');
  const note: DuplicateSearchOptions['onFound'] = (found) => {
    for (const { line, kind } of found) if (isMeant(kind)) lines.add(line);
  };
  await using duplicates = closing(await searchIn(context, note));
  const quiet = { onFile: () => {}, onBytes: () => {}, onRows: () => {} };
  await flow.dryRun({ reads, duplicates }, { ...request, ...quiet });
  return lines;
}

type RunOptions = ImportFlags & { progress: ProgressBars };

async function realRun(context: Context, request: Request, options: RunOptions): Promise<void> {
  const { results } = options;
  const [{ openImportReads }, flow, out, { batchId }] = await Promise.all([
    import('../outbox/store/imports.ts'),
    import('../outbox/import/import.ts'),
    import('../outbox/import/results.ts'),
    import('../outbox/create.ts'),
  ]);
  const { mirrorPath: path, dataDir } = context.settings;
  if (results !== undefined) await out.checkResultsPath(results, request.input, { path, dataDir });
  await using sending = closing(await openSending(context, 'import', options.wait === true));
  await using reads = closing(openImportReads(mirrorOf(context.settings)));
  if (!reads) throw new Error('the outbox was opened, so there is a file');
  const { store, clock } = sending;
  const batch = batchId('import', clock.now(), Math.random);
  const parts = { store, reads, clock };
  const meant = { ...request, boards: knownTargets(reads, request.boards) };
  const skipLines = await duplicateLines(context, meant, reads, options.skipDuplicates ?? []);
  const chosen = { ...meant, skipLines };
  const imported = await stoppable(context, STOPPED, () => flow.importFile(parts, batch, chosen));
  options.progress.stop();
  const writeResults = async (): Promise<void> => {
    if (results !== undefined) await out.writeResults(results, chosen, reads);
  };
  await writeResults();
  await report(context, request, { ...imported, batch, writeResults, sending }, options);
}

const STOPPED = 'Stopped while reading. What was accepted stays; run the same command again for the rest.';

interface Run extends Imported {
  batch: string;
  writeResults(): Promise<void>;
  sending: OpenSending;
}

/** Prints at once what was accepted and then, with --wait, what became of it. */
async function report(context: Context, request: Request, run: Run, options: RunOptions): Promise<void> {
  const { tally, batch, batches } = run;
  const { wait = false } = options;
  const [{ estimateWaiting }, { rowQuestions }] = await Promise.all([
    import('../outbox/send/estimate.ts'),
    import('../outbox/import/questions.ts'),
  ]);
  const { store, clock } = run.sending;
  const only = batches.length === 1 ? (batches[0] ?? null) : null;
  const estimate =
    batches.length === 0 ? null : estimateWaiting(store, only, context.settings.pushPerMinute, clock.now());
  const inBatch = Object.values(store.counts(batch)).reduce((sum, n) => sum + n, 0);
  const outcome = { batch, batches, inBatch, results: options.results ?? null, estimate };
  const facts = request.facts();
  const open = facts ? rowQuestions({ columns: facts, tally, unknownBoards: [], choices: request }) : [];
  if (!context.json) words.printIntake(context, tally, { ...outcome, open }, wait);
  let states: StateCounts | null = null;
  try {
    if (wait) states = await waitAll(run);
  } finally {
    if (context.json)
      context.print(JSON.stringify({ dryRun: false, ...request.facts(), ...outcome, ...tally, states }));
  }
  if (states && !context.json) words.printStates(context, outcome, states);
  if (needsSomebody(tally.refused, tally.alreadyBy, states)) process.exitCode = EXIT_CODES.partial;
}

const GO_ON = 'Run the same command again to continue, or "feedback-mirror start".';

/** The results file is written once more, however the waiting ends. */
async function waitAll({ sending, batches, writeResults }: Run): Promise<StateCounts> {
  try {
    return await sending.wait({ batches, goOn: GO_ON });
  } finally {
    await writeResults();
  }
}

function needsSomebody(refused: number, already: Partial<StateCounts>, states: StateCounts | null): boolean {
  const left = [already.rejected, already.uncertain, states?.rejected, states?.uncertain];
  return refused > 0 || left.some((n = 0) => n > 0);
}

/** A request that shows progress, and remembers how the file was read. */
interface Request extends ImportRequest {
  facts(): (FileFacts & { board: string | null }) | null;
}

/** Prints the mapping before the progress bar begins: the text would break the bar. */
function requestOf(
  context: Context,
  asked: ImportChoices & { input: Input },
  progress: ProgressBars,
): Request {
  const { input, board } = asked;
  let facts: FileFacts | null = null;
  let move: ReturnType<ProgressBars['start']> | undefined;
  let [bytes, rows] = [0, 0];
  const show = (): void => move?.(bytes, { rows });
  return {
    ...asked,
    signal: context.signal,
    facts: () => facts && { board: board ?? null, ...facts },
    onFile(found) {
      facts = found;
      if (!context.json) context.print(words.mappingText(found, board));
      move = progress.start({ name: 'reading', total: input.bytes, text: '{rows} rows' });
    },
    onBytes(n) {
      bytes = n;
      show();
    },
    onRows(n) {
      rows = n;
      show();
    },
  };
}

/** `title=Wish`: the header may hold further equals signs. `content=` leaves the field out. */
function readMap(pairs: readonly string[]): Record<string, string | null> {
  const map: Record<string, string | null> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const [field, header] = [pair.slice(0, at).trim(), pair.slice(at + 1)];
    if (at < 1)
      throw new AppError('usage', `--map "${pair}" is not of the form field=Header`, {
        hint: 'For example: --map title=Subject',
      });
    if (Object.hasOwn(map, field)) throw new AppError('usage', `--map names the field ${field} twice`);
    map[field] = header.trim() === '' ? null : header;
  }
  return map;
}
