import { CronExpressionParser } from 'cron-parser';

interface Timed {
  every: 'at-once' | 'hourly' | 'daily' | 'weekly';
  at: { weekday: number; hour: number; minute: number };
  zone: string;
}

/** The last moment of the rule's schedule that is over; null for a rule that tells at once. */
export function lastSlot(rule: Timed, now: number): number | null {
  const pattern = patternOf(rule);
  if (pattern === null) return null;
  // A moment counts as soon as it has come.
  return CronExpressionParser.parse(pattern, { tz: rule.zone, currentDate: now + 1 })
    .prev()
    .getTime();
}

export function nextSlot(rule: Timed, now: number): number | null {
  const pattern = patternOf(rule);
  if (pattern === null) return null;
  return CronExpressionParser.parse(pattern, { tz: rule.zone, currentDate: now }).next().getTime();
}

function patternOf({ every, at: { weekday, hour, minute } }: Timed): string | null {
  const patterns = {
    'at-once': null,
    hourly: '0 * * * *',
    daily: `${minute} ${hour} * * *`,
    weekly: `${minute} ${hour} * * ${weekday}`,
  };
  return patterns[every];
}

/** The moment for which the rule makes its next message; null while it has none to make. Moments that passed while the service was off become one. */
export function dueSlot(rule: Timed, lastMade: number | null, now: number): number | null {
  const slot = lastSlot(rule, now);
  if (slot === null) return now;
  return lastMade === null || slot > lastMade ? slot : null;
}
