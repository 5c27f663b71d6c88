import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import type { App } from '../app.ts';
import { AppError, codeOf } from '../base/errors.ts';
import { RESOURCES, type Resource } from '../contract/endpoints.ts';
import type { RetentionResult } from '../erasure/retention.ts';
import { UNIQUE_ORDER } from '../mirror/decide/list-notes.ts';
import type { Pass, PassSummary, ResourceStatus } from '../mirror/decide/types.ts';
import type { SyncOutcome, SyncRequest } from '../mirror/sweep/engine.ts';
import type { OutboxState } from '../outbox/decide/types.ts';
import { counted, durationText } from '../text/text.ts';
import { type Context, EXIT_CODES, type Flags, openContext } from './context.ts';
import { stateWord } from './outbox-text.ts';
import { openProgress, type ProgressBars } from './progress.ts';
import { type TableCell, table } from './table.ts';

type SyncFlags = Flags<never, 'head' | 'sweep' | 'acceptDeletes' | 'wait'>;

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('sync')
    .argument('[list]', 'posts or comments; both unless given')
    .description('bring the mirror up to date now')
    .option('--head', 'only the newest rows, down to what is known')
    .option('--sweep', 'the whole list, which also finds what was deleted (the default)')
    .option('--accept-deletes', 'delete also what the mass-delete guard holds')
    .option('--wait', 'wait while another process has the list locked, instead of giving up')
    .addHelpText(
      'after',
      '\nExamples:\n  feedback-mirror sync\n  feedback-mirror sync posts --head\n  feedback-mirror sync --json',
    )
    .action((list: string | undefined, flags: SyncFlags) =>
      sync(openContext(program, stop), requests(list, flags)),
    );
}

function requests(list: string | undefined, flags: SyncFlags): SyncRequest[] {
  if (flags.head && flags.sweep) throw new AppError('usage', 'a pass is either --head or --sweep, not both');
  if (flags.head && flags.acceptDeletes)
    throw new AppError('usage', '--accept-deletes needs a sweep: a head pass deletes nothing');
  if (list !== undefined && !RESOURCES.includes(list as Resource)) {
    throw new AppError('usage', `"${list}" is no list: say posts, comments, or nothing for both`);
  }
  const mode = flags.head ? 'head' : 'sweep';
  const { acceptDeletes = false, wait = false } = flags;
  return RESOURCES.filter((name) => list === undefined || name === list).map((resource) => ({
    resource,
    mode,
    acceptDeletes,
    wait,
  }));
}

async function sync(context: Context, wanted: SyncRequest[]): Promise<void> {
  const { openApp } = await import('../app.ts');
  const app = await openApp(context.settings, context.input, 'sync');
  if (!context.settings.baseUrl) context.remark(SANDBOX_NOTE);
  const progress = await openProgress(context);
  const outcomes: Outcome[] = [];
  let erased: RetentionResult | null = null;
  try {
    for (const request of wanted) outcomes.push(await onePass(context, app, progress, request));
    erased = await eraseExpired(context, app, outcomes);
  } finally {
    progress.stop();
    await app.close();
    const accepting = wanted.some(({ acceptDeletes }) => acceptDeletes);
    report(context, outcomes, erased, accepting);
  }
}

const SANDBOX_NOTE =
  'No FEEDBACK_BASE_URL is set: this is the built-in sandbox, a service of made-up feedback.';

type Outcome = SyncOutcome & { began: number; doubled: Doubled[] };

/** A row of the outbox beside whose post another one turned up. */
interface Doubled {
  row: number;
  state: OutboxState;
  posts: number[];
}

/** Erases deleted rows whose time is up: without a service no other process does it. */
async function eraseExpired(
  context: Context,
  app: App,
  outcomes: Outcome[],
): Promise<RetentionResult | null> {
  const hasSwept = outcomes.some((outcome) => outcome.done && outcome.summary.mode === 'sweep');
  if (!hasSwept || context.settings.retentionDeleted === 'never') return null;
  const { eraseExpiredRows } = await import('../app/upkeep.ts');
  return await eraseExpiredRows(app, context.signal);
}

/** After every post was read: which rows of the outbox have a second post, or need a decision now? */
async function secondPosts({ outbox, clock }: App, outcome: SyncOutcome): Promise<Doubled[]> {
  if (!outcome.done) return [];
  const { resource, mode, outcome: end, startedAt } = outcome.summary;
  if (resource !== 'posts' || mode !== 'sweep' || !['complete', 'incomplete'].includes(end)) return [];
  const { checkAfterSweep } = await import('../outbox/send/after-check.ts');
  const rows = await checkAfterSweep(outbox, clock, startedAt);
  return rows.map(({ id, state, post_id, duplicate_of, candidates }) => {
    const posts = [post_id, duplicate_of, ...candidates].filter((post) => post !== null);
    return { row: id, state, posts: [...new Set(posts)] };
  });
}

async function onePass(
  context: Context,
  app: App,
  progress: ProgressBars,
  request: SyncRequest,
): Promise<Outcome> {
  const { client, store, clock } = app;
  const { resource, mode } = request;
  const { syncOnce } = await import('../mirror/sweep/engine.ts');
  const before = (await store.status()).resources.find((known) => known.resource === resource);
  const began = clock.now();
  const onPage = passBar(progress, request, before);
  const onWait = (holder: string): void =>
    context.remark(`Waiting for another pass over ${resource}: ${holder}.`);
  const { signal, settings } = context;
  try {
    const ahead = settings.pagesAhead;
    const moved = (pass: Pass): void => {
      growNewSpace();
      onPage.move(pass);
    };
    const deps = { client, store, clock, signal, ahead, onPage: moved, onWait };
    const outcome = await syncOnce(deps, request);
    return { ...outcome, began, doubled: await secondPosts(app, outcome) };
  } catch (error) {
    progress.stop();
    if (onPage.pages() > 0 && mode === 'sweep') context.remark(whatIsKept(resource, error));
    throw error;
  }
}

let pagesRead = 0;
const GROWING_PAGES = 20;

/**
 * V8 begins with 1 MB for new objects, and a page fills it. While the first pages come it may grow, once, to 8 MB: an unchanged sweep of
 * 100,000 posts takes a tenth fewer instructions, and no more memory at its peak. Left alone, V8 takes 100 MB more.
 */
function growNewSpace(): void {
  pagesRead++;
  if (pagesRead === 1) setFlagsFromString('--semi-space-growth-factor=8');
  if (pagesRead === GROWING_PAGES) setFlagsFromString('--semi-space-growth-factor=1');
}

const BAR = '{pages} pages  {rows} rows  {rate} rows/s';

/** A resumed sweep is two passes: the rest of the list, then its start once more. The bar counts both. */
function passBar(
  progress: ProgressBars,
  { resource, mode }: SyncRequest,
  before: ResourceStatus | undefined,
) {
  let move: ReturnType<ProgressBars['start']> | undefined;
  let last: Pass | undefined;
  let [pages, earlierPages, earlierRows] = [0, 0, 0];
  return {
    pages: () => pages,
    move(pass: Pass): void {
      pages++;
      if (last && last.runId !== pass.runId) {
        earlierPages += last.counts.pages;
        earlierRows += last.counts.rows;
      }
      last = pass;
      const scale = mode === 'sweep' ? sweepScale(before, pass) : { from: 0, total: 0 };
      move ??= progress.start({ name: resource, text: BAR, ...scale });
      const rows = earlierRows + pass.counts.rows;
      move(rows, { pages: earlierPages + pass.counts.pages, rows });
    },
  };
}

/** The start and the end of the progress bar of a sweep. The end is 0 until one sweep is complete. */
export function sweepScale(
  before: Pick<ResourceStatus, 'live' | 'lastSweepAt'> | undefined,
  { resumed, counts: { rows, pages } }: Pick<Pass, 'resumed' | 'counts'>,
): { from: number; total: number } {
  // The sweep reads the part before the checkpoint again at the end.
  const from = resumed > 0 && pages > 0 ? Math.round((rows * (pages - 1)) / pages) : 0;
  return { from, total: before?.lastSweepAt ? before.live + from : 0 };
}

function whatIsKept(resource: Resource, error: unknown): string {
  const startsOver = ['protocol', 'refused'].includes(codeOf(error));
  const next = startsOver ? 'starts over' : 'continues from there';
  return `The sweep of ${resource} stopped on its way. What it read is kept, nothing was deleted; the next one ${next}.`;
}

function report(
  context: Context,
  outcomes: Outcome[],
  erased: RetentionResult | null,
  accepting: boolean,
): void {
  const passed = outcomes.filter((outcome) => outcome.done);
  const skipped = outcomes.flatMap((outcome): string[] => (outcome.done ? [] : [outcome.reason]));
  const summaries = passed.map(({ summary }) => summary);
  const doubled = outcomes.flatMap((outcome) => outcome.doubled);
  const notes = [...skipped, ...summaries.flatMap(needsAttention), ...doubled.map(doubledText)];
  if (notes.length > 0) process.exitCode = EXIT_CODES.partial;
  if (context.json) context.print(JSON.stringify({ passes: summaries, skipped, doubled, erased }));
  else if (passed.length > 0) context.print(table(HEAD, passed.map(line)));
  const waiting = accepting ? summaries.flatMap(notYetGone) : [];
  if (!context.json) for (const note of [...notes, ...waiting, ...erasedText(erased)]) context.print(note);
}

const HEAD = ['list', 'pass', 'pages', 'rows', 'new', 'changed', 'same', 'deleted', 'time', 'rows/s'];

/** What a pass did; one that was resumed may have started days ago, in another process. */
function line({ summary: s, began }: { summary: PassSummary; began: number }): TableCell[] {
  const ms = Math.max(0, Date.parse(s.finishedAt) - Math.max(Date.parse(s.startedAt), began));
  const isResumed = s.resumed > 0;
  // The rows of a pass that was resumed were not all read in this time.
  const rate = isResumed || ms === 0 ? null : Math.round((s.rows * 1000) / ms);
  const pass = isResumed ? `${s.mode}, resumed` : s.mode;
  const counts = [s.pages, s.rows, s.inserted, s.updated, s.unchanged, s.deleted];
  return [s.resource, pass, ...counts, durationText(ms), rate];
}

/** The reason why accepted rows still exist, so that people do not accept them again. */
function notYetGone({ resource, suspects }: PassSummary): string[] {
  if (suspects === 0) return [];
  return [
    `${counted(suspects, resource.slice(0, -1))} ${suspects === 1 ? 'is' : 'are'} missing and not deleted yet: later sweeps decide. ` +
      '"feedback-mirror status" says after how many. There is nothing more to accept.',
  ];
}

/** Notes beside the numbers. Later sweeps settle suspects. The other notes need a person. */
function needsAttention(summary: PassSummary): string[] {
  const { resource, quarantined, outcome, error } = summary;
  const notes = heldText(summary);
  if (outcome === 'incomplete')
    notes.unshift(`The sweep of ${resource} is incomplete: ${error}. ${UNIQUE_ORDER}`);
  if (quarantined > 0)
    notes.push(
      `${counted(quarantined, resource.slice(0, -1))} could not be read and went into the table quarantine, each with its reason; ` +
        'an earlier version in the mirror stays.',
    );
  return notes;
}

/** What the mass-delete guard keeps of one list, and what to do about it; nothing where it keeps none. */
function heldText({ resource, held }: Pick<ResourceStatus, 'resource' | 'held'>): string[] {
  if (held === 0) return [];
  const what = `${counted(held, resource.slice(0, -1))} ${held === 1 ? 'seems' : 'seem'} to be gone upstream`;
  return [
    `${what}, together with many others or with all there were: held, not deleted. ` +
      `If that is right, run "feedback-mirror sync ${resource} --accept-deletes".`,
  ];
}

function doubledText({ row, state, posts }: Doubled): string {
  const see = `see "feedback-mirror outbox show ${row}".`;
  if (state === 'uncertain') return `Row ${row} of the outbox needs a decision; ${see}`;
  const named = posts.map((post) => `#${post}`);
  if (state !== 'confirmed')
    return `Row ${row} of the outbox, ${stateWord(state)}, may have made ${named.join(' and ')}; ${see}`;
  const [own, ...others] = named;
  return `Row ${row} of the outbox made ${own}, and ${others.join(' and ')} may be a second post of it; ${see}`;
}

function erasedText(erased: RetentionResult | null): string[] {
  if (!erased || erased.posts + erased.comments + erased.outbox === 0) return [];
  const { posts, comments, outbox } = erased;
  const what = [counted(posts, 'post'), counted(comments, 'comment'), counted(outbox, 'outbox row')];
  return [`Erased the words of ${what.join(', ')}, deleted longer ago than RETENTION_DELETED.`];
}
