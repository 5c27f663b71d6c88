import { AppError } from '../base/errors.ts';
import type { KnownStatus } from '../store/reports.ts';

/** The API does not say what a status means, so its name has to. */
const DELIVERED = [
  'done',
  'shipped',
  'released',
  'complete',
  'completed',
  'delivered',
  'live',
  'launched',
  'implemented',
  'fixed',
];
const CLOSED = [
  'closed',
  'declined',
  'rejected',
  'cancelled',
  'canceled',
  'duplicate',
  'archived',
  'merged',
  'not planned',
  "won't do",
  'wont do',
  "won't fix",
];

export interface StatusSets {
  delivered: KnownStatus[];
  /** Delivered or closed: nothing more is expected to happen. */
  finished: KnownStatus[];
}

/** By the names a person gave, or by those that usually mean it. */
export function statusSets(known: readonly KnownStatus[], asked: readonly string[] | undefined): StatusSets {
  const delivered = asked ? asked.flatMap((name) => named(known, name)) : withName(known, DELIVERED);
  return { delivered, finished: [...new Set([...delivered, ...withName(known, CLOSED)])] };
}

function withName(known: readonly KnownStatus[], names: readonly string[]): KnownStatus[] {
  return known.filter(({ name }) => names.includes(plain(name)));
}

/** Several statuses can share a name. */
function named(known: readonly KnownStatus[], name: string): KnownStatus[] {
  const found = known.filter((status) => plain(status.name) === plain(name));
  if (found.length > 0) return found;
  throw new AppError('usage', `--delivered: there is no status "${name.trim()}"`, {
    hint: `The statuses are ${known.map((status) => status.name).join(', ') || 'not known before the first sync'}.`,
  });
}

function plain(name: string): string {
  return name.trim().replaceAll('’', "'").toLowerCase();
}

/** Says which statuses were taken, because the figures hang on it. */
export function statusNote(sets: StatusSets, which: keyof StatusSets): string {
  const names = [...new Set(sets[which].map(({ name }) => name))].join(', ');
  if (which === 'finished')
    return names ? `Left out as finished: ${names}.` : 'No status is known to end a post’s way.';
  return names
    ? `Delivered is: ${names} (--delivered "Name,Name" says otherwise).`
    : 'No status has a name that means delivered; say which with --delivered "Name,Name".';
}
