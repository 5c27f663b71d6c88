import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { SEARCH_PARAMETER } from '../contract/endpoints.ts';
import type { SandboxToken } from './access.ts';
import { ORDERS, type Order } from './listing.ts';
import type { LifePace } from './live.ts';
import { PAGING_PARAMETERS, PAGING_STYLES, type PagingStyle } from './paging.ts';
import type { ListSettings } from './service.ts';

export interface SandboxOptions {
  /** 127.0.0.1 */
  host?: string | undefined;
  /** 0: any free port. */
  port?: number | undefined;
  tokens?: readonly SandboxToken[] | undefined;
  /** The query parameter that can carry the token; `token`. */
  authParam?: string | undefined;
  seed?: number | undefined;
  posts?: number | undefined;
  /** When the seeded history ends; a fixed day, so that a seed gives the same bytes at any time. */
  referenceTime?: number | undefined;
  /** The days that the seeded history is spread over, in the rhythm of a product in use; two years where it is left out. */
  days?: number | undefined;
  pageSize?: number | undefined;
  paging?: PagingStyle | undefined;
  order?: Order | undefined;
  /** The data file. Without it the posts are in memory. An existing file keeps its posts. */
  data?: string | undefined;
  /** Whether people use the service while it runs; a second apart, and busily, unless told otherwise. */
  live?: boolean | { everyMs: number; pace?: LifePace } | undefined;
  clock?: Clock | undefined;
}

export const DEFAULT_TOKEN: SandboxToken = {
  token: 'sandbox',
  email: 'owner@example.com',
  name: 'Sandbox Owner',
};

export function listSettings(options: SandboxOptions): ListSettings {
  const { paging = 'url', pageSize = 100, authParam = 'token' } = options;
  return { paging, pageSize, authParam };
}

/** Refuses what cannot work, in words that also suit a flag of the command line. */
export function checkOptions(options: SandboxOptions): void {
  whole('port', options.port, 0, 65_535);
  whole('seed', options.seed, 0, 2 ** 32 - 1);
  whole('posts', options.posts, 0, 10_000_000);
  whole('page size', options.pageSize, 1, 10_000);
  refuseUnknownWord('paging', options.paging, PAGING_STYLES);
  refuseUnknownWord('order', options.order, ORDERS);
  const { authParam } = options;
  const taken = [SEARCH_PARAMETER, ...PAGING_PARAMETERS];
  if (authParam !== undefined && (authParam.trim() === '' || taken.includes(authParam))) {
    throw new AppError('usage', `the token's parameter cannot be blank or one of ${taken.join(', ')}`);
  }
}

export function refuseUnknownWord(what: string, value: string | undefined, allowed: readonly string[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw new AppError('usage', `${what} "${value}" is not known; it can be ${allowed.join(', ')}`);
}

function whole(what: string, value: number | undefined, least: number, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return;
  throw new AppError('usage', `${what} must be a whole number from ${least} to ${most}`);
}

/** Refuses a token in words that do not show it. */
export function checkToken({ token, email }: SandboxToken): void {
  if (!/^\S+$/.test(token)) throw new AppError('usage', 'a token cannot be empty or hold spaces');
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw new AppError('usage', `the owner of a token needs an e-mail address, not "${email}"`);
  }
}
