import { isDeepStrictEqual } from 'node:util';
import { RESOURCES, type Resource } from '../../../src/contract/endpoints.ts';
import { readMirror } from '../../mirror/mirror-rows.ts';
import type { Fixture } from '../fixture.ts';
import { inMirror } from './file.ts';

/** Ids are never given twice, so a row that the mirror calls deleted and the upstream still shows was falsely deleted. */
export function checkDeletes({
  sandbox,
  mirror,
  tally,
}: Pick<Fixture, 'sandbox' | 'mirror' | 'tally'>): void {
  for (const resource of RESOURCES) {
    const sql = `SELECT id FROM ${resource} WHERE deleted_at IS NOT NULL`;
    const deleted = inMirror(mirror, (db) => db.prepare<[], number>(sql).pluck().all());
    const alive = new Set(upstreamRows(sandbox.world, resource).map(({ id }) => id));
    const falsely = deleted.filter((id) => alive.has(id));
    tally.check('false deletes: none', falsely.length === 0, () => `${resource} ${falsely.join(', ')}`);
  }
}

/** Null when mirror and upstream are equal field by field, both ways; else where they first differ. */
export function difference({ sandbox, mirror }: Fixture): string | null {
  const mirrored = readMirror(mirror);
  for (const resource of RESOURCES) {
    const theirs = JSON.parse(JSON.stringify(upstreamRows(sandbox.world, resource))) as { id: number }[];
    const ours = new Map(mirrored[resource].map((row) => [row.id, row]));
    for (const row of theirs) {
      if (!isDeepStrictEqual(inSeconds(ours.get(row.id)), inSeconds(row)))
        return `${resource} ${row.id}: ${JSON.stringify(ours.get(row.id))} instead of ${JSON.stringify(row)}`;
      ours.delete(row.id);
    }
    if (ours.size > 0) return `${resource} ${[...ours.keys()].join(', ')} only in the mirror`;
  }
  return null;
}

/** The two lists wrote times with and without fractions, and either form may have stayed. */
function inSeconds(row: unknown): unknown {
  const text = JSON.stringify(row ?? null);
  return JSON.parse(text.replace(/"(created|registered)":"([\d-]+T[\d:]{8})[^"]*"/g, '"$1":"$2"'));
}

function upstreamRows(world: Fixture['sandbox']['world'], resource: Resource): { id: number }[] {
  return resource === 'posts' ? world.posts() : world.comments();
}
