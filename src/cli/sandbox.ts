import type { Command } from 'commander';
import { AppError } from '../base/errors.ts';
import { ORDERS } from '../sandbox/listing.ts';
import { PAGING_STYLES } from '../sandbox/paging.ts';
import type { Sandbox, SandboxOptions, SandboxToken } from '../sandbox/server.ts';
import { collect, type Flags } from './context.ts';

type Text = 'port' | 'authParam' | 'seed' | 'posts' | 'pageSize' | 'paging' | 'order' | 'data';
type SandboxFlags = Flags<Text, 'live'> & { token?: string[] };

const EXAMPLE = `
The first line of stdout is the address. Everything else goes to stderr.

Examples:
  feedback-mirror sandbox --port 9090 --posts 5000 --live
  feedback-mirror sandbox --token team:ada@example.com --paging cursor
  feedback-mirror sandbox --data sandbox.db --order activity`;

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('sandbox')
    .description('a complete feedback service of its own, with sample data')
    .option('--port <port>', 'port to listen on; 0 picks a free one', '0')
    .option('--token <token>', 'TOKEN or TOKEN:OWNER; may be repeated', collect)
    .option('--auth-param <name>', 'query parameter that can carry the token', 'token')
    .option('--seed <number>', 'which sample world: the same number gives the same data', '1')
    .option('--posts <number>', 'how many posts it starts with', '200')
    .option('--page-size <number>', 'rows on a page', '100')
    .option('--paging <style>', `form of next: ${either(PAGING_STYLES)}`, 'url')
    .option('--order <order>', `order of the lists: ${either(ORDERS)}`, 'newest')
    .option('--data <file>', 'keep the data in this file; an existing one is continued (default: in memory)')
    .option('--live', 'let people vote, write and change things all the time')
    .addHelpText('after', EXAMPLE)
    .action((flags: SandboxFlags) => serve(flags, program.opts<{ json?: boolean }>().json === true, stop));
}

function either(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
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
    data: flags.data,
    live: flags.live,
    // With --live the posts end today. Without it they are the same on every day.
    referenceTime: flags.live ? Date.now() : undefined,
  };
}

function number(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new AppError('usage', `${flag} needs a whole number, not "${text}"`);
  return Number(text);
}

function toToken(text: string): SandboxToken {
  const [token = '', email = 'owner@example.com', ...rest] = text.split(':');
  if (token === '' || rest.length > 0) {
    throw new AppError('usage', '--token takes TOKEN or TOKEN:OWNER');
  }
  const name = email === 'owner@example.com' ? 'Sandbox Owner' : (email.split('@')[0] ?? email);
  return { token, email, name };
}

function welcome({ url, world }: Sandbox, { tokens, data }: SandboxOptions): void {
  const token = tokens?.[0]?.token ?? 'sandbox';
  say(
    `A feedback service with the boards ${world
      .boards()
      .map((board) => board.slug)
      .join(', ')}.`,
  );
  say(`Data: ${data ?? 'in memory, gone when it stops'}. Stop it with Ctrl-C.`);
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
