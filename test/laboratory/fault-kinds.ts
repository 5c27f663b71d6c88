import { AppError } from '../../src/base/errors.ts';
import type { Operation } from '../../src/contract/endpoints.ts';

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
type Target = keyof typeof TARGETS;

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

/** One rule in its typed form. The text form says the same in one line. */
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

/**
 * The language of faults: rules separated by `;`, each a kind followed by `key=value` pairs. A value in double
 * quotes, or a part of one, may hold spaces and semicolons.
 */
export function parseFaults(spec: string): FaultRule[] {
  return pieces(spec, ';')
    .filter((text) => text !== '')
    .map((text, index) => parseRule(text, index + 1));
}

/** The typed form goes through the same checks as the text. */
export function checkRule(rule: FaultRule, number: number): FaultRule {
  const fail = complaint(JSON.stringify(rule), number);
  if (!(rule.kind in KINDS))
    fail(`unknown kind "${rule.kind}"; the kinds are ${Object.keys(KINDS).join(', ')}`);
  const on = rule.on ?? kindOf(rule.kind).on;
  if (!(on in TARGETS)) fail(`on=${on} is not known; it can be ${Object.keys(TARGETS).join(', ')}`);
  if (!TARGETS[on].some((operation) => suits(rule.kind, operation))) {
    fail(`${rule.kind} cannot act on ${on}; by default it acts on ${kindOf(rule.kind).on}`);
  }
  return rule;
}

type Fail = (problem: string) => never;

function complaint(text: string, number: number): Fail {
  return (problem) => {
    throw new AppError('usage', `faults, rule ${number} (${text}): ${problem}`);
  };
}

function parseRule(text: string, number: number): FaultRule {
  const fail = complaint(text, number);
  const [name = '', ...pairs] = pieces(text, ' ').filter((piece) => piece !== '');
  if (!Object.hasOwn(KINDS, name)) {
    fail(`unknown kind "${name}"; the kinds are ${Object.keys(KINDS).join(', ')}`);
  }
  const kind = name as FaultKind;
  const rule: FaultRule = { kind };
  for (const pair of pairs) {
    const mark = pair.indexOf('=');
    if (mark < 1) fail(`"${pair}" is not of the form key=value`);
    const [key, value] = settingOf(kind, pair.slice(0, mark), pair.slice(mark + 1));
    const allowed = [...SELECTORS, ...kindOf(kind).takes];
    if (!allowed.includes(key)) fail(`${kind} does not take "${key}"; it takes ${allowed.join(', ')}`);
    Object.assign(
      rule,
      READERS[key]?.(value, (problem) => fail(`${key}=${value} ${problem}`)),
    );
  }
  return checkRule(rule, number);
}

/** `to=` is a selector when it is a number, and where to lead when it is not. */
function settingOf(kind: FaultKind, key: string, value: string): [string, string] {
  const leads = key === 'to' && !/^\d+$/.test(value) && kindOf(kind).takes.includes('target');
  return [leads ? 'target' : key, value];
}

const SELECTORS = ['on', 'nth', 'from', 'to', 'every', 'p', 'times'];

type Reader = (text: string, fail: Fail) => Partial<FaultRule>;

const READERS: Record<string, Reader> = {
  on: (text, fail) => ({ on: oneOf(Object.keys(TARGETS) as Target[], text, fail) }),
  nth: (text, fail) => ({ nth: count(text, fail, 1) }),
  from: (text, fail) => ({ from: count(text, fail, 1) }),
  to: (text, fail) => ({ to: count(text, fail, 1) }),
  every: (text, fail) => ({ every: count(text, fail, 1) }),
  times: (text, fail) => ({ times: count(text, fail, 1) }),
  p: (text, fail) => ({ p: probability(text, fail) }),
  ms: (text, fail) => ({ ms: count(text, fail, 0) }),
  bytes: (text, fail) => ({ bytes: count(text, fail, 1) }),
  row: (text, fail) => ({ row: text === 'any' ? text : count(text, fail, 0) }),
  back: (text, fail) => ({ back: count(text, fail, 0) }),
  code: (text, fail) => ({ code: statusCode(text, fail) }),
  'retry-after': (text) => ({ retryAfter: unquoted(text) }),
  form: (text, fail) => ({ form: oneOf(['seconds', 'date', 'none', 'garbage'], text, fail) }),
  echo: (text, fail) => ({ echo: oneOf(['yes', 'no'], text, fail) === 'yes' }),
  answer: (text, fail) => ({ answer: oneOf(['status', 'reset', 'hang'], text, fail) }),
  target: (text) => ({ target: unquoted(text) }),
  field: (text) => ({ field: unquoted(text) }),
  name: (text) => ({ name: unquoted(text) }),
  value: (text, fail) => ({ value: jsonValue(text, fail) }),
};

function oneOf<T extends string>(allowed: readonly T[], text: string, fail: Fail): T {
  return allowed.find((known) => known === text) ?? fail(`is not known; it can be ${allowed.join(', ')}`);
}

function count(text: string, fail: Fail, least: number): number {
  const value = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least
    ? value
    : fail(`is not a whole number from ${least} up`);
}

function probability(text: string, fail: Fail): number {
  const value = Number(text);
  return text !== '' && value > 0 && value <= 1 ? value : fail('is not a probability above 0 and up to 1');
}

function statusCode(text: string, fail: Fail): number {
  const value = count(text, fail, 0);
  return value >= 200 && value <= 599 ? value : fail('is not a status code from 200 to 599');
}

function jsonValue(text: string, fail: Fail): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fail('is not JSON');
  }
}

function unquoted(text: string): string {
  return /^"(.*)"$/s.exec(text)?.[1] ?? text;
}

/** Splits outside double quotes; a space stands for any white space. */
function pieces(text: string, separator: ';' | ' '): string[] {
  const stop = separator === ';' ? ';' : '\\s';
  const piece = new RegExp(`(?:"(?:[^"\\\\]|\\\\.)*"|[^"${stop}]|")+`, 'g');
  return (text.match(piece) ?? []).map((found) => found.trim());
}
