import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../laboratory/server.ts';
import { freePort } from '../support/launch.ts';
import { CANARY } from '../support/mirror-site.ts';
import { type Drafts, openDrafts } from './load/drafts.ts';
import { launch, type Program } from './program.ts';
import { openQueueSite, type QueueKind, type QueueSite } from './queue.ts';
import { type Service, superviseService } from './service.ts';
import { createTally, type Journal, openJournal, type Tally } from './tally.ts';

export interface ChaosOptions {
  minutes: number;
  seed: number;
  queue: QueueKind;
  /** What 99 of 100 starts after a kill may take; null where that is only told. */
  readyWithinMs: number | null;
}

/** Everything of one run: the hostile upstream, the program's folder, and what was seen of both. */
export interface Fixture {
  options: ChaosOptions;
  folder: string;
  /** The program's own data folder, its mirror, and what it printed. */
  data: string;
  mirror: string;
  logs: string;
  env: Record<string, string>;
  sandbox: Sandbox;
  queue: QueueSite;
  service: Service;
  drafts: Drafts;
  journal: Journal;
  tally: Tally;
  /** Shifts the clock of every process of the program. */
  setClock(offsetMs: number): void;
  /** A command of the program. */
  command(args: readonly string[], env?: Record<string, string>): Program;
  /** Whether the upstream is kept from new trouble for the moment. */
  isHushed(): boolean;
  /** Does the work while the upstream behaves, after all that was late has come. */
  hushed<T>(work: () => Promise<T>): Promise<T>;
  close(keep: boolean): Promise<void>;
}

export const OWNER = { token: CANARY, email: 'owner@example.com', name: 'Owner' };

/** Late commit and late list together stay below it, with room for a busy machine: only then is exactly-once promised. */
export const SETTLE_MS = 4000;
export const LATE_COMMIT_MS = 900;
export const LATE_LIST_MS = 700;

export const SWEEP_EVERY_MS = 3000;

/** What takes minutes in life takes seconds here, so that a short run sees many of each. */
const PACE = {
  SYNC_HEAD_EVERY: '1s',
  SYNC_SWEEP_EVERY: `${SWEEP_EVERY_MS}ms`,
  PUSH_SETTLE: `${SETTLE_MS}ms`,
  PUSH_PER_MINUTE: '3000',
  PUSH_CONCURRENCY: '4',
  LOG_FORMAT: 'json',
};

export async function openFixture(options: ChaosOptions): Promise<Fixture> {
  const folder = mkdtempSync(join(tmpdir(), 'fm-chaos-'));
  const journal = openJournal(join(folder, 'events.log'));
  const tally = createTally(journal);
  const [data, logs, clock] = [join(folder, 'data'), join(folder, 'logs'), join(folder, 'clock')];
  mkdirSync(logs);
  const setClock = (offsetMs: number): void => writeFileSync(clock, String(offsetMs));
  setClock(0);
  const sandbox = await startSandbox({
    posts: 300,
    pageSize: 25,
    tokens: [OWNER],
    seed: options.seed,
    boardIds: true,
  });
  const queue = await openQueueSite(options.queue, data);
  const port = await freePort();
  const env: Record<string, string> = {
    ...PACE,
    ...(queue.url === null ? {} : { QUEUE_URL: queue.url }),
    FEEDBACK_BASE_URL: sandbox.url,
    FEEDBACK_API_TOKEN: CANARY,
    DATA_DIR: data,
    CHAOS_CLOCK: clock,
    NODE_OPTIONS: `--import ${new URL('./faults/clock-shim.ts', import.meta.url)}`,
  };
  let commands = 0;
  const command: Fixture['command'] = (args, extra = {}) => {
    const log = join(logs, `command-${String(++commands).padStart(4, '0')}`);
    return launch(args, { cwd: folder, env: { ...env, ...extra }, log });
  };
  const service = superviseService({ env, port, folder, logs, journal, tally });
  const hush = hushing(sandbox);
  const mirror = join(data, 'mirror.db');
  return {
    options,
    folder,
    data,
    mirror,
    logs,
    env,
    sandbox,
    queue,
    service,
    journal,
    tally,
    setClock,
    command,
    drafts: openDrafts(options.seed),
    ...hush,
    async close(keep) {
      await service.kill();
      await queue.stop();
      await sandbox.close();
      if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

function hushing(sandbox: Sandbox): Pick<Fixture, 'isHushed' | 'hushed'> {
  let hushes = 0;
  return {
    isHushed: () => hushes > 0,
    async hushed(work) {
      hushes++;
      sandbox.faults.set('');
      try {
        await delay(LATE_COMMIT_MS + LATE_LIST_MS);
        return await work();
      } finally {
        hushes--;
      }
    },
  };
}
