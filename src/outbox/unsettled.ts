import { codeOf, messageOf } from '../base/errors.ts';
import type { Arrow, OutboxRow, RowChange } from '../store/outbox/seam.ts';
import type { OutboxContext } from './context.ts';
import type { Look } from './look.ts';
import { AFTER_LOOKS } from './states.ts';

const FIRST_WAIT_MS = 2000;
const LAST_WAIT_MS = 300_000;

/** The list could not be read: the row is left where it is until later. A refused token also pauses sending. */
export async function lookLater(
  { store, clock, random }: OutboxContext,
  row: OutboxRow,
  arrow: Arrow,
  error: unknown,
): Promise<void> {
  const code = codeOf(error);
  if (code === 'interrupted' || code === 'internal') throw error;
  if (code === 'unauthorised') await store.setPaused('the upstream refused the token for reading');
  const now = clock.now();
  // The longer it has been waiting, the less another minute matters.
  const most = Math.min(
    LAST_WAIT_MS,
    Math.max(FIRST_WAIT_MS, (now - Date.parse(row.first_sent_at ?? '')) / 10),
  );
  const notBefore = now + most / 2 + (random() * most) / 2;
  await store.move(row.id, arrow, { now, notBefore, error: `could not look for it: ${messageOf(error)}` });
}

/** What goes on a row that only a person can judge. */
export function givenUp(row: OutboxRow, { matches, isHidden }: Look, now: number): RowChange {
  const error =
    matches.length > 0
      ? `${matches.length} posts could be this one`
      : isHidden
        ? 'a listed post that cannot be read could be this one'
        : `not in the list after ${row.not_found + 1} unclear attempts`;
  const candidates = matches.map((post) => post.id);
  return { now, notBefore: null, candidates, error, looksLeft: AFTER_LOOKS };
}
