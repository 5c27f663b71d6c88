import { durationText, grouped } from '../../text/text.ts';
import type { OutboxReader } from '../store/reads.ts';

/** What is known of how fast rows go out. */
export interface Pace {
  /** Rows that are to be sent. */
  rows: number;
  /** Rows of others that go before them. */
  ahead: number;
  /** What PUSH_PER_MINUTE allows. */
  perMinute: number;
  /** What the import allows for its own rows; null where it sets nothing. */
  ownPerMinute: number | null;
  /** Posts that were confirmed in the last minutes; null where nothing was sent lately. */
  observed: { posts: number; ms: number } | null;
  /** Until when the upstream wants no calls; null where it takes them. */
  closedUntil: number | null;
}

export interface Estimate {
  rows: number;
  perMinute: number;
  ms: number;
  /** When the last of them is sent, in milliseconds since the epoch. */
  until: number;
}

/** How far back the observed rate looks, and how much it must have seen: fewer posts say nothing about a rate. */
export const OBSERVED_MS = 5 * 60_000;
const LEAST_POSTS = 5;
const LEAST_MS = 30_000;

/**
 * How long these rows take. Rows before them go at the pace of the service, and these at the pace of their import: an import saves up no
 * turns while it waits. Where the service answers slowly, or with 429, the observed rate counts. No estimate is faster than what is set.
 */
export function estimateOf(pace: Pace, now: number): Estimate {
  const { rows, ahead, perMinute, ownPerMinute, observed, closedUntil } = pace;
  const seen = observed && observed.posts >= LEAST_POSTS && observed.ms >= LEAST_MS ? observed : null;
  const rate = seen ? Math.min(perMinute, (seen.posts * 60_000) / seen.ms) : perMinute;
  const own = Math.min(rate, ownPerMinute ?? rate);
  const waitMs = closedUntil === null ? 0 : Math.max(0, closedUntil - now);
  const ms = rows === 0 ? 0 : waitMs + (ahead / rate + rows / own) * 60_000;
  return { rows, perMinute: Math.max(1, Math.round(own)), ms, until: now + ms };
}

type PaceReads = Pick<
  OutboxReader,
  'counts' | 'batch' | 'countFree' | 'countFreeBefore' | 'firstFreeAt' | 'recentSends'
>;
/** Posts a minute: of the service, and of the import where it sets its own. */
type Rates = Pick<Pace, 'perMinute' | 'ownPerMinute'>;

/** The pace of rows that are not in the outbox yet; behind all that wait there. */
export function paceOfNewRows(reads: PaceReads | null, rows: number, rates: Rates, now: number): Pace {
  if (!reads) return { rows, ahead: 0, ...rates, observed: null, closedUntil: null };
  const ahead = reads.countFree();
  return { rows, ahead, ...rates, ...observedOf(reads, ahead > 0, now) };
}

/** What the last minutes showed; where rows wait, the time since the last post counts as theirs, as far as they waited in it. */
function observedOf(
  reads: PaceReads,
  areWaiting: boolean,
  now: number,
): Pick<Pace, 'observed' | 'closedUntil'> {
  const { posts, ms, last, closedUntil } = reads.recentSends(now - OBSERVED_MS);
  const since = Math.max(last ?? now, reads.firstFreeAt() ?? 0);
  const stalledMs = areWaiting ? Math.max(0, now - since) : 0;
  return { observed: last === null ? null : { posts, ms: ms + stalledMs }, closedUntil };
}

/** How long what waits takes: of one batch, at its own pace, or of all. Null where nothing waits, or where it is paused. */
export function estimateWaiting(
  reads: PaceReads,
  batch: string | null,
  perMinute: number,
  now: number,
): Estimate | null {
  const orders = batch === null ? null : reads.batch(batch);
  if (orders?.paused_at || orders?.cancelled_at) return null;
  const { ready, sending } = reads.counts(batch);
  const free = reads.countFree();
  const rows = (batch === null ? free : ready) + sending;
  if (rows === 0) return null;
  const ahead = batch === null ? 0 : reads.countFreeBefore(batch);
  const rates = { perMinute, ownPerMinute: orders?.per_minute ?? null };
  return estimateOf({ rows, ahead, ...rates, ...observedOf(reads, free > 0, now) }, now);
}

/** `5,000 posts at 60 a minute: about 83 min, until 17:40`. */
export function estimateText({ rows, perMinute, ms, until }: Estimate): string {
  const posts = rows === 1 ? '1 post' : `${grouped(rows)} posts`;
  return `${posts} at ${grouped(perMinute)} a minute: about ${durationText(ms)}, until ${clockText(until, ms)}`;
}

const DAY_MS = 86_400_000;

/** In the time zone of the machine; with its day where that is not obvious. */
function clockText(at: number, ms: number): string {
  const date = new Date(at);
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (ms < DAY_MS / 2) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

function two(n: number): string {
  return String(n).padStart(2, '0');
}
