import assert from 'node:assert/strict';
import { AppError } from '../../src/base/errors.ts';
import type { Resource } from '../../src/contract/endpoints.ts';
import type { FaultKind } from '../laboratory/fault-kinds.ts';
import type { End, Trouble } from './hostile.ts';
import { assertExact, readMirror } from './mirror-rows.ts';
import type { Workbench } from './workbench.ts';

export function ending(end: End): string {
  return 'fails' in end ? `fails as ${end.fails}` : JSON.stringify(end.done);
}

/** A mirror that was exact, a change on the first page, the trouble, and then a clean sweep that makes it exact again. */
export async function meet(
  bench: Workbench,
  resource: Resource,
  kind: FaultKind,
  trouble: Trouble,
  when: 'once' | 'always',
): Promise<void> {
  keepThirty(bench, resource);
  await bench.sync({ resource, mode: 'sweep' });
  const newest = changeNewest(bench, resource);
  const selector = when === 'once' ? { nth: 2 } : { from: 2 };
  bench.sandbox.faults.set([{ kind, on: resource, ...trouble.settings, ...selector }]);
  const end = trouble[when];
  if ('fails' in end) await assertFails(bench, resource, end);
  else await assertDoes(bench, resource, end.done);
  assert.ok((bench.sandbox.faults.fired()[kind] ?? 0) > 0, 'the trouble came');
  assertKept(bench, resource, newest);
  bench.sandbox.faults.set('');
  const { resumed } = await bench.sync({ resource, mode: 'sweep' });
  assert.equal(resumed, 'fails' in end && end.next === undefined ? 1 : 0);
  assertExact(bench.path, bench.sandbox.world, [resource]);
}

/** The table counts on lists of the same length. */
function keepThirty({ sandbox: { world } }: Workbench, resource: Resource): void {
  if (resource === 'posts') return;
  for (const { id } of world.comments().slice(30)) world.deleteComment(id);
  assert.equal(world.comments().length, 30);
}

function changeNewest({ sandbox: { world } }: Workbench, resource: Resource): number {
  const id = (resource === 'posts' ? world.posts() : world.comments()).at(-1)?.id ?? 0;
  if (resource === 'posts') world.editPost(id, { content: 'changed' });
  else world.editComment(id, { content: 'changed' });
  return id;
}

async function assertFails(
  bench: Workbench,
  resource: Resource,
  { fails, says }: Extract<End, { fails: string }>,
): Promise<void> {
  await assert.rejects(bench.sync({ resource, mode: 'sweep' }), (error: unknown) => {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, fails);
    assert.match(error.message, says);
    assert.match(error.message, new RegExp(`^Listing ${resource}, page`));
    return true;
  });
  const [run] = bench.query<{ outcome: string; error: string; deleted: number }>(
    'SELECT outcome, error, deleted FROM sync_runs ORDER BY id DESC LIMIT 1',
  );
  assert.deepEqual([run?.outcome, run?.deleted], ['failed', 0]);
  assert.match(run?.error ?? '', says);
}

async function assertDoes(
  bench: Workbench,
  resource: Resource,
  expected: Extract<End, { done: object }>['done'],
): Promise<void> {
  const summary = await bench.sync({ resource, mode: 'sweep' });
  assert.deepEqual({ ...summary, ...expected, outcome: 'complete' }, summary);
}

/** The page before the trouble is kept, and every row that lives upstream still lives here. */
function assertKept(bench: Workbench, resource: Resource, newest: number): void {
  const rows = readMirror(bench.path)[resource];
  assert.equal(rows.find(({ id }) => id === newest)?.content, 'changed');
  assert.equal(rows.length, 30);
}
