import type { Command } from 'commander';
import { duration } from '../../config/parse.ts';
import { AppError } from '../base/errors.ts';
import { CREATED_FORMS, TIME_FORMS, USER_FIELDS } from '../sandbox/behaviour.ts';
import { KINDS, TARGETS } from '../sandbox/fault-kinds.ts';
import { ORDERS } from '../sandbox/listing.ts';
import { PAGING_STYLES } from '../sandbox/paging.ts';
import { ANY_REWRITE, REWRITE_KINDS } from '../sandbox/rewrite.ts';
import type { Sandbox, SandboxOptions, SandboxToken } from '../sandbox/server.ts';
import { collect, type Flags, readFlag } from './context.ts';

type Text =
  | ('port' | 'authParam' | 'seed' | 'posts' | 'pageSize' | 'paging' | 'order' | 'postTimes' | 'creator')
  | ('movePosts' | 'created' | 'data' | 'faults');
type SandboxFlags = Flags<Text, 'foldAddresses' | 'boardIds' | 'live'> & {
  [K in 'token' | 'commentUsers' | 'rewrite']?: string[];
};

const EXAMPLE = `
The first line of stdout is the address. Everything else goes to stderr.

Faults are rules separated by ";", each a kind and its key=value settings.
Which requests: nth=N, from=N, to=N, every=N, p=0.1, times=N,
  on=${Object.keys(TARGETS).join('|')}
Kinds:
${wrapped(Object.keys(KINDS))}
A lagging replica is "stale ms=30000", a list that ends early "truncated", a row
left out of one page in a hundred "missing-row row=any p=0.01".

--rewrite takes one or more of these, applied one after the other, or "${ANY_REWRITE}" for
one of them at random for each post; truncate-... takes a length (truncate-title=80):
${wrapped(REWRITE_KINDS)}

Examples:
  feedback-mirror sandbox --port 9090 --posts 5000 --live
  feedback-mirror sandbox --token team:ada@example.com:bugs,mobile --paging cursor
  feedback-mirror sandbox --rewrite all --move-posts 0.1 --order activity --live
  feedback-mirror sandbox --data sandbox.db --faults 'throttle every=10 retry-after=1; reset-after on=creates p=0.05'`;

function wrapped(names: readonly string[]): string {
  return names
    .join(', ')
    .replace(/(.{1,76})(?: |$)/g, '  $1\n')
    .trimEnd();
}

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('sandbox')
    .description('a complete feedback service of its own, with sample data')
    .option('--port <port>', 'port to listen on; 0 picks a free one', '0')
    .option('--token <token>', 'TOKEN, TOKEN:OWNER or TOKEN:OWNER:BOARD,BOARD; may be repeated', collect)
    .option('--auth-param <name>', 'query parameter that can carry the token', 'token')
    .option('--seed <number>', 'which sample world: the same number gives the same data', '1')
    .option('--posts <number>', 'how many posts it starts with', '200')
    .option('--page-size <number>', 'rows on a page', '100')
    .option('--paging <style>', `form of next: ${either(PAGING_STYLES)}`, 'url')
    .option('--order <order>', `order of the lists: ${either(ORDERS)}`, 'newest')
    .option('--post-times <form>', `how the posts list writes times: ${either(TIME_FORMS)}`, 'micro')
    .option('--comment-users <fields>', `shown otherwise in comments: ${either(USER_FIELDS)}`, collectWords)
    .option('--rewrite <kinds>', 'change the words of a new post before keeping them', collectWords)
    .option('--fold-addresses', 'take a+b@example.com for a@example.com')
    .option('--creator <who>', 'shown as creator of a post for a customer: customer or owner', 'customer')
    .option('--board-ids', 'also take the id of a board in a create')
    .option('--move-posts <share>', 'put this share of new posts on another board', '0')
    .option('--created <form>', `time of a new post: ${CREATED_FORMS.join(', ')} or minus-2h`, 'exact')
    .option('--data <file>', 'keep the data in this file; an existing one is continued (default: in memory)')
    .option('--live', 'let people vote, write and change things all the time')
    .option('--faults <spec>', 'scripted trouble: rules such as "status code=503 nth=3; latency ms=200"')
    .addHelpText('after', EXAMPLE)
    .action((flags: SandboxFlags) => serve(flags, program.opts<{ json?: boolean }>().json === true, stop));
}

function either(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function collectWords(value: string, before: string[] = []): string[] {
  return [...before, ...value.split(',').map((word) => word.trim())];
}

async function serve(flags: SandboxFlags, json: boolean, stop: AbortSignal): Promise<void> {
  const options = toOptions(flags);
  const { startSandbox } = await import('../sandbox/server.ts');
  if ((options.posts ?? 0) >= 100_000)
    say('Opening a large world: a new one takes about a minute for each million posts.');
  const sandbox = await startSandbox(options);
  process.stdout.write(json ? `${JSON.stringify({ url: sandbox.url })}\n` : `${sandbox.url}\n`);
  welcome(sandbox, options);
  await stopped(stop);
  await sandbox.close();
}

function toOptions(flags: SandboxFlags): SandboxOptions {
  return {
    port: number('--port', flags.port),
    seed: number('--seed', flags.seed),
    posts: number('--posts', flags.posts),
    pageSize: number('--page-size', flags.pageSize),
    tokens: flags.token?.map(toToken),
    authParam: flags.authParam,
    // The sandbox checks these against the names it knows.
    paging: flags.paging as SandboxOptions['paging'],
    order: flags.order as SandboxOptions['order'],
    postTimes: flags.postTimes as SandboxOptions['postTimes'],
    commentUsers: flags.commentUsers as SandboxOptions['commentUsers'],
    creator: flags.creator as SandboxOptions['creator'],
    rewrite: flags.rewrite,
    foldAddresses: flags.foldAddresses,
    boardIds: flags.boardIds,
    movePosts: flags.movePosts === undefined ? undefined : Number(flags.movePosts),
    created: toCreated(flags.created),
    data: flags.data,
    live: flags.live,
    // A living world goes on from today; one that stands still is the same on every day.
    referenceTime: flags.live ? Date.now() : undefined,
    faults: flags.faults,
  };
}

function number(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new AppError('usage', `${flag} needs a whole number, not "${text}"`);
  return Number(text);
}

function toCreated(text: string | undefined): SandboxOptions['created'] {
  const behind = /^minus-(.*)$/.exec(text ?? '')?.[1];
  if (behind === undefined) return text as SandboxOptions['created'];
  return readFlag(`--created ${text}:`, duration, behind);
}

function toToken(text: string): SandboxToken {
  const [token = '', email = 'owner@example.com', boards, ...rest] = text.split(':');
  if (token === '' || rest.length > 0) {
    throw new AppError('usage', '--token takes TOKEN, TOKEN:OWNER or TOKEN:OWNER:BOARD,BOARD');
  }
  const name = email === 'owner@example.com' ? 'Sandbox Owner' : (email.split('@')[0] ?? email);
  return { token, email, name, ...(boards === undefined ? {} : { boards: boards.split(',') }) };
}

function welcome({ url, world }: Sandbox, { tokens, data, faults }: SandboxOptions): void {
  const token = tokens?.[0]?.token ?? 'sandbox';
  say(
    `A feedback service with the boards ${world
      .boards()
      .map((board) => board.slug)
      .join(', ')}.`,
  );
  say(`Data: ${data ?? 'in memory, gone when it stops'}. Faults: ${faults ?? 'none'}. Stop it with Ctrl-C.`);
  say(`Try:  curl -H 'Authorization: Bearer ${token}' '${url}/api/v1/posts/'`);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

function stopped(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
}
