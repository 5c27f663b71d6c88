import type { ReportAnswer } from '../../http/dashboard/reports.ts';
import type { ReportColumn, Value } from '../../reports/report.ts';
import { withQuery } from '../api.ts';
import { number, percent, span, time, titleOf, withDates } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { emailText, postLink } from '../parts/prose.ts';
import type { TableColumn } from '../parts/table.ts';
import type { ReportChoice } from './report-filters.ts';

const LONGEST_TITLE = 110;
/** Columns with the title of a post, and the column that has its number. */
const TITLES: Record<string, string> = { title: 'post', top_title: 'top_post', other_title: 'other' };

type Row = ReportAnswer['rows'][number];

/** In the order of the report, with the title of a post beside its number: a phone shows the first two columns without scrolling. */
function inOrder(columns: readonly ReportColumn[]): readonly ReportColumn[] {
  const title = columns.find(({ name }) => name === 'title');
  if (!title || columns[0]?.kind !== 'post') return columns;
  return [columns[0], title, ...columns.slice(1).filter((column) => column !== title)];
}

/** What a table needs beside the answer: where its heads lead, and where its rows do. */
export interface TableOptions {
  /** The address of the report with another order. */
  sortedBy(sort: string | null): string;
  sort: string | null;
  links: RowLinks;
}

export function columnsOf(answer: ReportAnswer, options: TableOptions): TableColumn<Row>[] {
  const { columns, rows, timeZone } = answer;
  const isShown = (column: ReportColumn): boolean =>
    column.name !== 'email' && rows.some((row) => row[column.name] !== null);
  const shown = inOrder(columns).filter(isShown);
  const leading = LEADING.find((name) => shown.some((column) => column.name === name)) ?? shown[0]?.name;
  // Posts have their bars in the rows, everything else in a chart above them.
  const hasBars = columns.some(({ kind }) => kind === 'post');
  return shown.map((column) => {
    const isText = ['text', 'remark', 'trend', 'date', 'time'].includes(column.kind);
    const most =
      hasBars && column.bar ? Math.max(0, ...rows.map((row) => Number(row[column.name] ?? 0))) || 1 : null;
    return {
      ...headOf(column.name, !isText, options),
      ...(isText ? {} : { kind: 'number' as const }),
      ...(['text', 'time'].includes(column.kind) ? { kind: 'words' as const } : {}),
      ...(column.name in TITLES || column.name === 'titles' ? { kind: 'title' as const } : {}),
      cell: (row) => {
        const isLeading = column.name === leading;
        const shownCell = cellOf(row, column, { most, zone: timeZone, isLeading });
        const href = isLeading ? options.links.row(row) : options.links.cell(row, column.name);
        if (href === null || row[TITLES[column.name] ?? '']) return shownCell;
        return [h('a', { href, class: isLeading ? 'row-link' : null }, shownCell), noteOf(row, column.name)];
      },
    };
  });
}

/** The first of these columns has the link of its row. Without them the first column of the report has it. */
const LEADING = ['title', 'customer'];

/** The address of a person stands under their name. */
function noteOf(row: Row, column: string): Child {
  return column === 'customer' && row.email ? h('div.note', emailText(String(row.email))) : null;
}

/** A head that sorts: numbers the largest first, texts from A, and the other way round once they are. */
function headOf(
  name: string,
  isNumber: boolean,
  { sort, sortedBy }: TableOptions,
): Pick<TableColumn<Row>, 'head' | 'sorted'> {
  const [usual, other] = isNumber ? [`-${name}`, name] : [name, `-${name}`];
  const isSorted = sort === name || sort === `-${name}`;
  const sorted = isSorted ? (sort === name ? 'ascending' : 'descending') : null;
  const href = sortedBy(sort === usual ? other : usual);
  return { sorted, head: h('a.sort', { id: `sort-${name}`, href }, titleOf(name)) };
}

/** Where a row leads, and a cell of it that counts something else; null where that is nowhere. */
export interface RowLinks {
  row(row: Row): string | null;
  cell(row: Row, column: string): string | null;
}

interface LinkOptions {
  boards: readonly { slug: string; name: string }[];
  statuses: readonly { id: number; name: string }[];
  chosen: Pick<ReportChoice, 'board' | 'status' | 'since' | 'until' | 'tz' | 'post' | 'by' | 'segment'>;
  answer: Pick<ReportAnswer, 'columns' | 'rows' | 'people' | 'since'>;
}

const WEEK_MS = 7 * 86_400_000;
/** What the rows of two reports count. */
const COUNTED: Readonly<Record<string, string>> = {
  posts: '/posts',
  votes: '/posts?sort=votes',
  comments: '/posts?sort=comments',
  'customers who wrote': '/reports/customers',
};

/** The column that counts what the list of posts shows: the posts in a status now, where others count that were in it. */
function countedColumn({ columns }: LinkOptions['answer']): ReportColumn | undefined {
  const named = (wanted: string) => columns.find(({ name }) => name === wanted);
  return named('now_in_it') ?? named('posts');
}

/**
 * What is behind a row: its post, its person, or the posts of its board, status, week and customers. The filters of the report stay, and
 * its period where its posts are those of the period.
 */
export function postsBehind({ boards, statuses, chosen, answer }: LinkOptions): RowLinks {
  const counted = countedColumn(answer);
  const first = answer.since;
  const isOfPeriod = first !== null && counted !== undefined && !counted.allTime;
  const period = isOfPeriod ? { since: chosen.since ?? first, until: chosen.until } : null;
  const people = new Map(answer.rows.map((row, i) => [row, answer.people?.[i]]));
  /** A week begins no earlier than the period, and ends no later. */
  const daysOf = (week: string) => {
    const [next, last] = [new Date(Date.parse(week) + WEEK_MS).toISOString().slice(0, 10), period?.until];
    return {
      since: isOfPeriod && first > week ? first : week,
      until: last && last < next ? last : next,
    };
  };
  const toPosts = (row: Row, sort: string | null = null): string | null => {
    const slug = boards.find(({ name }) => name === row.board)?.slug ?? null;
    const status = statuses.find(({ name }) => name === row.status)?.id ?? null;
    const week = typeof row.week === 'string' ? row.week : null;
    const segment = typeof row.segment === 'string' ? `${chosen.by ?? 'plan'}=${row.segment}` : null;
    // What was delivered to people they wrote or commented on: `post_ids` has it.
    const creator = row.post_ids === undefined ? (people.get(row) ?? null) : null;
    const isOfAll = row.board === 'all boards';
    if ([slug, status, week, segment, creator].every((one) => one === null) && !isOfAll) return null;
    const days = week === null ? period : daysOf(week);
    return withQuery('/posts', {
      ...{ board: slug ?? chosen.board, status: status ?? chosen.status, segment: segment ?? chosen.segment },
      ...{ creator, ...days, tz: days && chosen.tz, sort },
    });
  };
  return {
    row(row) {
      if (row.post) return `/posts/${row.post}`;
      const person = people.get(row);
      if (person !== undefined) return `/people/${person}`;
      if (row.pass) return '/sync';
      if (row.what) return COUNTED[String(row.what)] ?? null;
      // Each moment of one post.
      return row.at && chosen.post !== null ? `/posts/${chosen.post}` : toPosts(row);
    },
    cell(row, column) {
      if (row.post !== undefined || row[column] === 0) return null;
      const person = people.get(row);
      if (column === 'comments' && person !== undefined) return `/people/${person}`;
      if (column === 'votes' || column === 'comments') return toPosts(row, column);
      return ['board', 'status', counted?.name].includes(column) ? toPosts(row) : null;
    },
  };
}

interface CellStyle {
  /** The longest bar of the column; null where it has none. */
  most: number | null;
  zone: string;
  /** Whether the row's link stands here. */
  isLeading: boolean;
}

function cellOf(row: Row, { name, kind }: ReportColumn, { most, zone, isLeading }: CellStyle): Child {
  const value = row[name] ?? null;
  const text = cellText(value, kind, zone);
  if (Array.isArray(value)) return trend(value);
  if (kind === 'post' && value !== null) return h('a', { href: `/posts/${value}` }, `#${value}`);
  const post = row[TITLES[name] ?? ''];
  if (post) return postLink(Number(post), text, isLeading ? { class: 'row-link' } : {}, LONGEST_TITLE);
  if (most === null || typeof value !== 'number') return text;
  return [
    text,
    h('span.bar.thin', { 'aria-hidden': 'true', style: { width: `${(100 * Math.max(0, value)) / most}%` } }),
  ];
}

export function cellText(value: Value, kind: ReportColumn['kind'], zone: string): string {
  if (value === null) return kind === 'remark' ? '' : '–';
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value === 'string') {
    if (kind === 'time') return time(value, zone);
    return kind === 'date' || kind === 'remark' ? withDates(value, zone) : value;
  }
  if (kind === 'percent') return percent(value);
  if (kind === 'duration') return span(value * 1000);
  if (kind === 'post') return `#${value}`;
  const digits = kind === 'decimal' ? 2 : kind === 'money' ? 2 : 0;
  return value.toLocaleString(undefined, { maximumFractionDigits: digits });
}

/** A number a week, as small bars; the numbers themselves for whoever cannot see them. */
function trend(values: readonly number[]): VNode {
  const most = Math.max(1, ...values);
  const steps = values.map((value) => h('i', { style: { height: `${(100 * value) / most}%` } }));
  return h('span.trend', { role: 'img', 'aria-label': values.map(number).join(', ') }, steps);
}
