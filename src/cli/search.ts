import { styleText } from 'node:util';
import type { Command } from 'commander';
import { mirrorOf } from '../app/place.ts';
import { AppError } from '../base/errors.ts';
import type { Post } from '../contract/decode.ts';
import type { Found, Hit, Part } from '../search/search.ts';
import { slugOf } from '../text/boards.ts';
import { counted } from '../text/text.ts';
import { type Context, closing, type Flags, openContext, sayIfElsewhere, wholeNumber } from './context.ts';
import { cellLine, cut } from './table.ts';

type SearchFlags = Flags<'board' | 'segment', 'remote'> & { limit: string };

/** The API answers with so many. */
const MOST = 50;

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('search')
    .argument(
      '<text...>',
      'words of title, content or comments, a #number or the address of a post; "in quotes" side by side, and dark* for words that begin so',
    )
    .description('find posts by their words or those of their comments, the most relevant first')
    .option('--remote', "ask the service's own search instead of the mirror")
    .option('--limit <number>', `how many at most, up to ${MOST}`, '20')
    .option('--board <board>', 'only posts of one board, by its short name, name or id')
    .option('--segment <filter>', 'only posts of these imported customers, such as plan=Pro')
    .addHelpText('after', EXAMPLES)
    .action((words: string[], flags: SearchFlags) =>
      search(openContext(program, stop), words.join(' '), flags),
    );
}

const EXAMPLES = `
Examples:
  feedback-mirror search dark mode
  feedback-mirror search '"dark mode" expor*' --board mobile
  feedback-mirror search export --remote --json

A hyphen before a word does not leave it out: -mode asks for mode. SQL can, with NOT (docs/sql.md).`;

async function search(context: Context, text: string, flags: SearchFlags): Promise<void> {
  const { board, segment } = flags;
  if (flags.remote && segment !== undefined)
    throw new AppError('usage', '--segment is known to the mirror only: leave out --remote');
  const options = { limit: wholeNumber('--limit', flags.limit, MOST), board, segment };
  refuseOpenQuote(text);
  const place = flags.remote ? {} : await sayIfElsewhere([context]);
  const found = flags.remote ? await remotely(context, text, options) : await locally(context, text, options);
  if (context.json) context.print(JSON.stringify({ ...hitsJson(found), ...place }));
  else if (found.hits.length > 0) context.print(hitsText(found.hits, context.settings.baseUrl));
  if (!context.json) for (const sentence of remarks(found)) context.print(sentence);
}

/** An open quote may be a phrase or plain words. The program does not guess which. */
function refuseOpenQuote(text: string): void {
  if ((text.match(/"/g) ?? []).length % 2 === 0) return;
  throw new AppError('usage', 'a quote (") in the text is not closed', {
    hint: 'Close it, as in search \'"dark mode" export\', or leave it out.',
  });
}

type Wanted = { limit: number; board: string | undefined; segment?: string | undefined };

async function locally({ settings }: Context, text: string, options: Wanted): Promise<Found> {
  const { openSearchReads } = await import('../search/search.ts');
  await using reads = closing(openSearchReads(mirrorOf(settings)));
  return await reads.find(text, options);
}

/** What only the mirror's own search knows. */
const REMOTE: Found = {
  hits: [],
  isMore: false,
  total: { posts: 0, isMore: false },
  isQuestion: true,
  isPartial: false,
  suggestion: null,
  unindexed: 0,
};

async function remotely(context: Context, text: string, options: Wanted): Promise<Found> {
  if (text.trim() === '') return { ...REMOTE, isQuestion: false };
  const { openApp } = await import('../app.ts');
  await using app = closing(await openApp(context.settings, context.input, 'search'));
  const { rows, rejects } = await app.client.search(text, context.signal);
  if (rejects.length > 0)
    context.say(`${counted(rejects.length, 'post')} of the answer could not be read: ${rejects[0]?.reason}.`);
  return fromUpstream(rows, options);
}

function remarks({ hits, isQuestion, isPartial, suggestion, unindexed }: Found): string[] {
  const said: string[] = [];
  if (!isQuestion) said.push('There is no word in that to look for.');
  else if (hits.length === 0)
    said.push('No post has all of these words. A * at the end of a word finds every word that begins so.');
  else if (isPartial) said.push('\nNo post has all of these words: these have most of them.');
  if (suggestion !== null) said.push(`Did you mean: ${cellLine(suggestion)}`);
  if (unindexed > 0)
    said.push(
      `${counted(unindexed, 'post')} cannot be found yet: "feedback-mirror sync" puts the rest into the index.`,
    );
  return said;
}

/** About as long as a snippet of the mirror's own search. */
const BEGINNING = 160;

/** The hits of the service, in its order. It does not say which words matched, so nothing is marked. */
function fromUpstream(rows: readonly Post[], { limit, board }: Wanted): Found {
  const wanted = board?.toLowerCase();
  const isWanted = ({ board: its }: Post): boolean =>
    wanted === undefined || wanted === its.name.toLowerCase() || wanted === slugOf(its.url).toLowerCase();
  const hits = rows.map(toHit);
  const kept = hits.filter((_, n) => isWanted(rows[n] as Post)).slice(0, limit);
  if (kept.length === 0 && hits.length > 0)
    throw new AppError(
      'usage',
      `none of the ${hits.length} posts that the service found is of board "${board}"`,
    );
  return { ...REMOTE, hits: kept };
}

function toHit(post: Post, place: number): Hit {
  return {
    id: post.id,
    title: [{ text: post.title, isMatch: false }],
    snippet: [{ text: cut(post.content, BEGINNING), isMatch: false }],
    comment: null,
    url: post.url,
    board: post.board.name,
    boardSlug: slugOf(post.board.url),
    status: post.status.name,
    statusColor: post.status.color,
    votes: post.votes_count,
    comments: post.comments_count,
    created: post.created,
    relevance: place,
  };
}

/** Title and snippet as plain texts, and in pieces for programs that mark the matches. */
function hitsJson({ hits, isPartial, suggestion, unindexed }: Found) {
  const shown = hits.map(({ title, snippet, ...rest }) => ({
    ...rest,
    title: plain(title),
    snippet: plain(snippet),
    parts: { title, snippet },
  }));
  return { hits: shown, isPartial, suggestion, unindexed };
}

function plain(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join('');
}

function hitsText(hits: readonly Hit[], baseUrl: URL | null): string {
  const width = Math.max(...hits.map(({ id }) => String(id).length)) + 3;
  return hits.map((hit) => hitText(hit, width, baseUrl)).join('\n\n');
}

function hitText(hit: Hit, width: number, baseUrl: URL | null): string {
  const facts = [hit.board, hit.status, counted(hit.votes, 'vote'), addressOf(hit.url, baseUrl)];
  const said = hit.comment === null ? '' : 'in a comment: ';
  const lines = [facts.map(cellLine).join('  '), said + marked(hit.snippet)].filter((line) => line !== '');
  const below = lines.map((line) => ' '.repeat(width) + line);
  return [`${`#${hit.id}`.padEnd(width)}${marked(hit.title)}`, ...below].join('\n');
}

/** Bold in a terminal that can show it; elsewhere the quotes that feedback hardly ever has. */
function marked(parts: readonly Part[]): string {
  const isStyled = process.stdout.isTTY && styleText('bold', 'x', { stream: process.stdout }) !== 'x';
  return parts
    .map(({ text, isMatch }) => {
      const shown = cellLine(text);
      if (!isMatch) return shown;
      return isStyled ? styleText('bold', shown) : `«${shown}»`;
    })
    .join('')
    .trim();
}

/** The service gives addresses relative to itself. */
function addressOf(url: string, baseUrl: URL | null): string {
  return baseUrl !== null && URL.canParse(url, baseUrl.href) ? new URL(url, baseUrl).href : url;
}
