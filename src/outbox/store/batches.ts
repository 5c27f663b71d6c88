import { isDue, iso } from '../../base/clock.ts';
import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import type { ChangeLog } from '../../mirror/log/change-log.ts';
import type { OutboxState } from '../decide/types.ts';

/** What an import as a whole was told to do; a batch that was told nothing has no row. */
export interface BatchRow {
  batch: string;
  created_at: string;
  per_minute: number | null;
  /** From when on rows may be sent: the next row of a batch with its own pace, or all rows of a resumed batch. */
  next_at: string | null;
  paused_at: string | null;
  cancelled_at: string | null;
  /** The text before the reference mark of its posts. Null if the setting decides about marks. */
  mark: string | null;
}

/** One with a pace of its own. */
type PacedBatch = Pick<BatchRow, 'batch' | 'next_at'> & { per_minute: number };

/** Customers in whose name rows are still to be sent, as far as they were counted. */
export interface WaitingCustomers {
  people: number;
  isMore: boolean;
}

/** Rows read for the count: the page asks for it with every step of an import. */
const CUSTOMER_ROWS = 5000;

/** A board of rows that wait for a person. */
export interface BoardToMend {
  board: string;
  rows: number;
}

export function batchReader(db: Db) {
  const one = db.prepare<[string], BatchRow>('SELECT * FROM batches WHERE batch = ?');
  const some = db.prepare<[], BatchRow>(`
    SELECT * FROM batches WHERE paused_at IS NOT NULL OR per_minute IS NOT NULL ORDER BY created_at DESC LIMIT 100`);
  const exists = scalar(db)<[string], number>('SELECT 1 FROM outbox WHERE batch = ? LIMIT 1');
  const ids = scalar(db)<[string, OutboxState], number>(`
    SELECT id FROM outbox WHERE batch = ? AND state = ?`);
  // Names are in the order of time: each step is one look into the index, however many rows a batch has.
  const newest = scalar(db)<[number], string>(`
      WITH RECURSIVE b (batch, n) AS (
        SELECT max(batch), 1 FROM outbox WHERE batch < 'import-~'
         UNION ALL SELECT (SELECT max(batch) FROM outbox WHERE batch < b.batch), n + 1 FROM b WHERE batch >= 'import-' AND n < ?)
      SELECT batch FROM b WHERE batch >= 'import-'`);
  const toMend = db.prepare<[string], BoardToMend>(`
    SELECT board, count(*) AS rows FROM outbox WHERE batch = ? AND state IN ('rejected', 'uncertain') AND erased_at IS NULL
     GROUP BY board ORDER BY rows DESC, board LIMIT 50`);
  const customers = db.prepare<[string], { rows: number; people: number }>(`
    SELECT count(*) AS rows, count(DISTINCT email) AS people FROM (
      SELECT email FROM outbox WHERE batch = ? AND state IN ('ready', 'sending') LIMIT ${CUSTOMER_ROWS})`);
  const leftOver = scalar(db)<[], number>(`
      SELECT o.id FROM batches b JOIN outbox o ON o.batch = b.batch AND o.state = 'ready' AND o.on_hold = 1
       WHERE b.cancelled_at IS NOT NULL`);
  return {
    /** Rows of cancelled imports that still wait because the process died. They are not sent. */
    cancelledWaiting: (): number[] => leftOver.all(),
    waitingCustomers(batch: string): WaitingCustomers {
      const { rows, people } = customers.get(batch) ?? { rows: 0, people: 0 };
      return { people, isMore: people > 0 && rows === CUSTOMER_ROWS };
    },
    /** The newest imports. */
    newestImports: (limit: number): string[] => newest.all(limit),
    /** The boards of rows that a person can correct, with their numbers of rows. */
    boardsToMend: (batch: string): BoardToMend[] => toMend.all(batch),
    batch: (batch: string): BatchRow | null => one.get(batch) ?? null,
    /** Batches that are paused or have a pace of their own, the newest first. */
    batches: (): BatchRow[] => some.all(),
    hasBatch: (batch: string): boolean => exists.get(batch) === 1,
    idsOf: (batch: string, state: OutboxState): number[] => ids.all(batch, state),
  };
}

/** So many rows of a slow import are free at a time. The next one never waits for its release, and no burst follows a standstill. */
const MOST_FREE = 2;

/** The writing half: each function is the inside of one transaction. */
export function batchWriter(db: Db, changes: ChangeLog) {
  const note = db.prepare(`
    INSERT INTO batches (batch, created_at) VALUES (?, ?) ON CONFLICT (batch) DO NOTHING`);
  const set = db.prepare(`
    UPDATE batches SET per_minute = coalesce($perMinute, per_minute), next_at = coalesce(next_at, $nextAt),
                       paused_at = $pausedAt, cancelled_at = $cancelledAt WHERE batch = $batch`);
  const setMark = db.prepare('UPDATE batches SET mark = ? WHERE batch = ?');
  const one = db.prepare<[string], BatchRow>('SELECT * FROM batches WHERE batch = ?');
  const hold = rowHolder(db, changes);
  const countReady = scalar(db)<[string], number>(`
    SELECT count(*) FROM outbox WHERE batch = ? AND state = 'ready'`);
  const mayGoFrom = db.prepare('UPDATE batches SET next_at = ? WHERE batch = ?');

  const change = (batch: string, now: number, orders: Partial<BatchRow>): BatchRow | null => {
    const at = iso(now);
    note.run(batch, at);
    const old = one.get(batch);
    const { paused_at = old?.paused_at ?? null, cancelled_at = old?.cancelled_at ?? null } = orders;
    const { per_minute: perMinute = null } = orders;
    set.run({ batch, perMinute, nextAt: at, pausedAt: paused_at, cancelledAt: cancelled_at });
    return one.get(batch) ?? null;
  };
  return {
    pace: (batch: string, perMinute: number, now: number) =>
      void change(batch, now, { per_minute: perMinute }),
    mark(batch: string, label: string, now: number): void {
      change(batch, now, {});
      setMark.run(label, batch);
    },
    /** From here on no row of the batch is claimed; what is being sent just now is brought to its end. Returns the rows that wait. */
    pause(batch: string, now: number): number {
      change(batch, now, { paused_at: iso(now) });
      hold(1, iso(now), batch);
      return countReady.get(batch) ?? 0;
    },
    /** A batch with a pace of its own is released row by row. */
    resume(batch: string, now: number): number {
      const orders = change(batch, now, { paused_at: null });
      if (orders?.per_minute == null) {
        hold(0, iso(now), batch);
        mayGoFrom.run(iso(now), batch);
      }
      return countReady.get(batch) ?? 0;
    },
    /** A pause for good, which ends any other: the rows are cancelled one by one afterwards, also those that come back later. */
    stop(batch: string, now: number): void {
      change(batch, now, { paused_at: null, cancelled_at: iso(now) });
      hold(1, iso(now), batch);
    },
    reopen: (batch: string, now: number): void =>
      void (one.get(batch) && change(batch, now, { cancelled_at: null })),
    ...pacedBatches(db, changes),
    /** Whether a row of this batch that becomes ready now has to wait, and whether it is to be sent at all. */
    holds(batch: string): { isHeld: boolean; isPaced: boolean; isCancelled: boolean } {
      const { paused_at = null, per_minute = null, cancelled_at = null } = one.get(batch) ?? {};
      return { isHeld: paused_at !== null, isPaced: per_minute !== null, isCancelled: cancelled_at !== null };
    },
  };
}

/** Holds the rows of a batch that are ready, or frees them. */
function rowHolder(db: Db, changes: ChangeLog) {
  // How long ago a row was looked for must show after a pause: it is looked for once more where that is long.
  const holdAll = db.prepare(`
    UPDATE outbox SET on_hold = ?, changed_at = iif(not_found > 0, changed_at, ?)
     WHERE batch = ? AND state = 'ready' AND on_hold <> ?`);
  const ends = db.prepare<[string], { first: number; last: number }>(`
    SELECT min(id) AS first, max(id) AS last FROM outbox WHERE batch = ? AND state = 'ready'`);
  // One change for all of them, from the first to the last: a consumer reads a row between them that belongs to another batch for nothing.
  return (onHold: number, at: string, batch: string): void => {
    const held = holdAll.run(onHold, at, batch, onHold).changes;
    const range = held === 0 ? undefined : ends.get(batch);
    if (range) changes.add('outbox.updated', at, range.first, { count: range.last - range.first + 1 });
  };
}

/** Imports with a pace of their own: their rows are held, and freed one after the other. */
function pacedBatches(db: Db, changes: ChangeLog) {
  const paced = db.prepare<[], PacedBatch>(`
    SELECT batch, per_minute, next_at FROM batches b
     WHERE per_minute IS NOT NULL AND paused_at IS NULL AND cancelled_at IS NULL
       AND EXISTS (SELECT 1 FROM outbox o WHERE o.batch = b.batch AND o.state = 'ready' AND o.on_hold = 1)`);
  const free = scalar(db)<[string], number>(`
    SELECT count(*) FROM (SELECT 1 FROM outbox WHERE batch = ? AND state = 'ready' AND on_hold = 0 LIMIT ${MOST_FREE})`);
  const release = scalar(db)<[string, number], number>(`
    UPDATE outbox SET on_hold = 0 WHERE id IN (
      SELECT id FROM outbox WHERE batch = ? AND state = 'ready' AND on_hold = 1 ORDER BY not_before, id LIMIT ?)
    RETURNING id`);
  const mayGoFrom = db.prepare('UPDATE batches SET next_at = ? WHERE batch = ?');
  const releaseFrom = (paced: PacedBatch, now: number): void => {
    const { batch, per_minute } = paced;
    if ((free.get(batch) ?? 0) >= MOST_FREE) return;
    const interval = 60_000 / per_minute;
    // As many as a second brings, where the intervals are shorter than the looks at the outbox.
    const from = Math.max(turnOf(paced, now), now - 1000);
    const count = Math.max(1, Math.floor((now - from) / interval));
    for (const id of release.all(batch, count)) changes.add('outbox.updated', iso(now), id);
    mayGoFrom.run(iso(from + count * interval), batch);
  };
  return {
    /** When the next row that is held for its turn has it, in milliseconds; null where there is none. */
    nextRelease(now: number): number | null {
      const turns = paced.all().map((batch) => turnOf(batch, now));
      return turns.length === 0 ? null : Math.min(...turns);
    },
    release(now: number): void {
      for (const batch of paced.all()) if (turnOf(batch, now) <= now) releaseFrom(batch, now);
    },
  };
}

/** When the turn of a batch comes. A time further away than its pace explains was written while the clock was ahead. */
function turnOf({ per_minute, next_at }: PacedBatch, now: number): number {
  const at = Date.parse(next_at ?? iso(now));
  return isDue(at, now, 60_000 / per_minute) ? Math.min(at, now) : at;
}
