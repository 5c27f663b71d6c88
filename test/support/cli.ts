import { type ChildProcess, type ChildProcessWithoutNullStreams, fork, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { temporaryFolder } from './folder.ts';

export const CHECKOUT = resolve(import.meta.dirname, '../..');
/** The program under test: that of the checkout, or an installed one with `FEEDBACK_MIRROR=/path/to/bin`. */
export const ENTRY = process.env.FEEDBACK_MIRROR
  ? resolve(process.env.FEEDBACK_MIRROR)
  : join(CHECKOUT, 'src/feedback-mirror.js');

export interface CliOptions {
  /** All the program sees besides PATH: nothing of the developer's own settings. */
  env?: Record<string, string>;
  /** An empty folder of its own unless given, so no `.env` is found by accident. */
  cwd?: string;
  input?: string;
  /** How long a command that goes on until it is stopped may go on. */
  lifetimeMs?: number;
}

export interface CliResult {
  /** Null when a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** No command that ends by itself takes this long: a hang becomes a failure that shows what was printed. */
const LIMIT_MS = 30_000;

/** A command that goes on until it is stopped does not outlive its test by more. */
const LIFETIME_MS = 300_000;

/** The program as a person starts it, for commands that go on until they are stopped. */
export function spawnCli(
  args: string[],
  { env = {}, cwd = tmpdir(), lifetimeMs = LIFETIME_MS }: CliOptions = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [ENTRY, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    timeout: lifetimeMs,
  });
}

/**
 * A command from start to end, in a process that has run others before. `npm run installed` runs the same tests with a process of its own
 * for each command.
 */
export async function runCli(args: string[], options: CliOptions = {}): Promise<CliResult> {
  const own = options.cwd === undefined ? temporaryFolder('cli') : null;
  const given = { ...options, cwd: options.cwd ?? own ?? '' };
  try {
    return await (needsProcess(options) ? runProgram(args, given) : runHosted(args, given));
  } finally {
    if (own) rmSync(own, { recursive: true, force: true });
  }
}

/** Standard input can be read once in a process, and Node reads its own settings when it starts. */
function needsProcess({ env = {}, input }: CliOptions): boolean {
  const isOfProcess = (name: string): boolean => /^NODE_|^FEEDBACK_TEST_CRASH$/.test(name);
  return (
    process.env.FEEDBACK_MIRROR !== undefined || input !== undefined || Object.keys(env).some(isOfProcess)
  );
}

/** The program from start to end, in a process of its own. */
export async function runProgram(args: string[], options: CliOptions = {}): Promise<CliResult> {
  const child = spawnCli(args, options);
  // A program that ends without reading its input is not our failure.
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: code as number | null, stdout, stderr };
}

/** What a host is asked to run. When the command has ended, both streams get the mark, the exit code and a newline. */
export interface HostedCommand {
  args: string[];
  env: Record<string, string | undefined>;
  cwd: string;
  mark: string;
}

const idle: ChildProcess[] = [];

async function runHosted(args: string[], { env = {}, cwd = '' }: CliOptions): Promise<CliResult> {
  const host = idle.pop() ?? startHost();
  const mark = `\0${randomUUID()} `;
  for (const part of partsOf(host)) part.ref();
  const command: HostedCommand = { args, env: { PATH: process.env.PATH, ...env }, cwd, mark };
  host.send(command);
  const limit = setTimeout(() => host.kill('SIGKILL'), LIMIT_MS);
  const { isAlive, ...result } = await ending(host, mark);
  clearTimeout(limit);
  // A host that waits for work keeps no test file from ending.
  for (const part of partsOf(host)) part.unref();
  if (isAlive) idle.push(host);
  return result;
}

function startHost(): ChildProcess {
  const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const;
  return fork(join(import.meta.dirname, 'command-host.ts'), { stdio: [...stdio], execArgv: [] });
}

/** What keeps this process from ending. */
function partsOf(host: ChildProcess): { ref(): void; unref(): void }[] {
  const pipes = [host.stdout, host.stderr].filter((pipe) => pipe instanceof Socket);
  return [host, ...pipes, ...(host.channel ? [host.channel] : [])];
}

/** Collects what is printed until the command has ended, or its process with it. */
async function ending(host: ChildProcess, mark: string): Promise<CliResult & { isAlive: boolean }> {
  const end = new RegExp(`${mark}(\\d+)\\n$`);
  const said = { stdout: '', stderr: '' };
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const isOver = (): boolean => end.test(said.stdout) && end.test(said.stderr);
  const hear = (name: keyof typeof said) => (chunk: string) => {
    said[name] += chunk;
    if (isOver()) resolve(Number(end.exec(said[name])?.[1]));
  };
  const onStdout = hear('stdout');
  const onStderr = hear('stderr');
  host.stdout?.setEncoding('utf8').on('data', onStdout);
  host.stderr?.setEncoding('utf8').on('data', onStderr);
  host.once('close', resolve);
  const code = await promise;
  host.stdout?.off('data', onStdout);
  host.stderr?.off('data', onStderr);
  host.off('close', resolve);
  const [stdout, stderr] = [said.stdout.replace(end, ''), said.stderr.replace(end, '')];
  return { code, stdout, stderr, isAlive: stdout !== said.stdout && stderr !== said.stderr };
}
