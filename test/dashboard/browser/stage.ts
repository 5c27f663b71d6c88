import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { type BrowserContext, chromium } from 'playwright-core';
import { loadSettings } from '../../../config/load.ts';
import { type App, openApp } from '../../../src/app.ts';
import { syncOnce } from '../../../src/mirror/sweep/engine.ts';
import { TRANSITIONS } from '../../../src/outbox/decide/states.ts';
import { contentHash } from '../../../src/outbox/decide/whose.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../laboratory/server.ts';
import { ENTRY } from '../../support/cli.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { guardOver } from '../../support/launch.ts';
import { BROWSER, requireProgram, skipUnless } from '../../support/programs.ts';
import { startRedis } from '../../support/servers.ts';

export const onStage = skipUnless(BROWSER, 'redis-server');

/** A sandbox in this process, and the program as a person starts it on a mirror of that. */
export interface Served {
  sandbox: Sandbox;
  url: string;
  /** The row that waits for a person; its candidates are posts 2 and 3. */
  uncertain: number;
  /** Kills the service in the middle of whatever it does, and starts it again at the same address. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** The same with Chromium. */
export interface Stage extends Served {
  /** Of a browser of its own, for all visits: what the first one has fetched and compiled costs the others nothing. */
  context: BrowserContext;
}

export interface StageOptions {
  sandbox?: SandboxOptions;
  env?: Record<string, string>;
  /** Names of other hosts that lead to this machine. */
  strangers?: string[];
  /** What happened before the service started; unless given, each list was read once. */
  past?(app: App, sandbox: Sandbox): Promise<void>;
}

export const UNCERTAIN = 'Was this one made?';
/** As a person might write it who wishes us ill. */
export const HOSTILE = '<img src=x onerror=alert(1)>';

export async function openServed(options: StageOptions = {}): Promise<Served> {
  const { env = {}, past = (app) => sweepAll(app) } = options;
  const opened: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (let undo = opened.pop(); undo; undo = opened.pop()) await undo();
  };
  try {
    const redis = await startRedis();
    opened.push(() => redis.stop());
    const sandbox = await startSandbox({
      posts: 120,
      pageSize: 50,
      referenceTime: Date.now(),
      ...options.sandbox,
    });
    opened.push(() => sandbox.close());
    if (sandbox.world.posts().length > 5) sandbox.world.editPost(5, { title: HOSTILE });
    const folder = temporaryFolder('browser');
    opened.push(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
    const given = {
      FEEDBACK_BASE_URL: sandbox.url,
      FEEDBACK_API_TOKEN: 'sandbox',
      DATA_DIR: folder,
      QUEUE_URL: redis.url,
      HTTP_PORT: '0',
      PUSH_PER_MINUTE: '6000',
      // News has every open page ask and draw again, which costs more than what most tests do there.
      SYNC_HEAD_EVERY: '10m',
      ...env,
    };
    const uncertain = await prepare(given, folder, (app) => past(app, sandbox));
    let service = await start(given, folder);
    opened.push(() => service.stop('SIGTERM'));
    const { url } = service;
    const csv = 'email,company,plan,mrr\nbuyer@example.com,Acme,Pro,100\n';
    const headers = { 'content-type': 'application/json' };
    await fetch(`${url}/data/segments`, { method: 'POST', headers, body: JSON.stringify({ csv }) });
    const restart = async (): Promise<void> => {
      await service.stop('SIGKILL');
      service = await start({ ...given, HTTP_PORT: new URL(url).port }, folder);
    };
    return { sandbox, url, uncertain, restart, close };
  } catch (error) {
    await close();
    throw error;
  }
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const served = await openServed(options);
  try {
    const rules = (options.strangers ?? []).map((name) => `MAP ${name} 127.0.0.1`).join(', ');
    const browser = await chromium.launch({
      executablePath: requireProgram(BROWSER),
      args: [
        '--no-sandbox',
        '--process-per-site',
        '--disable-gpu',
        '--in-process-gpu',
        '--renderer-process-limit=1',
        ...(rules ? [`--host-resolver-rules=${rules}`] : []),
      ],
    });
    const close = async (): Promise<void> => {
      await browser.close();
      await served.close();
    };
    const context = await browser.newContext({ baseURL: served.url, locale: 'en-GB' });
    context.setDefaultTimeout(30_000);
    // While it stands, the process that shows pages of this site does: starting one took as long as what a visit does in it.
    await (await context.newPage()).goto('/healthz');
    return { ...served, context, close };
  } catch (error) {
    await served.close();
    throw error;
  }
}

/** The mirror as it is after its past, and one row of the outbox in doubt. */
async function prepare(
  env: Record<string, string>,
  folder: string,
  past: (app: App) => Promise<void>,
): Promise<number> {
  const input = { flags: {}, env: { ...env, LOG_LEVEL: 'silent' }, cwd: folder, isTerminal: false };
  const app = await openApp(loadSettings(input), input, 'test');
  try {
    await past(app);
    return await doubtfulRow(app);
  } finally {
    await app.close();
  }
}

/** Reads both lists whole. */
export async function sweepAll({
  client,
  store,
  clock,
}: Pick<App, 'client' | 'store' | 'clock'>): Promise<void> {
  const context = { client, store, clock, signal: AbortSignal.timeout(30_000), ahead: 1, onPage: () => {} };
  for (const resource of ['posts', 'comments'] as const) await syncOnce(context, { resource, mode: 'sweep' });
}

async function doubtfulRow({ outbox, clock }: App): Promise<number> {
  const post = {
    board: 'bugs',
    title: UNCERTAIN,
    content: 'The answer was cut.',
    email: null,
    full_name: null,
  };
  const row = {
    ...post,
    batch: 'form',
    source_key: randomUUID(),
    line: null,
    content_hash: contentHash(post),
  };
  const now = clock.now();
  const [{ id } = { id: 0 }] = await outbox.accept([row], now);
  await outbox.claim({ id, transition: TRANSITIONS.claim, now, deadline: now + 1000, listedMaxId: null });
  const end = { id, n: 1, outcome: 'unknown' as const, httpStatus: null, error: 'the answer was cut' };
  await outbox.endAttempt({
    ...end,
    transition: TRANSITIONS.markAmbiguous,
    change: { now, wasAmbiguous: true },
  });
  await outbox.move(id, TRANSITIONS.park, { now, candidates: [2, 3], error: '2 posts could be this one' });
  return id;
}

async function start(
  env: Record<string, string>,
  folder: string,
): Promise<{ url: string; stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> }> {
  const child = spawn(process.execPath, [ENTRY, 'start'], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const guard = guardOver(folder);
  guard.watch(child.pid);
  const url = await listening(child);
  return {
    url,
    async stop(signal) {
      const exit = once(child, 'exit');
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal);
        await exit;
      }
      guard.release();
    },
  };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.once('exit', () => reject(new Error(`the service did not start: ${said}`)));
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const [, url] = /Dashboard: (http:\S+)/.exec(said) ?? [];
      if (url) resolve(new URL(url).origin);
    });
  });
}
