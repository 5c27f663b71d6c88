import { AppError } from '../base/errors.ts';

const AGO_MS = { h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/;

/** A day (UTC), an ISO time (UTC unless it says otherwise), or how long ago, as the mirror spells time. */
export function momentOf(flag: string, text: string, now: number): string {
  const trimmed = text.trim();
  const ago = /^(\d{1,6})([hdw])$/.exec(trimmed);
  if (ago) return toIso(now - Number(ago[1]) * AGO_MS[ago[2] as keyof typeof AGO_MS]) ?? refuse(flag, text);
  if (!DATE.test(trimmed) && !TIME.test(trimmed)) return refuse(flag, text);
  const isZoned = DATE.test(trimmed) || /(Z|[+-]\d\d:?\d\d)$/.test(trimmed);
  const iso = toIso(Date.parse(isZoned ? trimmed : `${trimmed}Z`));
  // 2026-02-31 is read as 3 March by some; a person who types it means something else.
  if (iso === null || (DATE.test(trimmed) && !iso.startsWith(trimmed))) return refuse(flag, text);
  return iso;
}

function toIso(time: number): string | null {
  // Years of four digits only: others are spelt in a way that does not sort.
  return time >= Date.UTC(0, 0, 1) && time < Date.UTC(10_000, 0, 1) ? new Date(time).toISOString() : null;
}

function refuse(flag: string, text: string): never {
  throw new AppError('usage', `--${flag} "${text}" is no date`, {
    hint: 'Give a day such as 2026-01-31, an ISO time such as 2026-01-31T12:00Z, or how long ago: 36h, 30d, 12w.',
  });
}

/** The Monday on which the week of this moment began, so many weeks before that. */
export function mondayBefore(now: number, weeks: number): string {
  const midnight = new Date(now).setUTCHours(0, 0, 0, 0);
  const sinceMonday = (new Date(now).getUTCDay() + 6) % 7;
  return new Date(midnight - sinceMonday * AGO_MS.d - weeks * AGO_MS.w).toISOString();
}

/** The days on which the weeks of a period begin, the first of them perhaps before it. */
export function mondays(since: string, until: string): string[] {
  const days: string[] = [];
  const end = Date.parse(until);
  for (let day = Date.parse(mondayBefore(Date.parse(since), 0)); day < end; day += AGO_MS.w)
    days.push(new Date(day).toISOString().slice(0, 10));
  return days;
}

/** The days of a period, the first and the last of them perhaps in part. */
export function daysOf(since: string, until: string): string[] {
  const days: string[] = [];
  const end = Date.parse(until);
  for (let day = Date.parse(since.slice(0, 10)); day < end; day += AGO_MS.d)
    days.push(new Date(day).toISOString().slice(0, 10));
  return days;
}

/** `2026-01-31 12:00 UTC`, for sentences. */
export function spoken(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}
