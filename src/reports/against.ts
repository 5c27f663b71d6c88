import { iso } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { type Calendar, priorTo, type Span } from './moment.ts';
import type { ReportColumn, Row, Value } from './report.ts';

/** Two periods side by side. */

export const AGAINST = ['previous', 'month', 'year'] as const;
type Against = (typeof AGAINST)[number];

export function againstNamed(text: string): Against {
  const found = AGAINST.find((known) => known === text.trim().toLowerCase());
  if (found) return found;
  throw new AppError('usage', `--against "${text}" is not known`, {
    hint: 'It can be previous (just as long, right before), month (the same days a month earlier) or year.',
  });
}

/** The period to compare with: right before and just as long, or the same days a month or a year earlier. */
export function earlier(period: Span, against: Against, calendar: Calendar): Span {
  if (against === 'previous') return { since: priorTo(period), until: period.since };
  const months = against === 'month' ? 1 : 12;
  return {
    since: monthsBefore(period.since, months, calendar),
    until: monthsBefore(period.until, months, calendar),
  };
}

/** The same time of the same day; in a shorter month, of its last day. */
function monthsBefore(time: string, months: number, calendar: Calendar): string {
  const at = Date.parse(time);
  const date = calendar.dateOf(at);
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  const last = new Date(Date.UTC(year, month - months, 0)).getUTCDate();
  const shifted = new Date(Date.UTC(year, month - 1 - months, Math.min(day, last)))
    .toISOString()
    .slice(0, 10);
  return iso(calendar.startOf(shifted) + at - calendar.startOf(date));
}

/** Each compared column with the same of the earlier period behind it, and the change as a share of that. */
export function comparedColumns(
  columns: readonly ReportColumn[],
  compared: readonly string[],
): ReportColumn[] {
  return columns.flatMap((column) => {
    if (!compared.includes(column.name)) return [column];
    const { name, kind, unit } = column;
    const before: ReportColumn = { name: `${name}_before`, kind, ...(unit === undefined ? {} : { unit }) };
    return [column, before, { name: `${name}_change`, kind: 'percent' }];
  });
}

/** The rows of now with the figures of those that were about the same then. */
export function comparedRows(
  rows: readonly Row[],
  then: readonly Row[],
  key: readonly string[],
  compared: readonly string[],
): Row[] {
  const keyOf = (row: Row): string => JSON.stringify(key.map((name) => row[name] ?? null));
  const earlier = new Map(then.map((row) => [keyOf(row), row]));
  return rows.map((row) => {
    const before = earlier.get(keyOf(row)) ?? {};
    const more = compared.flatMap((name): [string, Value][] => [
      [`${name}_before`, before[name] ?? null],
      [`${name}_change`, changeOf(row[name] ?? null, before[name] ?? null)],
    ]);
    return { ...row, ...Object.fromEntries(more) };
  });
}

/** Null where one of the two is not known, or there was nothing before. */
export function changeOf(now: Value, before: Value): number | null {
  return typeof now === 'number' && typeof before === 'number' && before > 0 ? (now - before) / before : null;
}
