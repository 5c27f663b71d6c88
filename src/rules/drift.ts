import { iso } from '../base/clock.ts';
import type { Db } from '../db/open.ts';
import { immediate } from '../db/sql.ts';
import { baselineAfter, type DriftField, driftsBetween } from './decide/drift.ts';

/** The newest rows of a list, which every pass reads again, show what the API looks like now. A deleted row shows what it looked like. */
const SAMPLE = 300;

/** Fields without a column stand in `extra`; documented ones may be NULL, and a row without any other is in quarantine. */
const sampled = (table: string): string => `
  SELECT id, extra FROM ${table} WHERE deleted_at IS NULL ORDER BY id DESC LIMIT ${SAMPLE}`;

const FIELDS = `
  WITH samples AS (
    SELECT 'posts' AS resource, id, extra FROM (${sampled('posts')})
    UNION ALL SELECT 'comments', id, extra FROM (${sampled('comments')}))
  SELECT s.resource, j.key AS path, group_concat(DISTINCT j.type) AS kinds, count(*) AS seen, max(s.id) AS example,
         (SELECT count(*) FROM samples n WHERE n.resource = s.resource) AS rows
    FROM samples s, json_each(s.extra) j WHERE s.extra IS NOT NULL AND j.type <> 'null' GROUP BY 1, 2`;

const LISTS = `
  SELECT 'posts' AS resource, count(*) AS rows FROM (${sampled('posts')})
   UNION ALL SELECT 'comments', count(*) FROM (${sampled('comments')})`;

/** Compares what rows look like with the last look, and writes down what changed. Returns how many fields that were. */
export function driftObserver(db: Db): (now: number) => number {
  const fields = db.prepare<[], DriftField & { example: number }>(FIELDS);
  const lists = db.prepare<[], { resource: string; rows: number }>(LISTS);
  const known = db.prepare<[], DriftField>('SELECT * FROM wire_fields');
  const clear = db.prepare('DELETE FROM wire_fields');
  const keep = db.prepare(`
    INSERT INTO wire_fields (resource, path, kinds, seen, rows) VALUES ($resource, $path, $kinds, $seen, $rows)`);
  const note = db.prepare(`
    INSERT INTO drifts (resource, path, change, before, after, example, since)
    VALUES ($resource, $path, $change, $before, $after, $example, $since)`);
  return immediate(db, (now: number): number => {
    const before = known.all();
    // A field of its own for each list says that it was looked at, also where no row has more than the documented fields.
    const looked = lists
      .all()
      .filter(({ rows }) => rows > 0)
      .map((list): DriftField => ({ ...list, path: LOOKED, kinds: '', seen: 0 }));
    const found = fields
      .all()
      .map(({ kinds, ...field }) => ({ ...field, kinds: kinds.split(',').sort().join('|') }));
    const after = [...looked, ...found];
    const drifts = driftsBetween(before, after);
    for (const drift of drifts) {
      const example =
        found.find(({ resource, path }) => resource === drift.resource && path === drift.path)?.example ??
        null;
      note.run({ ...drift, example, since: iso(now) });
    }
    clear.run();
    for (const { resource, path, kinds, seen, rows } of baselineAfter(before, after))
      keep.run({ resource, path, kinds, seen, rows });
    return drifts.length;
  });
}

/** No field of JSON has this name in the tables. */
const LOOKED = '';
