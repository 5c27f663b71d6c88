import assert from 'node:assert/strict';
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { inMirror } from '../chaos/invariants/file.ts';
import { readRows, type SentRow } from '../chaos/invariants/ledger.ts';
import { streamOf } from '../chaos/plan.ts';
import type { LedgerEntry } from '../laboratory/server.ts';
import { type Sandbox, startSandbox } from '../laboratory/server.ts';
import { temporaryFolder } from '../support/folder.ts';
import { type Server, startPostgres } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { type TestMachine, testMachine } from './support/machine.ts';
import { startProxy } from './support/proxy.ts';

/**
 * Three machines share nine sources and import rows, while they are killed, frozen, cut off from PostgreSQL, while a service is cut off
 * and PostgreSQL restarts. The ledgers of the services are the judge.
 *
 *   npm run fleet -- --rounds 10 --rows 300 --freeze 40 --seed 1
 *
 * A freeze lasts `--freeze` seconds, and every third one is shorter, also so short that nobody takes over.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    rows: { type: 'string', default: '300' },
    freeze: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
  },
});
const [rounds, rows, freezeS, seed] = [values.rounds, values.rows, values.freeze, values.seed].map(
  Number,
) as [number, number, number, number];
const SOURCES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
const NAMES = ['one', 'two', 'three'];
const KINDS = ['kill', 'freeze', 'cut from PostgreSQL', 'service cut off', 'PostgreSQL restarts'] as const;
const LINES = '    push_per_minute: 120\n    push_settle: 2s\n    head_every: 10s\n    sweep_every: 30s\n';
/** A source moves in a second at the very least: creates of two machines closer together come from two senders. */
const CLOSE_MS = 1000;
const QUIET_MS = 600_000;
const TAKEOVER_MS = 600_000;

const random = streamOf(seed, 'fleet rounds');
const folder = temporaryFolder('fleet');
const postgres = await startPostgres({ durable: true });
const sandboxes = new Map<string, Sandbox>();
const services = new Map<string, Awaited<ReturnType<typeof startProxy>>>();
const urls = new Map<string, string>();
/** Creates as they reached each service, with the token, which is another one for each machine. */
const creates: { source: string; machine: string; at: number }[] = [];
for (const [n, source] of SOURCES.entries()) {
  const tokens = NAMES.map((name) => ({ token: `token-${name}`, email: 'owner@example.com', name: 'Owner' }));
  const sandbox = await startSandbox({ posts: 50, pageSize: 50, seed: n, tokens });
  const proxy = await startProxy(Number(new URL(sandbox.url).port), (chunk) => {
    const [, machine] = /^POST .*authorization: Bearer token-(\w+)/is.exec(chunk.toString('latin1')) ?? [];
    if (machine) creates.push({ source, machine, at: performance.now() });
  });
  sandboxes.set(source, sandbox);
  services.set(source, proxy);
  urls.set(source, sandbox.url.replace(/:\d+/, `:${proxy.port}`));
}
const machines: TestMachine[] = [];
for (const name of NAMES) {
  const place = { name, folder: join(folder, name), port: postgres.port };
  machines.push(await testMachine({ ...place, sources: urls, lines: LINES, token: `token-${name}` }));
}
const takeovers: { kind: string; ms: number }[] = [];
let freezes = 0;
try {
  await play(postgres);
} finally {
  for (const { name, said } of machines) writeFileSync(join(folder, `${name}.log`), said());
  process.stdout.write(`logs: ${folder}\n`);
  await Promise.all(machines.map((machine) => machine.close()));
  await Promise.all([...services.values(), ...sandboxes.values()].map((server) => server.close()));
  await postgres.stop();
}

async function play(server: Server): Promise<void> {
  await Promise.all(machines.map((machine) => machine.start()));
  await allRun(machines);
  await Promise.all(SOURCES.map(importRows));
  for (let n = 0; n < rounds; n++) {
    await delay(2000 + random.int(8000));
    const kind = KINDS[n % KINDS.length] as (typeof KINDS)[number];
    const machine = machines[random.int(machines.length)] as TestMachine;
    const begun = performance.now();
    await round(kind, machine, server);
    process.stdout.write(
      `round ${n + 1}: ${kind}, ${machine.name}: ${Math.round((performance.now() - begun) / 1000)} s\n`,
    );
  }
  await until('every row came to an end', isQuiet, QUIET_MS);
  // After two sweeps second posts are told, and deletions would have been concluded.
  await delay(75_000);
  await judge();
}

/** Each source is ready on one of these machines. Returns how long that took. */
async function allRun(among: readonly TestMachine[]): Promise<number> {
  const begun = performance.now();
  const isRun = async (): Promise<boolean> => {
    const ready = (await Promise.all(among.map((machine) => machine.ready()))).flat();
    return SOURCES.every((source) => ready.includes(source));
  };
  await until('every source runs', isRun, TAKEOVER_MS);
  return performance.now() - begun;
}

async function round(kind: (typeof KINDS)[number], machine: TestMachine, server: Server): Promise<void> {
  const others = machines.filter((other) => other !== machine);
  const took = async (among: readonly TestMachine[]): Promise<void> =>
    void takeovers.push({ kind, ms: await allRun(among) });
  if (kind === 'kill') {
    await machine.kill();
    await took(others);
    await machine.start();
  } else if (kind === 'freeze') {
    machine.child().kill('SIGSTOP');
    const isShort = ++freezes % 3 === 0;
    const woken = delay(1000 * (isShort ? 5 + random.int(Math.max(1, freezeS - 5)) : freezeS));
    // A short freeze ends before anybody takes over: then no takeover is measured.
    const ms = await Promise.race([allRun(others), woken.then(() => null)]);
    if (ms !== null) takeovers.push({ kind, ms });
    await woken;
    machine.child().kill('SIGCONT');
  } else if (kind === 'cut from PostgreSQL') {
    machine.postgres.cut();
    await took(others);
    machine.postgres.mend();
  } else if (kind === 'service cut off') {
    const cable = services.get(SOURCES[random.int(SOURCES.length)] as string);
    cable?.cut();
    await delay(20_000);
    cable?.mend();
  } else {
    await server.kill();
    await delay(3000);
    await server.restart();
  }
  await allRun(machines);
}

async function importRows(source: string): Promise<void> {
  const machine = await holderOf(source);
  const board = sandboxes.get(source)?.world.boards()[0]?.slug;
  const lines = Array.from(
    { length: rows },
    (_, i) => `Row ${source}-${i},Words of row ${source}-${i},${board}`,
  );
  writeFileSync(join(machine.folder, `${source}.csv`), `title,content,board\n${lines.join('\n')}\n`);
  const { code, stderr } = await machine.run(['import', `${source}.csv`, '--source', source, '--json']);
  assert.equal(code, 0, stderr);
}

async function holderOf(source: string): Promise<TestMachine> {
  let found: TestMachine | undefined;
  const isFound = async (): Promise<boolean> => {
    for (const machine of machines) if ((await machine.ready()).includes(source)) found = machine;
    return found !== undefined;
  };
  await until(`somebody runs ${source}`, isFound, TAKEOVER_MS);
  return found as TestMachine;
}

async function mirrorOf(source: string): Promise<string> {
  return join((await holderOf(source)).folder, 'data', source, 'mirror.db');
}

async function isQuiet(): Promise<boolean> {
  for (const source of SOURCES) {
    const open = inMirror(await mirrorOf(source), readRows).filter(({ state }) =>
      ['ready', 'sending', 'ambiguous'].includes(state),
    );
    if (open.length > 0) return false;
  }
  return true;
}

interface Verdict {
  rows: number;
  lost: string[];
  /** Accepted by a machine that was lost before its copy had them: they are in its old folder. */
  lostWithinTheLag: number;
  doubledInSilence: string[];
  secondPostsTold: number;
  leftToAPerson: number;
  onceUnclear: number;
  falseDeletions: number;
}

async function judge(): Promise<void> {
  const verdict: Verdict = {
    rows: 0,
    lost: [],
    lostWithinTheLag: 0,
    doubledInSilence: [],
    secondPostsTold: 0,
    leftToAPerson: 0,
    onceUnclear: 0,
    falseDeletions: 0,
  };
  for (const source of SOURCES) {
    const mirror = await mirrorOf(source);
    const made = Map.groupBy(sandboxes.get(source)?.world.ledger() ?? [], ({ title }) => title);
    const known = new Map(inMirror(mirror, readRows).map((row) => [row.title, row]));
    for (let i = 0; i < rows; i++) {
      const title = `Row ${source}-${i}`;
      judgeRow(verdict, { source, title }, known.get(title), made.get(title) ?? []);
    }
    verdict.falseDeletions += inMirror(mirror, (db) =>
      Number(db.prepare('SELECT count(*) FROM posts WHERE deleted_at IS NOT NULL').pluck().get()),
    );
  }
  const sorted = takeovers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const p95 = Math.round(sorted[Math.ceil(0.95 * sorted.length) - 1] ?? 0);
  const twoAtOnce = twoSenders();
  const facts = {
    rounds,
    freezeS,
    seed,
    ...verdict,
    twoAtOnce,
    changes: changes(),
    takeovers,
    takeoverP95Ms: p95,
  };
  process.stdout.write(`${JSON.stringify(facts, null, 2)}\n`);
  const isBroken = [verdict.lost, verdict.doubledInSilence, twoAtOnce].some(({ length }) => length > 0);
  if (isBroken || verdict.falseDeletions > 0) process.exitCode = 1;
}

function oldFolders(source: string): string[] {
  return globSync(`*/data/${source}*/mirror.db`, { cwd: folder }).map((path) => join(folder, path));
}

function judgeRow(
  verdict: Verdict,
  { source, title }: { source: string; title: string },
  row: SentRow | undefined,
  posts: readonly LedgerEntry[],
): void {
  verdict.rows++;
  const isShown = row?.state === 'uncertain' || (row?.duplicate_of ?? null) !== null;
  const isKept = row?.state === 'uncertain' || posts.some(({ post_id }) => post_id === row?.post_id);
  const said = `${title}: ${JSON.stringify(row)}, upstream: ${JSON.stringify(posts)}`;
  const isInOldFolder =
    !row &&
    oldFolders(source).some((mirror) => inMirror(mirror, readRows).some((old) => old.title === title));
  if (!isKept && isInOldFolder) verdict.lostWithinTheLag++;
  else if (!isKept) verdict.lost.push(said);
  if (posts.length > 1 && !isShown) verdict.doubledInSilence.push(said);
  if (posts.length > 1 && isShown) verdict.secondPostsTold++;
  if (row?.state === 'uncertain') verdict.leftToAPerson++;
  if (row?.was_ambiguous === 1) verdict.onceUnclear++;
}

function twoSenders(): string[] {
  return SOURCES.flatMap((source) => {
    const own = creates.filter((create) => create.source === source);
    return own.flatMap(({ machine, at }, n) => {
      const before = own[n - 1];
      const isClose = before && before.machine !== machine && at - before.at < CLOSE_MS;
      return isClose
        ? [`${source}: ${before.machine}, ${Math.round(at - before.at)} ms later ${machine}`]
        : [];
    });
  });
}

/** How often the machine that sends for a source changed. */
function changes(): number {
  return SOURCES.reduce((sum, source) => {
    const own = creates.filter((create) => create.source === source);
    return sum + own.filter(({ machine }, n) => n > 0 && own[n - 1]?.machine !== machine).length;
  }, 0);
}
