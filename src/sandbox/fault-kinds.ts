import type { Operation } from '../contract/endpoints.ts';

/** Which requests a rule is about. */
export const TARGETS = {
  posts: ['listPosts'],
  search: ['searchPosts'],
  comments: ['listComments'],
  create: ['createPost'],
  'as-user': ['createPostAsUser'],
  lists: ['listPosts', 'listComments'],
  creates: ['createPost', 'createPostAsUser'],
  all: ['listPosts', 'searchPosts', 'listComments', 'createPost', 'createPostAsUser'],
} as const satisfies Record<string, readonly Operation[]>;
export type Target = keyof typeof TARGETS;

/**
 * When a fault acts: `delay` before anything, `instead` of doing anything, `create` on how a create takes effect,
 * `after` a create took effect, `read` on what a list is read from, `page` on the rows and links of a list, `body` on the finished answer,
 * `send` on how it goes out.
 */
export type Stage = 'delay' | 'instead' | 'create' | 'after' | 'read' | 'page' | 'body' | 'send';

interface Kind {
  stage: Stage;
  on: Target;
  /** The settings it takes beside the selectors. */
  takes: readonly string[];
}

const retry = ['code', 'retry-after', 'echo'] as const;

export const KINDS = {
  latency: { stage: 'delay', on: 'all', takes: ['ms'] },

  throttle: { stage: 'instead', on: 'all', takes: ['form', 'retry-after'] },
  status: { stage: 'instead', on: 'all', takes: retry },
  unauthorised: { stage: 'instead', on: 'all', takes: [] },
  forbidden: { stage: 'instead', on: 'all', takes: [] },
  redirect: { stage: 'instead', on: 'all', takes: ['code', 'target'] },
  reset: { stage: 'instead', on: 'all', takes: [] },
  hang: { stage: 'instead', on: 'all', takes: ['ms'] },

  'late-commit': { stage: 'create', on: 'creates', takes: ['ms', 'code', 'answer'] },
  'late-visible': { stage: 'create', on: 'creates', takes: ['ms'] },

  'status-after': { stage: 'after', on: 'creates', takes: retry },
  'reset-after': { stage: 'after', on: 'creates', takes: [] },
  'hang-after': { stage: 'after', on: 'creates', takes: ['ms'] },
  'no-id': { stage: 'after', on: 'creates', takes: [] },

  stale: { stage: 'read', on: 'lists', takes: ['ms'] },

  'bad-row': { stage: 'page', on: 'lists', takes: ['field', 'row'] },
  'huge-id': { stage: 'page', on: 'lists', takes: ['row'] },
  'duplicate-row': { stage: 'page', on: 'lists', takes: ['row'] },
  'missing-row': { stage: 'page', on: 'lists', takes: ['row'] },
  'null-results': { stage: 'page', on: 'lists', takes: [] },
  empty: { stage: 'page', on: 'lists', takes: [] },
  truncated: { stage: 'page', on: 'lists', takes: [] },
  'no-next': { stage: 'page', on: 'lists', takes: [] },
  'next-loop': { stage: 'page', on: 'lists', takes: ['back'] },
  'next-away': { stage: 'page', on: 'lists', takes: ['target'] },
  'next-shape': { stage: 'page', on: 'lists', takes: ['value'] },
  'same-page': { stage: 'page', on: 'lists', takes: [] },

  'bad-json': { stage: 'body', on: 'all', takes: [] },
  html: { stage: 'body', on: 'all', takes: [] },
  'not-envelope': { stage: 'body', on: 'lists', takes: [] },
  'bad-utf8': { stage: 'body', on: 'all', takes: [] },
  bomb: { stage: 'body', on: 'all', takes: [] },
  big: { stage: 'body', on: 'all', takes: [] },
  headers: { stage: 'body', on: 'all', takes: [] },
  encoding: { stage: 'body', on: 'all', takes: ['name'] },

  cut: { stage: 'send', on: 'all', takes: [] },
  drip: { stage: 'send', on: 'all', takes: ['ms', 'bytes'] },
} as const satisfies Record<string, Kind>;

export type FaultKind = keyof typeof KINDS;

export function kindOf(name: FaultKind): Kind {
  return KINDS[name];
}

const LISTING: readonly Operation[] = ['listPosts', 'searchPosts', 'listComments'];

/** Some kinds make sense for some requests only: a create cannot lose a row, a list cannot be committed late. */
export function suits(kind: FaultKind, operation: Operation): boolean {
  const { stage } = kindOf(kind);
  if (stage === 'page' || stage === 'read') return LISTING.includes(operation);
  if (stage === 'create' || stage === 'after') return !LISTING.includes(operation);
  return true;
}

/** One rule in its typed form. The text form of `--faults` says the same in one line. */
export interface FaultRule {
  kind: FaultKind;
  on?: Target;
  /** Only the nth matching request; or from the nth, up to the nth, every nth. */
  nth?: number;
  from?: number;
  to?: number;
  every?: number;
  /** With this probability. */
  p?: number;
  /** At most so many times. */
  times?: number;

  ms?: number;
  code?: number;
  retryAfter?: number | string;
  form?: 'seconds' | 'date' | 'none' | 'garbage';
  /** Send the request's own headers back in the body. */
  echo?: boolean;
  /** How a late commit is answered. */
  answer?: 'status' | 'reset' | 'hang';
  /** Where a redirect or a `next` leads. */
  target?: string;
  /** The field that gets a wrong type, with dots for a field within. */
  field?: string;
  /** Which row of the page, from 0, or a random one; the middle one when left out. */
  row?: number | 'any';
  /** How many pages back `next` leads. */
  back?: number;
  /** What `next` holds. */
  value?: unknown;
  /** The content-encoding claimed. */
  name?: string;
  bytes?: number;
}
