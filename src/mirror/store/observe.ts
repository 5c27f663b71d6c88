import type { Board, PostReference, Status, User } from '../../contract/decode.ts';
import { RESOURCES, type Resource } from '../../contract/endpoints.ts';
import type { Db } from '../../db/open.ts';
import { keptUntilWritten, scalar } from '../../db/sql.ts';
import type { ChangeLog } from '../log/change-log.ts';
import {
  boardTable,
  type ColumnValue,
  type Entity,
  referenceTable,
  statusTable,
  type Table,
  userTable,
} from './entity-tables.ts';
import { isLate, type Moments } from './moments.ts';

/**
 * Users, boards, statuses and short forms of posts come inside other rows, from two lists that are walked side by side. Rows may show
 * copies of different age: a name as it was when a comment was written. One copy counts: that of the newest live row, and of a post
 * before a comment; what other rows show is no change. A row that a sweep missed, or that could not be read, shows nothing. A page that a
 * cache kept since before the stored values changed never overwrites them.
 */

/** Entities remembered as they stand in the database: the same people write most of the rows. */
const KNOWN_ENTITIES = 20_000;

/** What a page shows of an entity, and the newest row of the page that shows it. */
export interface ShownEntity<T> {
  entity: T;
  by: number;
}

export interface Observed {
  users: Map<number, ShownEntity<User>>;
  boards: Map<number, ShownEntity<Board>>;
  statuses: Map<number, ShownEntity<Status>>;
  references: Map<number, ShownEntity<PostReference>>;
}

export function entityObserver(db: Db, changes: ChangeLog) {
  const tables = {
    users: userTable(db),
    boards: boardTable(db),
    statuses: statusTable(db),
    references: referenceTable(db),
  };
  const isNewest = newestChecks(db);
  const forget = (): void => {
    for (const { known } of Object.values(tables)) for (const list of RESOURCES) known[list].clear();
  };
  const forgetOlder = keptUntilWritten(db, forget);
  return {
    /** Stores what a page of a list carried. Returns how many entities it wrote. */
    store(resource: Resource, observed: Observed, when: Moments): number {
      forgetOlder();
      const store = <T extends Entity>(
        kind: keyof Observed,
        table: Table<T>,
        shown: Map<number, ShownEntity<T>>,
      ) =>
        observe(table, shown, { resource, ...when, changes }, (id, by) =>
          isNewest[kind](resource, { id, by }),
        );
      return (
        store('users', tables.users, observed.users) +
        store('boards', tables.boards, observed.boards) +
        store('statuses', tables.statuses, observed.statuses) +
        store('references', tables.references, observed.references)
      );
    },
    /** To be called when a transaction was rolled back: what it wrote is not in the database. */
    forget,
  };
}

export function nothingShown(): Observed {
  return { users: new Map(), boards: new Map(), statuses: new Map(), references: new Map() };
}

function observe<T extends Entity>(
  table: Table<T>,
  shown: Map<number, ShownEntity<T>>,
  { resource, changes, ...when }: { resource: Resource; changes: ChangeLog } & Moments,
  counts: (id: number, by: number) => boolean,
): number {
  const { at } = when;
  let written = 0;
  for (const { entity, by } of shown.values()) {
    if (isKnown(table.known[resource], entity)) continue;
    const stored = table.find.get(entity.id);
    if (stored && table.isSame(stored, table.values(entity))) {
      remember(table.known[resource], entity);
      continue;
    }
    if (stored && (isLate(stored.at(-1) as string, when) || !counts(entity.id, by))) continue;
    for (const list of RESOURCES) table.known[list].delete(entity.id);
    if (stored) table.update(entity, at);
    else table.insert(entity, at);
    remember(table.known[resource], entity);
    tell(table, entity, stored, { resource, at, changes });
    written++;
  }
  return written;
}

function tell<T extends Entity>(
  { subject, renamed }: Table<T>,
  entity: T,
  stored: ColumnValue[] | undefined,
  { resource, at, changes }: { resource: Resource; at: string; changes: ChangeLog },
): void {
  // A short form of a post beside a comment: a new one comes with its comment, and another one is a change of that post.
  if (subject === null) {
    if (stored) changes.entity(resource, 'post.updated', at, { id: entity.id });
    return;
  }
  const detail = (stored && renamed?.(stored, entity)) ?? {};
  const facts = { id: entity.id, ...(Object.keys(detail).length > 0 && { detail }) };
  changes.entity(resource, `${subject}.${stored ? 'updated' : 'created'}`, at, facts);
}

interface Copy {
  id: number;
  by: number;
}

/** Whether no live row that is newer than this one shows the entity too. Asked only where the copy differs from what is stored. */
function newestChecks(db: Db): Record<keyof Observed, (resource: Resource, copy: Copy) => boolean> {
  const check = (table: Resource, column: string): ((copy: Copy) => boolean) => {
    const newer = scalar(db)<Copy, number>(`
      SELECT EXISTS (SELECT 1 FROM ${table} t
       WHERE id > $by AND ${column} = $id AND deleted_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM absences WHERE resource = '${table}' AND id = t.id)
         AND NOT EXISTS (SELECT 1 FROM quarantine
                          WHERE resource = '${table}' AND iif(json_valid(body), body ->> 'id', NULL) = t.id))`);
    return (copy) => newer.get(copy) === 0;
  };
  const [posts, comments] = [check('posts', 'creator_id'), check('comments', 'creator_id')];
  const [boards, statuses] = [check('posts', 'board_id'), check('posts', 'status_id')];
  const references = check('comments', 'post_id');
  return {
    users: (resource, copy) =>
      resource === 'posts' ? posts(copy) : posts({ ...copy, by: -1 }) && comments(copy),
    boards: (_, copy) => boards(copy),
    statuses: (_, copy) => statuses(copy),
    references: (_, copy) => references(copy),
  };
}

function isKnown<T extends Entity>(known: Map<number, T>, entity: T): boolean {
  const last = known.get(entity.id);
  if (!last) return false;
  for (const key in entity) if (entity[key] !== last[key]) return false;
  return true;
}

function remember<T extends Entity>(known: Map<number, T>, entity: T): void {
  if (known.size >= KNOWN_ENTITIES) known.clear();
  known.set(entity.id, entity);
}
