import type { UserWire } from '../contract/entities.ts';
import { toUser, type UserColumns } from '../contract/wire.ts';
import type { SandboxDb } from './database.ts';
import { prepared } from './listing.ts';
import { stamp, USER_COLUMNS } from './wire.ts';

export interface SandboxToken {
  token: string;
  /** The person the token acts for, made when unknown. */
  email: string;
  name: string;
}

/** Who a request comes from. */
export interface Caller {
  email: string;
  name: string;
}

/** The tokens that are valid now. */
export class Tokens {
  readonly #tokens = new Map<string, SandboxToken>();

  allow(token: SandboxToken): void {
    this.#tokens.set(token.token, token);
  }

  revoke(token: string): void {
    this.#tokens.delete(token);
  }

  /** The header wins over the query parameter; null when neither holds a valid token. */
  identify(authorization: string | undefined, inQuery: string | null): Caller | null {
    const bearer = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    const token = authorization === undefined ? inQuery : bearer;
    const known = token ? this.#tokens.get(token) : undefined;
    return known ? { email: known.email, name: known.name } : null;
  }
}

interface Known {
  id: number;
  email: string;
}

/** Addresses that differ only in case belong to one person. */
function emailKey(email: string): string {
  return email.trim().toLowerCase();
}

function findUser(db: SandboxDb, email: string): Known | undefined {
  return prepared(db, 'SELECT id, email FROM users WHERE email_key = ?').get(emailKey(email)) as
    | Known
    | undefined;
}

/** The person with this address, made with this name when there is none. */
export function ensureUser(db: SandboxDb, email: string, name: string, now: number): Known {
  const known = findUser(db, email);
  if (known) return known;
  const clean = email.trim();
  const alias = clean.split('@')[0] ?? clean;
  const added = prepared(
    db,
    `INSERT INTO users (email, email_key, name, alias, registered, is_admin, is_team) VALUES (?, ?, ?, ?, ?, 0, 0)`,
  ).run(clean, emailKey(clean), name, alias, stamp(now));
  return { id: Number(added.lastInsertRowid), email: clean };
}

/** The owner of a token is one of the company's own people. */
export function ensureOwner(db: SandboxDb, email: string, name: string, now: number): Known {
  const known = findUser(db, email);
  if (known) return known;
  const owner = ensureUser(db, email, name, now);
  prepared(db, 'UPDATE users SET is_admin = 1, is_team = 1 WHERE id = ?').run(owner.id);
  return owner;
}

export function readUsers(db: SandboxDb): UserWire[] {
  const rows = prepared(db, `SELECT ${USER_COLUMNS} FROM users u ORDER BY u.id`).all();
  return (rows as UserColumns[]).map(toUser);
}
