import { AppError } from '../base/errors.ts';
import type { KnownStatus } from '../store/reports.ts';

/** The API does not say what a status means, so its name has to. */
const DELIVERED =
  'done, shipped, released, complete, completed, delivered, live, launched, implemented, fixed'.split(', ');
const CLOSED = (
  "closed, declined, rejected, cancelled, canceled, duplicate, archived, merged, not planned, won't do, wont do, " +
  "won't fix"
).split(', ');

interface StatusSets {
  delivered: KnownStatus[];
  /** Delivered or closed: nothing more is expected to happen. */
  finished: KnownStatus[];
  /** Names of the setting that no status has. */
  unknown: string[];
}

interface DeliveredChoice {
  /** What a person asks for now: a name that does not exist is refused. */
  delivered?: readonly string[] | undefined;
  /** What the setting says: a status may have been renamed since, and the other answers still hold. */
  usualDelivered?: readonly string[] | null | undefined;
}

/** By the names a person gave, by those of the setting, or by those that usually mean it. */
export function statusSets(
  known: readonly KnownStatus[],
  { delivered: asked, usualDelivered: usual }: DeliveredChoice,
): StatusSets {
  const names = (usual ?? DELIVERED).map(plain);
  const delivered = asked
    ? asked.flatMap((name) => statusesNamed(known, name, 'delivered'))
    : withName(known, names);
  const unknown = asked || !usual ? [] : usual.filter((name) => withName(known, [plain(name)]).length === 0);
  return { delivered, finished: [...new Set([...delivered, ...withName(known, CLOSED)])], unknown };
}

function withName(known: readonly KnownStatus[], names: readonly string[]): KnownStatus[] {
  return known.filter(({ name }) => names.includes(plain(name)));
}

/** Several statuses can share a name. */
export function statusesNamed(
  known: readonly KnownStatus[],
  name: string,
  flag: 'delivered' | 'status',
): KnownStatus[] {
  const found = known.filter((status) => plain(status.name) === plain(name));
  if (found.length > 0) return found;
  throw new AppError('usage', `--${flag}: there is no status "${name.trim()}"`, {
    hint: `The statuses are ${known.map((status) => status.name).join(', ') || 'not known before the first sync'}.`,
  });
}

function plain(name: string): string {
  return name.trim().replaceAll('’', "'").toLowerCase();
}

/** Says which statuses were taken, because the figures hang on it. */
export function statusNotes(sets: StatusSets, which: 'delivered' | 'finished'): string[] {
  const unknown = sets.unknown.map(
    (name) => `DELIVERED_STATUSES names "${name.trim()}": there is no such status.`,
  );
  const names = [...new Set(sets[which].map(({ name }) => name))].join(', ');
  if (which === 'finished')
    return [
      names ? `Left out as finished: ${names}.` : 'No status is known to end a post’s way.',
      ...unknown,
    ];
  return [
    names
      ? `Delivered is: ${names} (--delivered "Name,Name" says otherwise, DELIVERED_STATUSES for good).`
      : 'No status has a name that means delivered; say which with --delivered "Name,Name" or DELIVERED_STATUSES.',
    ...unknown,
  ];
}
