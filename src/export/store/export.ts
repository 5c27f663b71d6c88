import { iso } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Db, OpenOptions } from '../../db/open.ts';
import { countRows, scalar } from '../../db/sql.ts';
import { openMirrorReadOnly } from '../../mirror/file/open.ts';
import { segmentReader } from '../../segments/filter.ts';
import { peopleOf } from '../../segments/people.ts';
import { type ExportTable, TABLES } from './tables.ts';

export type ExportCell = string | number | null;
/** One row, its cells in the order of the table's columns. */
export type ExportRow = ExportCell[];

interface RowFilter {
  /**
   * Only rows of which anything exported may have changed since then, in the minute before, or after the clock was set back to before
   * then; null for all.
   */
  since: string | null;
  /** Without what was deleted upstream, and without its history. */
  live: boolean;
  /** Only what people of these imported customers wrote, such as `plan=Pro`. */
  segment?: string | null | undefined;
}

/** Ids walked through at a time: also where a filter lets nothing through, a step takes milliseconds. */
const WINDOW = 1000;
/** A batch ends when its texts are this long together: a million characters are 1 to 3 MB. */
const BATCH_CHARACTERS = 1_000_000;
/** An increment begins so much earlier: a row's time is when its page came, a little before it is written. Rows that come twice replace themselves. */
const OVERLAP_MS = 60_000;
/** Where the clock was set back, what people did before the next pass began is earlier still than that pass. */
const SET_BACK_OVERLAP_MS = 3_600_000;
/** An export with a clock that was set back later was made this close to a pass of that clock. */
const NEAR_PASS_MS = 86_400_000;
/** No id of the mirror is larger. */
const LAST = Number.MAX_SAFE_INTEGER;

export type ExportSource = ReturnType<typeof openExportSource>;

/** The mirror as it is in one moment. One read transaction is held until it is closed: the write-ahead log cannot start over meanwhile. */
export function openExportSource(options: OpenOptions) {
  const db = openMirrorReadOnly(options);
  db.exec('BEGIN');
  // A transaction sees the moment of its first read.
  db.prepare('SELECT count(*) FROM meta').get();

  const endOfWindow = (walk: string) =>
    scalar(db)<[number], number>(`
      SELECT id FROM ${walk} WHERE id > ? ORDER BY id LIMIT 1 OFFSET ${WINDOW - 1}`);

  const choiceOf = segmentReader(db);
  const peopleIn = (table: ExportTable, segment: string): string => {
    if (TABLES[table].person !== null) return JSON.stringify(peopleOf(db, choiceOf(segment)));
    throw new AppError('usage', `rows of ${table} belong to no customer`, {
      hint: 'With a segment, export posts, comments or users.',
    });
  };

  function* rows(table: ExportTable, { since: asked, live, segment }: RowFilter): Generator<ExportRow[]> {
    const { walk, sql } = TABLES[table];
    const people = segment == null ? null : peopleIn(table, segment);
    const since = asked === null ? null : iso(reachBack(db, Date.parse(asked)));
    const end = endOfWindow(walk);
    const read = db.prepare<Record<string, ExportCell>, ExportRow>(sql).raw();
    for (let after = -1; after < LAST; ) {
      const upto = end.get(after) ?? LAST;
      yield* batches(read.iterate({ after, upto, since, live: live ? 1 : 0, people }));
      after = upto;
    }
  }

  return {
    upstream: options.upstream,
    /** In the order of the ids, a little at a time, so that the reader can do something else in between. */
    rows,
    /** How many rows there are without a filter, counted where that is quick: a view would work out every text. */
    count(table: ExportTable): number {
      const versions = table.endsWith('_history') ? countRows(db, table.replace('history', 'versions')) : 0;
      return countRows(db, TABLES[table].walk) + versions;
    },
    close: (): void => void db.close(),
  };
}

/**
 * From when on changes belong to an increment. Passes are numbered in order: one that began before an earlier one shows that the clock
 * was set back, and what came then has times that an export with the clock as it was before would count as its own.
 */
function reachBack(db: Db, asked: number): number {
  const setBackTo = scalar(db)<[string, string], string | null>(`
      SELECT min(at)
        FROM (SELECT started_at AS at, lag(started_at) OVER (ORDER BY id) AS before FROM sync_runs
               WHERE id >= (SELECT min(id) FROM sync_runs WHERE started_at > ? AND started_at < ?))
       WHERE at < before`).get(iso(asked - NEAR_PASS_MS), iso(asked + NEAR_PASS_MS));
  const since = asked - OVERLAP_MS;
  return setBackTo ? Math.min(since, Date.parse(setBackTo) - SET_BACK_OVERLAP_MS) : since;
}

/** A window, cut where its rows are large; an empty one is told too, so that its reader gets a turn. */
function* batches(rows: Iterable<ExportRow>): Generator<ExportRow[]> {
  let batch: ExportRow[] = [];
  let characters = 0;
  for (const row of rows) {
    batch.push(row);
    for (const cell of row) if (typeof cell === 'string') characters += cell.length;
    if (characters >= BATCH_CHARACTERS) {
      yield batch;
      [batch, characters] = [[], 0];
    }
  }
  yield batch;
}
