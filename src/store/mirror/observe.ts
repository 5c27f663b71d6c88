import { createHash } from 'node:crypto';
import type { Board, PostReference, Status, User } from '../../contract/decode.ts';
import { RESOURCES, type Resource } from '../../contract/endpoints.ts';
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

/** Returns a function that stores what a page of a list carried and says how many rows that changed. */
export function entityObserver(db: Db): (resource: Resource, observed: Observed, at: string) => number {
  const [users, boards, statuses, references] = [
    userTable(db),
    boardTable(db),
    statusTable(db),
    referenceTable(db),
  ];
  const tables = [users, boards, statuses, references];
  const views = userViews(db, users);
  // A row tells when its values changed, not when they were last seen to be the same: that is known from these pages only.
  const recent: { at: string; observed: Observed }[] = [];
  const isUntouched = otherWriters(db);
  return (resource, observed, at) => {
    if (!isUntouched()) for (const { known } of tables) for (const list of RESOURCES) known[list].clear();
    const newer = recent.filter((page) => isLate(page.at, at)).map((page) => page.observed);
    recent.push({ at, observed });
    if (recent.length > RECENT_PAGES) recent.shift();
    const seen = { resource, at };
    return (
      observe(users, observed.users, seen, (id) => newer.some((page) => page.users.has(id)), views) +
      observe(boards, observed.boards, seen, (id) => newer.some((page) => page.boards.has(id))) +
      observe(statuses, observed.statuses, seen, (id) => newer.some((page) => page.statuses.has(id))) +
      observe(references, observed.references, seen, (id) => newer.some((page) => page.references.has(id)))
    );
  };
}

function observe<T extends Entity>(
  table: Table<T>,
  entities: Map<number, T>,
  { resource, at }: { resource: Resource; at: string },
  isSeenSince: (id: number) => boolean,
  views?: Views<T>,
): number {
  let changes = 0;
  for (const entity of entities.values()) {
    if (isKnown(table.known[resource], entity)) continue;
    const stored = table.find.get(entity.id);
    const isSame = stored !== undefined && table.isSame(stored, table.values(entity));
    if (isSame) views?.agrees(resource, entity);
    if (isSame || (stored && views?.isOld(resource, entity))) {
      remember(table.known[resource], entity);
      continue;
    }
    if (stored && (isLate(stored.at(-1) as string, at) || isSeenSince(entity.id))) continue;
    for (const list of RESOURCES) table.known[list].delete(entity.id);
    if (stored) views?.replaces(resource, entity, stored);
    if (stored) table.update(entity, at);
    else table.insert(entity, at);
    changes++;
  }
  return changes;
}

/**
 * Both lists show users, and may show one user differently for good: another precision of a time, another alias. Whichever shows
 * something new is believed; the other one may go on to show what it did, which is no change.
 */
interface Views<T> {
  /** Whether this is what the list showed before, when the other one had something newer. */
  isOld(resource: Resource, entity: T): boolean;
  /** The list shows what is stored. */
  agrees(resource: Resource, entity: T): void;
  /** The list shows something new in place of what is stored, which the other list may go on to show. */
  replaces(resource: Resource, entity: T, stored: readonly Value[]): void;
}

function userViews(db: Db, { values }: Table<User>): Views<User> {
  const any = db.prepare<[], number>('SELECT EXISTS (SELECT 1 FROM user_views)').pluck();
  const find = db
    .prepare<[number, string], string>('SELECT digest FROM user_views WHERE user_id = ? AND resource = ?')
    .pluck();
  const put = db.prepare(`
    INSERT INTO user_views (user_id, resource, digest) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET digest = excluded.digest`);
  const remove = db.prepare('DELETE FROM user_views WHERE user_id = ? AND resource = ?');
  return {
    isOld: (resource, user) => find.get(user.id, resource) === digestOf(values(user)),
    agrees(resource, { id }) {
      if (any.get()) remove.run(id, resource);
    },
    replaces(resource, user, stored) {
      remove.run(user.id, resource);
      const other = resource === 'posts' ? 'comments' : 'posts';
      put.run(user.id, other, digestOf(stored.slice(0, values(user).length)));
    },
  };
}

function digestOf(values: readonly Value[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 22);
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

function isKnown<T extends Entity>(known: Map<number, T>, entity: T): boolean {
  const last = known.get(entity.id);
  if (!last) return false;
  for (const key in entity) if (entity[key] !== last[key]) return false;
  return true;
}

/** Only what needed no write: what this transaction writes may still be rolled back. */
function remember<T extends Entity>(known: Map<number, T>, entity: T): void {
  if (known.size >= KNOWN_ENTITIES) known.clear();
  known.set(entity.id, entity);
}

/** Pages live for minutes at most: a larger distance means that the clock was set back, and then what we see now counts. */
function isLate(changedAt: string, at: string): boolean {
  return at < changedAt && Date.parse(changedAt) - Date.parse(at) < LATE_PAGE_MS;
}
