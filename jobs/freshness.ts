import { CronExpressionParser } from 'cron-parser';
import type { LastPass } from '../src/store/service-state.ts';

/** When a list is read as a whole: every so often, or by a cron pattern. */
export type Rhythm = { every: number } | { pattern: string; tz: string };

export function rhythmOf(settings: {
  sweepCron: string | null;
  sweepEvery: number;
  timeZone: string;
}): Rhythm {
  const { sweepCron, sweepEvery, timeZone } = settings;
  return sweepCron === null ? { every: sweepEvery } : { pattern: sweepCron, tz: timeZone };
}

/** When the sweep after the last complete one is due; null when it is due because there was none. */
export function sweepDueAt({ finishedAt }: LastPass, rhythm: Rhythm): number | null {
  if (finishedAt === null) return null;
  if ('every' in rhythm) return finishedAt + rhythm.every;
  return slots(rhythm, finishedAt).next().getTime();
}

/** Whether a sweep should be rung outside its schedule: there was none, one was cut short, or one was missed. */
export function isOverdue(last: LastPass, rhythm: Rhythm, now: number): boolean {
  const due = sweepDueAt(last, rhythm);
  return due === null || last.unfinished || due <= now;
}

/**
 * Whether a sweep that was rung can be left out: another one began so shortly before that this one would show nothing else. A new
 * schedule rings at once, also when the service has just read everything.
 */
export function isFresh(last: LastPass, rhythm: Rhythm, now: number): boolean {
  if (last.startedAt === null || last.unfinished) return false;
  if ('every' in rhythm) return now - last.startedAt < rhythm.every / 2;
  return last.startedAt >= slots(rhythm, now).prev().getTime();
}

function slots({ pattern, tz }: { pattern: string; tz: string }, currentDate: number) {
  const expression = CronExpressionParser.parse(pattern, { tz, currentDate });
  return { next: () => expression.next(), prev: () => expression.prev() };
}
