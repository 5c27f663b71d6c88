import { addAbortSignal } from 'node:stream';
import type { Command } from 'commander';
import { systemClock } from '../base/clock.ts';
import { AppError, codeOf } from '../base/errors.ts';
import { keepHeapFlat } from '../base/heap.ts';
import type { FileFacts, Imported, ImportRequest } from '../outbox/import/import.ts';
import type { StateCounts } from '../store/outbox/types.ts';
import { type Context, collect, EXIT_CODES, openContext } from './context.ts';
import * as words from './import-text.ts';
import { openProgress, type Progress } from './progress.ts';
import { openSending, PATIENCE, patienceOf, type Sending } from './sending.ts';

interface Flags {
  dryRun?: true;
  map?: string[];
  board?: string;
  results?: string;
  wait?: true;
  patience: string;
}

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('import')
    .argument('<file>', 'a CSV file with a header line, or - for standard input')
    .description('put the rows of a CSV file into the outbox, each of them once')
    .option('--dry-run', 'only tell what would happen; nothing is written')
    .option('--map <field=Header>', 'which column is board, title, content, email, full_name or key', collect)
    .option('--board <slug>', 'one board for all rows, by the short part of its URL')
    .option('--results <file>', 'write the rows with what became of each; can be imported again')
    .option('--wait', 'send them now and wait until each is confirmed or needs a decision')
    .option('--patience <duration>', PATIENCE, '60s')
    .addHelpText('after', HELP)
    .action((file: string, flags: Flags) => importCsv(openContext(program, stop), file, flags));
}

const HELP = `
A row with an e-mail goes out as that customer, a row without one as the owner of the token. Columns by other usual
names (Subject, Description, Category, Author email ...) are recognised; the mapping used is printed. Importing a file
again adds only what is new in it.

Examples:
  feedback-mirror import ideas.csv --dry-run
  feedback-mirror import ideas.csv --map title=Wish --board feature-requests
  feedback-mirror import ideas.csv --results results.csv --wait
  cat ideas.csv | feedback-mirror import -`;

async function importCsv(context: Context, path: string, flags: Flags): Promise<void> {
  const { openInput } = await import('../outbox/import/input.ts');
  keepHeapFlat();
  const map = readMap(flags.map ?? []);
  const patienceMs = patienceOf(flags.patience);
  refuseContradictions(flags);
  const spoolIn = flags.results === undefined ? null : await spoolFolder(context);
  const stdin = () => addAbortSignal(context.signal, process.stdin);
  const input = await openInput({ path, stdin, spoolIn });
  const progress = await openProgress(context);
  try {
    const request = requestOf(context, { input, map, board: flags.board }, progress);
    if (flags.dryRun) await dryRun(context, request, progress);
    else await realRun(context, request, { ...flags, patienceMs, progress });
  } finally {
    progress.stop();
    await input.close();
  }
}

function refuseContradictions({ dryRun, wait, results }: Flags): void {
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

async function dryRun(context: Context, request: Request, progress: Progress): Promise<void> {
  const [{ readsForImport }, { rehearse }, { openScratch }] = await Promise.all([
    import('../app/readers.ts'),
    import('../outbox/import/import.ts'),
    import('../store/outbox/scratch.ts'),
  ]);
  const reads = readsForImport(context.settings);
  const scratch = openScratch();
  try {
    const { tally, outlook } = await rehearse({ reads, scratch, clock: systemClock }, request);
    progress.stop();
    if (context.json)
      context.print(JSON.stringify({ dryRun: true, ...request.facts(), ...tally, ...outlook }));
    else words.printRehearsal(context, tally, outlook);
    if (tally.refused > 0) process.exitCode = EXIT_CODES.partial;
  } finally {
    await scratch.close();
    await reads?.close();
  }
}

type RunOptions = Flags & { patienceMs: number; progress: Progress };
type Refresher = { refresh(): Promise<void>; write(): Promise<void> };

async function realRun(context: Context, request: Request, options: RunOptions): Promise<void> {
  const { results } = options;
  const [{ readsForImport }, flow, { checkResultsPath }, { batchId }] = await Promise.all([
    import('../app/readers.ts'),
    import('../outbox/import/import.ts'),
    import('../outbox/import/results.ts'),
    import('../outbox/import/batch-id.ts'),
  ]);
  if (results !== undefined) await checkResultsPath(results, request.input);
  const sending = await openSending(context, 'import', options.wait === true);
  const reads = readsForImport(context.settings);
  try {
    if (!reads) throw new Error('the outbox was opened, so there is a file');
    const { store, clock } = sending;
    const batch = batchId('import', clock.now(), Math.random);
    const parts = { store, reads, clock };
    const imported = await stoppable(context, () => flow.importFile(parts, batch, request));
    options.progress.stop();
    const refresher = results === undefined ? null : flow.resultsRefresher(results, request, reads, clock);
    await refresher?.write();
    await report(context, request, { ...imported, batch, refresher, sending }, options);
  } finally {
    await reads?.close();
    await sending.close();
  }
}

interface Run extends Imported {
  batch: string;
  refresher: Refresher | null;
  sending: Sending;
}

/** What was taken in, at once; then, where that is waited for, what became of it. */
async function report(context: Context, request: Request, run: Run, options: RunOptions): Promise<void> {
  const { tally, batch, batches } = run;
  const { wait = false } = options;
  const outcome = { batch, batches, results: options.results ?? null };
  if (!context.json) words.printIntake(context, tally, outcome, wait);
  let states: StateCounts | null = null;
  try {
    if (wait) states = await waitAll(run, options.patienceMs);
  } finally {
    if (context.json)
      context.print(JSON.stringify({ dryRun: false, ...request.facts(), ...outcome, ...tally, states }));
  }
  if (states && !context.json) words.printStates(context, outcome, states);
  if (needsSomebody(tally.refused, tally.alreadyBy, states)) process.exitCode = EXIT_CODES.partial;
}

const GO_ON = 'Run the same command again to go on, or "feedback-mirror start".';

/** However the waiting ends, the results say how things stand then. */
async function waitAll({ sending, batches, refresher }: Run, patienceMs: number): Promise<StateCounts> {
  try {
    return await sending.wait({ batches, patienceMs, goOn: GO_ON, onProgress: () => refresher?.refresh() });
  } finally {
    await refresher?.write();
  }
}

async function stoppable<T>({ json, say }: Context, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (codeOf(error) === 'interrupted' && !json)
      say('Stopped while reading. What was accepted stays; run the same command again for the rest.');
    throw error;
  }
}

function needsSomebody(refused: number, already: Partial<StateCounts>, states: StateCounts | null): boolean {
  const left = [already.rejected, already.uncertain, states?.rejected, states?.uncertain];
  return refused > 0 || left.some((n = 0) => n > 0);
}

/** A request that shows what goes on, and remembers how the file was read. */
interface Request extends ImportRequest {
  facts(): (FileFacts & { board: string | null }) | null;
}

/** The mapping is said before the bar begins, which it would break. */
function requestOf(
  context: Context,
  asked: Pick<ImportRequest, 'input' | 'map' | 'board'>,
  progress: Progress,
): Request {
  const { input, board } = asked;
  let facts: FileFacts | null = null;
  let move: ReturnType<Progress['start']> | undefined;
  let [bytes, rows] = [0, 0];
  const show = (): void => move?.(input.bytes === null ? rows : bytes, { rows });
  return {
    ...asked,
    signal: context.signal,
    facts: () => facts && { board: board ?? null, ...facts },
    onFile(found) {
      facts = found;
      if (!context.json) context.print(words.mappingText(found, board));
      move = progress.start({ name: 'reading', total: input.bytes ?? 0, text: '{rows} rows' });
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

/** `title=Wish`: the header may hold further equals signs. */
function readMap(pairs: readonly string[]): Record<string, string> {
  const map: Record<string, string> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const [field, header] = [pair.slice(0, at).trim(), pair.slice(at + 1)];
    if (at < 1 || header.trim() === '')
      throw new AppError('usage', `--map "${pair}" is not of the form field=Header`, {
        hint: 'For example: --map title=Subject',
      });
    if (Object.hasOwn(map, field)) throw new AppError('usage', `--map names the field ${field} twice`);
    map[field] = header;
  }
  return map;
}
