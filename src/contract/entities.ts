import { z } from 'zod';
import { isDateTime } from './datetime.ts';

/**
 * The resources of the feedback API, once: client, sandbox, replica and tests all speak through these schemas.
 * They are loose: a field nobody documented is kept, never dropped.
 */

/** Lone surrogates would be replaced by U+FFFD on their way into SQLite: a silent change, so they are refused. */
const exactText = z.string().refine((s) => s.isWellFormed(), { error: 'has a lone surrogate' });
/** In rows decode.ts refuses them, while it goes over the fields anyway: a refinement on each text took a third of decoding. */
const text = z.string();
/** Beyond 2^53 - 1 a JSON number has already been rounded when we see it: an error, never a changed id. */
const integer = z.int({
  error: ({ input }) =>
    input === undefined
      ? 'is missing'
      : typeof input === 'number' && !Number.isSafeInteger(Math.trunc(input))
        ? 'is beyond 2^53 - 1'
        : 'is not an integer',
});
const id = integer.min(0, { error: 'is negative' });
const datetime = z.string().refine(isDateTime, { error: 'is not an ISO 8601 date and time' });

export const User = z.looseObject({
  id,
  // The service keeps people it knows little about (imported, anonymised): null is a value, absence is not.
  email: text.nullable(),
  name: text.nullable(),
  alias: text.nullable(),
  registered: datetime.nullable(),
  is_admin: z.boolean(),
  is_team: z.boolean(),
});

export const Board = z.looseObject({ id, name: text, url: text });

export const Status = z.looseObject({ id, name: text, color: text });

export const Post = z.looseObject({
  id,
  title: text,
  content: text,
  url: text,
  creator: User,
  board: Board,
  status: Status,
  votes_count: integer,
  created: datetime,
  comments_count: integer,
});

export const PostReference = z.looseObject({ id, title: text, url: text });

export const Comment = z.looseObject({
  id,
  // Only `reply` is documented; other kinds exist and are kept as they come.
  kind: text,
  // Null for an ordinary reply; what else it can be is not documented, so anything is kept.
  status: z.unknown(),
  likes_count: integer,
  created: datetime,
  highlighted: z.boolean(),
  internal: z.boolean(),
  content: text,
  post: PostReference,
  creator: User,
});

/** `next` must be present: its explicit null is the only end of a list. What else it holds is for the paginator. */
export const Envelope = z.looseObject({
  next: z.unknown().refine((value) => value !== undefined, { error: 'is missing' }),
  previous: z.unknown().optional(),
  results: z.array(z.unknown()).nullable(),
});

export const NewPost = z.object({ board: exactText, title: exactText, content: exactText });
export const NewPostAsUser = NewPost.extend({ email: exactText, full_name: exactText });
export const Created = z.looseObject({
  status: exactText.optional(),
  post_id: id,
  url: exactText.optional(),
});

export type UserWire = z.infer<typeof User>;
export type BoardWire = z.infer<typeof Board>;
export type StatusWire = z.infer<typeof Status>;
export type PostWire = z.infer<typeof Post>;
export type PostReferenceWire = z.infer<typeof PostReference>;
export type CommentWire = z.infer<typeof Comment>;
export type NewPost = z.infer<typeof NewPost>;
export type NewPostAsUser = z.infer<typeof NewPostAsUser>;
