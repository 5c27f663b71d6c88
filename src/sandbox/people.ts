import type { UserWire } from '../contract/entities.ts';
import { toUser, type UserColumns } from '../contract/wire.ts';
import type { Db } from './database.ts';
import { prepare } from './listing.ts';
import { stamp, USER_COLUMNS } from './wire.ts';

export interface Known {
  id: number;
  email: string;
}

/** Addresses that differ only in case belong to one person. */
export function emailKey(email: string): string {
  return email.trim().toLowerCase();
}

export function findUser(db: Db, email: string): Known | undefined {
  return prepare(db, 'SELECT id, email FROM users WHERE email_key = ?').get(emailKey(email)) as
    | Known
    | undefined;
}

/** The person with this address, made with this name when there is none. */
export function ensureUser(db: Db, email: string, name: string, now: number): Known {
  const known = findUser(db, email);
  if (known) return known;
  const clean = email.trim();
  const alias = clean.split('@')[0] ?? clean;
  const added = prepare(
    db,
    `INSERT INTO users (email, email_key, name, alias, registered, is_admin, is_team) VALUES (?, ?, ?, ?, ?, 0, 0)`,
  ).run(clean, emailKey(clean), name, alias, stamp(now));
  return { id: Number(added.lastInsertRowid), email: clean };
}

/** The owner of a token is one of the company's own people. */
export function ensureOwner(db: Db, email: string, name: string, now: number): Known {
  const known = findUser(db, email);
  if (known) return known;
  const owner = ensureUser(db, email, name, now);
  prepare(db, 'UPDATE users SET is_admin = 1, is_team = 1 WHERE id = ?').run(owner.id);
  return owner;
}

export function readUsers(db: Db): UserWire[] {
  const rows = prepare(db, `SELECT ${USER_COLUMNS} FROM users u ORDER BY u.id`).all();
  return (rows as UserColumns[]).map(toUser);
}
