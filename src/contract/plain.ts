import { isDateTime } from './datetime.ts';
import type * as wire from './entities.ts';

/**
 * Rows of documented fields only, each just as documented: nearly all of them. The schemas decide about every row and say what is
 * wrong with one, at 3 us a piece; this decides about the plain ones in a fifth of that, and accepts none that the schemas refuse
 * (held by test/contract/plain.test.ts).
 */
type Unchecked<T> = { [K in keyof T as string extends K ? never : K]?: unknown };

export function isPlainPost(raw: unknown): raw is wire.PostWire {
  if (!hasFields(raw, 10)) return false;
  const post = raw as Unchecked<wire.PostWire>;
  return (
    isId(post.id) &&
    isText(post.title) &&
    isText(post.content) &&
    isText(post.url) &&
    isPlainUser(post.creator) &&
    isPlainBoard(post.board) &&
    isPlainStatus(post.status) &&
    Number.isSafeInteger(post.votes_count) &&
    isTime(post.created) &&
    Number.isSafeInteger(post.comments_count)
  );
}

/** An ordinary reply: a status other than null may be anything, so those go the long way. */
export function isPlainComment(raw: unknown): raw is wire.CommentWire {
  if (!hasFields(raw, 10)) return false;
  const comment = raw as Unchecked<wire.CommentWire>;
  return (
    isId(comment.id) &&
    isText(comment.kind) &&
    comment.status === null &&
    Number.isSafeInteger(comment.likes_count) &&
    isTime(comment.created) &&
    typeof comment.highlighted === 'boolean' &&
    typeof comment.internal === 'boolean' &&
    isText(comment.content) &&
    isPlainReference(comment.post) &&
    isPlainUser(comment.creator)
  );
}

/** A page with rows; one whose results are null is rare enough for the long way. */
export function isPlainEnvelope(raw: unknown): raw is { next: unknown; results: unknown[] } {
  if (typeof raw !== 'object' || raw === null) return false;
  const { next, results } = raw as { next?: unknown; results?: unknown };
  return next !== undefined && Array.isArray(results) && !Array.isArray(raw);
}

function isPlainUser(raw: unknown): boolean {
  if (!hasFields(raw, 7)) return false;
  const user = raw as Unchecked<wire.UserWire>;
  return (
    isId(user.id) &&
    (user.email === null || isText(user.email)) &&
    (user.name === null || isText(user.name)) &&
    (user.alias === null || isText(user.alias)) &&
    (user.registered === null || isTime(user.registered)) &&
    typeof user.is_admin === 'boolean' &&
    typeof user.is_team === 'boolean'
  );
}

function isPlainBoard(raw: unknown): boolean {
  if (!hasFields(raw, 3)) return false;
  const board = raw as Unchecked<wire.BoardWire>;
  return isId(board.id) && isText(board.name) && isText(board.url);
}

function isPlainStatus(raw: unknown): boolean {
  if (!hasFields(raw, 3)) return false;
  const status = raw as Unchecked<wire.StatusWire>;
  return isId(status.id) && isText(status.name) && isText(status.color);
}

function isPlainReference(raw: unknown): boolean {
  if (!hasFields(raw, 3)) return false;
  const post = raw as Unchecked<wire.PostReferenceWire>;
  return isId(post.id) && isText(post.title) && isText(post.url);
}

/** As many as are documented: where each of those is then found, there is no other. */
function hasFields(raw: unknown, count: number): boolean {
  return typeof raw === 'object' && raw !== null && Object.keys(raw).length === count;
}

export function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed();
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && isDateTime(value);
}
