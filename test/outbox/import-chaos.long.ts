import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parse } from 'csv-parse/sync';
import type { BatchState } from '../../src/http/dashboard/batches.ts';
import type { ImportState } from '../../src/http/dashboard/imports.ts';
import { createRandom, type Random } from '../../src/sandbox/random.ts';
import { freePort } from '../support/launch.ts';
import { openSite, type Running, type Site } from '../support/mirror-site.ts';
import { LONG_RUN_MS, until } from '../support/until.ts';

/**
 * Imports through the dashboard of a service that is killed at random points, also while rows are taken in, and that is told to pause,
 * resume, cancel and send again meanwhile:
 *
 *   npm run import:chaos -- --seed 1 --runs 10
 *
 * The ledger of the sandbox says what was sent: nothing twice, nothing that is cancelled at the end, nothing while all is paused.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '5' },
    rows: { type: 'string', default: '600' },
  },
});
const [first, runs, ROWS] = [Number(values.seed), Number(values.runs), Number(values.rows)];
const STEPS = 10;
const QUIET_MS = 300;

interface Program {
  kill(): Promise<void>;
  start(): Promise<void>;
  get<T>(path: string): Promise<T>;
  /** Null where the service died over it. */
  post<T>(path: string, body?: object | string): Promise<T | null>;
}

async function openProgram(t: TestContext, site: Site): Promise<Program> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const env = {
    HTTP_PORT: new URL(url).port,
    PUSH_PER_MINUTE: '6000',
    PUSH_CONCURRENCY: '2',
    PUSH_SETTLE: '500ms',
  };
  let running: Running | null = null;
  const isUp = (): Promise<boolean> =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  t.after(() => running?.child.kill('SIGKILL'));
  return {
    async kill() {
      running?.child.kill('SIGKILL');
      await running?.end;
    },
    async start() {
      running = site.start(['start'], env);
      await until('the service answers', isUp, LONG_RUN_MS);
    },
    get: async <T>(path: string) => (await (await fetch(url + path)).json()) as T,
    async post<T>(path: string, body: object | string = {}) {
      const isFile = typeof body === 'string';
      const headers = { 'content-type': isFile ? 'text/csv' : 'application/json' };
      const request = { method: 'POST', headers, body: isFile ? body : JSON.stringify(body) };
      const answer = await fetch(url + path, request).catch(() => null);
      return answer?.ok ? ((await answer.json().catch(() => null)) as T | null) : null;
    },
  };
}

/** Sends a request and kills the service a moment later, or not: with a chance of so many thirds. */
async function perhapsKilled(
  program: Program,
  random: Random,
  work: () => Promise<unknown>,
  chance = 1,
): Promise<boolean> {
  const working = work();
  if (random.int(3) >= chance) {
    await working;
    return false;
  }
  await setTimeout(random.int(100));
  await program.kill();
  await working;
  await program.start();
  return true;
}

async function importIn(program: Program, random: Random): Promise<{ batch: string; kills: number }> {
  const lines = Array.from({ length: ROWS }, (_, n) => `bugs,Wish number ${n},Text of number ${n}`);
  const file = `board,title,content\n${lines.join('\n')}\n`;
  const { id } = (await program.post<ImportState>('/data/imports', file)) ?? assert.fail('the upload failed');
  const stateOf = (): Promise<ImportState> => program.get<ImportState>(`/data/imports/${id}`);
  let kills = 0;
  for (;;) {
    const { committed } = await stateOf();
    if (committed?.result) return { batch: committed.batch, kills };
    const commit = (): Promise<unknown> => program.post(`/data/imports/${id}/commit`, {});
    if (await perhapsKilled(program, random, commit, 2)) kills++;
  }
}

async function disturb(site: Site, program: Program, batch: string, random: Random): Promise<number> {
  const path = `/data/batches/${batch}`;
  const stateOf = (): Promise<BatchState> => program.get<BatchState>(path);
  const sent = (): number => site.sandbox.world.ledger().length;
  let kills = 0;
  for (let step = 0; step < STEPS; step++) {
    const before = sent();
    const goesOn = async (): Promise<boolean> => {
      const { counts, told } = await stateOf();
      const isHeld = Boolean(told?.paused_at ?? told?.cancelled_at);
      return sent() > before + random.int(20) || counts.ready === 0 || isHeld;
    };
    await until('something is sent, or nothing waits', goesOn, LONG_RUN_MS);
    const decision = random.pick([
      'pause',
      'pause',
      'resume',
      'resume',
      'resume',
      'retry',
      'cancel',
    ] as const);
    const body = decision === 'retry' ? { state: 'cancelled' } : {};
    if (await perhapsKilled(program, random, () => program.post(`${path}/${decision}`, body))) kills++;
    const { told, counts } = await stateOf();
    if (!told?.paused_at && !told?.cancelled_at) continue;
    if (counts.sending + counts.ambiguous > 0) continue;
    const standing = sent();
    await setTimeout(QUIET_MS);
    assert.equal(sent(), standing, 'sent although it was paused or cancelled');
  }
  await program.post(`${path}/${(await stateOf()).told?.cancelled_at ? 'cancel' : 'resume'}`);
  return kills;
}

async function assertLedger(site: Site, program: Program, batch: string): Promise<string> {
  const { run, sandbox } = site;
  await until(
    'nothing waits',
    async () => {
      const { counts } = await program.get<BatchState>(`/data/batches/${batch}`);
      return counts.ready + counts.sending + counts.ambiguous === 0;
    },
    400_000,
  );
  const { stdout } = await run(['outbox', 'list', '--batch', batch, '--format', 'csv']);
  const rows = parse(stdout, { columns: true, skip_empty_lines: true }) as { title: string; state: string }[];
  assert.equal(rows.length, ROWS);
  const titles = sandbox.world.ledger().map(({ title }) => title);
  assert.equal(new Set(titles).size, titles.length, 'a row was sent twice');
  const stateOf = new Map(rows.map(({ title, state }) => [title, state]));
  for (const title of titles)
    assert.notEqual(stateOf.get(title), 'cancelled', `${title} was cancelled and sent`);
  const confirmed = rows.filter(({ state }) => state === 'confirmed').map(({ title }) => title);
  assert.deepEqual(new Set(confirmed), new Set(titles.filter((title) => stateOf.get(title) === 'confirmed')));
  const uncertain = rows.filter(({ state }) => state === 'uncertain').length;
  return `${titles.length} sent, ${rows.length - confirmed.length - uncertain} cancelled, ${uncertain} uncertain`;
}

for (let seed = first; seed < first + runs; seed++)
  it(`sends nothing twice and nothing that was cancelled (seed ${seed})`, { timeout: 600_000 }, async (t) => {
    const random = createRandom(seed);
    const site = await openSite(t, { faults: 'latency ms=10' });
    await site.run(['sync']);
    const program = await openProgram(t, site);
    await program.start();
    const { batch, kills } = await importIn(program, random);
    const more = await disturb(site, program, batch, random);
    t.diagnostic(
      `seed ${seed}: ${await assertLedger(site, program, batch)}; ${kills} kills while importing, ${more} later`,
    );
    await program.kill();
  });
