import type { Command } from 'commander';
import { AppError } from '../base/errors.ts';
import type { Found } from '../store/search.ts';
import { type Context, openContext } from './context.ts';
import { counted } from './counted.ts';

interface Flags {
  remote?: true;
  limit: string;
  board?: string;
}

/** As many as the API itself answers with. */
const MOST = 50;

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('search')
    .argument(
      '<text...>',
      'words of title or content; "in quotes" side by side, and dark* for words that begin so',
    )
    .description('find posts by their words, the most relevant first')
    .option('--remote', "ask the service's own search instead of the mirror")
    .option('--limit <number>', `how many at most, up to ${MOST}`, '20')
    .option('--board <board>', 'only posts of this board, by its name or the short part of its URL')
    .addHelpText('after', EXAMPLES)
    .action((words: string[], flags: Flags) => search(openContext(program, stop), words.join(' '), flags));
}

const EXAMPLES = `
Examples:
  feedback-mirror search dark mode
  feedback-mirror search '"dark mode" expor*' --board mobile
  feedback-mirror search export --remote --json`;

async function search(context: Context, text: string, flags: Flags): Promise<void> {
  const limit = Number(flags.limit);
  if (!/^[1-9]\d?$/.test(flags.limit) || limit > MOST)
    throw new AppError('usage', `--limit must be a whole number from 1 to ${MOST}, not "${flags.limit}"`);
  const options = { limit, board: flags.board };
  const found = flags.remote ? await remotely(context, text, options) : await locally(context, text, options);
  const { hitsJson, hitsText } = await import('./search-text.ts');
  if (context.json) context.print(hitsJson(found));
  else if (found.hits.length > 0) context.print(hitsText(found.hits, context.settings.baseUrl));
  if (!context.json) for (const sentence of remarks(found)) context.say(sentence);
}

type Wanted = { limit: number; board: string | undefined };

async function locally({ settings }: Context, text: string, options: Wanted): Promise<Found> {
  const { openSearch } = await import('../app/readers.ts');
  const reads = openSearch(settings);
  try {
    return await reads.find(text, options);
  } finally {
    await reads.close();
  }
}

async function remotely(context: Context, text: string, options: Wanted): Promise<Found> {
  if (text.trim() === '') return { hits: [], isQuestion: false, unindexed: 0 };
  const [{ openApp }, { fromUpstream }] = await Promise.all([
    import('../app.ts'),
    import('./search-remote.ts'),
  ]);
  const app = await openApp(context.settings, context.input, 'search');
  try {
    const { rows, rejects } = await app.client.search(text, context.signal);
    if (rejects.length > 0)
      context.say(
        `${counted(rejects.length, 'posts')} of the answer could not be read: ${rejects[0]?.reason}.`,
      );
    return fromUpstream(rows, options);
  } finally {
    await app.close();
  }
}

function remarks({ hits, isQuestion, unindexed }: Found): string[] {
  const said: string[] = [];
  if (!isQuestion) said.push('There is no word in that to look for.');
  else if (hits.length === 0)
    said.push('No post has all of these words. A * at the end of a word finds every word that begins so.');
  if (unindexed > 0)
    said.push(
      `${counted(unindexed, 'posts')} cannot be found yet: "feedback-mirror sync" puts the rest into the index.`,
    );
  return said;
}
