import { SUPPRESSED } from '../../store/erasure/list.ts';
import type { ImportReads } from '../../store/outbox/import-reads.ts';
import type { NewRow } from '../../store/outbox/types.ts';
import type { Door, Verdict } from './intake.ts';

/** A door that turns away rows for people who were erased, and lets the others through together. */
export function withoutErased(
  reads: Pick<ImportReads, 'suppressed'> | null,
  take: Door['take'],
): Door['take'] {
  return async (rows) => {
    const erased = await erasedAmong(reads, rows);
    if (erased.size === 0) return await take(rows);
    const isErased = ({ email }: NewRow): boolean => email !== null && erased.has(email);
    const verdicts = await take(rows.filter((row) => !isErased(row)));
    let next = 0;
    return rows.map((row): Verdict => {
      const verdict = isErased(row) ? { outcome: 'refused' as const, reason: SUPPRESSED } : verdicts[next++];
      if (!verdict) throw new Error('a row was not judged');
      return verdict;
    });
  };
}

/** The addresses among these that belong to people who were erased. */
export async function erasedAmong(
  reads: Pick<ImportReads, 'suppressed'> | null,
  rows: readonly { email: string | null }[],
): Promise<Set<string>> {
  const emails = rows.flatMap(({ email }) => (email === null ? [] : [email]));
  return (await reads?.suppressed(emails)) ?? new Set();
}
