import { iso } from '../../base/clock.ts';
import { RESOURCES, type Resource } from '../../contract/endpoints.ts';
import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import type { OutboxState } from '../../outbox/decide/types.ts';

/** The types of change of each kind of row. A consumer that keeps copies of rows reads the row again for every type. */
const TYPES = {
  // `moved` to another board; `updated` in anything else: comments_count, url, author, undocumented fields.
  post: [
    'created',
    'edited',
    'status_changed',
    'votes_changed',
    'moved',
    'updated',
    'deleted',
    'restored',
    'erased',
  ],
  comment: ['created', 'edited', 'updated', 'deleted', 'restored', 'erased'],
  user: ['created', 'updated', 'erased'],
  board: ['created', 'updated', 'erased'],
  status: ['created', 'updated', 'erased'],
  outbox: ['accepted', 'sent', 'rejected', 'needs_decision', 'updated', 'erased'],
  // `mirrored` after the first complete sweep of a list: its rows so far are in the mirror, and in no change.
  sync: ['mirrored', 'held', 'failed', 'recovered'],
} as const;

/** What kinds of rows changes are about: the part of a type before the dot. */
export type Subject = keyof typeof TYPES;
export type ChangeType = { [S in Subject]: `${S}.${(typeof TYPES)[S][number]}` }[Subject];
export const CHANGE_TYPES = Object.entries(TYPES).flatMap(([subject, types]) =>
  types.map((type) => `${subject}.${type}` as ChangeType),
);

export type ChangeLog = ReturnType<typeof changeLog>;

/** The writing half of the change feed. Each call belongs to the transaction that changes the row. */
export function changeLog(db: Db) {
  const insert = db.prepare('INSERT INTO changes (at, type, id, version, detail) VALUES (?, ?, ?, ?, ?)');
  const starts = db.prepare<[], { resource: Resource; start: number | null }>(`
    SELECT resource, start FROM feed_lists`);
  const isTold: Record<Resource, boolean> = { posts: false, comments: false };
  const add = (type: ChangeType, at: string, id: number, detail?: object): void =>
    void insert.run(at, type, id, null, detail === undefined ? null : JSON.stringify(detail));
  return {
    /** To be called when a transaction begins that may call `row` or `entity`. */
    refresh(): void {
      // A list that is in the feed stays in it, so only first sweeps ask SQLite.
      if (RESOURCES.every((resource) => isTold[resource])) return;
      for (const { resource, start } of starts.all()) isTold[resource] = start !== null;
    },
    /** A row of a list; nothing is written before the first complete sweep of that list. */
    row(
      resource: Resource,
      type: ChangeType,
      at: string,
      { id, version }: { id: number; version?: number },
    ): void {
      if (isTold[resource]) insert.run(at, type, id, version ?? null, null);
    },
    /** A user, board or status inside the rows of a list. A new one is in the feed once its list is; a changed one once either list is. */
    entity(
      resource: Resource,
      type: ChangeType,
      at: string,
      { id, detail }: { id: number; detail?: object | undefined },
    ): void {
      const isTellable = type.endsWith('.created') ? isTold[resource] : isTold.posts || isTold.comments;
      if (isTellable) add(type, at, id, detail);
    },
    /** A row of the outbox in its new state. */
    outbox(at: string, id: number, before: OutboxState, after: OutboxState): void {
      add(before === after ? 'outbox.updated' : OUTBOX_TYPES[after], at, id, { before, after });
    },
    add,
  };
}

const OUTBOX_TYPES: Record<OutboxState, ChangeType> = {
  proposed: 'outbox.needs_decision',
  ready: 'outbox.updated',
  sending: 'outbox.updated',
  ambiguous: 'outbox.updated',
  cancelled: 'outbox.updated',
  confirmed: 'outbox.sent',
  rejected: 'outbox.rejected',
  uncertain: 'outbox.needs_decision',
};

interface PassEvent {
  resource: Resource;
  runId: number;
  /** A sweep that read its whole list. */
  isWholeSweep: boolean;
  outcome: 'complete' | 'incomplete' | 'interrupted' | 'failed';
  /** Rows that the mass-delete guard holds since this pass. */
  newlyHeld: number;
}

/** Returns a function that puts the end of a pass into the feed, where it differs from the end of the pass before. */
export function passEvents(db: Db, changes: ChangeLog): (at: string, pass: PassEvent) => void {
  const find = db.prepare<[string], { start: number | null; failing: number }>(`
    SELECT start, failing FROM feed_lists WHERE resource = ?`);
  const setFailing = db.prepare('UPDATE feed_lists SET failing = ? WHERE resource = ?');
  const setStart = db.prepare(`
    UPDATE feed_lists SET start = (SELECT max(n) FROM changes) WHERE resource = ?`);
  return (at, { resource, runId, isWholeSweep, outcome, newlyHeld }) => {
    const list = find.get(resource) ?? { start: null, failing: 0 };
    const tell = (type: ChangeType, detail: object = {}): void =>
      changes.add(type, at, runId, { list: resource, ...detail });
    if (list.start === null && isWholeSweep) {
      tell('sync.mirrored');
      setStart.run(resource);
    }
    if (newlyHeld > 0) tell('sync.held', { held: newlyHeld });
    if (outcome === 'interrupted' || (outcome === 'failed') === (list.failing === 1)) return;
    tell(outcome === 'failed' ? 'sync.failed' : 'sync.recovered');
    setFailing.run(outcome === 'failed' ? 1 : 0, resource);
  };
}

/** Rows removed in one transaction: another writer waits a few milliseconds. */
const PRUNE_STEP = 1000;

/**
 * How much longer changes are kept for a webhook endpoint that has not received them yet. An endpoint that accepts nothing is disabled
 * after four days. This is for an endpoint that accepts a change now and then.
 */
const HELD_MS = 30 * 86_400_000;

/** Removes older changes and returns how many. The newest of them and the last of all stay, because consumers go on from there. */
export function pruneChanges(db: Db, { keepMs, now }: { keepMs: number; now: number }): number {
  // A time in the future was written while the clock was ahead. It does not tell whether changes are old.
  const firstSince = scalar(db)<[string, string], number>(`
    SELECT n FROM changes WHERE at >= ? AND at <= ? ORDER BY n LIMIT 1`);
  const lastBefore = scalar(db)<[string, number], number>(`
    SELECT n FROM changes WHERE at < ? AND n < ? ORDER BY n DESC LIMIT 1`);
  const newestOlder = (ms: number): number => {
    const before = iso(now - ms);
    return lastBefore.get(before, firstSince.get(before, iso(now)) ?? Number.MAX_SAFE_INTEGER) ?? 0;
  };
  const delivered = scalar(db)<[], number | null>(
    'SELECT min(position) FROM webhooks WHERE disabled_at IS NULL',
  );
  const anchor = Math.max(
    newestOlder(keepMs + HELD_MS),
    Math.min(newestOlder(keepMs), delivered.get() ?? Number.POSITIVE_INFINITY),
  );
  const remove = db.prepare<[number, number]>(`
    DELETE FROM changes WHERE n IN (SELECT n FROM changes WHERE n < ? ORDER BY n LIMIT ?)`);
  let removed = 0;
  for (let n = PRUNE_STEP; n === PRUNE_STEP; removed += n) n = remove.run(anchor, PRUNE_STEP).changes;
  return removed;
}
