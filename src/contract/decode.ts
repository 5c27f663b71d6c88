import type { z } from 'zod';
import type * as wire from './entities.ts';
import { canonicalJson, canonicalObject, UnstorableJson } from './json.ts';
import { isPlainComment, isPlainPost } from './plain.ts';
import { schemas } from './schemas.ts';

/** What the upstream sent beyond its documented fields, as canonical JSON text; null when there was nothing. */
export type Extra = string | null;

type Documented<W extends Record<string, unknown>> = { [K in keyof W as string extends K ? never : K]: W[K] };
type Entity<W extends Record<string, unknown>> = Documented<W> & { extra: Extra };

export type User = Entity<wire.UserWire>;
export type Board = Entity<wire.BoardWire>;
export type Status = Entity<wire.StatusWire>;
export type PostReference = Entity<wire.PostReferenceWire>;
export type Post = Omit<Entity<wire.PostWire>, 'creator' | 'board' | 'status'> & {
  creator: User;
  board: Board;
  status: Status;
};
/** `status` of a comment may be anything: it is kept as canonical JSON text, null staying null. */
export type Comment = Omit<Entity<wire.CommentWire>, 'creator' | 'post' | 'status'> & {
  creator: User;
  post: PostReference;
  status: string | null;
};

export type Decoded<T> = { ok: true; row: T } | { ok: false; reason: string };

export const decodePost = decoder(
  () => schemas().Post,
  isPlainPost,
  (raw, extra): Post => ({
    id: raw.id,
    title: raw.title,
    content: raw.content,
    url: raw.url,
    creator: toUser(raw.creator, extra),
    board: toBoard(raw.board, extra),
    status: toStatus(raw.status, extra),
    votes_count: raw.votes_count,
    created: raw.created,
    comments_count: raw.comments_count,
    extra: extra(raw, postFields),
  }),
);

export const decodeComment = decoder(
  () => schemas().Comment,
  isPlainComment,
  (raw, extra): Comment => ({
    id: raw.id,
    kind: raw.kind,
    status:
      raw.status === null || raw.status === undefined
        ? null
        : named('status', () => canonicalJson(raw.status)),
    likes_count: raw.likes_count,
    created: raw.created,
    highlighted: raw.highlighted,
    internal: raw.internal,
    content: raw.content,
    post: toReference(raw.post, extra),
    creator: toUser(raw.creator, extra),
    extra: extra(raw, commentFields),
  }),
);

const postFields = documented('Post');
const commentFields = documented('Comment');
const userFields = documented('User', 'creator');
const boardFields = documented('Board', 'board');
const statusFields = documented('Status', 'status');
const referenceFields = documented('PostReference', 'post');

type ReadExtra = (raw: object, fields: Documentation) => Extra;

const noExtra: ReadExtra = () => null;

function toUser(raw: wire.UserWire, extra: ReadExtra): User {
  const { id, email, name, alias, registered, is_admin, is_team } = raw;
  return { id, email, name, alias, registered, is_admin, is_team, extra: extra(raw, userFields) };
}

function toBoard(raw: wire.BoardWire, extra: ReadExtra): Board {
  return { id: raw.id, name: raw.name, url: raw.url, extra: extra(raw, boardFields) };
}

function toReference(raw: wire.PostReferenceWire, extra: ReadExtra): PostReference {
  return { id: raw.id, title: raw.title, url: raw.url, extra: extra(raw, referenceFields) };
}

function toStatus(raw: wire.StatusWire, extra: ReadExtra): Status {
  return { id: raw.id, name: raw.name, color: raw.color, extra: extra(raw, statusFields) };
}

interface Documentation {
  names(): ReadonlySet<string>;
  /** Which part of the row this is, for reasons; empty for the row itself. */
  part: string;
}

type Name = 'Post' | 'Comment' | 'User' | 'Board' | 'Status' | 'PostReference';

function documented(schema: Name, part = ''): Documentation {
  let names: ReadonlySet<string> | undefined;
  return {
    part,
    names: () => {
      names ??= new Set(Object.keys(schemas()[schema].shape));
      return names;
    },
  };
}

/** Goes over every field once: what is documented must be exact text, what is not is kept. */
function extraOf(raw: object, { names, part }: Documentation): Extra {
  const documentedNames = names();
  let unknown: [string, unknown][] | undefined;
  for (const key in raw) {
    const value = (raw as Record<string, unknown>)[key];
    if (!documentedNames.has(key)) {
      unknown ??= [];
      unknown.push([key, value]);
    } else if (typeof value === 'string' && !value.isWellFormed()) {
      throw new UnstorableJson(`${part === '' ? key : `${part}.${key}`} has a lone surrogate`);
    }
  }
  if (!unknown) return null;
  const members = unknown;
  return named(`an undocumented field${part === '' ? '' : ` of ${part}`}`, () => canonicalObject(members));
}

/** Says what could not be kept. The name of an undocumented field is the upstream's own text, so it stays out of the reason. */
function named(what: string, write: () => string): string {
  try {
    return write();
  } catch (error) {
    throw error instanceof UnstorableJson ? new UnstorableJson(`${what} ${error.message}`) : error;
  }
}

/**
 * The schemas check and change nothing, so the row is shaped from what was received and not from zod's copy of it,
 * which would lose a field named `__proto__`.
 */
function decoder<S extends z.ZodType, T>(
  schema: () => S,
  isPlain: (raw: unknown) => boolean,
  shape: (raw: z.output<S>, extra: ReadExtra) => T,
): (raw: unknown) => Decoded<T> {
  return (raw) => {
    if (isPlain(raw)) return { ok: true, row: shape(raw as z.output<S>, noExtra) };
    const checked = schema().safeParse(raw);
    if (!checked.success) return { ok: false, reason: explain(checked.error) };
    try {
      return { ok: true, row: shape(raw as z.output<S>, extraOf) };
    } catch (error) {
      if (error instanceof UnstorableJson) return { ok: false, reason: error.message };
      throw error;
    }
  };
}

/** `creator.email is not a string; votes_count is missing`, without a word of the row's own content. */
export function explain(error: z.ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.map(String).join('.') || 'the value'} ${problem(issue)}`)
    .slice(0, 5)
    .join('; ');
}

function problem(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_type') return issue.message;
  return issue.message.endsWith('received undefined')
    ? 'is missing'
    : issue.message.startsWith('is ')
      ? issue.message
      : `is not of type ${issue.expected}`;
}
