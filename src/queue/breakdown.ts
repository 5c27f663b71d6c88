import type { Failure } from './pglite-messages.ts';

/** The database of the embedded queue has broken down, and what was asked of it is open. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost';
  /** Whether this very question was being answered, and so may be the cause. */
  readonly wasAnswering: boolean;

  constructor(reason: string, wasAnswering: boolean) {
    super(`the embedded database has broken down (${reason}) and is opened again`);
    this.wasAnswering = wasAnswering;
  }
}

/** SQLSTATE of a full disk and of a failing one. */
const DISK_CODES = new Set(['53100', '58030']);

/** For a file that may not grow (EFBIG) PostgreSQL has no code of its own. */
const DISK_TEXTS = /could not (write|extend|fsync|flush)/;

/**
 * Whether nothing good comes after this answer. After a PANIC, which a server would end with, PGlite says nothing any more and its
 * thread runs in circles; without space it may still answer, but fail what BullMQ would then count as a failed job.
 */
export function isBreakdown({ message, facts, isCrash }: Failure): boolean {
  const { severity, code } = facts as { severity?: string; code?: string };
  if (isCrash || severity === 'PANIC' || severity === 'FATAL') return true;
  return DISK_CODES.has(code ?? '') || DISK_TEXTS.test(message);
}
