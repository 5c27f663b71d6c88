import { emailKey, foldedText } from '../../base/email.ts';
import { plainForm } from '../../base/text.ts';
import type { Db } from '../db.ts';
import { scalar } from '../sql.ts';
import type { NewRow, PostText, StoredRow } from './types.ts';

/** Only a row that was never sent: what may have left a post waits for a person who looks at it. */
export function canRevive(found: StoredRow, { wasCancelled }: Pick<NewRow, 'wasCancelled'>): boolean {
  const { state, attempts, was_ambiguous, erased_at } = found;
  return (
    wasCancelled === true &&
    state === 'cancelled' &&
    attempts === 0 &&
    was_ambiguous === 0 &&
    erased_at === null
  );
}

/** The upstream certainly has no post of a row that it rejected: other words under its key are that row, mended in the file. */
export function isMendable({ state, was_ambiguous }: StoredRow): boolean {
  return state === 'rejected' && was_ambiguous === 0;
}

/** A file may say the same ten thousand times, and each of those rows would be compared with all others. */
const MOST_ALIKE = 100;

/** Finds the row of the outbox that came from the same source row. */
export interface SourceReader {
  (row: NewRow): StoredRow | null;
  /** Whether a row that was found by its key says the same, also where a person has mended its words since. */
  isSame(found: StoredRow, row: PostText): boolean;
}

/**
 * By its key, by the one that an earlier version gave it, or by its words: those of the same board and person, which stood as often in
 * their file.
 */
export function sourceReader(db: Db): SourceReader {
  const byKey = db.prepare<[string], StoredRow>('SELECT * FROM outbox WHERE source_key = ?');
  const byWords = db.prepare<{ hash: string; n: string }, StoredRow>(`
    SELECT * FROM outbox WHERE content_hash = $hash AND source_key LIKE 'row:%:' || $n ORDER BY id`);
  const firstEdit = scalar(db)<[number], string>(
    'SELECT before FROM outbox_edits WHERE outbox_id = ? AND n = 1',
  );
  const isSame = (found: StoredRow, row: PostText): boolean => {
    if (found.erased_at !== null || found.source_key.startsWith('row:') || isSameText(found, row))
      return true;
    const before = firstEdit.get(found.id);
    return before !== undefined && isSameText(JSON.parse(before) as PostText, row);
  };
  const former = (row: NewRow): StoredRow | undefined =>
    row.former_keys?.flatMap((key) => byKey.get(key) ?? []).find((found) => isSame(found, row));
  const alike = ({ occurrence: n, content_hash: hash, ...text }: NewRow): StoredRow | undefined =>
    n === undefined || n > MOST_ALIKE
      ? undefined
      : byWords.all({ hash, n: String(n) }).find((found) => isSameText(found, text));
  return Object.assign((row: NewRow) => byKey.get(row.source_key) ?? former(row) ?? alike(row) ?? null, {
    isSame,
  });
}

/** Also where another system wrote line ends, spaces and accents in its own way, or the person's address in capitals. */
function isSameText(a: PostText, b: PostText): boolean {
  const isSame = (one: string | null, other: string | null, form: (text: string) => string): boolean =>
    one === other || (one !== null && other !== null && form(one) === form(other));
  return (
    (['board', 'title', 'content'] as const).every((name) => isSame(a[name], b[name], plainForm)) &&
    isSame(a.email, b.email, emailKey) &&
    isSame(a.full_name, b.full_name, (name) => foldedText(plainForm(name)))
  );
}
