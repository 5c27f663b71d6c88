import { join } from 'node:path';
import type { Settings } from '../../config/load.ts';
import { AppError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { isLocked, type Lock, takeLock } from '../db/lock.ts';
import { holder } from './place.ts';

const leaseLock = ({ dataDir }: Settings): string => join(dataDir, 'lease.lock');

/** Tells commands beside the service that this folder is the source's, for as long as PostgreSQL confirms it. */
export function holdLease(settings: Settings): Lock | null {
  const lock = takeLock(leaseLock(settings), holder('start'));
  return lock.ok ? lock : null;
}

/** Whether this machine runs the source. Elsewhere its folder may be old. */
export function runsHere(settings: Settings): boolean {
  return settings.fleetUrl === null || (isThere(leaseLock(settings)) && isLocked(leaseLock(settings)));
}

/** A row that a command puts into the folder of a machine which does not run the source would never be sent. */
export function refuseOutsideLease(settings: Settings): void {
  if (runsHere(settings)) return;
  throw new AppError(
    'busy',
    `this machine does not run ${settings.source} just now, so nothing is written to its folder here`,
    {
      hint: 'Run the command on the machine that "feedback-mirror fleet status" names, or use its HTTP API.',
    },
  );
}
