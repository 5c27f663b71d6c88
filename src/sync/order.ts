import type { Reject } from '../api/client.ts';
import { toInstant } from '../contract/datetime.ts';
import type { Comment, Post } from '../contract/decode.ts';
import type { Resource } from '../contract/endpoints.ts';
import type { Key, KeyFamily } from '../store/mirror/types.ts';

/**
 * What the pages of a sweep tell about the order of a list. Nothing documents it, and only an order by something that never
 * changes lets a gap mean absence: where a list is sorted by votes or by last activity, a living row moves out of the gap it left.
 */
export interface Evidence {
  /** Direction of neighbours within pages, by each key; 'unread' where it was not looked at from the first page on. */
  id: Direction;
  created: Direction | 'unread';
  numbers: Numbers;
  /** A row without a readable key stood somewhere. */
  unknownRows: boolean;
}

export type Direction = 'none' | 'desc' | 'asc' | 'mixed';

/** For every number that can change: whether it was seen to rise, and to fall, from one row to the next. */
export type Numbers = Record<string, { rises: boolean; falls: boolean }>;

export interface Order {
  by: KeyFamily;
  direction: 'desc' | 'asc';
}

/** A row, or the place of one of which not even the id can be read. Without `numbers` nothing tells that it is a row of this list. */
export type Slot = { id: number; created: string | null; numbers: Record<string, number> | null } | null;

const NUMBERS = { posts: ['votes_count', 'comments_count'], comments: ['likes_count'] } as const;

export function noEvidence(resource: Resource, readCreated: boolean, seen: Numbers | null = null): Evidence {
  const numbers = Object.fromEntries(NUMBERS[resource].map((name) => [name, { rises: false, falls: false }]));
  return {
    id: 'none',
    created: readCreated ? 'none' : 'unread',
    numbers: seen ?? numbers,
    unknownRows: false,
  };
}

/** A page none of whose rows can be read may be a page of something else, and says nothing about the list. */
export function isUnreadable(slots: readonly Slot[]): boolean {
  return slots.length > 0 && slots.every((slot) => slot?.numbers == null);
}

type Rejected = Pick<Reject, 'index' | 'id' | 'body'>;

/** Rows and rejects in the order they stood in the page. */
export function slotsOf(
  resource: Resource,
  { rows, rejects }: { rows: readonly (Post | Comment)[]; rejects: readonly Rejected[] },
): Slot[] {
  const slots: Slot[] = [];
  const rejected = new Map(rejects.map((reject) => [reject.index, reject]));
  for (let row = 0; row < rows.length || rejected.has(slots.length); ) {
    const reject = rejected.get(slots.length);
    if (reject) slots.push(slotOfReject(resource, reject));
    else slots.push(slotOf(rows[row++] as Post | Comment));
  }
  return slots;
}

function slotOf(row: Post | Comment): Slot {
  const numbers =
    'votes_count' in row
      ? { votes_count: row.votes_count, comments_count: row.comments_count }
      : { likes_count: row.likes_count };
  return { id: row.id, created: row.created, numbers };
}

/** A row without a creator, say, still has the numbers that only rows of its list have, and its time. */
function slotOfReject(resource: Resource, { id, body }: Rejected): Slot {
  if (id === null) return null;
  const { created, ...row } = parsed(body);
  const numbers: Record<string, number> = {};
  for (const name of NUMBERS[resource])
    if (Number.isSafeInteger(row[name])) numbers[name] = Number(row[name]);
  return {
    id,
    created: typeof created === 'string' ? created : null,
    numbers: Object.keys(numbers).length === NUMBERS[resource].length ? numbers : null,
  };
}

/** The text of a long row is cut. */
function parsed(body: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

/** The key of a slot, where it has one in this family; an order by id needs no reading of times. */
export function keyOf(slot: Slot | undefined, by: KeyFamily): Key | null {
  if (!slot) return null;
  if (by === 'id') return { created: '', id: slot.id };
  const created = slot.created === null ? null : toInstant(slot.created);
  return created === null ? null : { created, id: slot.id };
}

export function compareKeys(a: Key, b: Key, by: KeyFamily): number {
  if (by === 'created' && a.created !== b.created) return a.created < b.created ? -1 : 1;
  return a.id - b.id;
}

/** The key that decides whether the list is in order: creation time where it is read at all. */
export function byOf({ created }: Evidence): KeyFamily {
  return created === 'unread' ? 'id' : 'created';
}

/** The evidence with what one page adds. A page is one answer, so its neighbours stood next to each other at one moment. */
export function withPage(evidence: Evidence, slots: readonly Slot[]): Evidence {
  const numbers = Object.entries(evidence.numbers).map(([name, seen]) => ({ name, ...seen }));
  // Of one that did both there is nothing left to learn.
  const open = numbers.filter(({ rises, falls }) => !rises || !falls);
  const added = { ...evidence, unknownRows: evidence.unknownRows || isUnreadable(slots) };
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i];
    if (!slot) added.unknownRows = true;
    const before = slots[i - 1];
    if (!slot || !before) continue;
    addKeys(added, before, slot);
    for (const number of open) addNumber(number, before, slot);
  }
  added.numbers = Object.fromEntries(numbers.map(({ name, rises, falls }) => [name, { rises, falls }]));
  return added;
}

/**
 * The evidence with what the place tells where a page follows another one. A list that goes board by board stands in order within pages
 * that end with a board, and begins anew with the next. Where rows moved down between the two requests, some are shown again.
 */
export function withSeam(evidence: Evidence, slots: readonly Slot[], { key, ids }: PageBefore): Evidence {
  if (!key || slots.some((slot) => slot && ids.has(slot.id))) return evidence;
  const slot = slots.find((each) => each !== null);
  const directionBy = <D extends Evidence['created']>(by: KeyFamily, seen: D): D | 'mixed' => {
    const first = keyOf(slot, by);
    const step = first ? compareKeys(first, key, by) : 0;
    return (seen === 'desc' && step > 0) || (seen === 'asc' && step < 0) ? 'mixed' : seen;
  };
  return {
    ...evidence,
    id: directionBy('id', evidence.id),
    created: directionBy('created', evidence.created),
  };
}

/** The key of its last row, and all its ids. */
export interface PageBefore {
  key: Key | null;
  ids: ReadonlySet<number>;
}

type Row = NonNullable<Slot>;

function addKeys(evidence: Evidence, before: Row, slot: Row): void {
  evidence.id = merge(evidence.id, slot.id - before.id);
  if (evidence.created === 'unread') return;
  const [a, b] = [keyOf(before, 'created'), keyOf(slot, 'created')];
  if (a && b) evidence.created = merge(evidence.created, compareKeys(b, a, 'created'));
}

function addNumber(seen: { name: string; rises: boolean; falls: boolean }, before: Row, slot: Row): void {
  if (!before.numbers || !slot.numbers) return;
  const step = (slot.numbers[seen.name] ?? 0) - (before.numbers[seen.name] ?? 0);
  if (step > 0) seen.rises = true;
  if (step < 0) seen.falls = true;
}

function merge(direction: Direction, step: number): Direction {
  // The same row twice in a row, as a careless join upstream makes it: that says nothing about the order.
  if (step === 0) return direction;
  const seen = step > 0 ? 'asc' : 'desc';
  return direction === 'none' || direction === seen ? seen : 'mixed';
}

/** The order this evidence speaks for; the known one where no page had two rows; null where there is none. */
export function orderFrom(evidence: Evidence, known: Order | null): Order | null {
  // Times are read only where ids were found out of order before; if they are in order, they are what counts.
  const by: KeyFamily = evidence.created === 'desc' || evidence.created === 'asc' ? 'created' : 'id';
  const direction = evidence[by];
  if (direction === 'none') return known;
  return direction === 'desc' || direction === 'asc' ? { by, direction } : null;
}

export function isSameOrder(a: Order | null, b: Order | null): boolean {
  return a?.by === b?.by && a?.direction === b?.direction;
}

/**
 * A number that only rises or only falls along the list: the list may well be sorted by it, and by the key only as long as nobody votes.
 * A number that is the same everywhere is no such danger: the first row to differ would jump to the start, where it is out of order.
 */
export function shadowOf({ numbers }: Evidence): string | null {
  return Object.entries(numbers).find(([, { rises, falls }]) => rises !== falls)?.[0] ?? null;
}
