import type { Clock } from '../../base/clock.ts';
import { crashPoint } from '../../base/crash.ts';
import type { ImportReads } from '../../store/outbox/import-reads.ts';
import type { OutboxStore } from '../../store/outbox/store.ts';
import type { Acceptance } from '../../store/outbox/types.ts';
import { FINAL_STATES } from '../states.ts';
import { withoutErased } from './erased.ts';
import type { Door, Verdict } from './intake.ts';

export interface OutboxDoor extends Door {
  /** Batches of earlier imports that still hold rows of this file on their way. */
  openBatches: Set<string>;
}

/** The outbox itself: what it takes has reached the disk. */
export function outboxDoor(
  store: Pick<OutboxStore, 'accept'>,
  reads: Pick<ImportReads, 'batchesOf' | 'suppressed'>,
  clock: Clock,
): OutboxDoor {
  const openBatches = new Set<string>();
  return {
    openBatches,
    take: withoutErased(reads, async (rows) => {
      const acceptances = store.accept(rows, clock.now());
      crashPoint('import:accepted');
      const open = acceptances.flatMap((acceptance) => (isOpen(acceptance) ? [acceptance.id] : []));
      if (open.length > 0) for (const batch of reads.batchesOf(open)) openBatches.add(batch);
      return acceptances.map(verdictOf);
    }),
  };
}

function isOpen(acceptance: Acceptance): boolean {
  return acceptance.outcome === 'already' && !FINAL_STATES.some((state) => state === acceptance.state);
}

function verdictOf(acceptance: Acceptance): Verdict {
  return acceptance.outcome === 'conflict'
    ? { outcome: 'conflict', with: `outbox row ${acceptance.id}` }
    : acceptance;
}
