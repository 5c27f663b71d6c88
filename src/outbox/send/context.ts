import type { Client } from '../../api/client.ts';
import type { RateLimit } from '../../api/rate-limit.ts';
import type { Clock } from '../../base/clock.ts';
import type { Post } from '../../contract/decode.ts';
import type { OutboxStore } from '../store/store.ts';

/** What sending and reconciling work with. */
export interface OutboxContext {
  store: OutboxStore;
  client: Client;
  /** Closed while the upstream wants no calls: no row is claimed meanwhile. */
  gate: Pick<RateLimit, 'closedUntil'>;
  clock: Clock;
  /** In a fleet: whether another machine cannot have the source. No row is claimed meanwhile. */
  mayLeave?: () => boolean;
  signal: AbortSignal;
  /** How long one create may take in all. */
  createMs: number;
  /** How long after its deadline an unclear attempt is left to settle, at least. */
  settleMs: number;
  /** How many posts leave a minute, at most, over all processes of the mirror. */
  perMinute: number;
  /** Whose posts carry a reference mark; none where it is left out. */
  mark?: 'off' | 'owner' | 'all';
  random: () => number;
  /** Writes listed posts into the mirror: a person who has to choose sees them, and our own tell whom the service shows as their author. */
  observe?: (posts: Post[]) => void;
  /** Called for every page that reconcile has read: a long list is no standstill. */
  onPage?: () => void;
  /** Called when reconcile has read what it needs, with why that says nothing of posts it did not show; null where it does. */
  onWindow?: (incomplete: string | null) => void;
}
