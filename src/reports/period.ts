import { AppError } from '../base/errors.ts';
import type { Definition } from './catalogue.ts';
import { type Calendar, momentOf, mondayBefore } from './moment.ts';
import type { ReportRequest } from './report.ts';

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
  const end = until === undefined ? new Date(now).toISOString() : momentOf('until', until, now, calendar);
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
  return 'weeks' in since
    ? mondayBefore(end, since.weeks - 1, calendar)
    : new Date(end - since.days * 86_400_000).toISOString();
}

/** Where the period before it begins, which is just as long. */
export function priorTo({ since, until }: Span): string {
  return new Date(2 * Date.parse(since) - Date.parse(until)).toISOString();
}
