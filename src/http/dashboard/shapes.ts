import type { Vital } from '../../store/pulse.ts';

/**
 * What the server sends to every page of the dashboard: data only. Both sides take their types from here and from the rooms that
 * read the data, so that they cannot drift apart.
 */
export interface Pulse extends Vital {
  /** Another number whenever rows of the mirror or the outbox have changed. */
  version: number;
  isReady: boolean;
  /** Why it is not ready, in words. */
  trouble: string | null;
  /** Outbox rows that a person has to decide about. */
  waitingForYou: number;
}
