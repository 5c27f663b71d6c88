import { AppError } from '../../base/errors.ts';
import type { Db, OpenOptions } from '../db.ts';
import { keptUntilWritten, scalar } from '../sql.ts';
import { type Hash, keyFileOf, readKey } from './key.ts';
import { type Scrubber, scrubber } from './words.ts';

/** Who must not come back, as a connection last read it. */
export interface CurrentList {
  ids: Set<number>;
  /** The hash of an address on the list; undefined for any other. */
  hashOf(email: string): string | undefined;
  scrub: Scrubber;
}

/** Whoever writes for a person who was erased brings new data about them: that is for somebody to decide. */
export const SUPPRESSED =
  'is for a customer who was erased; "feedback-mirror erase --email … --lift" ends that';

export function suppressedPerson(): AppError {
  return new AppError('usage', 'this post is for a customer who was erased; nothing was taken in', {
    hint: 'If they agree to be known again, "feedback-mirror erase --email … --lift" ends it.',
  });
}

/** The list as it stands, or null while it is empty; read again only when some other connection has written. */
export function suppressionList(db: Db, options: OpenOptions): () => CurrentList | null {
  const isUsed = scalar(db)<[], number>(`
    SELECT EXISTS (SELECT 1 FROM suppressions) OR EXISTS (SELECT 1 FROM suppressed_users)`);
  const hashes = scalar(db)<[], string>('SELECT hash FROM suppressions');
  const users = scalar(db)<[], number>('SELECT user_id FROM suppressed_users');
  return keptUntilWritten(db, () => {
    if (!isUsed.get()) return null;
    return currentList(readableKey(db, options, hashes.all()), new Set(hashes.all()), users.all());
  });
}

/** After a new key there may be people known by their number only: those need none. */
function readableKey(db: Db, options: OpenOptions, hashes: readonly string[]): Hash {
  return hashes.length === 0 ? () => '' : readKey(db, keyFileOf(options));
}

/** The same few thousand people write most rows: each address is hashed once. */
const REMEMBERED = 20_000;

export function currentList(hash: Hash, hashes: ReadonlySet<string>, users: readonly number[]): CurrentList {
  const verdicts = new Map<string, string | undefined>();
  const hashOf = (email: string): string | undefined => {
    if (verdicts.has(email)) return verdicts.get(email);
    const made = hash(email);
    if (verdicts.size >= REMEMBERED) verdicts.clear();
    verdicts.set(email, hashes.has(made) ? made : undefined);
    return verdicts.get(email);
  };
  return { ids: new Set(users), hashOf, scrub: scrubber((email) => hashOf(email) !== undefined) };
}
