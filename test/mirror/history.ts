import assert from 'node:assert/strict';
import fc from 'fast-check';
import { codeOf } from '../../src/base/errors.ts';
import { RESOURCES, type Resource } from '../../src/contract/endpoints.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import type { World } from '../laboratory/server.ts';
import { assertExact, readMirror } from './mirror-rows.ts';
import { type Event, events, happen } from './upheaval.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

/** A whole story: a world, how its lists are paged, what happens between requests, and when the mirror's process is killed. */
export interface History {
  seed: number;
  posts: number;
  pageSize: number;
  paging: 'url' | 'path' | 'query' | 'number' | 'offset' | 'cursor' | 'cursor-url';
  order: 'newest' | 'oldest' | 'votes';
  /** Passes made while the world moves. */
  passes: { resource: Resource; mode: 'sweep' | 'head'; killAt: number | null }[];
  /** What happens before each request, in turn. */
  upheaval: Event[][];
}

export const histories: fc.Arbitrary<History> = fc.record({
  seed: fc.nat(10_000),
  posts: fc.nat(30),
  pageSize: fc.integer({ min: 2, max: 7 }),
  paging: fc.constantFrom('url', 'path', 'query', 'number', 'offset', 'cursor', 'cursor-url'),
  order: fc.constantFrom('newest', 'newest', 'oldest', 'votes'),
  passes: fc.array(
    fc.record({
      resource: fc.constantFrom(...RESOURCES),
      mode: fc.constantFrom('sweep', 'sweep', 'head'),
      killAt: fc.option(fc.nat(12)),
    }),
    { minLength: 2, maxLength: 6 },
  ),
  upheaval: fc.array(events, { minLength: 10, maxLength: 60 }),
});

/** Plays a history and holds the promises of the mirror against the upstream itself. */
export async function play(history: History): Promise<void> {
  let moving = true;
  let requests = 0;
  const beforeRequest = (): void => {
    const due = moving ? history.upheaval[requests++] : undefined;
    for (const event of due ?? []) happen(bench.sandbox.world, event);
  };
  const { seed, posts, pageSize, paging, order } = history;
  const bench = await openWorkbench({ seed, posts, pageSize, paging, order, beforeRequest });
  try {
    for (const pass of history.passes) await watched(bench, pass);
    moving = false;
    await settle(bench);
    assertExact(bench.path, bench.sandbox.world);
    await assertStill(bench);
  } finally {
    await bench.close();
  }
}

/** A pass in a moving world: whatever lived through all of it must live in the mirror afterwards, if it was there before. */
async function watched(
  bench: Workbench,
  { resource, mode, killAt }: History['passes'][number],
): Promise<void> {
  const before = alive(bench.sandbox.world, resource);
  const mirrored = new Set(readMirror(bench.path)[resource].map((row) => row.id));
  await attempt(bench, resource, mode, killAt);
  const after = alive(bench.sandbox.world, resource);
  const now = new Set(readMirror(bench.path)[resource].map((row) => row.id));
  for (const id of mirrored) {
    if (before.has(id as number) && after.has(id as number)) {
      assert.ok(now.has(id), `${resource} ${id} lived through the ${mode} and was deleted`);
    }
  }
}

function alive(world: World, resource: Resource): Set<number> {
  return new Set((resource === 'posts' ? world.posts() : world.comments()).map((row) => row.id));
}

async function attempt(
  bench: Workbench,
  resource: Resource,
  mode: 'sweep' | 'head',
  killAt: number | null,
): Promise<void> {
  const store = killAt === null ? bench.store : dying(bench.store, killAt);
  try {
    await bench.sync({ resource, mode, acceptDeletes: true }, { store });
  } catch (error) {
    // Killed, no head pass possible yet, or a list that moved so wildly that it seemed to have no end.
    const isKill = error === KILLED;
    assert.ok(
      isKill || codeOf(error) === 'protocol' || String(error).includes('no head pass'),
      String(error),
    );
    if (isKill) await bench.restart();
  }
}

/** A short list that moved wildly has taught that it misses many rows: then each miss counts for little. */
const MOST_QUIET_SWEEPS = 200;

const KILLED = new Error('killed');

/** A store whose process dies at its nth step: that step may have happened or not, and nothing after it does. */
function dying(store: MirrorStore, steps: number): MirrorStore {
  let left = steps;
  const isOver = (): boolean => left-- <= 0;
  return new Proxy(store, {
    get(target, name: keyof MirrorStore) {
      const operation = target[name] as (...args: unknown[]) => unknown;
      if (name === 'lock') return operation;
      return (...args: unknown[]) => {
        if (left < 0) throw KILLED;
        const isLast = isOver();
        if (isLast && steps % 2 === 0) throw KILLED;
        const result = operation(...args);
        if (isLast) throw KILLED;
        return result;
      };
    },
  });
}

/** Sweeps each list until no row is missing any more. One more, because a resumed sweep was not quiet from its beginning. */
async function settle(bench: Workbench): Promise<void> {
  for (const resource of RESOURCES)
    for (let sweeps = 0, missing = 1; missing > 0 && sweeps < MOST_QUIET_SWEEPS; sweeps++) {
      const { suspects, held, resumed } = await bench.sync({ resource, mode: 'sweep', acceptDeletes: true });
      missing = suspects + held + resumed;
    }
}

async function assertStill(bench: Workbench): Promise<void> {
  for (const resource of RESOURCES) {
    const { inserted, updated, deleted } = await bench.sync({ resource, mode: 'sweep' });
    assert.deepEqual({ inserted, updated, deleted }, { inserted: 0, updated: 0, deleted: 0 });
  }
}
