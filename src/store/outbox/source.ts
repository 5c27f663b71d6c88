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

/** Whether a row that was found by its key came from the same source row, also where a person has mended its words since. */
export function sourceReader(db: Db): (found: StoredRow, row: PostText) => boolean {
  const firstEdit = scalar(db)<[number], string>(
    'SELECT before FROM outbox_edits WHERE outbox_id = ? AND n = 1',
  );
  return (found, row) => {
    if (found.erased_at !== null || found.source_key.startsWith('row:') || isSameText(found, row))
      return true;
    const before = firstEdit.get(found.id);
    return before !== undefined && isSameText(JSON.parse(before) as PostText, row);
  };
}

/** Also where another system wrote line ends, spaces and accents in its own way. */
function isSameText(a: PostText, b: PostText): boolean {
  return (['board', 'title', 'content', 'email', 'full_name'] as const).every((name) => {
    const [one, other] = [a[name], b[name]];
    return one === other || (one !== null && other !== null && plainForm(one) === plainForm(other));
  });
}
