import type { Command } from 'commander';
import { AppError } from '../base/errors.ts';
import { RESOURCES, type Resource } from '../contract/resources.ts';
import type { PassSummary } from '../store/seam.ts';
import type { SyncOutcome, SyncRequest } from '../sync/engine.ts';
import { type Context, openContext } from './context.ts';
import { EXIT_CODES } from './exit.ts';
import { openProgress } from './progress.ts';
import { needsAttention, summaryText } from './sync-summary.ts';

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
    .description('bring the mirror up to date now, without the queue')
    .option('--head', 'only the newest rows, down to what is known')
    .option('--sweep', 'the whole list, which also finds what was deleted (the default)')
    .option('--accept-deletes', 'delete also what was held back because it was suspiciously much')
    .option('--wait', 'wait while another process is at the same list, instead of giving up')
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
  const [{ openApp }, { syncOnce }] = await Promise.all([import('../app.ts'), import('../sync/engine.ts')]);
  const app = await openApp(context.settings, context.input, 'sync');
  const progress = await openProgress(context);
  const outcomes: SyncOutcome[] = [];
  try {
    const { resources } = await app.store.status();
    for (const request of wanted) {
      const onPage = progress.start(
        request.resource,
        resources.find((r) => r.resource === request.resource)?.live ?? 0,
      );
      const { client, store, clock } = app;
      const ahead = context.settings.pagesAhead;
      outcomes.push(await syncOnce({ client, store, clock, signal: context.signal, ahead, onPage }, request));
    }
  } finally {
    progress.stop();
    await app.close();
    report(context, outcomes);
  }
}

function report(context: Context, outcomes: SyncOutcome[]): void {
  const summaries = outcomes.flatMap((outcome): PassSummary[] => (outcome.done ? [outcome.summary] : []));
  const skipped = outcomes.flatMap((outcome): string[] => (outcome.done ? [] : [outcome.reason]));
  if (context.json) context.print(JSON.stringify({ passes: summaries, skipped }));
  else if (summaries.length > 0) context.print(summaryText(summaries));
  const notes = [...skipped, ...summaries.flatMap(needsAttention)];
  if (!context.json) for (const note of notes) context.say(note);
  if (notes.length > 0) process.exitCode = EXIT_CODES.partial;
}
