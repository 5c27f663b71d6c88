import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../base/errors.ts';
import { LOCK_CLASS } from '../base/postgres.ts';
import type { Session } from './session.ts';

const OUST_TRIES = 50;
const OUST_MS = 100;

/**
 * The lock for a caller that knows by a lease that it is its own: the session of a machine that is frozen or cut off, which would keep
 * it for as long as that lasts, is ended.
 */
export async function takeLockOver(session: Session, schema: string): Promise<void> {
  for (let left = OUST_TRIES; !(await session.lock()); left--) {
    if (left === 0) throw new AppError('busy', `another session keeps the lock of the schema ${schema}`);
    await session.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks
        WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND classid::bigint = $1 AND objid::bigint = hashtext($2)::bigint & 4294967295 AND objsubid = 2`,
      [LOCK_CLASS, schema],
    );
    await delay(OUST_MS);
  }
}
