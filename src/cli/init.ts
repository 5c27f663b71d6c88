import { on } from 'node:events';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseEnv } from 'node:util';
import type { Command } from 'commander';
import { type LoadInput, loadSettings, type Settings } from '../../config/load.ts';
import { type Parse, token as tokenText, upstreamUrl } from '../../config/parse.ts';
import { systemClock } from '../base/clock.ts';
import { AppError, codeOf, messageOf } from '../base/errors.ts';
import { errnoOf, replaceFile } from '../base/files.ts';
import type { Secret } from '../base/secret.ts';
import type { ListSurvey, Survey } from '../mirror/sweep/survey.ts';
import { grouped, oneLine } from '../text/text.ts';
import { askLine, type Context, canAsk, maskAlso, openContext, openSources } from './context.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('init')
    .description('connect your own service: asks for base URL and token, tries them, and writes .env')
    .addHelpText('after', HELP)
    .action(() => {
      const sources = openSources(program);
      if (sources)
        throw new AppError('usage', `${sources.path} names the services, and init writes .env`, {
          hint: 'Write the service there, with its base_url and token; then run "feedback-mirror sources test".',
        });
      return init(openContext(program, stop));
    });
}

const HELP = `
In a terminal it asks, and the token is not shown. Elsewhere the base URL is a flag or a setting, and the token comes from
standard input, FEEDBACK_API_TOKEN or FEEDBACK_API_TOKEN_FILE; it is never an argument. The service is only read from.
Other lines of .env stay as they are. What the environment says counts more than .env.

Examples:
  feedback-mirror init
  feedback-mirror init --feedback-base-url https://feedback.example.com < token.txt
  feedback-mirror init --feedback-auth query --feedback-auth-param token`;

type Answers = Record<string, string>;

async function init(context: Context): Promise<void> {
  const path = join(context.input.cwd, '.env');
  // A link stays one: what it leads to is written.
  const file = existsSync(path) ? realpathSync(path) : path;
  const isAsking = canAsk(context);
  const answers = isAsking ? await asked(context) : await given(context);
  const found = await tried(context, answers, isAsking);
  await replaceFile(file, async (handle) => void (await handle.write(merged(file, answers))));
  const settings = loadSettings(context.input);
  const overridden = overriding(context, settings, answers);
  const { FEEDBACK_API_TOKEN: _, ...shown } = answers;
  context.answer({ ...found, settings: shown, file, overridden }, () =>
    [...summary(answers, found, overridden), ...nextSteps(settings)].join('\n'),
  );
}

/** Which names of the environment keep what was written from taking effect. */
function overriding({ input }: Context, settings: Settings, answers: Answers): string[] {
  const effective: Answers = {
    FEEDBACK_BASE_URL: settings.baseUrl?.href ?? '',
    FEEDBACK_API_TOKEN: settings.token?.reveal() ?? '',
    FEEDBACK_AUTH: settings.auth,
    FEEDBACK_AUTH_PARAM: settings.authParameter ?? '',
  };
  const names = Object.keys(answers).filter((name) => effective[name] !== answers[name]);
  return names.map((name) => (input.env[name] ? name : `${name}_FILE`));
}

async function asked(context: Context): Promise<Answers> {
  const { settings, signal } = context;
  const { baseUrl, origins } = settings;
  const url =
    baseUrl !== null && origins.baseUrl === 'flag'
      ? baseUrl
      : await question('Base URL of the feedback service, what stands before /api/v1/', upstreamUrl, {
          kept: baseUrl,
          signal,
        });
  const token = await question(TOKEN, tokenText, { kept: settings.token, signal, isHidden: true });
  return { FEEDBACK_BASE_URL: url.href, FEEDBACK_API_TOKEN: token.reveal(), ...queryOf(settings) };
}

const TOKEN = 'API token (not shown)';

async function given({ settings }: Context): Promise<Answers> {
  const { baseUrl } = settings;
  if (baseUrl === null)
    throw new AppError('usage', 'there is no terminal to ask on, and no base URL was given', {
      hint: 'Say --feedback-base-url URL, with the token on standard input or in FEEDBACK_API_TOKEN.',
    });
  const token = settings.token ?? (process.stdin.isTTY ? null : tokenFrom(await text(process.stdin)));
  if (token === null)
    throw new AppError('usage', 'there is no terminal to ask on, and no token was given', {
      hint: 'Give it on standard input, or set FEEDBACK_API_TOKEN or FEEDBACK_API_TOKEN_FILE.',
    });
  return { FEEDBACK_BASE_URL: baseUrl.href, FEEDBACK_API_TOKEN: token.reveal(), ...queryOf(settings) };
}

/** Null where standard input is empty, as under cron. */
function tokenFrom(input: string): Secret | null {
  if (input.trim() === '') return null;
  try {
    return tokenText(input);
  } catch (error) {
    throw new AppError('usage', `the token on standard input ${messageOf(error)}`, {
      hint: 'Give the token alone, on one line.',
    });
  }
}

function queryOf({ auth, authParameter }: Pick<Settings, 'auth' | 'authParameter'>): Answers {
  return auth === 'query' ? { FEEDBACK_AUTH: 'query', FEEDBACK_AUTH_PARAM: authParameter ?? '' } : {};
}

/** The settings as they will be; what was answered counts more than the environment. */
function applied({ input }: Context, answers: Answers): { settings: Settings; input: LoadInput } {
  const changed = { ...input, flags: { ...input.flags, ...answers }, env: { ...input.env, ...answers } };
  const settings = loadSettings(changed);
  if (settings.token) maskAlso(settings.token);
  return { settings, input: changed };
}

async function tried(context: Context, answers: Answers, isAsking: boolean): Promise<Survey> {
  const { settings, input } = applied(context, answers);
  const [{ openClient, realToken }, { survey }] = await Promise.all([
    import('../app/upstream.ts'),
    import('../mirror/sweep/survey.ts'),
  ]);
  const client = openClient(settings, {
    url: settings.baseUrl?.href ?? '',
    token: realToken(settings, input),
    env: input.env,
    retry: { attempts: 2, maxWaitMs: 5000 },
  });
  try {
    return await survey(client, systemClock, context.signal);
  } catch (error) {
    if (codeOf(error) !== 'unauthorised' || !isAsking) throw error;
  } finally {
    await client.close();
  }
  context.say('The service refused the token. If it takes it as a query parameter: --feedback-auth query.');
  const token = await question(TOKEN, tokenText, { kept: null, signal: context.signal, isHidden: true });
  answers.FEEDBACK_API_TOKEN = token.reveal();
  return await tried(context, answers, isAsking);
}

interface Asking<T> {
  /** What an empty answer keeps. */
  kept: T | null;
  signal: AbortSignal;
  isHidden?: boolean;
}

async function question<T>(
  words: string,
  parse: Parse<T>,
  { kept, signal, isHidden = false }: Asking<T>,
): Promise<T> {
  const shown = kept === null ? '' : isHidden ? ' [as it is]' : ` [${String(kept)}]`;
  for (;;) {
    const answer = (await (isHidden ? hiddenLine : line)(`${words}${shown}: `, signal)).trim();
    if (answer === '' && kept !== null) return kept;
    try {
      return parse(answer);
    } catch (error) {
      process.stderr.write(`It ${messageOf(error)}.\n`);
    }
  }
}

const line = (words: string, signal: AbortSignal): Promise<string> =>
  askLine(words, NOTHING_WRITTEN.message, signal);

const NOTHING_WRITTEN = new AppError('interrupted', 'nothing was written');

/** In raw mode the terminal shows nothing that is typed. This function does what the terminal would do with a key. */
async function hiddenLine(words: string, signal: AbortSignal): Promise<string> {
  const { stdin, stderr } = process;
  // First: what is typed as soon as the question shows must not show too.
  stdin.setRawMode(true).resume();
  stderr.write(words);
  let typed = '';
  try {
    for await (const [chunk] of on(stdin, 'data', { signal, close: ['end'] })) {
      const keys = String(chunk);
      // An arrow or a function key is no part of a token.
      for (const key of keys.startsWith('\u001b') ? '' : keys) {
        if (key === '\r' || key === '\n') return typed;
        if (key === '\u0003' || key === '\u0004') throw NOTHING_WRITTEN;
        typed = key === '\u0015' ? '' : key === '\u007f' || key === '\b' ? typed.slice(0, -1) : typed + key;
      }
    }
    throw NOTHING_WRITTEN;
  } catch (error) {
    throw codeOf(error) === 'interrupted' ? NOTHING_WRITTEN : error;
  } finally {
    stdin.setRawMode(false).pause();
    stderr.write('\n');
  }
}

/** The file with the answers in it: their own lines are replaced, and all others stay. */
function merged(file: string, answers: Answers): string {
  let lines = existing(file).split('\n');
  for (const [name, value] of Object.entries(answers)) {
    const own = `${name}=${quoted(value)}`;
    const at = lines.findIndex((each) => isOf(each, name));
    lines = lines.filter((each, i) => i === at || !isOf(each, name));
    if (at >= 0) lines[at] = own;
    else lines.splice(lines.at(-1) === '' ? -1 : lines.length, 0, own);
  }
  const whole = lines.at(-1) === '' ? lines.join('\n') : `${lines.join('\n')}\n`;
  const read = parseEnv(whole);
  if (Object.entries(answers).every(([name, value]) => read[name] === value)) return whole;
  throw new AppError('usage', `${file} cannot hold that token`, {
    hint: 'Put it into a file of its own, and set FEEDBACK_API_TOKEN_FILE to its path.',
  });
}

function isOf(each: string, name: string): boolean {
  return new RegExp(`^\\s*(export\\s+)?${name}\\s*=`).test(each);
}

function existing(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return '';
    throw error;
  }
}

function quoted(value: string): string {
  if (/^[\w.:/~+-]*$/.test(value)) return value;
  const quote = ["'", '"', '`'].find((each) => !value.includes(each)) ?? "'";
  return `${quote}${value}${quote}`;
}

function summary(
  { FEEDBACK_BASE_URL: url = '' }: Answers,
  { posts, comments, boards }: Survey,
  overridden: readonly string[],
): string[] {
  const listLine = (name: string, { rows, isWhole }: ListSurvey): string =>
    `  ${name.padEnd(10)}${isWhole ? '' : 'more than '}${grouped(rows)}`;
  return [
    `${URL.parse(url)?.host} took the token:`,
    listLine('posts', posts),
    listLine('comments', comments),
    `  ${'boards'.padEnd(10)}${boards.map(oneLine).join(', ') || 'none'}`,
    'The settings are in .env, which only you can read.',
    ...overridden.map(
      (name) => `But ${name} is set in the environment, with another value, and that counts more: unset it.`,
    ),
  ];
}

function nextSteps({ mirrorPath, httpHost, httpPort }: Settings): string[] {
  return [
    'Next:',
    `  feedback-mirror sync     makes the first copy, in ${mirrorPath}`,
    `  feedback-mirror start    keeps it fresh, with the dashboard at http://${httpHost}:${httpPort}/`,
  ];
}
