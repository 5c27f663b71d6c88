import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
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
}

export interface CliResult {
  /** Null when a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** No command that ends by itself takes this long: a hang becomes a failure that shows what was printed. */
const LIMIT_MS = 180_000;

/** The program as a person starts it, for commands that go on until they are stopped. */
export function spawnCli(
  args: string[],
  { env = {}, cwd = tmpdir() }: CliOptions = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [ENTRY, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    timeout: LIMIT_MS,
  });
}

/** The program from start to end. */
export async function runCli(args: string[], options: CliOptions = {}): Promise<CliResult> {
  const own = options.cwd === undefined ? temporaryFolder('cli') : null;
  try {
    const child = spawnCli(args, { ...options, cwd: options.cwd ?? own ?? '' });
    // A program that ends without reading its input is not our failure.
    child.stdin.on('error', () => undefined).end(options.input ?? '');
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { code: code as number | null, stdout, stderr };
  } finally {
    if (own) rmSync(own, { recursive: true, force: true });
  }
}
