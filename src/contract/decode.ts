import * as entities from './entities.ts';
import { type FieldRule, type Fields, isRow, type RowRule } from './entities.ts';
import { canonicalJson, canonicalObject, UnstorableJson } from './json.ts';

/** What the upstream sent beyond its documented fields, as canonical JSON text; null when there was nothing. */
export type Extra = string | null;

type Entity<W> = W & { extra: Extra };

export type User = Entity<entities.UserWire>;
export type Board = Entity<entities.BoardWire>;
export type Status = Entity<entities.StatusWire>;
export type PostReference = Entity<entities.PostReferenceWire>;
export type Post = Omit<Entity<entities.PostWire>, 'creator' | 'board' | 'status'> & {
  creator: User;
  board: Board;
  status: Status;
};
/** `status` of a comment may be anything: it is kept as canonical JSON text, null staying null. */
export type Comment = Omit<Entity<entities.CommentWire>, 'creator' | 'post' | 'status'> & {
  creator: User;
  post: PostReference;
  status: string | null;
};

export type Decoded<T> = { ok: true; row: T } | { ok: false; reason: string };

export const decodePost = decoder<Post>(entities.POST_ROW);
export const decodeComment = decoder<Comment>(entities.COMMENT_ROW);

type Raw = Record<string, unknown>;

function decoder<T>(type: RowRule): (raw: unknown) => Decoded<T> {
  const read = rowReader(type, '');
  return (raw) => {
    try {
      const row = read(raw);
      return row === REFUSED
        ? { ok: false, reason: problemOf(raw, type) ?? '' }
        : { ok: true, row: row as T };
    } catch (error) {
      if (error instanceof UnstorableJson)
        return { ok: false, reason: problemOf(raw, type) ?? error.message };
      throw error;
    }
  };
}

const REFUSED = Symbol('a value that its table refuses');

type Reader = (raw: unknown) => unknown;

/**
 * Checks a row field by field, and adds what its table does not name as `extra`. The row is a copy as a whole, with only those fields
 * written that change: written one by one they took a twentieth of a sweep.
 */
function rowReader({ fields }: RowRule, part: string): Reader {
  const readers = Object.entries(fields).map(([name, type]) => ({
    name,
    read: fieldReader(type, pathOf(part, name)),
  }));
  const extraOf = extraReader(fields, part);
  return (raw) => {
    if (typeof raw !== 'object' || raw === null) return REFUSED;
    const row: Raw = { ...raw, extra: null };
    let named = 0;
    for (const { name, read } of readers) {
      const given = (raw as Raw)[name];
      const value = read(given);
      if (value === REFUSED) return REFUSED;
      if (given !== undefined) named++;
      if (value !== given) row[name] = value;
    }
    if (Object.keys(raw).length === named) return row;
    const known: Raw = {};
    for (const { name } of readers) known[name] = row[name];
    known.extra = extraOf(raw as Raw);
    return known;
  };
}

function fieldReader(type: FieldRule | RowRule, path: string): Reader {
  if (isRow(type)) return rowReader(type, path);
  if (type.isAnything) return (value) => (value === null ? null : jsonOrNull(value, path));
  return (value) => (type.is(value) ? value : REFUSED);
}

/** What a row has beyond its table. */
function extraReader(fields: Fields, part: string): (raw: Raw) => Extra {
  const names = new Set(Object.keys(fields));
  const what = `an undocumented field${part === '' ? '' : ` of ${part}`}`;
  return (raw) => {
    const unknown: [string, unknown][] = [];
    for (const name in raw) if (!names.has(name)) unknown.push([name, raw[name]]);
    return unknown.length === 0 ? null : named(what, () => canonicalObject(unknown));
  };
}

/** `creator.email is not of type string; votes_count is missing`, without a word of the row's own content; null for a good row. */
export function problemOf(raw: unknown, type: RowRule): string | null {
  const problems = [...problemsOf(raw, type, '')];
  return problems.length === 0 ? null : problems.slice(0, 5).join('; ');
}

function* problemsOf(raw: unknown, { fields }: RowRule, part: string): Generator<string> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    yield `${part || 'the value'} ${raw === undefined ? 'is missing' : 'is not of type object'}`;
    return;
  }
  for (const [name, type] of Object.entries(fields)) {
    const value = (raw as Raw)[name];
    const path = pathOf(part, name);
    if (isRow(type)) yield* problemsOf(value, type, path);
    else if (!type.is(value)) yield `${path} ${value === undefined ? 'is missing' : type.problem(value)}`;
  }
}

function pathOf(part: string, name: string): string {
  return part === '' ? name : `${part}.${name}`;
}

function jsonOrNull(value: unknown, path: string): string | null {
  return value === undefined ? null : named(path, () => canonicalJson(value));
}

/** Says what could not be kept. The name of an undocumented field is the upstream's own text, so it stays out of the reason. */
function named(what: string, write: () => string): string {
  try {
    return write();
  } catch (error) {
    throw error instanceof UnstorableJson ? new UnstorableJson(`${what} ${error.message}`) : error;
  }
}
