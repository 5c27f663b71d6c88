import type { Command } from 'commander';
import { systemClock } from '../base/clock.ts';
import type { ChangeFeed, ChangeQuery } from '../store/changes/feed.ts';
import {
  type Context,
  closing,
  collect,
  EXIT_CODES,
  type Flags,
  openContext,
  wholeNumber,
} from './context.ts';

type ChangesFlags = Flags<'since' | 'limit', 'follow'> & { type?: string[]; board?: string[] };

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('changes')
    .description('what has changed, oldest first, as one JSON object a line')
    .option(
      '--since <position>',
      'only what came after this number or position; "now" for what comes from now on',
    )
    .option('--follow', 'go on printing changes as they come')
    .option(
      '--type <type>',
      'only this type, such as post.created, or post.* for all of a post; repeatable',
      collect,
    )
    .option('--board <board>', 'only what is on this board, by its name or short name; repeatable', collect)
    .option('--limit <n>', 'stop after so many')
    .addHelpText('after', HELP)
    .action((flags: ChangesFlags) => changes(openContext(program, stop), flags));
}

const HELP = `
Every change has a number that is never given out again. Keep the "position" of the last line you have handled, and go on
from it with --since. Without --since the output begins with the oldest change that is kept (CHANGES_KEEP). Rows of the
first sweep are no changes: begin with an export. Where the feed does not go on from a position, because it was away for too
long or the mirror was put back to an earlier state, the exit code is 5: take a new export.

Examples:
  feedback-mirror changes --since now --follow
  feedback-mirror changes --type post.status_changed --board mobile
  feedback-mirror changes --since 1042 --type 'post.*' --type 'comment.*'`;

const PAGE = 500;
/** How often a feed that is followed is asked for news; the question is a read of one counter. */
const FOLLOW_MS = 500;

async function changes(context: Context, flags: ChangesFlags): Promise<void> {
  const { openChanges } = await import('../app/readers.ts');
  await using feed = closing(openChanges(context.settings));
  for (const list of feed.head().notMirrored)
    context.say(`The first sweep of ${list} is not complete: its changes are told from then on.`);
  await print(context, feed, flags);
}

async function print(context: Context, feed: ChangeFeed, flags: ChangesFlags): Promise<void> {
  const { signal } = context;
  let left = flags.limit === undefined ? Number.POSITIVE_INFINITY : wholeNumber('--limit', flags.limit);
  let since = flags.since ?? '';
  const query = { types: flags.type, boards: flags.board };
  while (left > 0 && !signal.aborted) {
    const seen = feed.version();
    const page = feed.after(since, { ...query, limit: Math.min(PAGE, left) } satisfies ChangeQuery);
    for (const change of page.changes) context.printData(JSON.stringify(change));
    left -= page.changes.length;
    since = page.next;
    if (!page.isLast) await new Promise(setImmediate);
    else if (!flags.follow) return;
    else await news(feed, seen, signal);
  }
  if (signal.aborted) process.exitCode = EXIT_CODES.interrupted;
}

async function news(feed: ChangeFeed, seen: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && feed.version() === seen)
    await systemClock.sleep(FOLLOW_MS, signal).catch(() => undefined);
}
