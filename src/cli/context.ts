import { type Command, Option } from 'commander';
import { givenText, type LoadInput, loadSettings, type Settings, secretsOf } from '../../config/load.ts';
import type { Parse } from '../../config/parse.ts';
import { flagOf, SETTINGS } from '../../config/schema.ts';
import { chosenSources, loadSources, type Sources } from '../../config/sources.ts';
import { AppError, codeOf, type ErrorCode, messageOf } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import type { Secret } from '../base/secret.ts';
import { printable } from '../text/text.ts';

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

/** The exit code of a process that SIGPIPE ended, as in `git log | head`: the reader went away. */
export const READER_GONE = 141;

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
  /** The answer in a form for programs, such as CSV. It is printed without changes. */
  printData(text: string): void;
  /** The answer in the form that was asked for: this value with `--json`, else the text. */
  answer(value: unknown, text: () => string): void;
  /** Writes to stderr: what happens on the way, and remarks beside an answer that a program reads. */
  say(text: string): void;
  /** The same for a person alone: with `--json` the answer and the exit code say it. */
  remark(text: string): void;
}

/** The flags of a command: those with a text, and those that are given or not. Flags with a default, or that repeat, are added to them. */
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

/** The context of the one source that the command is for. If there are several, the person must name one. */
export function openContext(program: Command, signal: AbortSignal): Context {
  const contexts = openContexts(program, signal);
  const [context, second] = contexts;
  if (!context || second) {
    const names = contexts.map(({ settings }) => settings.source).join(', ');
    throw new AppError('usage', `this command is for one source, and there are several: ${names}`, {
      hint: 'Say which with --source NAME, or with SOURCE in the environment. "query", "report", "export" and "changes" also take --all.',
    });
  }
  return context;
}

/** A context for each source that the command is for: those that --source names, or all. Without sources.yaml there is one. */
export function openContexts(program: Command, signal: AbortSignal): Context[] {
  const input = loadInput(program.opts());
  const sources = loadSources(input);
  if (sources === null) return [contextOf(program, signal, alone(input))];
  const chosen = chosenSources(sources, input);
  return chosen.map((source) => contextOf(program, signal, source));
}

export interface SourceContexts {
  /** At least one. */
  contexts: Context[];
  /** Whether the answer says of each row which source it is of. */
  isTogether: boolean;
}

/** The contexts of a question that may go to several sources: with `--all`, or with several names. */
export function openTogether(program: Command, signal: AbortSignal, { all }: { all?: true }): SourceContexts {
  const input = loadInput(program.opts());
  if (!all) {
    const isTogether = givenText('source', input)?.text.includes(',') ?? false;
    const contexts = isTogether ? openContexts(program, signal) : [openContext(program, signal)];
    return { contexts, isTogether };
  }
  if (input.flags.SOURCE)
    throw new AppError('usage', '--all and --source contradict each other: give one of them');
  const sources = loadSources(input);
  if (sources === null)
    throw new AppError('usage', '--all is for the sources of sources.yaml, and there is no such file here');
  return { contexts: sources.all.map((source) => contextOf(program, signal, source)), isTogether: true };
}

/** Of the answer with `--json`, where another machine runs a source; null for a machine that is not known just now. */
export interface Elsewhere {
  elsewhere?: { source: string; machine: string | null }[];
}

/** The sources that this machine does not run, each with the machine that does; null for one that is not known just now. */
export async function machinesElsewhere(contexts: readonly Context[]): Promise<Map<Context, string | null>> {
  const ofFleet = contexts.filter(({ settings }) => settings.fleetUrl !== null);
  if (ofFleet.length === 0) return new Map();
  const { runsHere } = await import('../app/lease.ts');
  const away = ofFleet.filter(({ settings }) => !runsHere(settings));
  if (away.length === 0) return new Map();
  const { whoRuns } = await import('../app/fleet.ts');
  // The fleet is that of the process, not of a source.
  const { source: _, ...input } = (away[0] as Context).input;
  const machines = await whoRuns(loadSettings(input));
  return new Map(away.map((context) => [context, machines.get(context.settings.source ?? '') ?? null]));
}

/** A question is answered from the files of this machine. Where another one runs the source they may be old, or missing. */
export async function sayIfElsewhere(contexts: readonly Context[]): Promise<Elsewhere> {
  const machines = await machinesElsewhere(contexts);
  const elsewhere = [...machines].map(([{ settings, say }, machine]) => {
    const source = settings.source ?? '';
    const where =
      machine === null ? '"feedback-mirror fleet status" names the machine that does.' : `${machine} does.`;
    const isMissing = !isThere(settings.mirrorPath);
    const lack = `This machine does not run ${source} just now, and ${isMissing ? 'has no mirror of it' : 'its mirror here may be old'}`;
    if (contexts.length === 1 && isMissing) throw new AppError('busy', lack, { hint: where });
    say(`${lack}. ${where}`);
    return { source, machine };
  });
  return elsewhere.length === 0 ? {} : { elsewhere };
}

/** What a command writes into the mirror of a source that another machine runs would be lost. */
export async function refuseElsewhere({ settings }: Context): Promise<void> {
  const { refuseOutsideLease } = await import('../app/lease.ts');
  refuseOutsideLease(settings);
}

/** The sources that the command is for, and what holds for the process; null where there is no sources.yaml. */
export function openSources(program: Command): Sources | null {
  const input = loadInput(program.opts());
  const found = loadSources(input);
  const sources = found && { ...found, all: chosenSources(found, input) };
  for (const { settings } of sources?.all ?? [])
    for (const secret of secretsOf(settings)) secretsInUse.add(secret);
  return sources;
}

/** The settings without sources.yaml. A source that the person names is refused: the command would act on something else. */
function alone(input: LoadInput): Pick<Context, 'settings' | 'input'> {
  if (input.flags.SOURCE)
    throw new AppError('usage', '--source names a source of sources.yaml, and there is no such file here', {
      hint: 'Leave --source out, go to the folder with the file, or set SOURCES_FILE to its path.',
    });
  const settings = loadSettings(input);
  if (settings.fleetUrl)
    throw new AppError(
      'usage',
      'FLEET_URL is for the sources of sources.yaml, and there is no such file here',
      {
        hint: 'Write sources.yaml, the same on every machine: see docs/fleet.md.',
      },
    );
  return { input, settings };
}

function contextOf(
  program: Command,
  signal: AbortSignal,
  { settings, input }: Pick<Context, 'settings' | 'input'>,
): Context {
  for (const secret of secretsOf(settings)) secretsInUse.add(secret);
  const json = program.opts().json === true;
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

/** The exit code of a command that did several things: the highest, of a failure that of its kind. */
export function worstExit(ends: readonly unknown[]): number {
  return Math.max(0, ...ends.map((end) => (typeof end === 'number' ? end : EXIT_CODES[codeOf(end)])));
}

/** Runs a command for one source after the other. A failure of one is reported, and the others still run. */
export async function eachSource(
  contexts: readonly Context[],
  run: (context: Context) => Promise<void>,
): Promise<void> {
  const [first, second] = contexts;
  if (!first || !second) return first && (await run(first));
  const answers: Record<string, unknown> = {};
  const codes: unknown[] = [];
  for (const context of contexts) {
    const name = context.settings.source ?? '';
    const keep = (value: unknown): void => {
      answers[name] = value;
    };
    const collecting = { ...context, answer: keep, print: (text: string) => keep(JSON.parse(text)) };
    if (!context.json) context.print(`${codes.length === 0 ? '' : '\n'}# ${name}`);
    process.exitCode = 0;
    try {
      await run(context.json ? collecting : context);
      codes.push(Number(process.exitCode));
    } catch (error) {
      codes.push(error);
      const hint = error instanceof AppError ? error.hint : undefined;
      answers[name] = { error: { code: codeOf(error), message: maskSecrets(messageOf(error)), hint } };
      context.remark([`${name}: ${messageOf(error)}`, ...(hint ? [hint] : [])].join('\n'));
    }
  }
  if (first.json) first.print(JSON.stringify({ sources: answers }));
  process.exitCode = worstExit(codes);
}

/** Makes a handle usable with `await using`: it is closed at the end of the block. */
export function closing<T extends { close(): unknown } | null>(handle: T): T & AsyncDisposable {
  const dispose = async (): Promise<void> => void (await handle?.close());
  return (handle && Object.assign(handle, { [Symbol.asyncDispose]: dispose })) as T & AsyncDisposable;
}

export function canAsk({ json }: Context): boolean {
  return !json && process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * Reads a person's answer. It does not use Node's line editor, because Ctrl-C would not reach the program as a signal then. If the input
 * ends, as by Ctrl-D, the error says with `nothing` what was not done.
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

/** Says what is kept if a person stops the work. */
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

export function wholeNumber(what: string, text: string, most = Number.MAX_SAFE_INTEGER, least = 1): number {
  const number = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  const isOpen = most === Number.MAX_SAFE_INTEGER && text.length < String(most).length;
  const range = isOpen ? `from ${least} up` : `from ${least} to ${most}`;
  throw new AppError('usage', `${what} must be a whole number ${range}, not "${text}"`);
}

export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

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

/** Secrets that are masked in every message of a failure. */
const secretsInUse = new Set<Secret>();

/** Masks a secret that was not among the settings at the start. */
export function maskAlso(secret: Secret): void {
  secretsInUse.add(secret);
}

export function maskSecrets(text: string): string {
  let masked = text;
  for (const secret of secretsInUse) masked = secret.mask(masked);
  return masked;
}
