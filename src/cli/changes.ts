import type { Command } from 'commander';
import { mirrorOf } from '../app/place.ts';
import { systemClock } from '../base/clock.ts';
import { fileId } from '../base/files.ts';
import type { ChangeQuery } from '../changes/feed.ts';
import type { ChangeReads } from '../changes/together.ts';
import {
  type Context,
  collect,
  EXIT_CODES,
  type Flags,
  openTogether,
  type SourceContexts,
  sayIfElsewhere,
  wholeNumber,
} from './context.ts';
import { boardMatch } from './outbox.ts';

type ChangesFlags = Flags<'since' | 'limit', 'follow' | 'all'> & { type?: string[]; board?: string[] };

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('changes')
    .description('what has changed, oldest first, as one JSON object a line')
    .option(
      '--since <position>',
      'only what came after this number or position; "now" for what comes from now on',
    )
    .option('--follow', 'keep printing changes as they come')
    .option('--all', 'of all sources of sources.yaml; a position is over all of them')
    .option(
      '--type <type>',
      'only this type, such as post.created, or post.* for all of a post; repeatable',
      collect,
    )
    .option('--board <board>', 'only what is on this board, by its name or short name; repeatable', collect)
    .option('--limit <n>', 'stop after so many')
    .addHelpText('after', HELP)
    .action((flags: ChangesFlags) => changes(openTogether(program, stop, flags), flags));
}

const HELP = `
Every change has a number that is never given out again. Keep the "position" of the last line you have handled, and continue
from it with --since. Without --since the output begins with the oldest change that is kept (CHANGES_KEEP). Rows of the
first sweep are no changes: begin with an export. Where the feed does not continue from a position, because it was away for too
long or the mirror was put back to an earlier state, the exit code is 5: take a new export.

Examples:
  feedback-mirror changes --since now --follow
  feedback-mirror changes --type post.status_changed --board mobile
  feedback-mirror changes --since 1042 --type 'post.*' --type 'comment.*'
  feedback-mirror changes --all --since now --follow`;

const PAGE = 500;
/** How often a feed that is followed is asked for news; the question is a read of one counter. */
const FOLLOW_MS = 500;

/** The position of the output, in whichever mirror file it is read. */
interface Reading {
  since: string;
  left: number;
}

/**
 * A file that is replaced stays as it was for whoever has it open, and no news ever come. So a feed that is followed is opened anew where
 * another file is in its place; the position tells whether it continues from there.
 */
async function changes({ contexts, isTogether }: SourceContexts, flags: ChangesFlags): Promise<void> {
  const [context] = contexts as [Context];
  await sayIfElsewhere(contexts);
  await sayUnknownBoards(contexts, flags.board ?? []);
  const left = flags.limit === undefined ? Number.POSITIVE_INFINITY : wholeNumber('--limit', flags.limit);
  const reading: Reading = { since: flags.since ?? '', left };
  for (let isOver = false; !isOver; ) {
    await using opened = await openFeeds(contexts, isTogether);
    for (const list of opened.feed.head().notMirrored)
      context.say(`The first sweep of ${list} is not complete: its changes are told from then on.`);
    isOver = await print({ context, flags, ...opened }, reading);
  }
  if (context.signal.aborted) process.exitCode = EXIT_CODES.interrupted;
}

/** A board that no source has yet may come, so the feed is read all the same. */
async function sayUnknownBoards(contexts: readonly Context[], boards: readonly string[]): Promise<void> {
  for (const board of boards) {
    const found = await Promise.all(contexts.map((context) => boardMatch(context, board)));
    if (found.some((match) => match === null || match.slug !== null)) continue;
    const perhaps = found.map((match) => match?.perhaps).find(Boolean) ?? '';
    contexts[0]?.say(`Note: no board is known as "${board}". ${perhaps}`.trim());
  }
}

async function openFeeds(contexts: readonly Context[], isTogether: boolean) {
  const [{ openChangeFeed }, { feedTogether }] = await Promise.all([
    import('../changes/feed.ts'),
    import('../changes/together.ts'),
  ]);
  const watches = contexts.map((context) => fileWatch(context, mirrorOf(context.settings).path));
  const feeds = new Map(
    contexts.map(({ settings }) => [
      settings.source ?? '',
      openChangeFeed(mirrorOf(settings), settings.source),
    ]),
  );
  const [only] = feeds.values();
  return {
    feed: isTogether || !only ? feedTogether(() => feeds) : only,
    isReplaced: () => watches.some((isReplaced) => isReplaced()),
    async [Symbol.asyncDispose]() {
      for (const feed of feeds.values()) feed.close();
    },
  };
}

/** Whether another file has taken the place of the one that is there now. While there is none, as in the middle of a restore, none has. */
function fileWatch(context: Context, path: string): () => boolean {
  const opened = fileId(path);
  let wasThere = true;
  return () => {
    const now = fileId(path);
    if (now === null && wasThere) context.say(`${path} is gone; waiting for another one in its place.`);
    wasThere = now !== null;
    return wasThere && now !== opened;
  };
}

interface Source {
  context: Context;
  feed: ChangeReads;
  flags: ChangesFlags;
  isReplaced: () => boolean;
}

/** Returns whether that was all; false where the file was replaced. */
async function print({ context, feed, flags, isReplaced }: Source, reading: Reading): Promise<boolean> {
  const { signal } = context;
  const query = { types: flags.type, boards: flags.board };
  while (reading.left > 0 && !signal.aborted) {
    if (isReplaced()) return false;
    const seen = feed.version();
    const limit = Math.min(PAGE, reading.left);
    const page = feed.after(reading.since, { ...query, limit } satisfies ChangeQuery);
    for (const change of page.changes) context.printData(JSON.stringify(change));
    reading.left -= page.changes.length;
    reading.since = page.next;
    if (!page.isLast) await new Promise(setImmediate);
    else if (!flags.follow) return true;
    else await news(() => feed.version() !== seen || isReplaced(), signal);
  }
  return true;
}

async function news(isThere: () => boolean, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !isThere()) await systemClock.sleep(FOLLOW_MS, signal).catch(() => undefined);
}
