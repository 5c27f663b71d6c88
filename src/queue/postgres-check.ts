import { AppError } from '../base/errors.ts';
import { SCHEMA } from './pg-backend.ts';
import { certificateTrouble } from './refusals.ts';

/** SQLSTATEs that a person can do something about. */
const REASONS: Record<string, { says: string; hint: string }> = {
  '28P01': {
    says: 'refused the user or the password of QUEUE_URL',
    hint: 'Correct them in QUEUE_URL: postgres://user:password@host:port/database',
  },
  '28000': {
    says: 'does not let the user of QUEUE_URL in from here',
    hint: "Correct the user in QUEUE_URL, or allow it in that server's pg_hba.conf.",
  },
  '3D000': {
    says: 'has no database of the name in QUEUE_URL',
    hint: 'Create it with createdb, or correct the last part of QUEUE_URL: postgres://user@host:port/database',
  },
  '42501': {
    says: `does not let the user of QUEUE_URL make the schema ${SCHEMA}`,
    hint: 'As the owner of the database run: GRANT CREATE ON DATABASE name TO user; then start again.',
  },
};

const NO_PASSWORD = /password must be a string|no password supplied/i;
const NO_TLS = /does not support SSL/i;

/** In our words what no waiting will change; whatever we have no words for is passed on as it is. */
export function refusal(error: Error, place: string): Error {
  const code = NO_PASSWORD.test(error.message) ? '28P01' : ((error as NodeJS.ErrnoException).code ?? '');
  const reason = REASONS[code];
  if (reason)
    return new AppError('usage', `the PostgreSQL at ${place} ${reason.says}`, {
      cause: error,
      hint: reason.hint,
    });
  if (NO_TLS.test(error.message))
    return new AppError('usage', `the PostgreSQL at ${place} does not speak TLS`, {
      cause: error,
      hint: 'Take sslmode out of QUEUE_URL, or turn ssl on in that server.',
    });
  if (/VersionError|VersionMismatch/.test(error.name))
    return new AppError('usage', `the PostgreSQL at ${place} does not fit: ${error.message}`, {
      cause: error,
      hint: 'Use PostgreSQL 13 or newer, and the same version of this program on all machines.',
    });
  return certificateTrouble(error, place) ?? error;
}
