import type { ImportReads, KnownRow } from '../../store/outbox/import-reads.ts';
import type { Scratch } from '../../store/outbox/scratch.ts';
import type { NewRow } from '../../store/outbox/types.ts';
import { sourceKey } from '../csv/source-key.ts';
import { withoutErased } from './erased.ts';
import type { Door, Verdict } from './intake.ts';
import type { Forecast } from './outlook.ts';

/** Judges rows as the outbox would, and writes nothing. */
export function dryDoor(reads: ImportReads | null, scratch: Scratch, forecast: Forecast): Door {
  return {
    take: withoutErased(reads, async (rows) => {
      const known = (await reads?.known(rows)) ?? [];
      const earlier = sameKeyEarlier(rows, scratch);
      const verdicts = rows.map((_, i) => judge(known[i] ?? null, earlier[i] ?? 'none'));
      await forecast.add(rows.filter((_, i) => verdicts[i]?.outcome === 'accepted'));
      return verdicts;
    }),
  };
}

type Earlier = 'none' | 'same' | 'other';

function judge(known: KnownRow | null, earlier: Earlier): Verdict {
  if (known) {
    const { id, state, same } = known;
    return same ? { outcome: 'already', state } : { outcome: 'conflict', with: `outbox row ${id}` };
  }
  if (earlier === 'none') return { outcome: 'accepted' };
  return earlier === 'same'
    ? { outcome: 'already', state: 'ready' }
    : { outcome: 'conflict', with: 'an earlier row of this file' };
}

/** A key that stands twice in the file is only in the outbox once the first of its rows is: here it must be remembered. */
function sameKeyEarlier(rows: readonly NewRow[], scratch: Scratch): Earlier[] {
  const keyed = rows.filter(isKeyed);
  const texts = keyed.map((post) => sourceKey({ key: null, post }, 1));
  const before = scratch.remember(
    'key',
    keyed.map((row, i) => [row.source_key, texts[i] ?? ''] as const),
  );
  let next = 0;
  return rows.map((row) => {
    if (!isKeyed(row)) return 'none';
    const [text, first] = [texts[next], before[next] ?? null];
    next++;
    if (first === null) return 'none';
    return first === text ? 'same' : 'other';
  });
}

/** Rows without a key of their own have one that cannot stand twice. */
function isKeyed({ source_key }: NewRow): boolean {
  return source_key.startsWith('key:');
}
