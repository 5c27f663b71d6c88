import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import pino from 'pino';
import type { Auth, Client, CreateOutcome, Limits } from '../../src/api/client.ts';
import { codeOf, type ErrorCode } from '../../src/base/errors.ts';
import { type FaultKind, type FaultRule, KINDS } from '../laboratory/fault-kinds.ts';
import type { Sandbox } from '../laboratory/server.ts';
import { assertNoLeak } from './support/leaks.ts';
import { draftFor, sandboxOf } from './support/sandbox.ts';
import { all, CANARY, clientOf } from './support/upstream.ts';

/** What a reader gets: everything, everything but for the rows named, or an error. */
type Reading =
  | 'whole'
  | 'a reject'
  | 'a row twice'
  | 'a row less'
  | 'a page less'
  | 'an early end'
  | 'no row'
  | ErrorCode;

interface Expectation {
  settings?: Partial<FaultRule>;
  limits?: Partial<Limits>;
  /** What a walk makes of the fault on its second page only, and on every page. */
  lists?: [once: Reading, always: Reading];
  /** What a search makes of it, where it is another thing than for a list. */
  search?: [once: Reading, always: Reading] | null;
  creates?: CreateOutcome['outcome'];
}

const IMPATIENT: Partial<Limits> = { idleMs: 150, createMs: 150 };

/** Every kind of trouble the sandbox knows, and what the client does about it. A kind left out does not compile. */
const EXPECTED: Record<FaultKind, Expectation> = {
  latency: { settings: { ms: 5 }, lists: ['whole', 'whole'], creates: 'confirmed' },
  throttle: { lists: ['whole', 'throttled'], creates: 'throttled' },
  status: { settings: { echo: true }, lists: ['whole', 'unreachable'], creates: 'unknown' },
  unauthorised: { lists: ['unauthorised', 'unauthorised'], creates: 'unauthorised' },
  forbidden: { lists: ['unauthorised', 'unauthorised'], creates: 'unauthorised' },
  redirect: { lists: ['protocol', 'protocol'], creates: 'unknown' },
  reset: { lists: ['whole', 'unreachable'], creates: 'unknown' },
  hang: { limits: IMPATIENT, lists: ['whole', 'unreachable'], creates: 'unknown' },

  'late-commit': { settings: { ms: 1 }, creates: 'unknown' },
  'late-visible': { settings: { ms: 1 }, creates: 'confirmed' },
  'status-after': { settings: { echo: true }, creates: 'unknown' },
  'reset-after': { creates: 'unknown' },
  'hang-after': { limits: IMPATIENT, creates: 'unknown' },
  'no-id': { creates: 'unknown' },

  stale: { lists: ['whole', 'whole'] },
  'bad-row': { lists: ['a reject', 'a reject'], search: null },
  'huge-id': { lists: ['a reject', 'a reject'], search: null },
  'duplicate-row': { lists: ['a row twice', 'a row twice'], search: null },
  'missing-row': { lists: ['a row less', 'a row less'], search: null },
  'null-results': { lists: ['a page less', 'no row'], search: null },
  empty: { lists: ['whole', 'no row'], search: null },
  truncated: { lists: ['an early end', 'an early end'], search: null },
  'no-next': { lists: ['protocol', 'protocol'], search: ['protocol', 'protocol'] },
  'next-loop': { lists: ['protocol', 'protocol'], search: ['whole', 'whole'] },
  'next-away': { lists: ['protocol', 'protocol'], search: ['whole', 'whole'] },
  'next-shape': { lists: ['protocol', 'protocol'], search: ['whole', 'whole'] },
  'same-page': { lists: ['whole', 'protocol'], search: ['whole', 'whole'] },

  'bad-json': { lists: ['whole', 'unreachable'], creates: 'unknown' },
  html: { lists: ['whole', 'unreachable'], creates: 'unknown' },
  'not-envelope': { lists: ['protocol', 'protocol'], creates: 'unknown' },
  'bad-utf8': { lists: ['protocol', 'protocol'], creates: 'unknown' },
  bomb: { lists: ['protocol', 'protocol'], creates: 'unknown' },
  big: { lists: ['protocol', 'protocol'], creates: 'unknown' },
  headers: { lists: ['protocol', 'protocol'], creates: 'unknown' },
  encoding: { settings: { name: 'gzip, gzip' }, lists: ['protocol', 'protocol'], creates: 'unknown' },
  cut: { lists: ['whole', 'unreachable'], creates: 'unknown' },
  drip: {
    settings: { ms: 100, bytes: 1 },
    limits: { pageMs: 300, createMs: 200 },
    lists: ['whole', 'unreachable'],
    creates: 'unknown',
  },
};

/** In the query a token can leak by the address as well; that it works in the header is said in test/api/sandbox.e2e.test.ts. */
const AUTH: Auth = { kind: 'query', parameter: 'key' };

const log: string[] = [];

/** Where connections or other answers must come in time, they must do so on a busy machine too. */
function patient(limits: Partial<Limits>): Partial<Limits> {
  return Object.fromEntries(Object.entries(limits).map(([name, ms]) => [name, 20 * ms]));
}

async function scene(t: TestContext, kind: FaultKind, rule: Partial<FaultRule>) {
  const { settings = {}, limits = {} } = EXPECTED[kind];
  const mustSucceed = rule.nth !== undefined || rule.times === 1 || rule.on === 'creates';
  const sandbox = await sandboxOf(t, { faults: [{ kind, ...settings, ...rule }], echoToken: true });
  const client = clientOf(t, sandbox.url, {
    auth: AUTH,
    limits: mustSucceed ? patient(limits) : limits,
    retry: { attempts: 3 },
    log: pino({ level: 'trace' }, { write: (line: string) => log.push(line) }),
  });
  return { sandbox, client };
}

async function attempt(work: () => Promise<Reading>): Promise<Reading> {
  try {
    return await work();
  } catch (error) {
    assertNoLeak(CANARY, { error, log });
    return codeOf(error);
  }
}

/** Compares what came with what is there. */
function compare(
  rows: { id: number }[],
  rejects: unknown[],
  truth: { id: number }[],
  pageSize: number,
): Reading {
  const distinct = new Set(rows.map(({ id }) => id)).size;
  if (rejects.length > 0) return rows.length < truth.length ? 'a reject' : 'internal';
  if (rows.length > distinct) return distinct === truth.length ? 'a row twice' : 'internal';
  const lost = truth.length - distinct;
  if (lost === 0) return 'whole';
  if (distinct === 0) return 'no row';
  if (lost === 1 || lost === Math.ceil(truth.length / pageSize)) return 'a row less';
  return lost === pageSize ? 'a page less' : 'an early end';
}

async function walked(client: Client, sandbox: Sandbox): Promise<Reading> {
  const pages = await all(client.posts());
  const rows = pages.flatMap((page) => page.rows);
  const rejects = pages.flatMap((page) => page.rejects);
  return compare(rows, rejects, sandbox.world.posts(), 5);
}

for (const [name, expectation] of Object.entries(EXPECTED)) {
  const kind = name as FaultKind;
  const { lists, creates } = expectation;
  // Time limits are waited for together.
  const concurrency = expectation.limits !== undefined;
  describe(`trouble of the kind ${kind}`, { concurrency }, () => {
    if (lists) readingTests(kind, lists, expectation.search);
    if (creates) createTests(kind, creates);
  });
}

function readingTests(kind: FaultKind, lists: [Reading, Reading], search: Expectation['search']): void {
  const [once, always] = lists;
  it(`on one page of a walk gives: ${once}`, async (t) => {
    const { sandbox, client } = await scene(t, kind, { on: 'posts', nth: 2 });
    assert.equal(await attempt(() => walked(client, sandbox)), once);
    assert.equal(sandbox.faults.fired()[kind], 1);
  });

  it(`on every page of a walk gives: ${always}`, async (t) => {
    const { sandbox, client } = await scene(t, kind, { on: 'lists' });
    assert.equal(await attempt(() => walked(client, sandbox)), always);
    assert.ok((sandbox.faults.fired()[kind] ?? 0) > 0);
  });

  const [foundOnce, foundAlways] = search ?? lists;
  if (search === null) return;
  it(`in a search gives: ${foundOnce}, and when it stays: ${foundAlways}`, async (t) => {
    for (const [times, verdict] of [
      [1, foundOnce],
      [99, foundAlways],
    ] as const) {
      const { sandbox, client } = await scene(t, kind, { on: 'search', times });
      const looking = async (): Promise<Reading> => {
        await client.search('a');
        return 'whole';
      };
      assert.equal(await attempt(looking), verdict);
      assert.ok((sandbox.faults.fired()[kind] ?? 0) > 0);
    }
  });
}

function createTests(kind: FaultKind, expected: CreateOutcome['outcome']): void {
  it(`in a create gives: ${expected}, and that is the truth`, async (t) => {
    const { sandbox, client } = await scene(t, kind, { on: 'creates' });
    const draft = draftFor(sandbox);
    const person = { ...draft, email: 'ada@example.com', full_name: 'Ada' };
    for (const send of [() => client.create(draft), () => client.createAsUser(person)]) {
      const before = sandbox.requestCount;
      const known = sandbox.world.ledger().length;
      const outcome = await send();
      assert.equal(outcome.outcome, expected);
      assert.ok(sandbox.requestCount - before <= 1, 'it was sent once');
      assertNoLeak(CANARY, { outcome, log });
      checkAgainstLedger(outcome, sandbox, known);
    }
    assert.ok((sandbox.faults.fired()[kind] ?? 0) > 0);
  });
}

/** Only `unknown` may leave open whether there is a post. */
function checkAgainstLedger(outcome: CreateOutcome, sandbox: Sandbox, known: number): void {
  const made = sandbox.world.ledger().slice(known);
  if (outcome.outcome === 'confirmed')
    assert.deepEqual(
      made.map((entry) => entry.post_id),
      [outcome.postId],
    );
  else if (outcome.outcome !== 'unknown') assert.deepEqual(made, []);
}

describe('the table of trouble', () => {
  it('has an answer for every kind that the sandbox knows', () => {
    assert.deepEqual(new Set(Object.keys(EXPECTED)), new Set(Object.keys(KINDS)));
    for (const { lists, creates } of Object.values(EXPECTED)) assert.ok(lists ?? creates);
  });

  it('says what a create does for every kind that can act on one', () => {
    const untold = Object.entries(KINDS).filter(
      ([kind, { stage }]) =>
        !['page', 'read'].includes(stage) && EXPECTED[kind as FaultKind].creates === undefined,
    );
    assert.deepEqual(untold, []);
  });
});
