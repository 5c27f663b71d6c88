import { AppError } from '../base/errors.ts';
import type { ReportResult, Value } from './report.ts';

const byText = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

type Sortable = Pick<ReportResult, 'columns' | 'rows' | 'people'>;

/** The rows in the order of a column, `votes`, or the other way round, `-votes`. Rows without a value come last. */
export function sortedReport<T extends Sortable>(result: T, sort: string | null): T {
  if (sort === null) return result;
  const name = sort.replace(/^-/, '');
  if (!result.columns.some((column) => column.name === name)) {
    const names = result.columns.map((column) => column.name).join(', ');
    throw new AppError(
      'usage',
      `"sort" can be one of ${names}, with a minus before it for the other way round`,
    );
  }
  const way = sort.startsWith('-') ? -1 : 1;
  const { rows, people } = result;
  const order = rows.map((row, i) => ({ row, value: row[name] ?? null, person: people?.[i] ?? 0 }));
  order.sort((a, b) => compare(a.value, b.value, way));
  return {
    ...result,
    rows: order.map(({ row }) => row),
    ...(people && { people: order.map(({ person }) => person) }),
  };
}

function compare(a: Value, b: Value, way: 1 | -1): number {
  const [first, second] = [sortable(a), sortable(b)];
  if (first === null || second === null) return Number(first === null) - Number(second === null);
  if (typeof first === 'number' && typeof second === 'number') return way * (first - second);
  return way * byText.compare(String(first), String(second));
}

/** A list of numbers by its last one: where it has come to. */
function sortable(value: Value): string | number | null {
  return Array.isArray(value) ? (value.at(-1) ?? null) : value;
}
