import type { Resource } from '../../contract/endpoints.ts';
import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import { countIds, indexOf, packIds, unpackIds } from '../decide/ids.ts';
import type { Shown } from '../decide/miss.ts';

/**
 * The ids of a list, page by page: as the last complete sweep showed them, and of a sweep under way those pages that differ. A sweep of
 * a list that has not changed writes none of them. A page that is read again after an interruption replaces the one read before.
 */
export function listPages(db: Db) {
  const page = scalar(db)<[string, number], Buffer>(
    'SELECT ids FROM list_pages WHERE resource = ? AND n = ?',
  );
  const put = db.prepare('INSERT OR REPLACE INTO sweep_pages (run_id, n, ids) VALUES (?, ?, ?)');
  const last = scalar(db)<[string], Buffer>('SELECT ids FROM list_pages WHERE resource = ? ORDER BY n');
  const shown = scalar(db)<{ resource: string; run: number; pages: number }, Buffer>(`
    SELECT coalesce(s.ids, l.ids) FROM (
      SELECT n FROM list_pages WHERE resource = $resource AND n < $pages UNION SELECT n FROM sweep_pages WHERE run_id = $run) p
      LEFT JOIN sweep_pages s ON s.run_id = $run AND s.n = p.n
      LEFT JOIN list_pages l ON l.resource = $resource AND l.n = p.n
     ORDER BY p.n`);
  const take = db.prepare(`
    INSERT OR REPLACE INTO list_pages (resource, n, ids) SELECT ?, n, ids FROM sweep_pages WHERE run_id = ?`);
  const cut = db.prepare('DELETE FROM list_pages WHERE resource = ? AND n >= ?');
  const drop = db.prepare(`
    DELETE FROM sweep_pages WHERE run_id IN (SELECT id FROM sync_runs WHERE resource = ?)`);
  const dropFrom = db.prepare('DELETE FROM sweep_pages WHERE run_id = ? AND n >= ?');
  return {
    /** The page as bytes, or null where the last complete sweep showed the same. */
    changed(resource: Resource, n: number, ids: readonly number[]): Buffer | null {
      const packed = packIds(ids);
      return page.get(resource, n)?.equals(packed) ? null : packed;
    },
    write: (runId: number, n: number, ids: Buffer): void => void put.run(runId, n, ids),
    /** What the last complete sweep showed. */
    last: (resource: Resource): Float64Array => flat(last.all(resource)).ids,
    /** What a sweep has shown so far. */
    shownBy(resource: Resource, run: number, pages: number): Shown {
      const list = flat(shown.all({ resource, run, pages }));
      return { ...list, index: indexOf(list.ids) };
    },
    /** From now on the last complete sweep is this one. */
    keep(resource: Resource, run: number, pages: number): void {
      take.run(resource, run);
      cut.run(resource, pages);
    },
    /** Forgets the pages of sweeps that do not go on. */
    drop: (resource: Resource): void => void drop.run(resource),
    /** Pages after a checkpoint are read again. */
    dropFrom: (run: number, n: number): void => void dropFrom.run(run, n),
  };
}

/** A row that comes twice in a row on one page, as a careless join makes it, counts once. */
function flat(pages: readonly Buffer[]): Omit<Shown, 'index'> {
  const ids = new Float64Array(pages.reduce((sum, bytes) => sum + countIds(bytes), 0));
  const starts = new Uint32Array(pages.length);
  let size = 0;
  for (const [n, bytes] of pages.entries()) {
    starts[n] = size;
    let before: number | null = null;
    unpackIds(bytes, (id) => {
      if (id !== before) ids[size++] = id;
      before = id;
    });
  }
  return { ids: ids.subarray(0, size), starts };
}
