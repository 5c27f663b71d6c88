import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { codeOf } from '../../src/base/errors.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import { syncOnce } from '../../src/mirror/sweep/engine.ts';
import { fakeClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/folder.ts';
import { placeNewMirror } from '../support/mirror.ts';
import { type Manners, type SimulatedList, simulatedList } from './simulated-list.ts';
import { KILLED, killedAfter, stopAfter, UPSTREAM } from './workbench.ts';

/** A list, how it behaves, and how many sweeps are made of it. */
export interface Story extends Manners {
  seed: number;
  sweeps: number;
  /** How likely the process dies or is stopped during a sweep. */
  kill: number;
}

export interface Found {
  sweeps: number;
  /** Of sweeps in one piece, in which the list refused no page: pages of the list, and requests. */
  pages: number;
  requests: number;
  /** Living rows that the mirror called deleted after some sweep. */
  falseDeletions: number[];
  /** For each true deletion that was in the mirror: after how many complete sweeps begun since then it was concluded; null: not yet. */
  concludedAfter: (number | null)[];
  held: number;
}

/** Complete sweeps that follow a deletion before it counts in the shares. */
const WATCHED = 10;

/** Sweeps of a simulated list with the real engine and a real store, and what came of every row. */
export async function play(story: Story): Promise<Found> {
  const folder = temporaryFolder('evidence');
  const path = join(folder, 'mirror.db');
  placeNewMirror(path);
  const open = (): MirrorStore => openMirrorStore({ path, upstream: UPSTREAM, holder: 'simulation' });
  const random = randomFrom(story.seed);
  const list = simulatedList(story, random);
  const watch = watcher(path, list);
  const found = {
    sweeps: 0,
    pages: 0,
    requests: 0,
    falseDeletions: [] as number[],
    held: 0,
  };
  let store = open();
  try {
    for (let sweep = 0; sweep < story.sweeps; sweep++) {
      list.newSweep();
      watch.began();
      const before = { requests: list.requests, refusals: list.refusals };
      const killAt = sweep > 0 && random() < story.kill ? 1 + Math.floor(random() * 12) : null;
      const summary = await attempt(store, list, killAt, random() < 0.5);
      if (summary === 'killed') {
        await store.close();
        store = open();
      }
      if (summary !== null && summary !== 'killed') {
        if (summary.resumed === 0 && list.refusals === before.refusals) {
          found.pages += summary.pages;
          found.requests += list.requests - before.requests;
        }
        found.held = Math.max(found.held, summary.held);
        watch.ended();
      }
      found.sweeps++;
      for (const id of watch.falseDeletions())
        if (!found.falseDeletions.includes(id)) found.falseDeletions.push(id);
    }
    return { ...found, concludedAfter: watch.concludedAfter() };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function attempt(store: MirrorStore, list: SimulatedList, killAt: number | null, isHard: boolean) {
  const stop = killAt !== null && !isHard ? stopAfter(killAt) : null;
  const context = {
    client: list.client,
    store: killAt !== null && isHard ? killedAfter(store, killAt) : store,
    clock: fakeClock(),
    signal: stop?.signal ?? new AbortController().signal,
    ahead: 1,
    onPage: stop?.onPage ?? (() => {}),
  };
  try {
    const outcome = await syncOnce(context, { resource: 'posts', mode: 'sweep' });
    return outcome.done ? outcome.summary : null;
  } catch (error) {
    if (error === KILLED) return 'killed';
    // A list that moved so wildly that it seemed to have no end, or whose last page vanished on the way to it.
    if (['interrupted', 'protocol', 'refused'].includes(codeOf(error))) return null;
    throw error;
  }
}

/** Follows every deletion from the sweep it came before to the sweep that concluded it. */
function watcher(path: string, list: SimulatedList) {
  const db = new Database(path, { fileMustExist: false });
  const gone = new Map<number, { sweeps: number; concluded: number | null; wasMirrored: boolean }>();
  let known = 0;
  let under: number[] = [];
  const ids = (where: string): number[] => {
    const isThere = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'posts'").get() !== undefined;
    return isThere ? db.prepare<[], number>(`SELECT id FROM posts WHERE ${where}`).pluck().all() : [];
  };
  const takeDeletions = (): void => {
    const live = new Set(ids('deleted_at IS NULL'));
    for (const { id } of list.deleted.slice(known))
      gone.set(id, { sweeps: 0, concluded: null, wasMirrored: live.has(id) });
    known = list.deleted.length;
  };
  return {
    began() {
      takeDeletions();
      under = [...gone.keys()];
    },
    ended() {
      const deleted = new Set(ids('deleted_at IS NOT NULL'));
      takeDeletions();
      for (const id of under) {
        const row = gone.get(id);
        if (!row) continue;
        row.sweeps++;
        if (deleted.has(id)) row.concluded ??= row.sweeps;
      }
    },
    falseDeletions: () => ids('deleted_at IS NOT NULL').filter((id) => list.alive(id)),
    concludedAfter() {
      db.close();
      return [...gone.values()]
        .filter(({ wasMirrored, sweeps }) => wasMirrored && sweeps >= WATCHED)
        .map(({ concluded }) => concluded);
    },
  };
}

export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
