import { CronExpressionParser } from 'cron-parser';
import { CLOCK_STEP_MS, pastOrNull } from '../src/base/clock.ts';
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

/** When the sweep after the last complete one is due; null when it is due because there was none of which the age is known. */
export function sweepDueAt(last: LastPass, rhythm: Rhythm, now: number): number | null {
  const finishedAt = pastOrNull(last.finishedAt, now);
  return finishedAt === null ? null : nextTurn(rhythm, finishedAt);
}

/** When a rhythm comes round for the first time after a moment. */
export function nextTurn(rhythm: Rhythm, after: number): number {
  return 'every' in rhythm ? after + rhythm.every : slots(rhythm, after).next().getTime();
}

/** Whether what was planned for that moment was planned while the clock was ahead: it would come more than a turn late. */
export function isPlannedAhead(at: number, rhythm: Rhythm, now: number): boolean {
  return at > nextTurn(rhythm, now + CLOCK_STEP_MS);
}

/** Whether a sweep should be enqueued outside its schedule: there was none, one was interrupted, or one was missed. */
export function isOverdue(last: LastPass, rhythm: Rhythm, now: number): boolean {
  const due = sweepDueAt(last, rhythm, now);
  return due === null || last.unfinished || due <= now;
}

/**
 * Whether a sweep that was enqueued can be left out: another one began so shortly before that this one would show nothing else. A new
 * schedule enqueues one at once, also when the service has just read everything.
 */
export function isFresh(last: LastPass, rhythm: Rhythm, now: number): boolean {
  const startedAt = pastOrNull(last.startedAt, now);
  if (startedAt === null || last.unfinished) return false;
  if ('every' in rhythm) return now - startedAt < rhythm.every / 2;
  return startedAt >= slots(rhythm, now).prev().getTime();
}

function slots({ pattern, tz }: { pattern: string; tz: string }, currentDate: number) {
  const expression = CronExpressionParser.parse(pattern, { tz, currentDate });
  return { next: () => expression.next(), prev: () => expression.prev() };
}
