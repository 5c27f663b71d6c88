import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { createRandom, type Random } from '../../src/sandbox/random.ts';
import { runCli, spawnCli } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { running } from '../support/mirror-site.ts';
import { FAULTS, type FaultyUpstream, startFaulty } from './faulty-upstream.ts';

/**
 * Imports as people make them, into a service that fails: `npm run import:judge -- --runs 3 --rows 600 --kills 5 --mark`. One create in
 * seven fails in one of eight ways, the service is away for seconds, the program is killed, strangers post the same titles and the owner
 * posts something by hand. The ledger of the service is the judge: nothing lost, nothing doubled in silence, no wrong post.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1' },
    rows: { type: 'string', default: '600' },
    kills: { type: 'string', default: '3' },
    'per-minute': { type: 'string', default: '1200' },
    mark: { type: 'boolean', default: false },
  },
});
const [FIRST, RUNS, ROWS, KILLS] = [values.seed, values.runs, values.rows, values.kills].map(Number) as [
  number,
  number,
  number,
  number,
];

const UNREACHABLE = 4;

interface Row {
  id: number;
  state: string;
  board: string;
  title: string;
  content: string;
  email: string | null;
  post_id: number | null;
  duplicate_of: number | null;
  candidates: string;
  was_ambiguous: number;
  last_error: string | null;
}

const VERBS = ['Export', 'Import', 'Filter', 'Sort', 'Archive', 'Share', 'Print', 'Rename', 'Merge', 'Hide'];
const THINGS = ['invoices', 'boards', 'comments', 'attachments', 'labels', 'reports', 'people', 'statuses'];
const ENDS = ['as a table', 'by date', 'for the whole team', 'on the phone', 'with one click', 'every night'];

/** Titles as people write them: short, and many of them alike. */
function wishes(random: Random): string {
  const lines = ['board,title,content,email,name'];
  for (let n = 0; n < ROWS; n++) {
    const title = `${random.pick(VERBS)} ${random.pick(THINGS)} ${random.pick(ENDS)}`;
    const who = random.chance(0.5) ? ',' : `customer${random.int(80)}@example.com,Customer`;
    const content = random.chance(0.2) ? '' : `We need this in department ${n}; please.`;
    lines.push(`${random.pick(['ideas', 'bugs'])},${title},${content},${who}`);
  }
  return lines.join('\n');
}

/** What others do meanwhile, and what happens to the service. */
async function disturb(upstream: FaultyUpstream, random: Random, signal: AbortSignal): Promise<void> {
  const others = { board: 'ideas', content: 'By somebody else.' };
  upstream.add({ ...others, title: 'Release notes for spring', email: null, by: 'owner by hand' });
  while (!signal.aborted) {
    await setTimeout(1500, null, { signal }).catch(() => undefined);
    const copied = random.pick(upstream.made).title;
    upstream.add({
      ...others,
      title: copied,
      email: `stranger${random.int(9)}@elsewhere.example`,
      by: 'stranger',
    });
    if (!random.chance(0.08)) continue;
    upstream.isDown = true;
    await setTimeout(1000 + random.int(4000), null, { signal }).catch(() => undefined);
    upstream.isDown = false;
  }
}

function rowsIn(folder: string): Row[] {
  const db = new Database(join(folder, 'data/mirror.db'), { readonly: true });
  try {
    return db.prepare('SELECT * FROM outbox ORDER BY id').all() as Row[];
  } finally {
    db.close();
  }
}

/**
 * The longest time in which no row was sent for the first time, in seconds, and how many of these times were longer than 5 s. Rows with
 * the words of another row are left out: they wait for each other.
 */
function standstills(folder: string): { longest: number; many: number } {
  const db = new Database(join(folder, 'data/mirror.db'), { readonly: true });
  const times = db
    .prepare(
      `SELECT unixepoch(started_at, 'subsec') FROM outbox_attempts JOIN outbox o ON o.id = outbox_id
        WHERE n = 1 AND NOT EXISTS (SELECT 1 FROM outbox t WHERE t.content_hash = o.content_hash AND t.id <> o.id) ORDER BY started_at`,
    )
    .pluck()
    .all() as number[];
  db.close();
  const gaps = times.slice(1).map((time, n) => time - (times[n] ?? time));
  return { longest: Math.round(Math.max(...gaps)), many: gaps.filter((gap) => gap > 5).length };
}

function judge(rows: Row[], upstream: FaultyUpstream) {
  const kindOf = ({
    board,
    title,
    content,
    email,
  }: Pick<Row, 'board' | 'title' | 'content' | 'email'>): string =>
    JSON.stringify([board, title, content.replace(/\n*(.*· )?Ref FM-\w+$/, ''), email]);
  const ours = upstream.made.filter(({ by }) => by === 'us');
  const made = new Map(upstream.made.map((post) => [post.id, post]));
  const bound = new Set(rows.map(({ post_id }) => post_id));
  const shown = new Set(
    rows.flatMap((row) => [row.duplicate_of, ...(JSON.parse(row.candidates) as number[])]),
  );
  const confirmed = rows.filter(({ state }) => state === 'confirmed');
  const uncertain = rows.filter(({ state }) => state === 'uncertain');
  const unclear = rows.filter((row) => row.was_ambiguous === 1);
  const wrong = confirmed.filter((row) => {
    const post = made.get(row.post_id ?? 0);
    return post?.by !== 'us' || kindOf(post) !== kindOf(row);
  });
  // Posts of a kind beyond the rows that want one: a row that waits for a person may have one of them.
  const wanted = Map.groupBy(rows, kindOf);
  const doubled = [...Map.groupBy(ours, kindOf)].flatMap(([kind, posts]) => {
    const free = posts.filter(({ id }) => !bound.has(id));
    const open = wanted.get(kind)?.filter(({ state }) => state === 'uncertain').length ?? 0;
    return free.slice(open);
  });
  const isAmbiguous = (row: Row): boolean =>
    ours.some((post) => !bound.has(post.id) && kindOf(post) === kindOf(row));
  const accused = rows.filter(
    ({ duplicate_of }) =>
      duplicate_of !== null && (bound.has(duplicate_of) || made.get(duplicate_of)?.by !== 'us'),
  );
  return {
    rows: rows.length,
    faults: [...upstream.faults.values()].reduce((a, b) => a + b, 0),
    unclear: unclear.length,
    person: uncertain.length,
    'truly ambiguous': uncertain.filter(isAmbiguous).length,
    lost: rows.filter(({ state }) => !['confirmed', 'uncertain'].includes(state)).length,
    wrong: wrong.length,
    doubled: doubled.length,
    'in silence': doubled.filter(({ id }) => !shown.has(id)).length,
    'false duplicates': accused.length,
    lists: upstream.lists,
    searches: upstream.searches,
    why: [...new Set(uncertain.map(({ last_error }) => last_error))].join('; '),
  };
}

async function importOnce(
  t: TestContext,
  seed: number,
): Promise<ReturnType<typeof judge> & { seconds: number; standstills: object }> {
  const random = createRandom(seed);
  const upstream = await startFaulty(t, random);
  const folder = folderFor(t, 'judge');
  for (let n = 0; n < 120; n++)
    upstream.add({
      board: 'ideas',
      title: `Old wish ${n}`,
      content: '',
      email: `old${n}@example.com`,
      by: 'stranger',
    });
  for (const board of ['ideas', 'bugs'])
    upstream.add({
      board,
      title: 'About this board',
      content: '',
      email: 'old1@example.com',
      by: 'stranger',
    });
  writeFileSync(join(folder, 'wishes.csv'), wishes(random));
  const env = {
    FEEDBACK_BASE_URL: upstream.url,
    FEEDBACK_API_TOKEN: 'secret',
    PUSH_PER_MINUTE: values['per-minute'],
    PUSH_SETTLE: '2s',
  };
  const options = { cwd: folder, env, lifetimeMs: 1_200_000 };
  assert.equal((await runCli(['sync'], options)).code, 0);
  const [began, disturbed] = [Date.now(), new AbortController()];
  t.after(() => disturbed.abort());
  const disturbing = disturb(upstream, random, disturbed.signal);
  upstream.lists = 0;
  const args = [
    'import',
    'wishes.csv',
    '--wait',
    '--accept-repeated-titles',
    ...(values.mark ? ['--mark', 'Imported from Canny'] : []),
  ];
  for (let kill = 0; ; kill++) {
    const { child, end, said } = running(t, spawnCli(args, options));
    if (kill < KILLS) void setTimeout(4000 + random.int(15_000)).then(() => child.kill('SIGKILL'));
    const { code } = await end;
    // It gives up after 5 s without an answer, and a person runs the same command again.
    if ((kill < KILLS && code === null) || code === UNREACHABLE) continue;
    assert.ok(code === 0 || code === 5, said());
    break;
  }
  const seconds = Math.round((Date.now() - began) / 1000);
  disturbed.abort();
  await disturbing;
  const counted = upstream.lists;
  for (let n = 0; n < 2; n++) assert.equal((await runCli(['sync', 'posts'], options)).code, 0);
  return { ...judge(rowsIn(folder), upstream), lists: counted, seconds, standstills: standstills(folder) };
}

for (let seed = FIRST; seed < FIRST + RUNS; seed++)
  it(`loses nothing, doubles nothing in silence and names no wrong post (seed ${seed})`, {
    timeout: 1_500_000,
  }, async (t) => {
    const verdict = await importOnce(t, seed).catch((error: unknown) => {
      t.diagnostic(String(error));
      throw error;
    });
    t.diagnostic(`${FAULTS.length} kinds of faults, ${KILLS} kills: ${JSON.stringify(verdict)}`);
    const { lost, wrong, 'in silence': silent, 'false duplicates': accused } = verdict;
    assert.deepEqual({ lost, wrong, silent, accused }, { lost: 0, wrong: 0, silent: 0, accused: 0 });
    const most = values.mark ? 0 : Math.max(1, 0.03 * verdict.unclear);
    assert.ok(
      verdict.person <= most,
      `${verdict.person} of ${verdict.unclear} unclear rows were left to a person`,
    );
  });
