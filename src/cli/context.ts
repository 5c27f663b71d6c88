import { type Command, Option } from 'commander';
import { type LoadInput, loadSettings, type Settings, secretsOf } from '../../config/load.ts';
import type { Parse } from '../../config/parse.ts';
import { flagOf, SETTINGS } from '../../config/schema.ts';
import { AppError, codeOf, type ErrorCode, messageOf } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { printable } from '../base/text.ts';

/** What a shell or a scheduler learns from each failure. */
export const EXIT_CODES: Record<ErrorCode, number> = {
  internal: 1,
  usage: 2,
  unauthorised: 3,
  unreachable: 4,
  throttled: 4,
  refused: 4,
  protocol: 4,
  partial: 5,
  gone: 5,
  busy: 6,
  storage: 7,
  interrupted: 130,
};

/** As the shell counts the end by SIGPIPE that `git log | head` comes to: the reader has what it wanted and went away. */
export const READER_GONE = 141;

/** Adds one command. `stop` is aborted when the person or the system asks the program to end. */
export type Register = (program: Command, stop: AbortSignal) => void;

/** What a command gets to work with, besides its own flags. */
export interface Context {
  settings: Settings;
  input: LoadInput;
  json: boolean;
  /** Aborted by the first SIGINT or SIGTERM. */
  signal: AbortSignal;
  /** The answer, with all that is said about it: stdout. Without `--json` it is for a person, and filtered for a terminal. */
  print(text: string): void;
  /** The answer in a form that a program reads, such as CSV: as it is. */
  printData(text: string): void;
  /** The answer in the form that was asked for: this value with `--json`, else the text. */
  answer(value: unknown, text: () => string): void;
  /** What is said on the way, and beside an answer that a program reads: stderr. */
  say(text: string): void;
  /** The same for a person alone: with `--json` the answer and the exit code say it. */
  remark(text: string): void;
}

/** Flags with a text, and those that are only given or not; what has a default or is repeated is added to them. */
export type Flags<Text extends string, Switch extends string = never> = {
  [K in Text]?: string;
} & { [K in Switch]?: true };

/** Every setting that is no secret is a flag of the whole program, before or after the command's name. */
export function addSettingFlags(program: Command): void {
  for (const { env, secret, meaning } of Object.values(SETTINGS)) {
    // Hidden, or thirty lines of settings would stand before the commands; "config" shows them all with their meaning.
    if (!secret) program.addOption(new Option(`${flagOf(env)} <value>`, `${meaning} (${env})`).hideHelp());
  }
  program.option('--json', 'machine-readable output');
}

export function openContext(
  program: Command,
  signal: AbortSignal,
  prepare: (input: LoadInput) => LoadInput = (input) => input,
): Context {
  const options = program.opts<Record<string, string | boolean | undefined>>();
  const input = prepare(loadInput(options));
  const settings = loadSettings(input);
  for (const secret of secretsOf(settings)) secretsInUse.add(secret);
  const json = options.json === true;
  const print = (text: string): void => void process.stdout.write(`${json ? text : printable(text)}\n`);
  return {
    settings,
    input,
    json,
    signal,
    print,
    printData: (text) => process.stdout.write(`${text}\n`),
    answer: (value, text) => print(json ? JSON.stringify(value) : text()),
    say: tell,
    remark: (text) => json || tell(text),
  };
}

/** For `await using`: closed at the end of the block, whichever way that ends. */
export function closing<T extends { close(): unknown } | null>(handle: T): T & AsyncDisposable {
  const dispose = async (): Promise<void> => void (await handle?.close());
  return (handle && Object.assign(handle, { [Symbol.asyncDispose]: dispose })) as T & AsyncDisposable;
}

/** Whether a person sits there who can answer a question. */
export function canAsk({ json }: Context): boolean {
  return !json && process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * A person's answer. Without the line editor, with which Ctrl-C would not reach the program as a signal. Where the input ends, as by Ctrl-D,
 * there is no answer, and `nothing` says what was not done.
 */
export async function askLine(words: string, nothing: string, signal: AbortSignal): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const gone = new Promise<never>((_, reject) =>
    reader.once('close', () => reject(new AppError('interrupted', nothing))),
  );
  try {
    return (await Promise.race([reader.question(words, { signal }), gone])).trim();
  } finally {
    reader.close();
  }
}

/** Says what is kept, or that nothing is, where a person stops the work. */
export async function stoppable<T>({ remark }: Context, kept: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (codeOf(error) === 'interrupted') remark(kept);
    throw error;
  }
}

/** A flag by the parser of a setting: its complaint names the flag. */
export function readFlag<T>(flag: string, parse: Parse<T>, text: string): T {
  try {
    return parse(text);
  } catch (error) {
    throw new AppError('usage', `${flag} ${messageOf(error)}`, { cause: error });
  }
}

/** A number that counts or names something. */
export function wholeNumber(what: string, text: string, most = Number.MAX_SAFE_INTEGER): number {
  if (/^[1-9]\d{0,15}$/.test(text) && Number(text) <= most) return Number(text);
  const range = most === Number.MAX_SAFE_INTEGER ? 'from 1 up' : `from 1 to ${most}`;
  throw new AppError('usage', `${what} must be a whole number ${range}, not "${text}"`);
}

/** For a flag that may be given several times. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** Whatever a person reads on stderr. */
export function tell(text: string): void {
  process.stderr.write(`${printable(maskSecrets(text))}\n`);
}

function loadInput(options: Record<string, string | boolean | undefined>): LoadInput {
  const flags: Record<string, string> = {};
  for (const { env } of Object.values(SETTINGS)) {
    const value = options[camelCase(env)];
    if (typeof value === 'string') flags[env] = value;
  }
  return { flags, env: process.env, cwd: process.cwd(), isTerminal: process.stderr.isTTY };
}

/** commander names options so: `--data-dir` is `dataDir`. */
function camelCase(env: string): string {
  return env.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The last net under every message printed on failure. */
const secretsInUse = new Set<Secret>();

/** For a secret that was not among the settings at the start. */
export function maskAlso(secret: Secret): void {
  secretsInUse.add(secret);
}

export function maskSecrets(text: string): string {
  let masked = text;
  for (const secret of secretsInUse) masked = secret.mask(masked);
  return masked;
}
