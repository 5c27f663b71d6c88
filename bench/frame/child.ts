import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { ENTRY } from '../../test/support/cli.ts';

export interface Program {
  command: string;
  args: string[];
  /** All it sees besides PATH and HOME: nothing of the developer's own settings. */
  env?: Record<string, string>;
  /** The temporary folder unless given, so that no `.env` is found by accident. */
  cwd?: string;
}

/** What a program from its start to its end has cost. */
export interface Measured {
  stdout: string;
  /** Wall time. */
  seconds: number;
  /** User and system time, with those of the programs it started and waited for. */
  cpuSeconds: number;
  /** The most memory it ever held, without the programs it started. */
  peakMb: number;
}

const WATCH_EVERY_MS = 50;

/** The command line of this project, as a person starts it. */
export function feedbackMirror(args: string[], env: Record<string, string> = {}): Program {
  return { command: process.execPath, args: [ENTRY, ...args], env };
}

/** Runs a program to its end; a failed one is no measurement but an error with what it said. One at a time. */
export async function measured({ command, args, env = {}, cwd = tmpdir() }: Program): Promise<Measured> {
  const before = cpuOfChildren();
  const began = performance.now();
  const { PATH, HOME } = process.env;
  const child = spawn(command, args, { cwd, env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const peak = watchPeak(child.pid);
  const exit = once(child, 'close').finally(() => peak.stop());
  const [stdout, stderr, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  const seconds = (performance.now() - began) / 1000;
  if (code !== 0)
    throw new Error(`${command} ${args.join(' ')}: ended with ${signal ?? code}: ${stderr.slice(-2000)}`);
  return { stdout, seconds, cpuSeconds: cpuOfChildren() - before, peakMb: peak.mb() };
}

/**
 * Linux keeps the high-water mark for as long as the process lives, so looking at it now and then misses only what grew
 * in the last moment. (getrusage would be exact, but Node offers it for the own process alone.)
 */
function watchPeak(pid: number | undefined): { mb(): number; stop(): void } {
  let kilobytes = 0;
  const look = (): void => {
    const status = readProc(`${pid}/status`);
    kilobytes = Math.max(kilobytes, Number(/^VmHWM:\s*(\d+) kB/m.exec(status)?.[1] ?? 0));
  };
  const timer = setInterval(look, WATCH_EVERY_MS);
  return { mb: () => (kilobytes === 0 ? Number.NaN : kilobytes / 1024), stop: () => clearInterval(timer) };
}

/** Ticks of a hundredth of a second, on every Linux; the children that have ended and theirs. */
function cpuOfChildren(): number {
  const afterName = readProc('self/stat').split(') ')[1]?.split(' ') ?? [];
  return (Number(afterName[13]) + Number(afterName[14])) / 100;
}

/** Empty where there is no such system, or no such process any more. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}
