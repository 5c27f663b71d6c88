import { AppError } from './errors.ts';

/** 'FBMR', as in the header of a mirror's file: the first half of the key, so that no other program means the same lock. */
export const LOCK_CLASS = 0x46424d52;

export type PublishedCell = string | number | null;

/** What a column of the mirror is where a database has more types than SQLite. */
export type ColumnType = 'bigint' | 'double precision' | 'boolean' | 'timestamptz' | 'jsonb' | 'text';

/** A table of the mirror that PostgreSQL holds a copy of. */
export interface PublishedTable {
  name: string;
  columns: readonly { name: string; type: ColumnType; nullable: boolean }[];
  key: readonly string[];
  indexes: readonly (readonly string[])[];
  /** A column with an index by its hash; null for none. */
  hashed: string | null;
}

/** The setting with the URL of a PostgreSQL server, so that a refusal names what to correct. */
interface PostgresUse {
  setting: string;
  /** The schema that this program makes there, and the statement that lets its user do so. */
  schema: string;
  allowedBy: string;
}

/** SQLSTATEs that a person can do something about. */
function reasonOf(
  code: string,
  { setting, schema, allowedBy }: PostgresUse,
): { says: string; hint: string } | null {
  if (code === '28P01')
    return {
      says: `refused the user or the password of ${setting}`,
      hint: `Correct them in ${setting}: postgres://user:password@host:port/database`,
    };
  if (code === '28000')
    return {
      says: `does not let the user of ${setting} in from here`,
      hint: `Correct the user in ${setting}, or allow it in that server's pg_hba.conf.`,
    };
  if (code === '3D000')
    return {
      says: `has no database of the name in ${setting}`,
      hint: `Create it with createdb, or correct the last part of ${setting}: postgres://user@host:port/database`,
    };
  if (code === '42501')
    return {
      says: `does not let the user of ${setting} make or write the schema ${schema}`,
      hint: `As the owner of the database run: ${allowedBy}; then start again.`,
    };
  return null;
}

const NO_PASSWORD = /password must be a string|no password supplied/i;
const NO_TLS = /does not support SSL/i;

/** Explains errors that waiting does not solve. Other errors are passed on unchanged. */
export function postgresRefusal(error: Error, place: string, use: PostgresUse): Error {
  const code = NO_PASSWORD.test(error.message) ? '28P01' : codeIn(error);
  const reason = reasonOf(code, use);
  if (reason)
    return new AppError('usage', `the PostgreSQL at ${place} ${reason.says}`, {
      cause: error,
      hint: reason.hint,
    });
  if (NO_TLS.test(error.message))
    return new AppError('usage', `the PostgreSQL at ${place} does not speak TLS`, {
      cause: error,
      hint: `Take sslmode out of ${use.setting}, or turn ssl on in that server.`,
    });
  if (/VersionError|VersionMismatch/.test(error.name))
    return new AppError('usage', `the PostgreSQL at ${place} does not fit: ${error.message}`, {
      cause: error,
      hint: 'Use PostgreSQL 13 or newer, and the same version of this program on all machines.',
    });
  return certificateTrouble(error, place) ?? error;
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)_/;

/** A server whose certificate this machine does not trust will not be trusted a second later either. */
export function certificateTrouble(error: Error, place: string): AppError | null {
  const code = codeIn(error);
  if (!CERTIFICATE.test(code)) return null;
  return new AppError('usage', `the certificate of the server at ${place} is not trusted (${code})`, {
    cause: error,
    hint: 'Name the file of its authority in NODE_EXTRA_CA_CERTS before the program starts.',
  });
}

const AWAY_CODES =
  /^(E(CONN(REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|HOST(UNREACH|DOWN)|NETUNREACH|NOTFOUND|AI_AGAIN)|08...|57P0[123]|53300)$/;
const AWAY_TEXTS =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|not queryable|Connection ended/i;

/** Whether the server may answer the same question a moment later. */
export function isAway(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isAway);
  return AWAY_CODES.test(codeIn(error)) || AWAY_TEXTS.test(error.message);
}

/** The SQLSTATE of an answer, or what the system calls the failure of a connection. */
export function codeIn(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}
