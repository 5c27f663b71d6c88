import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { drawTopic, writeContent, writeTitle } from '../../src/sandbox/writing.ts';
import { inMirror } from '../chaos/invariants/file.ts';
import { readRows, type SentRow } from '../chaos/invariants/ledger.ts';
import { checkDeletes } from '../chaos/invariants/mirror.ts';
import { startUpstreamLife } from '../chaos/load/upstream-life.ts';
import { streamOf } from '../chaos/plan.ts';
import { launch, type Program } from '../chaos/program.ts';
import { createTally, openJournal, type Tally } from '../chaos/tally.ts';
import type { LedgerEntry } from '../laboratory/server.ts';
import { type Sandbox, startSandbox } from '../laboratory/server.ts';
import { tell } from '../queue/psql.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/folder.ts';
import { type Server, startPostgres } from '../support/servers.ts';
import { LONG_RUN_MS, until } from '../support/until.ts';

/**
 * A machine is lost in the middle of an import, while people use the upstream: the service is killed, the data folder deleted, restored
 * from the copy in PostgreSQL, and started again; the caller imports its file once more.
 *
 *   npm run lost-disk -- --times 50
 *
 * The sandbox's ledger is the judge.
 */
const { values } = parseArgs({
  options: { times: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' } },
});
const [times, seed] = [Number(values.times), Number(values.seed)];
const ROWS = 60;
const EARLIER = 3;
const LAG = 'accepted rows are in the copy';
const [LOST, SILENT] = [
  'what is lost was accepted within the lag of the copy',
  'creates doubled in silence: none',
];

interface Round {
  n: number;
  /** What the caller wants to have posted. */
  titles: string[];
  folder: string;
  dataDir: string;
  mirror: string;
  sandbox: Sandbox;
  tally: Tally;
  env: Record<string, string>;
}

const postgres = await startPostgres({ durable: true });
const logs = temporaryFolder('lost-disk');
const journal = openJournal(join(logs, 'journal.txt'));
const tally = createTally(journal);
const lost: number[] = [];
try {
  for (let n = 1; n <= times; n++) await play(n, postgres);
} finally {
  await postgres.stop();
}
report();

async function play(n: number, server: Server): Promise<void> {
  const sandbox = await startSandbox({ posts: 150, pageSize: 50, seed: n });
  const endLife = startUpstreamLife({ sandbox, options: { seed: seed + n }, tally });
  const round = openRound(n, sandbox, server);
  try {
    const first = await start(round);
    await warmUp(round, server);
    await importRows(round, 'ideas.csv');
    // From before the first of them is in the copy to after the last one was confirmed.
    await delay((n * 733 + seed * 97) % 7000);
    first.child.kill('SIGKILL');
    await first.ended;
    const dead = inMirror(round.mirror, accepted);
    rmSync(round.dataDir, { recursive: true });
    await restore(round, dead);
    const second = await start(round);
    await importRows(round, 'ideas.csv');
    await until('every row came to an end', () => inMirror(round.mirror, isQuiet), 180_000);
    endLife();
    const isSince = sweptSince(Date.now());
    await until('the list was swept since', () => inMirror(round.mirror, isSince), 120_000);
    judge(round);
    second.child.kill('SIGTERM');
    await second.ended;
  } finally {
    endLife();
    await sandbox.close();
    rmSync(round.folder, { recursive: true, force: true });
  }
  journal.note(`round ${n} is over`);
  const breaks = [...tally.invariants.values()].reduce((sum, invariant) => sum + invariant.breaks, 0);
  process.stdout.write(
    `round ${n}: ${lost.at(-1)} of ${ROWS} rows were lost with the disk, and named; ${breaks} promises broken so far\n`,
  );
}

function openRound(n: number, sandbox: Sandbox, server: Server): Round {
  const folder = temporaryFolder('lost');
  const dataDir = join(folder, 'data');
  const env = {
    FEEDBACK_BASE_URL: sandbox.url,
    FEEDBACK_API_TOKEN: 'sandbox',
    DATA_DIR: dataDir,
    PUBLISH_URL: server.url,
    PUBLISH_SCHEMA: `lost_${n}`,
    HTTP_PORT: '0',
    PUSH_PER_MINUTE: '1500',
    PUSH_SETTLE: '2s',
    SYNC_HEAD_EVERY: '2s',
    SYNC_SWEEP_EVERY: '8s',
  };
  const random = streamOf(seed, `ideas ${n}`);
  const titles = Array.from(
    { length: ROWS },
    (_, i) => `${writeTitle(random, drawTopic(random)).replaceAll('"', '')} (${n}-${i})`,
  );
  const board = sandbox.world.boards()[0]?.slug;
  const lines = titles.map(
    (title) => `"${title}","${writeContent(random, drawTopic(random)).replaceAll('"', "'")}",${board}`,
  );
  writeFileSync(join(folder, 'ideas.csv'), `title,content,board\n${lines.join('\n')}\n`);
  return { n, titles, folder, dataDir, mirror: join(dataDir, 'mirror.db'), sandbox, tally, env };
}

async function start({ folder, env, n, mirror }: Round): Promise<Program> {
  const program = launch(['start'], { cwd: folder, env, log: join(logs, `service-${n}-${Date.now()}`) });
  const begun = new Date().toISOString();
  const hasSwept = (): boolean => {
    assert.equal(program.child.exitCode, null, program.stderr());
    return isSwept(mirror, begun);
  };
  await until('the service has swept both lists', hasSwept, LONG_RUN_MS);
  return program;
}

function isSwept(mirror: string, begun: string): boolean {
  const sql =
    "SELECT count(DISTINCT resource) FROM sync_runs WHERE mode = 'sweep' AND outcome = 'complete' AND finished_at > ?";
  try {
    return inMirror(mirror, (db) => db.prepare<[string], number>(sql).pluck().get(begun)) === 2;
  } catch {
    return false;
  }
}

/** An import of days before: from its posts the mirror knows who its own are by. How soon its rows are in the copy is the lag. */
async function warmUp(round: Round, server: Server): Promise<void> {
  writeFileSync(join(round.folder, 'earlier.csv'), earlier(round));
  await importRows(round, 'earlier.csv');
  const begun = performance.now();
  const sql = `SELECT count(*) AS n FROM ${round.env.PUBLISH_SCHEMA}.outbox`;
  await until(
    'the copy has the rows',
    async () => Number((await tell(server.url, sql).catch(() => []))[0]?.n) >= EARLIER,
    LONG_RUN_MS,
  );
  tally.took(LAG, performance.now() - begun);
  const known = "SELECT count(*) FROM outbox o JOIN posts p ON p.id = o.post_id WHERE o.state = 'confirmed'";
  await until(
    'they are confirmed',
    () => inMirror(round.mirror, (db) => Number(db.prepare(known).pluck().get())) >= EARLIER,
    LONG_RUN_MS,
  );
  const confirmed = `${sql} o JOIN ${round.env.PUBLISH_SCHEMA}.posts p ON p.id = o.post_id`;
  const isKnown = async (): Promise<boolean> => Number((await tell(server.url, confirmed))[0]?.n) >= EARLIER;
  await until('the copy knows it', isKnown, LONG_RUN_MS);
}

function earlier({ n, sandbox }: Round): string {
  const board = sandbox.world.boards()[0]?.slug;
  const rows = Array.from(
    { length: EARLIER },
    (_, i) => `Earlier ${n}-${i},Text of an earlier import,${board}`,
  );
  return `title,content,board\n${rows.join('\n')}\n`;
}

async function importRows({ folder, env }: Round, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await runCli(['import', ...args, '--json'], { cwd: folder, env });
  // 5: rows of the file that were known already wait for a person.
  assert.ok(code === 0 || code === 5, stdout + stderr);
}

function accepted(db: Parameters<Parameters<typeof inMirror>[1]>[0]) {
  return db.prepare<[], { title: string; created_at: string }>('SELECT title, created_at FROM outbox').all();
}

async function restore(round: Round, dead: ReturnType<typeof accepted>): Promise<void> {
  const { folder, env, mirror } = round;
  const run = () => runCli(['restore', '--json'], { cwd: folder, env });
  let restored = await run();
  // 6: PostgreSQL has not noticed yet that the publisher is gone. It does within a minute, and a person tries again.
  for (const end = performance.now() + 60_000; restored.code === 6 && performance.now() < end; )
    restored = await run();
  assert.equal(restored.code, 0, restored.stderr);
  const { readAt } = JSON.parse(restored.stdout) as { readAt: string };
  const found = new Set(inMirror(mirror, accepted).map(({ title }) => title));
  const gone = dead.filter(({ title }) => !found.has(title));
  lost.push(gone.length);
  for (const { title, created_at } of gone) {
    journal.note(`lost with the disk: ${title}, accepted ${created_at}, copy of ${readAt}`);
    tally.check(
      LOST,
      created_at >= readAt,
      () => `${title} was accepted ${created_at}, the copy is of ${readAt}`,
    );
  }
  tally.check(LOST, true);
}

function isQuiet(db: Parameters<Parameters<typeof inMirror>[1]>[0]): boolean {
  return (
    db.prepare("SELECT 1 FROM outbox WHERE state IN ('ready', 'sending', 'ambiguous')").get() === undefined
  );
}

function sweptSince(at: number) {
  const sql =
    "SELECT count(*) FROM sync_runs WHERE resource = 'posts' AND mode = 'sweep' AND outcome = 'complete' AND started_at > ?";
  return (db: Parameters<typeof isQuiet>[0]): boolean =>
    (db.prepare<[string], number>(sql).pluck().get(new Date(at).toISOString()) ?? 0) >= 2;
}

function judge({ titles, sandbox, mirror }: Round): void {
  const made = Map.groupBy(sandbox.world.ledger(), ({ title }) => title);
  const rows = new Map(inMirror(mirror, readRows).map((row) => [row.title, row]));
  for (const title of titles) judgeRow(title, rows.get(title), made.get(title) ?? []);
  checkDeletes({ sandbox, mirror, tally });
}

function judgeRow(title: string, row: SentRow | undefined, posts: readonly LedgerEntry[]): void {
  const said = (): string => `${title}: ${JSON.stringify(row)}, upstream: ${JSON.stringify(posts)}`;
  const isKept = row?.state === 'uncertain' || posts.some(({ post_id }) => post_id === row?.post_id);
  tally.check(
    'after the second import every row is confirmed by its own post, or shown to a person',
    isKept,
    said,
  );
  const isShown = row?.state === 'uncertain' || (row?.duplicate_of ?? null) !== null;
  tally.check(SILENT, posts.length < 2 || isShown, said);
  if (row?.state === 'uncertain') tally.fired(`rows left to a person: ${row.last_error}`);
  if (row?.was_ambiguous === 1) tally.fired('rows that were looked for upstream');
  if (posts.length > 1) tally.fired('rows with a second post');
}

function report(): void {
  const facts = {
    times,
    rows: times * ROWS,
    lagMs: lagOf(tally.times.get(LAG) ?? []),
    lostWithTheDisk: lost.reduce((sum, n) => sum + n, 0),
    ...Object.fromEntries([...tally.faults].filter(([name]) => name.startsWith('rows'))),
    invariants: [...tally.invariants.values()].map(({ name, checks, breaks, broken }) => ({
      name,
      checks,
      breaks,
      broken,
    })),
    logs,
  };
  process.stdout.write(`${JSON.stringify(facts, null, 2)}\n`);
  if (facts.invariants.some(({ breaks }) => breaks > 0)) process.exitCode = 1;
}

function lagOf(ms: readonly number[]): { p50: number; p95: number } {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  return { p50: at(0.5), p95: at(0.95) };
}
