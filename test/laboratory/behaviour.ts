import { AppError } from '../../src/base/errors.ts';
import type { Resource } from '../../src/contract/endpoints.ts';
import type { CommentWire, PostWire, UserWire } from '../../src/contract/entities.ts';
import type { Order } from '../../src/sandbox/listing.ts';
import { refuseUnknownWord } from '../../src/sandbox/options.ts';
import { stamp } from '../../src/sandbox/wire.ts';
import { checkRewrites } from './rewrite.ts';

const CREATORS = ['customer', 'owner'] as const;
const CREATED_FORMS = ['exact', 'second', 'day'] as const;
const TIME_FORMS = ['micro', 'milli', 'second', 'offset'] as const;

/**
 * The ways in which services differ where the API says nothing. Faults pass; these stay. Each may be changed while the sandbox runs, and
 * holds from the next request on.
 */
export interface Behaviour {
  /** How the words of a new post are changed before they are kept: kinds, one after the other, or `all` for any one of them. */
  rewrite: readonly string[];
  /** `ada+news@example.com` is `ada@example.com`. */
  foldAddresses: boolean;
  /** Who is shown as the creator of a post made for a customer. */
  creator: (typeof CREATORS)[number];
  /** Whether a create may name its board by the id. */
  boardIds: boolean;
  /** The share of new posts that are put on another board than they were meant for. */
  movePosts: number;
  /** What a new post says of its time: the truth, the whole second or day, or so many milliseconds earlier. */
  created: (typeof CREATED_FORMS)[number] | number;
  order: Order;
  /** How the posts list writes times. The comments list always has microseconds. */
  postTimes: (typeof TIME_FORMS)[number];
  /** Fields of people that the comments list shows otherwise than the posts list does. */
  commentUsers: readonly UserField[];
}

export type BehaviourOptions = { [K in keyof Behaviour]?: Behaviour[K] | undefined };

const DEFAULTS: Behaviour = {
  rewrite: [],
  foldAddresses: false,
  creator: 'customer',
  boardIds: false,
  movePosts: 0,
  created: 'exact',
  order: 'newest',
  postTimes: 'micro',
  commentUsers: [],
};

export function behaviourOf(options: BehaviourOptions): Behaviour {
  const given = Object.keys(DEFAULTS)
    .map((name) => [name, options[name as keyof Behaviour]] as const)
    .filter(([, value]) => value !== undefined);
  return { ...DEFAULTS, ...(Object.fromEntries(given) as Partial<Behaviour>) };
}

export function checkBehaviour(options: BehaviourOptions): void {
  const { rewrite, creator, movePosts, created, postTimes, commentUsers } = options;
  checkRewrites(rewrite ?? []);
  refuseUnknownWord('creator', creator, CREATORS);
  refuseUnknownWord('post times', postTimes, TIME_FORMS);
  if (typeof created === 'string') refuseUnknownWord('created', created, CREATED_FORMS);
  for (const field of commentUsers ?? []) refuseUnknownWord('comment users', field, USER_FIELDS);
  if (movePosts !== undefined && !(movePosts >= 0 && movePosts <= 1)) {
    throw new AppError('usage', 'the share of moved posts must be a number from 0 to 1');
  }
}

const DAY_MS = 86_400_000;

/** The time that a post made now says it was made at. */
export function createdAt(now: number, created: Behaviour['created']): number {
  if (typeof created === 'number') return now - created;
  if (created === 'exact') return now;
  const unit = created === 'day' ? DAY_MS : 1000;
  return Math.floor(now / unit) * unit;
}

export function folded(email: string): string {
  return email.replace(/\+[^@]*(?=@)/, '');
}

/** A row as the list of this service shows it. */
export function shown<T extends PostWire | CommentWire>(row: T, resource: Resource, behaviour: Behaviour): T {
  const { postTimes, commentUsers } = behaviour;
  if (resource === 'comments') {
    if (commentUsers.length === 0) return row;
    const changes = commentUsers.map((field) => COMMENT_USER[field](row.creator));
    return { ...row, creator: Object.assign({}, row.creator, ...changes) as UserWire };
  }
  if (postTimes === 'micro') return row;
  const { created, creator } = row;
  const registered = creator.registered && written(creator.registered, postTimes);
  return { ...row, created: written(created, postTimes), creator: { ...creator, registered } };
}

function written(time: string, form: Behaviour['postTimes']): string {
  const [, start, millis, micros] = /^(.*T[\d:]{8})\.(\d{3})(\d{3})Z$/.exec(time) ?? [];
  if (start === undefined) return time;
  if (form === 'second') return `${start}Z`;
  return form === 'milli' ? `${start}.${millis}Z` : `${start}.${millis}${micros}+00:00`;
}

export const USER_FIELDS = ['name', 'alias', 'email', 'registered', 'is_admin', 'is_team', 'extra'] as const;
type UserField = (typeof USER_FIELDS)[number];

/** What the comments list makes of a field of a person. */
const COMMENT_USER: Record<UserField, (user: UserWire) => Record<string, unknown>> = {
  name: ({ name }) => ({ name: name?.replace(/ (\S)\S*$/, ' $1.') ?? null }),
  alias: ({ alias }) => ({ alias: `@${alias}` }),
  email: ({ email }) => ({ email: email?.replace(/^(.).*(?=@)/, '$1***') ?? null }),
  registered: ({ registered }) => ({
    registered: registered && stamp(createdAt(Date.parse(registered), 'day')),
  }),
  is_admin: () => ({ is_admin: false }),
  is_team: () => ({ is_team: false }),
  extra: () => ({ badge: 'commenter' }),
};
