import type { Client } from '../api/client.ts';
import type { Clock } from '../base/clock.ts';
import type { MirrorStore, Pass } from '../store/mirror/seam.ts';

/** What a pass works with. */
export interface PassContext {
  client: Client;
  store: MirrorStore;
  clock: Clock;
  signal: AbortSignal;
  /** Pages under way while one is written. */
  ahead: number;
  onPage: (pass: Pass) => void;
  /** Another process has the list, and we wait for it: who, in words. */
  onWait?: (holder: string) => void;
}
