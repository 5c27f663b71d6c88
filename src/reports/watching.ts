import { iso } from '../base/clock.ts';
import type { Bucket, Calendar, Period } from './moment.ts';
import type { Gap, Watching } from './report.ts';
import type { Watched } from './store.ts';

/** What the mirror knows of a time: since when it watches, when it looked, and which parts of a period are not over. */

const DAY_MS = 86_400_000;
/** A sweep a day is enough for figures by the week; a longer pause is told. */
const FRESH_MS = DAY_MS;
const PAUSE_MS = 2 * DAY_MS;

/** A day or week with what the mirror can know of it. */
export interface WatchedBucket extends Bucket {
  /** Whether it is not over at the moment of asking: its figures are those so far. */
  isUnfinished: boolean;
  /** Whether a sweep of the posts ended in it. */
  isWatched: boolean;
  /** Whether it was over before every post had been seen once. */
  isBefore: boolean;
  /** The look before it, where nobody looked in the whole of the one before: what came since then was seen in this one. */
  sinceLook: string | null;
}

export function watchingOf({ first, last, looks }: Watched, { since, until }: Period): Watching {
  const begin = since === null ? Number.NEGATIVE_INFINITY : Date.parse(since);
  const gaps: Gap[] = [];
  for (let i = 1; i < looks.length; i++) {
    const [from, to] = [looks[i - 1] ?? 0, looks[i] ?? 0];
    if (to - from > PAUSE_MS && to > begin && from < Date.parse(until))
      gaps.push({ from: iso(from), until: iso(to) });
  }
  return { since: first, last: last ?? first, gaps };
}

interface Asking {
  /** The end of the period: what was seen later is no part of it. */
  until: string;
  watched: Watched;
  now: number;
  calendar: Calendar;
}

/** Marks the running one, and those around a time in which no sweep ended. */
export function watchedBuckets(
  buckets: readonly Bucket[],
  { until, watched: { looks }, now, calendar }: Asking,
): WatchedBucket[] {
  let next = 0;
  return buckets.map((bucket) => {
    const [begins, ends] = [Date.parse(bucket.begins), Date.parse(bucket.ends)];
    while ((looks[next] ?? Number.POSITIVE_INFINITY) < begins) next++;
    const isWatched = (looks[next] ?? Number.POSITIVE_INFINITY) < Math.min(ends, Date.parse(until));
    const before = looks[next - 1] ?? Number.POSITIVE_INFINITY;
    const isAfterPause = isWatched && before < begins - (ends - begins);
    const isUnfinished = ends > now;
    const partial = isUnfinished
      ? ['so far', bucket.partial].filter((part) => part !== null).join(', ')
      : bucket.partial;
    return {
      ...bucket,
      partial,
      isUnfinished,
      isWatched,
      isBefore: !isWatched && next === 0 && looks.length > 0,
      sinceLook: isAfterPause ? calendar.clockAt(iso(before)) : null,
    };
  });
}

/** What to say of votes that were seen in it. */
export function bucketRemark({ partial, isWatched, isBefore, sinceLook }: WatchedBucket): string | null {
  const parts = [
    partial,
    isWatched ? null : isBefore ? 'before the mirror watched' : 'no sweep ended in it',
    sinceLook === null ? null : `since the last look, ${sinceLook}`,
  ];
  return parts.filter((part) => part !== null).join(', ') || null;
}

/** The count of a week. Null where it is 0 and the week began after the last look. Before the first look has ended, 0 stays 0. */
export function countIfRead(last: number | null, begins: string, count = 0): number | null {
  return count === 0 && last !== null && Date.parse(begins) > last ? null : count;
}

interface Coverage {
  /** From when on changes within the period are known; null where they are not known at all. */
  from: string | null;
  notes: string[];
}

/** Which part of a period the mirror was watching: from the end of its first complete sweep, once the posts were looked at a second time. */
export function coverage(watched: Watched, period: Period): Coverage {
  const { first, last } = watched;
  const { since, until } = period;
  if (first === null)
    return unknown(
      'No sweep of posts has been completed yet, so changes over time are not known: run "feedback-mirror sync".',
    );
  if (last === null)
    return unknown(
      `The mirror has looked at the posts once, on ${first}: how they change is known after the next sweep.`,
    );
  if (until <= first)
    return unknown(
      `The mirror has been watching since ${first}: changes before that are not known, and are left empty.`,
    );
  const lag = `The mirror last looked at the posts on ${last}: changes after that are not known.`;
  if (since !== null && since >= last) return unknown(lag);
  const notes = [
    ...pauseNotes(watchingOf(watched, period).gaps),
    ...(Date.parse(until) - Date.parse(last) > FRESH_MS ? [lag] : []),
  ];
  if (since !== null && since >= first) return { from: since, notes };
  const young = `The mirror has been watching since ${first}: changes before that are not in the figures.`;
  return { from: first, notes: [young, ...notes] };
}

function unknown(note: string): Coverage {
  return { from: null, notes: [note] };
}

function pauseNotes(gaps: readonly Gap[]): string[] {
  const [longest] = gaps.toSorted((a, b) => lengthOf(b) - lengthOf(a));
  if (!longest) return [];
  const times = gaps.length === 1 ? '' : `${gaps.length} times for over two days, the longest `;
  return [
    `The mirror did not look ${times}from ${longest.from} to ${longest.until}: ` +
      'what came in such a time counts when the mirror saw it.',
  ];
}

function lengthOf({ from, until }: Gap): number {
  return Date.parse(until) - Date.parse(from);
}
