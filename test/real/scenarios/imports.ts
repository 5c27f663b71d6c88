import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, type Random } from '../../../src/sandbox/random.ts';
import type { Program as Running } from '../../chaos/program.ts';
import { until } from '../../support/until.ts';
import { csvOf, makeDrafts, postByHand } from '../drafts.ts';
import {
  type Account,
  accountFor,
  type Draft,
  isUnderWay,
  readOutbox,
  readPosts,
  reasons,
} from '../outbox-judge.ts';
import type { Program } from '../program.ts';
import type { Notes } from '../report.ts';
import type { Deployment, LoggedRequest, Service, Stack } from '../stack.ts';
import type { Context, Scenario } from './scenario.ts';

interface Fault {
  name: string;
  deployment?: Omit<Deployment, 'seed'>;
  /** Done to it again and again while rows are sent. */
  disturb?: { everyMs: number; times: number; act(trial: Trial): Promise<void> };
  /** Whether it restarts the database, which other scenarios use at the same time. */
  isAlone?: boolean;
  /** Whether it lets only a few requests through: then rows may still wait for their turn at the end. */
  isSlow?: boolean;
}

interface Trial {
  service: Service;
  postgres: Stack['postgres'];
  program: Program;
  running: Running;
  random: Random;
}

/** Half of the creates take a moment after their commit, so that what is killed has often kept the post. */
const MOMENT = '0.5 0.2';

const FAULTS: readonly Fault[] = [
  { name: 'nothing' },
  {
    name: 'kill -9 of gunicorn workers',
    deployment: { slowCreates: MOMENT },
    disturb: {
      everyMs: 300,
      times: 120,
      async act({ service, random }) {
        process.kill(random.pick(service.workers()), 'SIGKILL');
      },
    },
  },
  {
    name: '504 after the commit',
    deployment: { slowCreates: '0.15 2.5', nginx: { location: 'proxy_read_timeout 1s;' } },
  },
  {
    name: 'limit_req answers 503',
    isSlow: true,
    deployment: {
      nginx: {
        http: 'limit_req_zone $binary_remote_addr zone=all:1m rate=4r/s;',
        location: 'limit_req zone=all burst=2 nodelay;',
      },
    },
  },
  { name: 'a throttle that answers 429', deployment: { throttleCreates: '240/min' } },
  {
    name: 'a proxy that repeats requests',
    deployment: {
      gunicorns: 2,
      slowCreates: '0.2 2.5',
      nginx: { location: 'proxy_read_timeout 1s; proxy_next_upstream error timeout non_idempotent;' },
    },
  },
  {
    name: 'kill -9 of our service',
    deployment: { slowCreates: MOMENT },
    disturb: {
      everyMs: 1000,
      times: 15,
      async act(trial) {
        await whileSending(trial.program);
        trial.running.child.kill('SIGKILL');
        await trial.running.ended;
        trial.running = trial.program.start();
      },
    },
  },
  {
    name: 'restart of the database',
    deployment: { slowCreates: MOMENT },
    isAlone: true,
    disturb: { everyMs: 2500, times: 10, act: ({ postgres }) => postgres.restart() },
  },
];

/** However long a start takes on a busy machine, the kill meets a post on its way. */
async function whileSending({ mirror }: Program): Promise<void> {
  const isSending = (): boolean => readOutbox(mirror).some(({ state }) => state === 'sending');
  await until('a row is on its way', isSending, 30_000);
}

const SETTINGS = {
  PUSH_PER_MINUTE: '600',
  PUSH_CONCURRENCY: '2',
  PUSH_SETTLE: '2s',
  // Every list request during the import is then one of the outbox.
  SYNC_SWEEP_EVERY: '1h',
  SYNC_HEAD_EVERY: 'off',
};
/** Rows that are not at their end by then are reported as unfinished. */
const LIMIT_MS = 300_000;
const FEW_LEFT = 'at most 1 in 100 rows is left to a person';
const FEW_LISTS = 'at most 2 list requests for each unclear row';
const BY_HAND_MS = 1500;
const SEEDED = 300;
const OLD_POSTS = 20;
const PAGE_SIZE = 25;

/** A file goes in while something goes wrong. The database says what became of each row. */
export const imports: Scenario[] = FAULTS.map((fault) => ({
  name: `import through ${fault.name}`,
  isBeside: fault.isAlone !== true,
  async run({ deploy, open, notes, seed, isShort, postgres }: Context) {
    const drafts = makeDrafts(isShort ? 80 : 300, seed);
    const service = await deploy({
      seed: { posts: SEEDED, comments: 0 },
      pageSize: PAGE_SIZE,
      ...fault.deployment,
    });
    const program = open(service, SETTINGS);
    await program.run('sync', 'posts');
    const before = service.requests().length;
    const trial: Trial = { service, postgres, program, running: program.start(), random: createRandom(seed) };
    const seconds = await importThrough(fault, trial, drafts, notes);
    const requests = service.requests().slice(before);
    trial.running.child.kill('SIGTERM');
    await trial.running.ended;
    const codes = [await program.run('sync', 'posts'), await program.run('sync', 'posts')].map(
      ({ code }) => code,
    );
    notes.check(
      'two sweeps follow',
      codes.every((code) => code === 0 || code === 5),
      `exit ${codes}`,
    );
    const rows = readOutbox(program.mirror);
    const posts = await readPosts(service.db);
    const account = accountFor(drafts, rows, posts);
    tell(account, requests, seconds, notes);
    if (account.leftToPerson > 0) notes.figure('left to a person because', reasons(rows));
    judge(fault, account, { requests, made: posts.length - SEEDED }, notes);
  },
}));

async function importThrough(
  fault: Fault,
  trial: Trial,
  drafts: readonly Draft[],
  notes: Notes,
): Promise<number> {
  const { program, service } = trial;
  const file = join(program.folder, 'rows.csv');
  writeFileSync(file, csvOf(drafts));
  const { code, stderr } = await program.run('import', file);
  notes.check('the file is accepted', code === 0, `exit ${code}: ${stderr.slice(-300)}`);
  const [began, over] = [performance.now(), new AbortController()];
  const others = [
    again(BY_HAND_MS, Number.POSITIVE_INFINITY, over.signal, (n) => postByHand(service, drafts, n)),
    ...(fault.disturb
      ? [again(fault.disturb.everyMs, fault.disturb.times, over.signal, () => fault.disturb?.act(trial))]
      : []),
  ];
  while (readOutbox(program.mirror).some(isUnderWay) && performance.now() - began < LIMIT_MS)
    await delay(500);
  over.abort();
  await Promise.all(others);
  return Math.round((performance.now() - began) / 1000);
}

/** One failure is no reason to stop: the database may be away, a worker gone. */
async function again(
  everyMs: number,
  times: number,
  signal: AbortSignal,
  act: (n: number) => Promise<void> | undefined,
): Promise<void> {
  for (let n = 1; n <= times && !signal.aborted; n++) {
    await delay(everyMs, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await Promise.resolve(act(n)).catch(() => undefined);
  }
}

function tell(account: Account, requests: readonly LoggedRequest[], seconds: number, notes: Notes): void {
  const { rows, unclear, leftToPerson, doubledAndNamed, doubledInSilence, unfinished } = account;
  const share = unclear === 0 ? '' : ` (${((100 * leftToPerson) / unclear).toFixed(0)} % of the unclear)`;
  const lists = requests.filter(isList).length;
  notes.figure('rows, unclear, left to a person', `${rows}, ${unclear}, ${leftToPerson}${share}`);
  notes.figure('second posts: named as duplicate, in silence', `${doubledAndNamed}, ${doubledInSilence}`);
  notes.figure(
    'list requests, for each unclear row',
    `${lists}, ${(lists / Math.max(1, unclear)).toFixed(1)}`,
  );
  const end = unfinished === 0 ? `${seconds} s` : `${unfinished} rows were not after ${seconds} s`;
  notes.figure('time until every row was at its end', end);
}

function judge(
  fault: Fault,
  account: Account,
  { requests, made }: { requests: readonly LoggedRequest[]; made: number },
  notes: Notes,
): void {
  const { rows, unclear, lost, doubledInSilence, wrongPost, falseDuplicates, leftToPerson, unfinished } =
    account;
  const felt = unclear + requests.filter(isTroubled).length;
  if (fault.name === 'nothing') notes.check('no create is in trouble', felt === 0, `${felt} are`);
  else notes.check('the fault was felt', felt > 0);
  notes.check('no row is lost', lost === 0, `${lost} rows`);
  notes.check('nothing is doubled in silence', doubledInSilence === 0, `${doubledInSilence} posts`);
  notes.check('no row names the post of another', wrongPost === 0, `${wrongPost} rows`);
  notes.check('no post is called a duplicate that is none', falseDuplicates === 0, `${falseDuplicates} rows`);
  if (!fault.isSlow) notes.check('every row comes to an end', unfinished === 0, `${unfinished} rows`);
  notes.check(FEW_LEFT, leftToPerson <= rows / 100, `${leftToPerson} of ${rows}`);
  // The API has no filter: for however few rows, one read goes back over all that was made since, and 20 older posts.
  const onePass = Math.ceil((made + OLD_POSTS) / PAGE_SIZE);
  const lists = requests.filter(isList).length;
  if (2 * unclear >= onePass) notes.check(FEW_LISTS, lists <= 2 * unclear, `${lists} for ${unclear}`);
}

function isList({ method, path }: LoggedRequest): boolean {
  return method === 'GET' && path === '/api/v1/posts/';
}

/** Not made at once, or made again by nginx. */
function isTroubled({ method, status, upstream }: LoggedRequest): boolean {
  return method === 'POST' && (status !== 201 || upstream.includes(','));
}
