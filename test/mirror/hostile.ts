import type { ClientOptions } from '../../src/api/client.ts';
import type { ErrorCode } from '../../src/base/errors.ts';
import type { PassSummary } from '../../src/mirror/decide/types.ts';
import type { FaultKind, FaultRule } from '../laboratory/fault-kinds.ts';

/** How a sweep of 30 rows in pages of 5 ends that meets the trouble: what it did, or what the person is told. */
export type End =
  | { done: Partial<PassSummary> }
  | {
      fails: ErrorCode;
      says: RegExp;
      /** Where the next sweep begins: an answer without sense at this place may make sense from the start. */
      next?: 'from the start';
    };

export interface Trouble {
  settings?: Omit<FaultRule, 'kind'>;
  limits?: ClientOptions['limits'];
  /** On the second page only. */
  once: End;
  /** From the second page on, whatever is read. */
  always: End;
}

const WHOLE: End = { done: { pages: 6, rows: 30, deleted: 0, suspects: 0, quarantined: 0 } };
/** Long enough for the clean sweeps before and after the trouble, on a busy machine too. */
const SLOW = { idleMs: 1000, pageMs: 2000 };

function unreachable(says: RegExp): Trouble {
  return { once: WHOLE, always: { fails: 'unreachable', says } };
}

function refused(says: RegExp): Trouble {
  const end: End = { fails: 'protocol', says, next: 'from the start' };
  return { once: end, always: end };
}

function unauthorised(says: RegExp): Trouble {
  return { once: { fails: 'unauthorised', says }, always: { fails: 'unauthorised', says } };
}

const circles = /page \d .* failed: .*the list goes in circles/;
const endless = /page \d .* failed: .*pages brought no new id: the list does not end/;

/** Every kind of trouble that concerns lists. */
export const HOSTILE: Partial<Record<FaultKind, Trouble>> = {
  latency: { settings: { ms: 5 }, once: WHOLE, always: WHOLE },
  throttle: { once: WHOLE, always: { fails: 'throttled', says: /3 attempts.*429/ } },
  status: unreachable(/3 attempts.*answered 500/),
  unauthorised: unauthorised(/answered 401/),
  forbidden: unauthorised(/answered 403/),
  redirect: refused(/answered 302/),
  reset: unreachable(/the connection was reset/),
  hang: { ...unreachable(/took too long: nothing arrived/), limits: { ...SLOW, pageMs: 60_000 } },

  'bad-row': { once: { done: { rows: 30, quarantined: 1 } }, always: { done: { rows: 30, quarantined: 5 } } },
  'huge-id': { once: { done: { rows: 30, quarantined: 1 } }, always: { done: { rows: 30, quarantined: 5 } } },
  'duplicate-row': { once: { done: { rows: 31, deleted: 0 } }, always: { done: { rows: 35, deleted: 0 } } },
  'missing-row': {
    once: { done: { rows: 29, deleted: 0 } },
    always: { done: { rows: 25, deleted: 0 } },
  },
  'null-results': {
    once: { done: { pages: 6, rows: 25, deleted: 0 } },
    always: { done: { pages: 6, rows: 5, deleted: 0 } },
  },
  empty: {
    once: WHOLE,
    always: { done: { pages: 2, rows: 5, deleted: 0 } },
  },
  truncated: {
    once: { done: { pages: 2, rows: 10, deleted: 0 } },
    always: { done: { pages: 2, rows: 10, deleted: 0 } },
  },
  stale: { settings: { ms: 1 }, once: WHOLE, always: WHOLE },
  'no-next': refused(/no list envelope: next is missing/),
  'next-loop': refused(circles),
  'next-away': refused(/`next` leads away from 127\.0\.0\.1/),
  'next-shape': refused(/`next` is of type object/),
  'same-page': { once: WHOLE, always: { fails: 'protocol', says: endless, next: 'from the start' } },

  'bad-json': unreachable(/not JSON \(application\/json, \d+ bytes/),
  html: unreachable(/not JSON \(text\/html, \d+ bytes/),
  'not-envelope': refused(/no list envelope: next is missing; results is missing/),
  'bad-utf8': refused(/not valid UTF-8/),
  bomb: refused(/expands to more than 100 times/),
  big: refused(/larger than 16384 KiB/),
  headers: refused(/headers of the answer are larger/),
  encoding: { ...refused(/content encoding/), settings: { name: 'gzip, gzip' } },

  cut: unreachable(/closed before the answer was complete/),
  drip: {
    ...unreachable(/took too long: it was not complete/),
    settings: { ms: 20, bytes: 1 },
    limits: SLOW,
  },
};
