import { readFileSync } from 'node:fs';
import { ownFile } from '../base/program.ts';
import type { KnownBoard, ReportReader } from '../store/reports.ts';
import { coverage } from './coverage.ts';
import { type Bucket, bucketAt, type Calendar, slotOf } from './moment.ts';
import { type Movement, readMovement } from './movement.ts';
import { priorTo, type Span } from './period.ts';

/** How much there is and what was new in a period, as the report overview and the first page of the dashboard have it. */
export interface Figures {
  figures: Record<'posts' | 'votes' | 'comments' | 'customers', Figure>;
  /** New posts by bucket. */
  newPosts: number[];
  byBoard: Amount[];
  byStatus: (Amount & { color: string })[];
  /** Null where the mirror was not watching. */
  moved: Movement | null;
  /** From when on votes are counted. */
  from: string | null;
  notes: string[];
}

/** Null where it is not known. */
export interface Figure {
  total: number | null;
  recent: number | null;
  prior: number | null;
}

export interface Amount {
  id: number;
  name: string;
  posts: number;
  votes: number;
}

export interface FiguresRequest {
  now: number;
  period: Span;
  board: number | null;
  buckets: readonly Bucket[];
  calendar: Calendar;
}

/** The one meaning of a total of comments: what the upstream itself counts. Reports that show one say so. */
export const COMMENT_TOTALS =
  'The total of comments is what the upstream counts on its posts; new comments are those that the mirror has.';

export async function readFigures(reader: ReportReader, request: FiguresRequest): Promise<Figures> {
  const { now, period, board, buckets, calendar } = request;
  const prior = priorTo(period);
  const watched = await reader.watched();
  const { from, notes } = coverage(watched, period, calendar);
  const before = from !== null && watched.first !== null && prior >= watched.first ? prior : null;
  const moved =
    from === null ? null : await readMovement(reader, { from, before, until: period.until, board, buckets });
  const { comments, ...parts } = await amounts(reader, { board, now: new Date(now).toISOString() });
  const written = await activity(reader, { ...period, prior, board }, buckets);
  const sum = (what: 'posts' | 'votes'): number => parts.byBoard.reduce((total, row) => total + row[what], 0);
  return {
    figures: {
      posts: { total: sum('posts'), ...written.posts },
      votes: { total: sum('votes'), recent: moved?.recent ?? null, prior: moved?.prior ?? null },
      comments: { total: comments, ...written.comments },
      customers: { total: null, ...written.customers },
    },
    newPosts: written.newPosts,
    ...parts,
    moved,
    from,
    notes: [COMMENT_TOTALS, ...notes],
  };
}

/** Reports have their SQL in sql/, and what is read for the page and the figures its own beside it. */
export function pageSql(name: 'standing' | 'activity' | 'titles'): string {
  return readFileSync(ownFile(`./page-sql/${name}.sql`, import.meta.url), 'utf8');
}

async function amounts(reader: ReportReader, bound: { board: number | null; now: string }) {
  const parts = (await reader.rows(pageSql('standing'), bound)) as unknown as Part[];
  const of = <T extends { id: number; name: string }>(known: readonly T[], key: 'board' | 'status') =>
    known
      .map((one) => ({ ...one, ...added(parts.filter((part) => part[key] === one.id)) }))
      .filter(({ posts }) => posts > 0);
  const boards: KnownBoard[] = await reader.boards();
  return {
    byBoard: of(boards, 'board').sort((a, b) => b.posts - a.posts),
    byStatus: of(await reader.statuses(), 'status'),
    comments: parts.reduce((total, part) => total + part.comments, 0),
  };
}

interface Part {
  board: number;
  status: number;
  posts: number;
  votes: number;
  comments: number;
}

function added(parts: readonly Part[]): { posts: number; votes: number } {
  return {
    posts: parts.reduce((total, { posts }) => total + posts, 0),
    votes: parts.reduce((total, { votes }) => total + votes, 0),
  };
}

async function activity(
  reader: ReportReader,
  bound: Span & { prior: string; board: number | null },
  buckets: readonly Bucket[],
) {
  const rows = await reader.rows(pageSql('activity'), { ...bound, slot: slotOf(buckets) });
  const total = (what: 'posts' | 'comments' | 'customers', isRecent: number): number =>
    rows.reduce((n, row) => n + (row.isRecent === isRecent ? Number(row[what]) : 0), 0);
  const both = (what: 'posts' | 'comments' | 'customers') => ({
    recent: total(what, 1),
    prior: total(what, 0),
  });
  const newPosts = buckets.map(() => 0);
  for (const { slot, isRecent, posts } of rows) {
    const place = slot === null || isRecent !== 1 ? -1 : bucketAt(buckets, String(slot));
    if (newPosts[place] !== undefined) newPosts[place] += Number(posts);
  }
  return { posts: both('posts'), comments: both('comments'), customers: both('customers'), newPosts };
}
