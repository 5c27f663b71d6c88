import { readFileSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { inMirror } from '../chaos/invariants/file.ts';
import { readRows } from '../chaos/invariants/ledger.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../laboratory/server.ts';
import { spawnCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/folder.ts';
import { LONG_RUN_MS, until } from '../support/until.ts';

/**
 * Twenty services in one process: one hangs, one refuses the token, one loses half its rows, and one large one is read for the first time.
 * The process is killed again and again while posts are created. The services are the judge.
 *
 *   npm run sources -- --minutes 5 --posts 5000 --large 100000 --kill 60
 *
 * `--kill` is the time between two kills in seconds. The services run in this process, and so take part in its times. The large one has a
 * process of its own with a low priority: in truth it would have a machine of its own.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    posts: { type: 'string', default: '5000' },
    large: { type: 'string', default: '100000' },
    kill: { type: 'string', default: '60' },
    good: { type: 'string', default: '16' },
  },
});
const [minutes, posts, large, killS, good] = [
  values.minutes,
  values.posts,
  values.large,
  values.kill,
  values.good,
].map(Number) as [number, number, number, number, number];
const GOOD = Array.from({ length: good }, (_, n) => `good-${n + 1}`);
const BAD: Record<string, SandboxOptions> = {
  hanging: { faults: 'hang' },
  refusing: { faults: 'unauthorised' },
  losing: {},
};
const READY_MS = 1_800_000;

const folder = temporaryFolder('sources');
const sandboxes = new Map<string, Sandbox>();
for (const name of [...GOOD, ...Object.keys(BAD)]) {
  const tokens = [{ token: 'sandbox', email: 'owner@example.com', name: 'Owner' }];
  const options = { posts, pageSize: 100, seed: sandboxes.size, tokens, ...BAD[name] };
  sandboxes.set(name, await startSandbox(options));
}
const largeService = await startLarge();
say(`${sandboxes.size + 1} services are up`);

async function startLarge(): Promise<{ url: string; stop(): void }> {
  const args = ['sandbox', '--posts', String(large), '--token', 'sandbox'];
  const child = spawnCli(args, { cwd: folder, lifetimeMs: 4 * 3_600_000 });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  const address = (): string | undefined => /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
  await until('the large service listens', () => address() !== undefined, READY_MS);
  setPriority(child.pid ?? 0, Math.min(19, getPriority() + 10));
  return { url: address() ?? '', stop: () => void child.kill() };
}

interface Service {
  url: string;
  pid: number;
  isAlive(): boolean;
  kill(): Promise<void>;
}

function writeSources(names: readonly string[]): void {
  const lines = names.map(
    (name) =>
      `  ${name}:\n    base_url: ${(sandboxes.get(name) ?? largeService).url}\n    token: sandbox\n    head_every: 5s\n    sweep_every: 5m\n    push_per_minute: 600\n`,
  );
  writeFileSync(join(folder, 'sources.yaml'), `sources:\n${lines.join('')}`);
}

async function start(): Promise<Service> {
  const env = { HTTP_PORT: '0', LOG_FORMAT: 'json', LOG_LEVEL: 'warn', PUSH_SETTLE: '2s' };
  const child = spawnCli(['start'], { cwd: folder, env, lifetimeMs: 7_200_000 });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const address = (): string | undefined => /Dashboard: (\S+?)\/?\n/.exec(said)?.[1];
  await until('it listens', () => address() !== undefined, LONG_RUN_MS);
  return {
    url: address() ?? '',
    pid: child.pid ?? 0,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    kill: () =>
      new Promise((resolve) => {
        child.once('close', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}

async function ready({ url }: Service): Promise<string[]> {
  const answer = await fetch(`${url}/readyz`).catch(() => null);
  const { sources = {} } = ((await answer?.json()) ?? {}) as { sources?: Record<string, boolean> };
  return Object.keys(sources).filter((name) => sources[name]);
}

/** Milliseconds until each of these is ready. */
async function untilReady(service: Service, names: readonly string[]): Promise<number> {
  const began = performance.now();
  await until(
    'they are ready',
    async () => {
      const found = await ready(service);
      return names.every((name) => found.includes(name));
    },
    READY_MS,
  );
  return Math.round(performance.now() - began);
}

/** Memory that the service has, and the most that it had; then that of the processes beside it. */
function memoryOf({ pid }: Service): string {
  const beside = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
  return [pid, ...beside]
    .map((process) => {
      const status = readFileSync(`/proc/${process}/status`, 'utf8');
      const mb = (field: string): number =>
        Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
      return `${mb('VmRSS')} MB, at most ${mb('VmHWM')} MB`;
    })
    .join(' and ');
}

/** Processor time so far in milliseconds: of the whole process, or of its main thread. */
function processorOf({ pid }: Service, part: '' | 'main' = ''): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/${part && `task/${pid}/`}stat`, 'utf8').split(') ');
  const fields = rest.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const times = { pages: [] as number[], creates: [] as number[] };
let created = 0;

/** Milliseconds of the head passes over posts that the good sources began since then and completed. */
function headsSince(then: number): number[] {
  const sql = `SELECT (julianday(finished_at) - julianday(started_at)) * 86400000 FROM sync_runs
    WHERE resource = 'posts' AND mode = 'head' AND outcome = 'complete' AND started_at >= ?`;
  const since = new Date(then).toISOString();
  return GOOD.flatMap((name) =>
    inMirror(mirrorOf(name), (db) => db.prepare(sql).pluck().all(since) as number[]),
  );
}

/** A page of a good source, and a post for it. */
async function visit(service: Service, name: string): Promise<void> {
  const timed = async (into: number[], path: string, body?: object): Promise<void> => {
    const began = performance.now();
    const options = body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const answer = await fetch(`${service.url}/s/${name}/api/v1/posts/${path}`, options);
    await answer.arrayBuffer();
    if (answer.ok) into.push(performance.now() - began);
  };
  await timed(times.pages, '');
  const board = sandboxes.get(name)?.world.boards()[0]?.slug;
  await timed(times.creates, 'create/', { title: `Post ${++created}`, content: 'Words', board });
}

function told(list: number[]): string {
  const sorted = list.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.ceil(share * sorted.length) - 1] ?? 0).toFixed(1);
  list.length = 0;
  return `${sorted.length} times, median ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`;
}

/** What pages and creates took for so long, and the main thread for one of both. */
async function measured(service: Service, ms: number): Promise<string> {
  const before = processorOf(service, 'main');
  const began = Date.now();
  await visitFor(service, ms);
  const round = (processorOf(service, 'main') - before) / Math.max(1, times.pages.length);
  return `pages ${told(times.pages)}\n       creates ${told(times.creates)}\n       head passes ${told(headsSince(began))}\n       main thread ${round.toFixed(1)} ms a round, ${memoryOf(service)}`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function visitFor(service: Service, ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; await delay(100))
    for (const name of GOOD.slice(0, 4)) await visit(service, name).catch(() => undefined);
}

const problems: string[] = [];
const expect = (is: boolean, what: string): void => void (is || problems.push(what));

let service: Service | undefined;
try {
  const small = [...GOOD, 'losing'];
  writeSources(small);
  service = await start();
  say(`first sweeps: ready after ${await untilReady(service, GOOD)} ms, ${memoryOf(service)}`);
  await service.kill();
  service = await start();
  const cold = await untilReady(service, GOOD);
  say(
    `cold start: ready after ${cold} ms, ${processorOf(service)} ms of the processor, ${memoryOf(service)}`,
  );
  // The first visit opens the pages of a source.
  await measured(service, 20_000);
  say(`alone: ${await measured(service, Math.min(killS, 300) * 1000)}`);
  sandboxes.get('losing')?.faults.set('empty every=2 on=lists');
  writeSources([...small, 'hanging', 'refusing', 'large']);
  const end = performance.now() + minutes * 60_000;
  for (let kills = 0; performance.now() < end; kills++) {
    const found = await measured(service, Math.min(killS * 1000, end - performance.now()));
    expect(service.isAlive(), `the process ended by itself before kill ${kills + 1}`);
    say(`beside the bad ones: ${found}, large ${stateOf('large')}`);
    if (performance.now() >= end) break;
    await service.kill();
    service = await start();
    say(`kill ${kills + 1}: ready after ${await untilReady(service, GOOD)} ms`);
  }
  const isSettled = (): boolean =>
    GOOD.every((name) =>
      inMirror(mirrorOf(name), readRows).every(({ state }) => ['confirmed', 'uncertain'].includes(state)),
    );
  await until('every row came to an end', isSettled, READY_MS);
  for (const name of GOOD) judge(name);
  const bad = await ready(service);
  expect(!bad.includes('hanging') && !bad.includes('refusing'), `the bad ones are ready: ${bad.join()}`);
  expect(deletedIn('losing') === 0, `losing: ${deletedIn('losing')} false deletions`);
  say(`${created} posts created; problems: ${problems.join('\n') || 'none'}`);
} finally {
  await service?.kill();
  largeService.stop();
  await Promise.all([...sandboxes.values()].map((sandbox) => sandbox.close()));
}
process.exit(problems.length > 0 ? 1 : 0);

function mirrorOf(name: string): string {
  return join(folder, 'data', name, 'mirror.db');
}

function stateOf(name: string): string {
  return inMirror(mirrorOf(name), (db) => {
    const posts = Number(db.prepare('SELECT count(*) FROM posts').pluck().get());
    const sql =
      "SELECT count(*) FROM sync_runs WHERE resource = 'posts' AND mode = 'sweep' AND outcome = 'complete'";
    return `has ${posts} posts after ${Number(db.prepare(sql).pluck().get())} complete sweeps`;
  });
}

function deletedIn(name: string): number {
  return inMirror(mirrorOf(name), (db) =>
    Number(db.prepare('SELECT count(*) FROM posts WHERE deleted_at IS NOT NULL').pluck().get()),
  );
}

/** Every row arrived once or is shown to a person, and nothing was deleted. */
function judge(name: string): void {
  const made = Map.groupBy(sandboxes.get(name)?.world.ledger() ?? [], ({ title }) => title);
  for (const { title, state, duplicate_of } of inMirror(mirrorOf(name), readRows)) {
    const count = made.get(title)?.length ?? 0;
    const isShown = state === 'uncertain' || duplicate_of !== null;
    expect(count > 0 || state === 'uncertain', `${name}: ${title} is lost`);
    expect(count < 2 || isShown, `${name}: ${title} is there ${count} times`);
  }
  expect(deletedIn(name) === 0, `${name}: ${deletedIn(name)} false deletions`);
}
