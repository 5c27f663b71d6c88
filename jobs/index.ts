import type { JobDefinition } from './context.ts';
import { exportAll } from './export.ts';
import { housekeeping } from './housekeeping.ts';
import { push } from './push.ts';
import { reconcile } from './reconcile.ts';
import { syncHead, syncSweep } from './sync.ts';

/** Every job of the service. What rings them: `schedules.ts` by time, `dispatch.ts` for rows of the outbox. */
export const JOBS: readonly JobDefinition[] = [syncHead, syncSweep, push, reconcile, exportAll, housekeeping];
