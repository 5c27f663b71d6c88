import { OUTBOX_STATES, type StateCounts } from '../store/outbox/types.ts';

/** `12 confirmed, 1 rejected`, or `empty`. */
export function stateText(counts: Partial<StateCounts>): string {
  const parts = OUTBOX_STATES.flatMap((state) => {
    const n = counts[state] ?? 0;
    return n > 0 ? [`${n.toLocaleString('en')} ${state}`] : [];
  });
  return parts.length > 0 ? parts.join(', ') : 'empty';
}

export function pausedText(reason: string): string {
  return `Sending is paused: ${reason}. Put a valid token in FEEDBACK_API_TOKEN; the next sender tries it.`;
}

/** `1 row`, `1,200 rows`. */
export function rowsText(n: number): string {
  return `${n.toLocaleString('en')} ${n === 1 ? 'row' : 'rows'}`;
}
