import { iso } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Definition } from './catalogue.ts';
import type { ReportRequest } from './report.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const AGO_MS = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS } as const;
const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/;
const ZONED = /^(.*)(Z|[+-]\d\d:?\d\d)$/;

/** Days and clocks of a time zone. Moments are milliseconds since the epoch, dates are `2026-01-31`. */
export interface Calendar {
  readonly zone: string;
  dateOf(moment: number): string;
  /** When a date begins there; where a change of the clock skips midnight, at that change. */
  startOf(date: string): number;
  /** `2026-01-31 12:00`, as a clock on the wall shows it. */
  clockAt(iso: string): string;
  /** A sentence with its times as that clock shows them, and the zone behind each. */
  spoken(sentence: string): string;
}

/** A time in a note. It is shown in the time zone of the report. */
const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const OFFSET = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/;
/** A page asks for the same zone several times, and making the first format takes 20 ms. */
const formats = new Map<string, Intl.DateTimeFormat>();

export function calendarOf(zone: string): Calendar {
  const offsets =
    formats.get(zone) ?? new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
  formats.set(zone, offsets);
  const offsetAt = (moment: number): number => {
    const [, sign, hours, minutes, seconds] = OFFSET.exec(offsets.format(moment)) ?? [];
    const size = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * MINUTE_MS + Number(seconds ?? 0) * 1000;
    return sign === '-' ? -size : size;
  };
  const wall = (moment: number): string => iso(moment + offsetAt(moment));
  const clockAt = (time: string): string => wall(Date.parse(time)).slice(0, 16).replace('T', ' ');
  return {
    zone,
    dateOf: (moment) => wall(moment).slice(0, 10),
    startOf(date) {
      const midnight = Date.parse(date);
      // By the offsets on either side of it: on the day of a change one of the two is wrong, and shows another date.
      const [early, late] = [midnight - offsetAt(midnight - DAY_MS), midnight - offsetAt(midnight + DAY_MS)];
      const [first, second] = early < late ? [early, late] : [late, early];
      return wall(first).slice(0, 10) >= date ? first : second;
    },
    clockAt,
    spoken: (sentence) => sentence.replaceAll(INSTANT, (time) => `${clockAt(time)} ${zone}`),
  };
}

/** A day, an ISO time (both in the reader's zone unless they say otherwise), or how long ago, as the mirror spells time. */
export function momentOf(flag: string, text: string, now: number, calendar: Calendar): string {
  const trimmed = text.trim();
  const ago = /^(\d{1,6})([hdw])$/.exec(trimmed);
  if (ago) return toIso(now - Number(ago[1]) * AGO_MS[ago[2] as keyof typeof AGO_MS]) ?? refuse(flag, text);
  const [, zoned] = ZONED.exec(trimmed) ?? [];
  const plain = zoned !== undefined && TIME.test(zoned) ? zoned : trimmed;
  const day = plain.slice(0, 10);
  // 2026-02-31 is read as 3 March by some; a person who types it means something else.
  if (!(DATE.test(plain) || TIME.test(plain)) || !isDay(day)) return refuse(flag, text);
  if (plain !== trimmed) return toIso(Date.parse(trimmed)) ?? refuse(flag, text);
  const intoTheDay = plain === day ? 0 : Date.parse(`${plain}Z`) - Date.parse(day);
  return toIso(atClock(calendar, day, intoTheDay)) ?? refuse(flag, text);
}

function isDay(date: string): boolean {
  const time = Date.parse(date);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}

/** When the clock there shows this time of that day; on a day of 23 or 25 hours that is not so long after its beginning. */
function atClock(calendar: Calendar, day: string, intoTheDay: number): number {
  const guess = calendar.startOf(day) + intoTheDay;
  if (intoTheDay === 0) return guess;
  const shown = Date.parse(`${calendar.clockAt(iso(guess)).replace(' ', 'T')}Z`);
  const wanted = Date.parse(day) + intoTheDay;
  return guess + (Math.floor(wanted / MINUTE_MS) * MINUTE_MS - shown);
}

function toIso(time: number): string | null {
  // Years of four digits only: others are spelt in a way that does not sort.
  return time >= Date.UTC(0, 0, 1) && time < Date.UTC(10_000, 0, 1) ? iso(time) : null;
}

function refuse(flag: string, text: string): never {
  throw new AppError('usage', `--${flag} "${text}" is no date`, {
    hint: 'Give a day such as 2026-01-31, an ISO time such as 2026-01-31T12:00Z, or how long ago: 36h, 30d, 12w.',
  });
}

function mondayBefore(moment: number, weeks: number, calendar: Calendar): string {
  const monday = Date.parse(mondayOf(calendar.dateOf(moment)));
  return iso(calendar.startOf(dateText(monday - weeks * AGO_MS.w)));
}

function mondayOf(date: string): string {
  const sinceMonday = (new Date(date).getUTCDay() + 6) % 7;
  return dateText(Date.parse(date) - sinceMonday * DAY_MS);
}

function dateText(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** A day or week of the reader: the date it begins on, and its bounds as the mirror spells time. */
export interface Bucket {
  date: string;
  begins: string;
  ends: string;
  /** Which part of it lies in the period, where that is not all: `from 2026-01-28 12:00`, `until …`. */
  partial: string | null;
}

/** The days or weeks of a period. The first may begin before it or before anything was known, the last end after it: both are marked. */
export function bucketsOf(
  step: 'day' | 'week',
  { since, until, watchedFrom = since }: { since: string; until: string; watchedFrom?: string | null },
  calendar: Calendar,
): Bucket[] {
  const known = watchedFrom ?? since;
  const days = step === 'day' ? 1 : 7;
  const first = calendar.dateOf(Date.parse(since));
  const buckets: Bucket[] = [];
  let date = step === 'day' ? first : mondayOf(first);
  for (let begins = isoStart(calendar, date); begins < until; ) {
    const next = dateText(Date.parse(date) + days * DAY_MS);
    const ends = isoStart(calendar, next);
    const from = begins < known && known < ends ? `from ${calendar.clockAt(known)}` : '';
    const to = ends > until ? `until ${calendar.clockAt(until)}` : '';
    const partial = [from, to].filter((part) => part !== '').join(' ') || null;
    buckets.push({ date, begins, ends, partial });
    [date, begins] = [next, ends];
  }
  return buckets;
}

function isoStart(calendar: Calendar, date: string): string {
  return iso(calendar.startOf(date));
}

/** A moment counts from `since` on and before `until`. */
export interface Period {
  since: string | null;
  until: string;
}

export type Span = Period & { since: string };

/** The period a person asks for, or the one that is usual for the question. */
export function periodOf(
  { since: usual }: Pick<Definition, 'since'>,
  { now, since, until }: Pick<ReportRequest, 'now' | 'since' | 'until'>,
  calendar: Calendar,
): Period {
  const end = until === undefined ? iso(now) : momentOf('until', until, now, calendar);
  const begin =
    since === undefined
      ? usualSince(usual, Date.parse(end), calendar)
      : momentOf('since', since, now, calendar);
  if (begin !== null && begin >= end)
    throw new AppError('usage', `the period ends (${end}) before it begins (${begin})`, {
      hint: 'Give --since an earlier date, or --until a later one.',
    });
  return { since: begin, until: end };
}

function usualSince(since: Definition['since'], end: number, calendar: Calendar): string | null {
  if (since === undefined) return null;
  return 'weeks' in since ? mondayBefore(end, since.weeks - 1, calendar) : iso(end - since.days * 86_400_000);
}

/** Where the period before it begins, which is just as long. */
export function priorTo({ since, until }: Span): string {
  return iso(2 * Date.parse(since) - Date.parse(until));
}
