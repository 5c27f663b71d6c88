import { iso } from '../../base/clock.ts';
import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import type { Due, OutboxRow, Unclear } from '../decide/types.ts';
import { BOARD_IS_OPEN, namesOf, refusedBoards } from './refused.ts';

export const OF_BATCH = 'batch = $batch AND';

const TWIN_UNDER_WAY = `EXISTS (
  SELECT 1 FROM outbox t WHERE t.content_hash = o.content_hash AND t.id <> o.id AND t.state IN ('sending', 'ambiguous'))`;

export function successorReader(db: Db) {
  const exists = scalar(db)<Pick<OutboxRow, 'board' | 'kind' | 'content_hash'>, number>(`
      SELECT EXISTS (SELECT 1 FROM outbox o
         WHERE state = 'ready' AND on_hold = 0 AND board = $board AND kind = $kind AND content_hash <> $content_hash AND NOT ${TWIN_UNDER_WAY})`);
  return ({ board, kind, content_hash }: OutboxRow): boolean =>
    exists.get({ board, kind, content_hash }) === 1;
}

/** A clock that was ahead made a change that lies in the future. The time that this change set counts as come. */
const DUE = '(not_before <= $at OR changed_at > $at)';

function unclearReader(db: Db): (now: number) => Unclear | null {
  // Each is one step into the index; min and max in one query would walk over all of them.
  const ends = ['ASC', 'DESC'].map((direction) =>
    db.prepare<[], { not_before: string | null }>(`
      SELECT not_before FROM outbox WHERE state = 'ambiguous' AND on_hold = 0 ORDER BY not_before ${direction} LIMIT 1`),
  );
  const ahead = scalar(db)<{ at: string }, number>(`
    SELECT EXISTS (SELECT 1 FROM outbox WHERE state = 'ambiguous' AND on_hold = 0 AND not_before > $at AND changed_at > $at)`);
  return (now) => {
    const [first, last] = ends.map((end) => end.get());
    if (!first || !last) return null;
    if (ahead.get({ at: iso(now) }) === 1) return { first: now, last: now };
    const timeOf = (time: string | null): number => (time === null ? now : Date.parse(time));
    return { first: timeOf(first.not_before), last: timeOf(last.not_before) };
  };
}

export function openReader(db: Db): (batch: string | null) => boolean {
  const isOpen = (of: string) =>
    scalar(db)<{ batch?: string }, number>(`
      SELECT EXISTS (SELECT 1 FROM outbox WHERE ${of} state IN ('ready', 'sending', 'ambiguous'))`);
  const [all, one] = [isOpen(''), isOpen(OF_BATCH)];
  return (batch) => (batch === null ? all.get({}) : one.get({ batch })) === 0;
}

/** Rows that were never tried stand in the order they came in, so their first one is the oldest; of the others there are few. */
export function oldestReader(db: Db): () => number | null {
  const oldest = scalar(db)<[], string | null>(`
      SELECT min(created_at) FROM (
        SELECT * FROM (SELECT created_at FROM outbox WHERE state = 'ready' AND on_hold = 0 AND not_before IS NULL ORDER BY id LIMIT 1)
        UNION ALL SELECT created_at FROM outbox WHERE state = 'ready' AND on_hold = 0 AND not_before IS NOT NULL
        UNION ALL SELECT created_at FROM outbox WHERE state IN ('sending', 'ambiguous'))`);
  return () => {
    const at = oldest.get();
    return at ? Date.parse(at) : null;
  };
}

/** The count ends here. */
const MOST_COUNTED = 1000;

export function dueCounter(db: Db): (now: number) => number {
  const boards = refusedBoards(db);
  const counted = scalar(db)<{ at: string; refused: string }, number>(`
      SELECT count(*) FROM (SELECT 1 FROM outbox o WHERE state IN ('ready', 'ambiguous') AND on_hold = 0 AND (not_before IS NULL OR ${DUE})
                                AND (state = 'ambiguous' OR ${BOARD_IS_OPEN}) AND NOT ${TWIN_UNDER_WAY} LIMIT ${MOST_COUNTED})`);
  return (now) => counted.get({ at: iso(now), refused: namesOf(boards.closed(now)) }) ?? 0;
}

/**
 * Each question is a few steps into an index, however many rows wait. A row that waited for its time goes before those that were
 * never tried: behind a long import it would wait for days, and all that was posted meanwhile would have to be read if it became
 * unclear.
 */
export function dueReader(db: Db): (now: number, limit: number, batch?: string | null) => Due {
  const ready = { all: readyQueries(db, ''), batch: readyQueries(db, OF_BATCH) };
  const unclear = unclearReader(db);
  const boards = refusedBoards(db);
  return (now, limit, batch = null) => {
    const at = iso(now);
    const closed = boards.closed(now);
    const which = { at, refused: namesOf(closed), ...(batch === null ? {} : { batch }) };
    const { waited, untried, later } = batch === null ? ready.all : ready.batch;
    const rows = waited.all({ ...which, limit });
    if (rows.length < limit) rows.push(...untried.all({ ...which, limit: limit - rows.length }));
    const settling = unclear(now);
    const times = rows.map(({ since }) => Date.parse(since));
    if (settling && settling.first <= now) times.push(settling.first);
    const next = [later.get(which) ?? [], ...closed.map(({ until }) => until)].flat().sort()[0];
    return {
      ready: rows.map(({ id }) => id),
      unclear: settling,
      since: times.length === 0 ? null : Math.min(...times),
      at: next ? Date.parse(next) : null,
    };
  };
}

function readyQueries(db: Db, of: string) {
  type Which = { at: string; refused: string; batch?: string };
  const select = (which: string) =>
    db.prepare<Which & { limit: number }, { id: number; since: string }>(`
      SELECT id, iif(not_before <= $at, not_before, min(created_at, $at)) AS since FROM outbox o
       WHERE ${of} state = 'ready' AND on_hold = 0 AND ${which} AND ${BOARD_IS_OPEN} AND NOT ${TWIN_UNDER_WAY} ORDER BY not_before, id LIMIT $limit`);
  const first = `SELECT min(not_before) FROM outbox WHERE ${of} state = 'ready' AND on_hold = 0 AND not_before > $at AND changed_at <= $at`;
  return {
    waited: select(`not_before IS NOT NULL AND ${DUE}`),
    untried: select('not_before IS NULL'),
    later: scalar(db)<Which, string | null>(first),
  };
}
