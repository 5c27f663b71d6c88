import type { Board, PostReference, Status, User } from '../../contract/decode.ts';
import type { Db } from '../db.ts';
import {
  boardTable,
  type Entity,
  referenceTable,
  statusTable,
  type Table,
  userTable,
  type Value,
} from './entity-tables.ts';

/**
 * Users, boards, statuses and short forms of posts come inside other rows, from two lists that are walked side by side.
 * The newest observation wins: a page received before the stored values were seen never overwrites them.
 */
const LATE_PAGE_MS = 600_000;
/** Pages that are remembered for that: more than are ever under way at once. */
const RECENT_PAGES = 32;
/** Entities remembered as they stand in the database: the same people write most of the rows. */
const KNOWN_ENTITIES = 20_000;

export interface Observed {
  users: Map<number, User>;
  boards: Map<number, Board>;
  statuses: Map<number, Status>;
  references: Map<number, PostReference>;
}

/** Returns a function that stores what a page carried and says how many rows that changed. */
export function entityObserver(db: Db): (observed: Observed, at: string) => number {
  const [users, boards, statuses, references] = [
    userTable(db),
    boardTable(db),
    statusTable(db),
    referenceTable(db),
  ];
  // A row tells when its values changed, not when they were last seen to be the same: that is known from these pages only.
  const recent: { at: string; observed: Observed }[] = [];
  const isUntouched = otherWriters(db);
  return (observed, at) => {
    if (!isUntouched()) for (const table of [users, boards, statuses, references]) table.known.clear();
    const newer = recent.filter((page) => isLate(page.at, at)).map((page) => page.observed);
    recent.push({ at, observed });
    if (recent.length > RECENT_PAGES) recent.shift();
    return (
      observe(users, observed.users, at, (id) => newer.some((page) => page.users.has(id))) +
      observe(boards, observed.boards, at, (id) => newer.some((page) => page.boards.has(id))) +
      observe(statuses, observed.statuses, at, (id) => newer.some((page) => page.statuses.has(id))) +
      observe(references, observed.references, at, (id) => newer.some((page) => page.references.has(id)))
    );
  };
}

function observe<T extends Entity>(
  table: Table<T>,
  entities: Map<number, T>,
  at: string,
  isSeenSince: (id: number) => boolean,
): number {
  let changes = 0;
  for (const entity of entities.values()) {
    if (isKnown(table, entity)) continue;
    const stored = table.find.get(entity.id);
    if (stored && isSame(stored, table.values(entity))) {
      remember(table, entity);
      continue;
    }
    if (stored && (isLate(stored.at(-1) as string, at) || isSeenSince(entity.id))) continue;
    table.known.delete(entity.id);
    if (stored) table.update(entity, at);
    else table.insert(entity, at);
    changes++;
  }
  return changes;
}

/** Whether no other connection has written since the last call. */
function otherWriters(db: Db): () => boolean {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck();
  let last = version.get();
  return () => {
    const current = version.get();
    const isSameVersion = current === last;
    last = current;
    return isSameVersion;
  };
}

function isKnown<T extends Entity>({ known }: Table<T>, entity: T): boolean {
  const last = known.get(entity.id);
  if (!last) return false;
  for (const key in entity) if (entity[key] !== last[key]) return false;
  return true;
}

/** Only what was read: what this transaction writes may still be rolled back. */
function remember<T extends Entity>({ known }: Table<T>, entity: T): void {
  if (known.size >= KNOWN_ENTITIES) known.clear();
  known.set(entity.id, entity);
}

function isSame(stored: Value[], values: Value[]): boolean {
  for (let i = 0; i < values.length; i++) if (stored[i] !== values[i]) return false;
  return true;
}

/** Pages live for minutes at most: a larger distance means that the clock was set back, and then what we see now counts. */
function isLate(changedAt: string, at: string): boolean {
  return at < changedAt && Date.parse(changedAt) - Date.parse(at) < LATE_PAGE_MS;
}
