import { AppError } from '../base/errors.ts';
import { changeOf } from './against.ts';
import type { ReportName } from './catalogue.ts';
import {
  DEFAULT_LIMIT,
  type ReportColumn,
  type ReportResult,
  type Row,
  type Value,
  type Watching,
} from './report.ts';

/** The answer of one source. */
export interface SourceReport {
  source: string;
  report: ReportResult;
}

/** Rows that mean the same in every source, by these columns; their figures add up. Medians, shares and people do not. */
const ADDS_UP: Partial<Record<ReportName, { key: string; adds: readonly string[] }>> = {
  overview: { key: 'what', adds: ['total', 'recent', 'prior'] },
  votes: { key: 'week', adds: ['votes', 'gained', 'votes_deleted'] },
};

/** Lists in the order of one figure: those of all sources are one list in that order. */
const RANKED: Partial<Record<ReportName, string>> = {
  'top-posts': 'votes',
  'gaining-posts': 'gained',
  unanswered: 'votes',
  stale: 'votes',
  customers: 'wrote',
  requests: 'votes',
};

/** No name of a source has a space. */
const SUM = 'all sources';
const SOURCE: ReportColumn = { name: 'source', kind: 'text' };
const SEPARATE = 'The figures of these rows are of one source each; they do not add up.';

export function refuseForSeveral(name: ReportName): void {
  if (name === 'post-votes')
    throw new AppError('usage', 'the numbers of posts are of one source: say which with --source NAME');
}

/** One report over several sources: each row says of which source it is. */
export function reportTogether(
  name: ReportName,
  found: readonly SourceReport[],
  limit: number = DEFAULT_LIMIT,
): ReportResult {
  const [{ report: first }] = found as [SourceReport];
  const { people: _, ...rest } = first;
  const all = found.flatMap(({ source, report }) => report.rows.map((row) => ({ source, ...row })));
  const sums = sumsOf(name, all);
  const notes = notesOf(found);
  return {
    ...rest,
    watching: { ...watchingOf(found), unfinished: first.watching.unfinished },
    columns: [SOURCE, ...first.columns],
    rows: [...sums, ...ranked(name, all, limit)],
    notes: sums.length > 0 || RANKED[name] ? notes : [SEPARATE, ...notes],
  };
}

function sumsOf(name: ReportName, rows: readonly Row[]): Row[] {
  const how = ADDS_UP[name];
  if (!how) return [];
  const sums = new Map<Value, Row>();
  for (const row of rows) {
    const key = row[how.key] ?? null;
    const sum = sums.get(key);
    sums.set(key, sum ? added(sum, row, how.adds) : { ...row, source: SUM });
  }
  // The oldest week of a young source may come after that of an older one.
  const isByTime = how.key === 'week';
  const all = [...sums.values()];
  return isByTime ? all.sort((a, b) => String(a.week).localeCompare(String(b.week))) : all;
}

/** A figure that one source does not know is not known of all. */
function added(sum: Row, row: Row, adds: readonly string[]): Row {
  const figures = adds.map((column) => {
    const [a, b] = [sum[column], row[column]];
    return [column, typeof a === 'number' && typeof b === 'number' ? a + b : null] as const;
  });
  const next: Row = { ...sum, ...Object.fromEntries(figures) };
  if ('partial' in next) next.partial = sum.partial ?? row.partial ?? null;
  if ('change' in next) next.change = changeOf(next.recent ?? null, next.prior ?? null);
  return next;
}

function ranked(name: ReportName, rows: readonly Row[], limit: number): Row[] {
  const column = RANKED[name];
  if (column === undefined) return [...rows];
  return rows.toSorted((a, b) => Number(b[column] ?? 0) - Number(a[column] ?? 0)).slice(0, limit);
}

/** What every source says is said once; the rest with its name. */
function notesOf(found: readonly SourceReport[]): string[] {
  const isShared = (note: string): boolean => found.every(({ report }) => report.notes.includes(note));
  const shared = found[0]?.report.notes.filter(isShared) ?? [];
  const own = found.flatMap(({ source, report }) =>
    report.notes.filter((note) => !isShared(note)).map((note) => `${source}: ${note}`),
  );
  return [...shared, ...own];
}

function watchingOf(found: readonly SourceReport[]): Watching {
  const all = found.map(({ report }) => report.watching);
  const [begins, ends] = [all.map(({ since }) => since), all.map(({ last }) => last)];
  return {
    since: begins.includes(null) ? null : (begins.toSorted().at(-1) ?? null),
    last: ends.includes(null) ? null : (ends.toSorted()[0] ?? null),
    gaps: all.flatMap(({ gaps }) => gaps),
  };
}
