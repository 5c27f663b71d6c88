import { iso } from '../../base/clock.ts';
import type { Db } from '../../db/open.ts';
import { type ColumnOf, columnReader, type Numbers } from '../../mirror/index/columns.ts';
import { firstBy, setOf } from '../../mirror/index/select.ts';
import { peopleOf } from '../../segments/people.ts';
import type { PageRequest, Place, PostFilter, Sort } from './filter.ts';

type Column = ColumnOf<'posts'>;

const ORDER: Record<Sort, { column: Column; isUp: boolean }> = {
  newest: { column: 'created', isUp: false },
  oldest: { column: 'created', isUp: true },
  votes: { column: 'votes', isUp: false },
  comments: { column: 'comments', isUp: false },
  changed: { column: 'version', isUp: false },
};
const TIMES: readonly Column[] = ['created', 'version'];

/** The rows of a page, in the order in which they were found, and how many posts the filter has. */
export interface FoundPlaces {
  places: Place[];
  posts: number;
}

interface Test {
  column: Column;
  is(value: number): boolean;
}

/**
 * Pages by any filter in any order. No index has them, and a walk over a million rows of the table takes a second; the columns of reports are
 * looked through in some ten milliseconds.
 */
export function columnList(db: Db) {
  const columns = columnReader(db);
  const list = ({ filter, sort, after, isBackward = false, limit }: PageRequest): FoundPlaces => {
    const { column } = ORDER[sort];
    const isUp = ORDER[sort].isUp !== isBackward;
    const tests = testsOf(db, filter);
    const posts = columns.read('posts', ['id', column, ...tests.map((test) => test.column)]);
    const checks = tests.map((test) => ({ numbers: posts[test.column], is: test.is }));
    const rows = rowsWhere(posts.rows, isUp, (i) => checks.every(({ numbers, is }) => is(numbers[i] ?? 0)));
    const [values, ids] = [posts[column], posts.id];
    const sign = isUp ? -1 : 1;
    const valueAt = (at: number): number => values[rows[at] ?? 0] ?? 0;
    const idAt = (at: number): number => ids[rows[at] ?? 0] ?? 0;
    const key = after && Number(TIMES.includes(column) ? Date.parse(String(after.key)) : after.key);
    const isBeyond = (at: number): boolean =>
      key === null || sign * (key - valueAt(at) || (after?.id ?? 0) - idAt(at)) > 0;
    const found = firstBy(rows.length, isBeyond, limit, {
      weight: (at) => sign * valueAt(at),
      ties: (a, b) => sign * (idAt(b) - idAt(a)),
    });
    const keyAt = (at: number) => (TIMES.includes(column) ? iso(valueAt(at)) : valueAt(at));
    return { places: found.map((at) => ({ key: keyAt(at), id: idAt(at) })), posts: rows.length };
  };
  /** The posts that a filter has, by their numbers. */
  const ids = (filter: PostFilter): Numbers => {
    const tests = testsOf(db, filter);
    const posts = columns.read('posts', ['id', ...tests.map((test) => test.column)]);
    const checks = tests.map((test) => ({ numbers: posts[test.column], is: test.is }));
    return posts.id.filter((_, i) => checks.every(({ numbers, is }) => is(numbers[i] ?? 0)));
  };
  return { list, ids };
}

/** In the order in which the first of the page come early: posts stand by their numbers, and so nearly by their time. */
function rowsWhere(rows: number, isUp: boolean, isWanted: (row: number) => boolean): Numbers {
  const found = new Int32Array(rows);
  let count = 0;
  for (let n = 0; n < rows; n++) {
    const row = isUp ? n : rows - 1 - n;
    if (isWanted(row)) found[count++] = row;
  }
  return found.subarray(0, count);
}

function testsOf(
  db: Db,
  { board, status, creator, deleted, since, until, votes, segment }: PostFilter,
): Test[] {
  const tests: Test[] = [];
  const add = (column: Column, is: Test['is']): void => void tests.push({ column, is });
  if (segment !== null) add('creator', setOf(peopleOf(db, segment)));
  for (const [column, ids] of Object.entries({ board, status, creator }) as [Column, readonly number[]][])
    if (ids.length > 0) add(column, setOf(ids));
  if (deleted !== 'too') add('gone', (flag) => (flag === 1) === (deleted === 'only'));
  const [from, to] = [Date.parse(since ?? ''), Date.parse(until ?? '')];
  if (since !== null) add('created', (at) => at >= from);
  if (until !== null) add('created', (at) => at < to);
  if (votes !== null) add('votes', (count) => count >= votes);
  return tests;
}
