import type { Secret } from '../base/secret.ts';
import {
  type Comment,
  type Decoded,
  decodeComment,
  decodePost,
  type Post,
  problemOf,
} from '../contract/decode.ts';
import type { Operation, Resource } from '../contract/endpoints.ts';
import { Envelope, type WireOf } from '../contract/entities.ts';
import { Failure } from './failure.ts';

/** A row that did not decode. */
export interface Reject {
  /** Its place in the page, from 0. */
  index: number;
  /** Its id, where at least that can be told. */
  id: number | null;
  reason: string;
  /** The row as JSON text, cut at 64 KiB, the token masked. */
  body: string;
}

export interface Page<T> {
  rows: T[];
  rejects: Reject[];
  /** 1, 2, 3… in its walk. */
  number: number;
  /** How to read this page again; the empty text for the first. It can be stored and holds no token. */
  cursor: string;
  /** The cursor of the following page, null at the explicit end. */
  next: string | null;
  /** The upstream's clock by its `Date` header, in milliseconds since the epoch. */
  serverTime: number | null;
  /** When the page had arrived, on our own clock; pages fetched ahead are worked on later. */
  receivedAt: number;
  /** The size of the body, decompressed. */
  bytes: number;
}

/** A page that has arrived but whose rows nobody has looked at: the following one can already be asked for. */
export interface Arrived<T> extends Omit<Page<T>, 'rows' | 'rejects'> {
  decode(): Pick<Page<T>, 'rows' | 'rejects'>;
}

export function opened<T>({ decode, ...page }: Arrived<T>): Page<T> {
  return { ...page, ...decode() };
}

export interface List<T> {
  name: Resource;
  operation: Operation;
  decode: (raw: unknown) => Decoded<T>;
}

export const LISTS: { posts: List<Post>; comments: List<Comment> } = {
  posts: { name: 'posts', operation: 'listPosts', decode: decodePost },
  comments: { name: 'comments', operation: 'listComments', decode: decodeComment },
};

export type RowOf<R extends Resource> = R extends 'posts' ? Post : Comment;

export interface Content {
  next: unknown;
  results: unknown[];
}

/** The list envelope, whole: a page without one of its fields is no page. */
export function openEnvelope(json: unknown, maxRows: number): Content {
  const problem = problemOf(json, Envelope);
  if (problem !== null) throw new Failure('protocol', `the answer is no list envelope: ${problem}`);
  const { next, results } = json as WireOf<typeof Envelope>;
  return { next, results: checkRows(results ?? [], maxRows) };
}

export function checkRows(rows: unknown[], maxRows: number): unknown[] {
  if (rows.length <= maxRows) return rows;
  throw new Failure('protocol', `the answer has ${rows.length} rows; ${maxRows} are allowed`);
}

export function decodeRows<T>(
  raws: unknown[],
  decode: List<T>['decode'],
  secret: Secret,
): { rows: T[]; rejects: Reject[] } {
  const rows: T[] = [];
  const rejects: Reject[] = [];
  for (const [index, raw] of raws.entries()) {
    const decoded = decode(raw);
    if (decoded.ok) rows.push(decoded.row);
    else
      rejects.push({ index, id: idOf(raw), reason: secret.mask(decoded.reason), body: textOf(raw, secret) });
  }
  return { rows, rejects };
}

function idOf(raw: unknown): number | null {
  const id: unknown = Reflect.get(Object(raw), 'id');
  return Number.isSafeInteger(id) ? (id as number) : null;
}

const BODY_LIMIT = 64 * 1024;

function textOf(raw: unknown, secret: Secret): string {
  const text = Buffer.from(secret.mask(stringify(raw)));
  if (text.length <= BODY_LIMIT) return text.toString();
  // In streaming mode a character cut in two is left out instead of becoming a replacement mark.
  return new TextDecoder().decode(text.subarray(0, BODY_LIMIT), { stream: true });
}

/** Parsing copes with any depth of nesting, printing does not. */
function stringify(raw: unknown): string {
  try {
    return JSON.stringify(raw);
  } catch {
    return '"a value nested too deeply to print"';
  }
}
