import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { launch, type Program } from './program.ts';
import type { Journal, Tally } from './tally.ts';

export interface Readiness {
  status: number;
  ready: boolean;
  checks: { name: string; ok: boolean; detail: string; warning?: true }[];
}

/** The service under test: at most one at a time is started here, always on the same port. */
export interface Service {
  readonly url: string;
  readonly pid: number | null;
  start(env?: Record<string, string>): void;
  kill(): Promise<void>;
  /** SIGTERM, as an operator would; it has ten seconds. */
  stop(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the running one has ended, by whatever. */
  ended(): Promise<number | null>;
  /** Its own death is no defect while the work lasts. */
  mayEnd<T>(work: () => Promise<T>): Promise<T>;
  /** Null when it does not answer. */
  readiness(): Promise<Readiness | null>;
  /** What it has printed since it was last started. */
  said(): string;
}

export interface Supervision {
  env: Record<string, string>;
  port: number;
  folder: string;
  logs: string;
  journal: Journal;
  tally: Tally;
}

export const STAYS_UP = 'the service ends only when it is told to or killed';

export function superviseService({ env, port, folder, logs, journal, tally }: Supervision): Service {
  const url = `http://127.0.0.1:${port}`;
  let current: Program | null = null;
  let starts = 0;
  let excuses = 0;
  const start: Service['start'] = (extra = {}) => {
    const log = join(logs, `service-${String(++starts).padStart(3, '0')}`);
    const own = { ...env, HTTP_PORT: String(port), ...extra };
    const program = launch(['start'], { cwd: folder, env: own, log });
    current = program;
    void program.ended.then((code) => {
      journal.note(`service ${program.child.pid} ended with ${code ?? program.child.signalCode}`);
      if (current === program) current = null;
      const isExcused = excuses > 0 || program.child.killed;
      const last = (): string => `exit ${code}: ${program.stderr().slice(-600)}`;
      if (!isExcused) tally.check(STAYS_UP, false, last);
    });
    journal.note(`service ${program.child.pid} started ${JSON.stringify(extra)}`);
  };
  return {
    url,
    get pid() {
      return current?.child.pid ?? null;
    },
    start,
    async kill() {
      const program = current;
      program?.child.kill('SIGKILL');
      await program?.ended;
    },
    async stop() {
      const program = current;
      if (!program) return;
      const began = performance.now();
      program.child.kill('SIGTERM');
      const code = await Promise.race([program.ended, delay(15_000, 'late' as const)]);
      const ms = Math.round(performance.now() - began);
      tally.check('told to stop, the service ends with 0 within 10 s', code === 0 && ms < 10_000, () =>
        `${code} after ${ms} ms`.trim(),
      );
      program.child.kill('SIGKILL');
      await program.ended;
    },
    signal: (signal) => void (current?.child.pid && process.kill(current.child.pid, signal)),
    ended: () => current?.ended ?? Promise.resolve(null),
    async mayEnd(work) {
      excuses++;
      try {
        return await work();
      } finally {
        excuses--;
      }
    },
    readiness: () => readiness(url),
    said: () => current?.stderr() ?? '',
  };
}

async function readiness(url: string): Promise<Readiness | null> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) });
    return { status: answer.status, ...((await answer.json()) as Omit<Readiness, 'status'>) };
  } catch {
    return null;
  }
}
