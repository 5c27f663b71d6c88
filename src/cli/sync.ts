import type { Command } from 'commander';
import type { App } from '../app.ts';
import { AppError, codeOf } from '../base/errors.ts';
import { RESOURCES, type Resource } from '../contract/resources.ts';
import type { Pass } from '../store/mirror/types.ts';
import type { SyncOutcome, SyncRequest } from '../sync/engine.ts';
import { type Context, openContext } from './context.ts';
import { EXIT_CODES } from './exit.ts';
import { openProgress, type Progress } from './progress.ts';

interface Flags {
  head?: true;
  sweep?: true;
  acceptDeletes?: true;
  wait?: true;
}

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
    .action((list: string | undefined, flags: Flags) =>
      sync(openContext(program, stop), requests(list, flags)),
    );
}

function requests(list: string | undefined, flags: Flags): SyncRequest[] {
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
  const [{ openApp }, engine, words] = await Promise.all([
    import('../app.ts'),
    import('../sync/engine.ts'),
    import('./sync-summary.ts'),
  ]);
  const app = await openApp(context.settings, context.input, 'sync');
  if (!context.settings.baseUrl) tell(context, SANDBOX_NOTE);
  const progress = await openProgress(context);
  const outcomes: Outcome[] = [];
  try {
    for (const request of wanted) outcomes.push(await onePass(context, app, progress, engine, request));
  } finally {
    progress.stop();
    await app.close();
    report(context, outcomes, words);
  }
}

const SANDBOX_NOTE =
  'No FEEDBACK_BASE_URL is set: this is the built-in sandbox, a service of made-up feedback.';

const BAR = '{pages} pages  {rows} rows  {rate} rows/s';

type Engine = typeof import('../sync/engine.ts');
type Outcome = SyncOutcome & { began: number; doubled: Doubled[] };

/** A row of the outbox beside whose post another one turned up. */
interface Doubled {
  row: number;
  state: string;
  /** Every post that is or could be this row's. */
  posts: number[];
}

/** Whoever has just read every post looks whether an unclear attempt of the outbox left a second one behind. */
async function secondPosts({ outbox, clock }: App, outcome: SyncOutcome): Promise<Doubled[]> {
  if (!outcome.done) return [];
  const { resource, mode, outcome: end, startedAt } = outcome.summary;
  if (resource !== 'posts' || mode !== 'sweep' || end !== 'complete') return [];
  const { checkAfterSweep } = await import('../outbox/after-check.ts');
  const rows = await checkAfterSweep(outbox, clock, startedAt);
  return rows.map(({ id, state, post_id, duplicate_of, candidates }) => {
    const posts = [post_id, duplicate_of, ...candidates].filter((post) => post !== null);
    return { row: id, state, posts: [...new Set(posts)] };
  });
}

async function onePass(
  context: Context,
  app: App,
  progress: Progress,
  { syncOnce }: Engine,
  request: SyncRequest,
): Promise<Outcome> {
  const { client, store, clock } = app;
  const { resource, mode } = request;
  const { resources } = await store.status();
  const live = resources.find((known) => known.resource === resource)?.live ?? 0;
  const move = progress.start({ name: resource, total: mode === 'sweep' ? live : 0, text: BAR });
  const began = clock.now();
  let pages = 0;
  const onPage = (pass: Pass): void => {
    pages++;
    move(pass.counts.rows, { pages: pass.counts.pages, rows: pass.counts.rows });
  };
  const onWait = (holder: string): void =>
    tell(context, `Waiting for another pass over ${resource}: ${holder}.`);
  const { signal, settings } = context;
  try {
    const ahead = settings.pagesAhead;
    const outcome = await syncOnce({ client, store, clock, signal, ahead, onPage, onWait }, request);
    return { ...outcome, began, doubled: await secondPosts(app, outcome) };
  } catch (error) {
    progress.stop();
    if (pages > 0 && mode === 'sweep') tell(context, whatIsKept(resource, error));
    throw error;
  }
}

/** For a person; a machine gets all it needs in the JSON and the exit code. */
function tell(context: Context, text: string): void {
  if (!context.json) context.say(text);
}

function whatIsKept(resource: Resource, error: unknown): string {
  const startsOver = ['protocol', 'refused'].includes(codeOf(error));
  const next = startsOver ? 'starts over' : 'goes on from there';
  return `The sweep of ${resource} stopped on its way. What it read is kept, nothing was deleted; the next one ${next}.`;
}

function report(
  context: Context,
  outcomes: Outcome[],
  { summaryText, needsAttention }: typeof import('./sync-summary.ts'),
): void {
  const passed = outcomes.filter((outcome) => outcome.done);
  const skipped = outcomes.flatMap((outcome): string[] => (outcome.done ? [] : [outcome.reason]));
  const summaries = passed.map(({ summary }) => summary);
  const doubled = outcomes.flatMap((outcome) => outcome.doubled);
  if (context.json) context.print(JSON.stringify({ passes: summaries, skipped, doubled }));
  else if (passed.length > 0) context.print(summaryText(passed));
  const notes = [...skipped, ...summaries.flatMap(needsAttention), ...doubled.map(doubledText)];
  for (const note of notes) tell(context, note);
  if (notes.length > 0) process.exitCode = EXIT_CODES.partial;
}

function doubledText({ row, state, posts }: Doubled): string {
  const named = posts.map((post) => `#${post}`).join(' and ');
  return `An unclear attempt may have left a post too many: row ${row} of the outbox, ${state}, could have made ${named}; see "feedback-mirror outbox show ${row}".`;
}
