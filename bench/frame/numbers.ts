import type { Bound, Series } from './set.ts';

/** The middle one; of an even number the mean of the two in the middle. Nothing measured is not a number. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const upper = sorted[Math.floor(half)] ?? Number.NaN;
  const lower = sorted[Math.ceil(half) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** How often the median of the one is in the median of the other. */
export function ratio(of: Pick<Series, 'values'>, to: Pick<Series, 'values'>): number {
  return median(of.values) / median(to.values);
}

/** Smallest and largest. */
export function spread(values: readonly number[]): [number, number] {
  return [Math.min(...values), Math.max(...values)];
}

export type Verdict = 'ok' | 'short' | 'not measured' | 'no bound';

/** A figure is rounded for people, never before it is judged. */
export function verdict(figure: number, bound: Bound | null): Verdict {
  if (Number.isNaN(figure)) return 'not measured';
  if (!bound) return 'no bound';
  const reached = bound.is === 'at least' ? figure >= bound.value : figure <= bound.value;
  return reached ? 'ok' : 'short';
}

/** Three digits that count are what repetitions of a measurement can tell apart. */
export function rounded(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

export function repetitions(count: number): string {
  return count === 1 ? '1 repetition' : `${count} repetitions`;
}
