import type { Db } from '../../db/open.ts';
import { keptUntilWritten, scalar } from '../../db/sql.ts';
import { emailKey } from '../../text/email.ts';

/** Users of the mirror by address, however it is spelt. The index folds ASCII only; the few other addresses are compared by their keys. */
export function peopleByEmail(db: Db): (email: string) => number[] {
  const plain = scalar(db)<[string], number>('SELECT id FROM users WHERE email = ? COLLATE NOCASE');
  const others = db.prepare<[], { id: number; email: string }>(`
    SELECT id, email FROM users WHERE email GLOB '*[^!-~]*'`);
  const unusual = keptUntilWritten(db, () => byKey(others.all()));
  return (email) => {
    const key = emailKey(email);
    return [...new Set([...plain.all(key), ...(unusual().get(key) ?? [])])];
  };
}

function byKey(users: readonly { id: number; email: string }[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { id, email } of users) {
    const key = emailKey(email);
    found.set(key, [...(found.get(key) ?? []), id]);
  }
  return found;
}
