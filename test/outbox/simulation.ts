import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createRateLimit } from '../../src/api/rate-limit.ts';
import { writeListed } from '../../src/app.ts';
import { codeOf } from '../../src/base/errors.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import type { OutboxContext } from '../../src/outbox/send/context.ts';
import { type OutboxStore, openOutboxStore } from '../../src/outbox/store/store.ts';
import { createRandom, type Random } from '../../src/sandbox/random.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/folder.ts';
import { placeNewMirror } from '../support/mirror.ts';
import { drive } from './drive.ts';
import { judge, type Verdict } from './judge.ts';
import { KILLED, type Life, mortalClient, mortalStore } from './mortal.ts';
import { type Rival, rivalTo } from './rival.ts';
import { type Mirror, simulatedMirror } from './simulated-mirror.ts';
import { simulatedRows } from './simulated-rows.ts';
import { type SimulatedUpstream, simulatedUpstream, type Trouble } from './simulated-upstream.ts';

export interface SimulationOptions {
  rows: number;
  seed: number;
  trouble?: Partial<Trouble>;
  /** One step in so many ends the process, or freezes it. */
  crashEvery?: number;
  freezeEvery?: number;
  sweepEveryMs?: number;
}

export interface Simulation {
  verdict: Verdict;
  given: Record<string, number>;
  crashes: number;
  freezes: number;
  sweeps: number;
  strangers: number;
  simulatedHours: number;
}

const CREATE_MS = 30_000;
const SETTLE_MS = 60_000;
const PER_MINUTE = 600;

const TROUBLE: Trouble = {
  ambiguous: 0.35,
  commitLateMs: 30_000,
  visibleLateMs: 20_000,
  rejected: 0.01,
  throttled: 0.02,
  notSent: 0.03,
  unauthorised: 0.004,
  unreadable: 0.001,
  clockAheadMs: -3_600_000,
  createMs: CREATE_MS,
  rewritten: 0,
};

interface World {
  clock: FakeClock;
  random: Random;
  upstream: SimulatedUpstream;
  mirror: Mirror;
  rival: Rival;
  open: () => OutboxStore;
  observe: NonNullable<OutboxContext['observe']>;
  crashEvery: number;
  freezeEvery: number;
  crashes: number;
  freezes: number;
}

/** Sends the rows through every kind of trouble, on the real store and the real flows, and judges by the upstream's own ledger. */
export async function simulate(options: SimulationOptions): Promise<Simulation> {
  const folder = temporaryFolder('simulation');
  const file = { path: join(folder, 'mirror.db'), upstream: 'http://simulated.test', holder: 'simulation' };
  placeNewMirror(file.path);
  const { world, close } = build(options, file);
  try {
    const began = world.clock.now();
    await acceptAll(world, options.rows);
    while (!(await oneProcess(world)));
    await aftermath(world);
    const store = world.open();
    const verdict = await judge(store, world.upstream.ledger);
    await store.close();
    return {
      verdict,
      given: Object.fromEntries(world.upstream.given),
      crashes: world.crashes,
      freezes: world.freezes,
      sweeps: world.mirror.sweeps,
      strangers: world.upstream.ledger.filter(({ asked }) => asked.email?.endsWith('@elsewhere.example'))
        .length,
      simulatedHours: (world.clock.now() - began) / 3_600_000,
    };
  } finally {
    await close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function build(
  options: SimulationOptions,
  file: { path: string; upstream: string; holder: string },
): { world: World; close: () => Promise<void> } {
  const random = createRandom(options.seed);
  const clock = fakeClock();
  const upstream = simulatedUpstream(clock, random, { ...TROUBLE, ...options.trouble });
  const open = (): OutboxStore => openOutboxStore(file);
  const stores = { mirror: openMirrorStore(file), outbox: open(), rival: open() };
  const mirror = simulatedMirror(
    { clock, client: upstream.client, store: stores.mirror, outbox: stores.outbox },
    options.sweepEveryMs ?? 600_000,
  );
  clock.meanwhile = async () => {
    if (random.chance(0.05)) upstream.stranger();
    await mirror.passIfDue();
  };
  const world: World = {
    clock,
    random,
    upstream,
    mirror,
    rival: rivalTo(stores.rival, clock),
    open,
    observe: (posts) => writeListed(stores.mirror, posts, clock.now()),
    crashEvery: options.crashEvery ?? 400,
    freezeEvery: options.freezeEvery ?? 2000,
    crashes: 0,
    freezes: 0,
  };
  const close = async (): Promise<void> => {
    for (const store of Object.values(stores)) await store.close();
  };
  return { world, close };
}

async function acceptAll({ open, clock, random }: World, count: number): Promise<void> {
  const store = open();
  const rows = [...simulatedRows(count, random)];
  for (let from = 0; from < rows.length; from += 1000)
    await store.accept(rows.slice(from, from + 1000), clock.now());
  await store.close();
}

/** One sender, from its start to its end or death; true when there was nothing left to do. */
async function oneProcess(world: World): Promise<boolean> {
  const store = world.open();
  const life: Life = { dead: false, fate: (step) => fate(world, step) };
  const context: OutboxContext = {
    store: mortalStore(store, life),
    client: mortalClient(world.upstream.client, life, () => secondSender(world)),
    gate: createRateLimit(world.clock),
    clock: world.clock,
    signal: new AbortController().signal,
    perMinute: Number.POSITIVE_INFINITY,
    createMs: CREATE_MS,
    settleMs: SETTLE_MS,
    random: () => world.random.next(),
    observe: world.observe,
  };
  try {
    await drive(context, { batch: null, perMinute: PER_MINUTE });
    return true;
  } catch (error) {
    if (error !== KILLED && codeOf(error) === 'internal') throw error;
    await world.clock.sleep(1000);
    return false;
  } finally {
    await store.close();
  }
}

function fate(world: World, step: string): 'live' | 'die' {
  const { random, clock } = world;
  if (!step.endsWith('lockSender') && random.chance(1 / world.freezeEvery)) {
    world.freezes++;
    clock.advance(60_000 + random.int(7_200_000));
  }
  if (!random.chance(1 / world.crashEvery)) return 'live';
  world.crashes++;
  return 'die';
}

async function secondSender({ random, rival, freezeEvery }: World): Promise<void> {
  if (random.chance(10 / freezeEvery)) await rival.findsItTaken();
}

/** What is still under way comes to its end, and later sweeps see it. */
async function aftermath({ clock, upstream, mirror }: World): Promise<void> {
  for (let round = 0; round < 4; round++) {
    clock.advance(3 * 3_600_000);
    upstream.settleAll();
    await mirror.sweep();
  }
}
