import { isLongNumber } from '../base/json.ts';
import { isDateTime } from './datetime.ts';

/**
 * The resources of the feedback API, once: the decoder, the sandbox, the replica, its OpenAPI document and the tests all read these
 * tables. A field that is not in its table is kept as `extra`, never dropped.
 */
export interface FieldRule<T = unknown> {
  is(value: unknown): value is T;
  /** What is wrong with a value that `is` refuses, as a clause without any of the value's own text. */
  problem(value: unknown): string;
  /** The field in JSON Schema. */
  schema: Record<string, unknown>;
  /** Kept as canonical JSON text, because its type is not documented. */
  isAnything?: true;
}

export type Fields = { readonly [name: string]: FieldRule | RowRule };

export interface RowRule<F extends Fields = Fields> {
  /** Its name in the OpenAPI document. */
  name: string;
  fields: F;
}

export function isRow(type: FieldRule | RowRule): type is RowRule {
  return 'fields' in type;
}

export type WireOf<R> =
  R extends RowRule<infer F> ? { [K in keyof F]: F[K] extends FieldRule<infer T> ? T : WireOf<F[K]> } : never;

/** SQLite would keep a lone surrogate as U+FFFD: a silent change, so it is refused. */
const text: FieldRule<string> = {
  is: (value): value is string => typeof value === 'string' && value.isWellFormed(),
  problem: (value) => (typeof value === 'string' ? 'has a lone surrogate' : 'is not of type string'),
  schema: { type: 'string' },
};

const datetime: FieldRule<string> = {
  is: (value): value is string => typeof value === 'string' && isDateTime(value),
  problem: (value) =>
    typeof value === 'string' ? 'is not an ISO 8601 date and time' : 'is not of type string',
  schema: { type: 'string', description: "ISO 8601 date and time, in the upstream's own spelling" },
};

const boolean: FieldRule<boolean> = {
  is: (value) => typeof value === 'boolean',
  problem: () => 'is not of type boolean',
  schema: { type: 'boolean' },
};

/** A number beyond 2^53 - 1 would be rounded: an error, never a changed id. */
const integer: FieldRule<number> = {
  is: (value): value is number => Number.isSafeInteger(value),
  problem: (value) =>
    isLongNumber(value) || (typeof value === 'number' && !Number.isSafeInteger(Math.trunc(value)))
      ? 'is beyond 2^53 - 1'
      : 'is not an integer',
  schema: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
};

const id: FieldRule<number> = {
  is: isId,
  problem: (value) => (integer.is(value) ? 'is negative' : integer.problem(value)),
  schema: { ...integer.schema, minimum: 0 },
};

const anything: FieldRule = {
  is: (_value): _value is unknown => true,
  problem: () => '',
  schema: {},
  isAnything: true,
};

const rows: FieldRule<unknown[]> = {
  is: (value) => Array.isArray(value),
  problem: () => 'is not of type array',
  schema: { type: 'array' },
};

export function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function nullable<T>({ is, problem, schema }: FieldRule<T>): FieldRule<T | null> {
  return {
    is: (value) => value === null || is(value),
    problem,
    schema: { ...schema, type: [schema.type, 'null'] },
  };
}

function described<T>(field: FieldRule<T>, description: string): FieldRule<T> {
  return { ...field, schema: { ...field.schema, description } };
}

function row<F extends Fields>(name: string, fields: F): RowRule<F> {
  return { name, fields };
}

export const USER_ROW = row('User', {
  id,
  // The service keeps people it knows little about (imported, anonymised): null is a value, absence is not.
  email: nullable(text),
  name: nullable(text),
  alias: nullable(text),
  registered: nullable(datetime),
  is_admin: described(boolean, 'true when the user is a company admin'),
  is_team: described(boolean, 'true when the user is a company team member'),
});

export const BOARD_ROW = row('Board', { id, name: text, url: described(text, 'relative URL of the board') });

export const STATUS_ROW = row('Status', { id, name: text, color: described(text, 'hexadecimal colour') });

const postUrl = described(text, 'relative URL of the post');

export const POST_ROW = row('Post', {
  id,
  title: text,
  content: text,
  url: postUrl,
  creator: USER_ROW,
  board: BOARD_ROW,
  status: STATUS_ROW,
  votes_count: integer,
  created: datetime,
  comments_count: integer,
});

export const POST_REFERENCE_ROW = row('PostReference', { id, title: text, url: postUrl });

export const COMMENT_ROW = row('Comment', {
  id,
  // Only `reply` is documented; other kinds exist and are kept as they come.
  kind: described(text, '"reply" for a reply'),
  status: described(anything, 'null for an ordinary reply'),
  likes_count: integer,
  created: datetime,
  highlighted: boolean,
  internal: boolean,
  content: text,
  post: POST_REFERENCE_ROW,
  creator: USER_ROW,
});

/** `next` must be present: its explicit null is the only end of a list. What else it holds is for the paginator. */
export const ENVELOPE = row('Envelope', {
  next: { ...anything, is: (value): value is unknown => value !== undefined },
  results: nullable(rows),
});

const newPost = { board: described(text, 'the short part of the board URL'), title: text, content: text };

export const NEW_POST_ROW = row('NewPost', newPost);

export const NEW_POST_AS_USER_ROW = row('NewPostAsUser', {
  ...newPost,
  email: described(text, 'e-mail address of the customer'),
  full_name: described(text, 'name of the customer, for one who is new'),
});

export type UserWire = WireOf<typeof USER_ROW>;
export type BoardWire = WireOf<typeof BOARD_ROW>;
export type StatusWire = WireOf<typeof STATUS_ROW>;
export type PostWire = WireOf<typeof POST_ROW>;
export type PostReferenceWire = WireOf<typeof POST_REFERENCE_ROW>;
export type CommentWire = WireOf<typeof COMMENT_ROW>;
export type NewPost = WireOf<typeof NEW_POST_ROW>;
export type NewPostAsUser = WireOf<typeof NEW_POST_AS_USER_ROW>;
