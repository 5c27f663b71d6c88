import type { Client } from '../api/client.ts';
import type { Clock } from '../base/clock.ts';
import type { OutboxStore } from '../store/outbox/seam.ts';

/** What sending and reconciling work with. */
export interface OutboxContext {
  store: OutboxStore;
  client: Client;
  clock: Clock;
  signal: AbortSignal;
  /** How long one create may take in all. */
  createMs: number;
  /** How long after its deadline an unclear attempt is left to settle, at least. */
  settleMs: number;
  random: () => number;
}
