import { AppError } from '../base/errors.ts';
import type { KnownStatus } from './store.ts';

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

/** Which set a report uses, whether it is a ranking that lists finished posts when asked, and the statuses that the reader named. */
export interface StatusNoting {
  set: 'delivered' | 'finished' | 'none';
  isRanking?: boolean;
  asked?: readonly number[];
}

/** Says which statuses were taken, because the figures depend on it. */
export function statusNotes(sets: StatusSets, { set, isRanking, asked = [] }: StatusNoting): string[] {
  const unknown = sets.unknown.map(
    (name) => `DELIVERED_STATUSES names "${name.trim()}": there is no such status.`,
  );
  if (set === 'none') return unknown;
  const names = [...new Set(sets[set].map(({ name }) => name))].join(', ');
  if (set === 'delivered')
    return [
      names
        ? `Delivered is: ${names} (--delivered "Name,Name" says otherwise, DELIVERED_STATUSES for good).`
        : 'No status has a name that means delivered; say which with --delivered "Name,Name" or DELIVERED_STATUSES.',
      ...unknown,
    ];
  if (!names) return ['No status is known to end a post’s way.', ...unknown];
  const finished = sets.finished.filter(({ id }) => asked.includes(id)).map(({ name }) => name);
  const isEmpty = asked.length > 0 && finished.length === asked.length;
  return [
    `Left out as finished: ${names}${isRanking ? ' (--include-closed lists them too)' : ''}.`,
    ...(isEmpty
      ? [`Nothing can be listed for ${finished.join(', ')}: this report is about open posts only.`]
      : []),
    ...unknown,
  ];
}
