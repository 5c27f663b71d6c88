import type { Command } from 'commander';
import { mirrorOf } from '../app/place.ts';
import { AppError } from '../base/errors.ts';
import type { SimilarPost } from '../search/similar.ts';
import {
  type Context,
  closing,
  type Flags,
  openContext,
  refuseElsewhere,
  sayIfElsewhere,
  wholeNumber,
} from './context.ts';
import { table } from './table.ts';

type SimilarFlags = Flags<never, 'same' | 'notSame'> & { limit: string };

const MOST = 50;

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('similar')
    .argument('[posts...]', 'the number of the post that others are to be like')
    .description('find posts that ask for the same as a post')
    .option('--limit <number>', `how many at most, up to ${MOST}`, '10')
    .option(
      '--same',
      'mark two posts as the same, in the mirror only: reports can count their votes together',
    )
    .option(
      '--not-same',
      'take that back: the first post leaves the group of the second, also where others of it joined them',
    )
    .addHelpText('after', EXAMPLES)
    .action((posts: string[], flags: SimilarFlags) => similar(openContext(program, stop), posts, flags));
}

const EXAMPLES = `
Examples:
  feedback-mirror similar 123
  feedback-mirror similar --same 123 456
  feedback-mirror similar --not-same 123 456`;

async function similar(context: Context, given: readonly string[], flags: SimilarFlags): Promise<void> {
  const ids = given.map((text) => wholeNumber('the number of a post', text.replace(/^#/, '')));
  if (flags.same || flags.notSame) return mark(context, ids, flags);
  const [about] = ids;
  if (about === undefined || ids.length > 1) throw new AppError('usage', 'name one post by its number');
  const place = await sayIfElsewhere([context]);
  const posts = await find(context, about, wholeNumber('--limit', flags.limit, MOST));
  context.answer({ posts, ...place }, () => (posts.length === 0 ? 'No post is like it.' : tableOf(posts)));
}

async function find({ settings }: Context, about: number, limit: number): Promise<SimilarPost[]> {
  const { openSearchReads } = await import('../search/search.ts');
  await using reads = closing(openSearchReads(mirrorOf(settings)));
  const found = await reads.similar({ about, limit });
  if (found === null) throw new AppError('usage', `the mirror has no post ${about}`);
  return found;
}

async function mark(
  context: Context,
  ids: readonly number[],
  { same, notSame }: SimilarFlags,
): Promise<void> {
  const [a, b] = ids;
  if (a === undefined || b === undefined || ids.length > 2 || (same && notSame))
    throw new AppError('usage', 'name the two posts: similar --same 123 456, or similar --not-same 123 456');
  await refuseElsewhere(context);
  const { openSamePosts } = await import('../search/same-posts.ts');
  await using store = closing(openSamePosts(mirrorOf(context.settings)));
  if (same) {
    const changed = store.mark(a, b, Date.now());
    const words = `${a} and ${b} are marked as the same${changed ? '' : ' already'}.`;
    return context.answer({ posts: [a, b], same: true, changed }, () => words);
  }
  const takenBack = store.unmark(a, b);
  const changed = takenBack.length > 0;
  context.answer({ posts: [a, b], same: false, changed, takenBack }, () => apartText(a, b, takenBack));
}

function apartText(a: number, b: number, takenBack: readonly number[]): string {
  if (takenBack.length === 0) return `${a} and ${b} were not marked as the same.`;
  const said = `${a} and ${b} are no longer marked as the same.`;
  const pairs = takenBack.map((other) => `${a} and ${other}`).join(', ');
  return takenBack.every((other) => other === b) ? said : `${said} Marks taken back: ${pairs}.`;
}

function tableOf(found: readonly SimilarPost[]): string {
  const rows = found.map(({ id, likeness, isSame, title, status, board, votes }) => [
    `#${id}`,
    isSame ? 'marked as the same' : `${Math.round(100 * likeness)} %`,
    title,
    board,
    status,
    votes,
  ]);
  return table(['post', 'likeness', 'title', 'board', 'status', 'votes'], rows);
}
