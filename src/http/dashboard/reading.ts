import { parentPort, workerData } from 'node:worker_threads';
import { AppError, codeOf, type ErrorCode, messageOf } from '../../base/errors.ts';
import { SEARCH_LIMIT } from '../../contract/endpoints.ts';
import { type Overview, type OverviewRequest, readOverview } from '../../reports/overview.ts';
import type { ReportRequest, ReportResult } from '../../reports/report.ts';
import { boardOf, runReport, statusIds } from '../../reports/run.ts';
import {
  type Choices,
  openBrowseReads,
  type PageRequest,
  type Place,
  type PostPage,
  type Tally,
} from '../../store/browse/browse.ts';
import type { PostFilter } from '../../store/browse/filter.ts';
import type { BoardView, PersonView } from '../../store/browse/pages.ts';
import type { CommentPage, CommentPlace, ListedPost, WholePost } from '../../store/browse/post.ts';
import type { OpenOptions } from '../../store/db.ts';
import { openReportReader } from '../../store/reports.ts';
import { snippetOf } from '../../store/search/marks.ts';
import {
  type Excerpt,
  type Found,
  MOST_FOUND,
  openSearchReads,
  type Part,
  postNumberIn,
  type SearchOptions,
} from '../../store/search/search.ts';
import type { SimilarPost, SimilarRequest } from '../../store/search/similar.ts';

/** What the pages ask the mirror. In a large one some of it takes a second, so it is answered in threads: see reads.ts. */
export interface Reading {
  overview(request: OverviewRequest): Promise<Overview>;
  report(request: { name: string; request: ReportRequest }): Promise<ReportResult>;
  choices(request: null): Promise<Choices>;
  tally(request: null): Promise<Tally[]>;
  posts(request: ListRequest): Promise<FilteredPage>;
  search(request: SearchRequest): Promise<FilteredPage>;
  /** All that a search finds, for a file. */
  found(request: Pick<SearchRequest, 'text' | 'filter'>): Promise<Pick<PostPage, 'rows' | 'total'>>;
  post(id: number): Promise<WholePost | null>;
  board(slug: string): Promise<BoardView | null>;
  /** By number, or by e-mail. */
  person(wanted: number | string): Promise<PersonView | null>;
  comments(request: { post: number; after: CommentPlace }): Promise<CommentPage>;
  similar(request: SimilarRequest): Promise<SimilarPost[] | null>;
}

export interface ListRequest extends Omit<PageRequest, 'filter' | 'beginning'> {
  filter: Wanted;
  /** Whether each post comes with an excerpt. */
  isExcerpt?: boolean;
}

interface SearchRequest
  extends Pick<SearchOptions, 'limit' | 'offset' | 'typing' | 'isInternal' | 'isInAddresses' | 'isExcerpt'> {
  text: string;
  filter: Wanted;
}

/** Boards, statuses and people as somebody knows them: by slug, name, e-mail or id. */
export interface Wanted extends Omit<PostFilter, 'board' | 'status' | 'creator'> {
  board: readonly string[];
  status: readonly string[];
  creator: string | null;
}

/** A page of posts with what it can be narrowed down to. */
export interface FilteredPage extends PostPage, Choices {
  rows: FoundPost[];
  /** The person the posts are of, if they are of one only. */
  creator: { id: number; name: string | null } | null;
  /** Posts that cannot be searched yet. */
  unindexed: number;
  /** Whether no post has all of the words that were searched for. */
  isPartial: boolean;
  /** What was probably meant, where no post has such words. */
  suggestion: string | null;
}

export interface FoundPost extends ListedPost {
  /** The title and a piece of the content with what was looked for marked; null where nothing was. */
  marked: { title: Part[]; snippet: Part[]; isComment: boolean } | null;
  /** The snippet or the beginning with some of the text around it, where it was asked for. */
  excerpt?: Excerpt;
}

/** Of a content, for an excerpt of its beginning: far more than that takes. */
const EXCERPTED = 1000;

const NOTHING_TOLD = { isPartial: false, suggestion: null, unindexed: 0 };
const NOTHING: Found = { hits: [], isMore: false, isQuestion: true, ...NOTHING_TOLD };

/** Opens what it needs when it is first asked for it. */
export function openReading(options: OpenOptions): Reading & { close(): Promise<void> } {
  const opened: { close(): unknown }[] = [];
  const once = <T extends { close(): unknown }>(open: () => T): (() => T) => {
    let value: T | undefined;
    return () => {
      if (value === undefined) {
        value = open();
        opened.push(value);
      }
      return value;
    };
  };
  const reports = once(() => openReportReader(options));
  const browse = once(() => openBrowseReads(options));
  const texts = once(() => openSearchReads(options));
  const resolve = async ({ board, status, creator, ...rest }: Wanted) => {
    const boards: number[] = [];
    for (const name of board) boards.push((await boardOf(reports(), name))?.id ?? 0);
    const people = creator === null ? [] : browse().creators(creator);
    const filter: PostFilter = {
      ...rest,
      board: boards,
      status: await statusIds(reports(), status),
      // No person has the number 0: a name that nobody has finds no post.
      creator: creator !== null && people.length === 0 ? [0] : people,
    };
    const [only] = people;
    const person = only === undefined || people.length > 1 ? null : browse().creator(only);
    return { filter, around: { ...browse().choices(), creator: person } };
  };
  return {
    overview: async (request) => readOverview(reports(), request),
    report: async ({ name, request }) => runReport(reports(), name, request),
    choices: async () => browse().choices(),
    tally: async () => browse().tally(),
    async posts({ isExcerpt = false, ...request }) {
      const { filter, around } = await resolve(request.filter);
      const page = browse().page({ ...request, filter, ...(isExcerpt && { beginning: EXCERPTED }) });
      const rows = page.rows.map((row) => ({
        ...row,
        marked: null,
        ...(isExcerpt && { excerpt: beginningOf(row) }),
      }));
      return { ...page, rows, ...around, ...NOTHING_TOLD };
    },
    async search({ text, filter: wanted, typing = true, ...options }) {
      const { filter, around } = await resolve(wanted);
      // `#626` is the post of that number, whatever the filters say, deleted or not.
      const number = postNumberIn(text);
      const found =
        number === null ? await texts().find(text, { ...options, typing, among: filter }) : NOTHING;
      const ids = number === null ? found.hits.map(({ id }) => id) : [number];
      const listed = browse().rows(ids, options.isExcerpt ? EXCERPTED : undefined);
      const rows = markedRows(listed, found, options.isExcerpt ?? false);
      const { isMore, isPartial, suggestion, unindexed } = found;
      const beside = besideSearch(options, isMore);
      const total = { posts: (options.offset ?? 0) + rows.length, isMore };
      return { rows, ...beside, total, ...around, isPartial, suggestion, unindexed };
    },
    async found({ text, filter: wanted }) {
      const { filter } = await resolve(wanted);
      const number = postNumberIn(text);
      const { ids, isMore } =
        number === null
          ? await texts().ids(text, { typing: true, among: filter })
          : { ids: [number], isMore: false };
      const rows = browse().rows(ids);
      return { rows, total: { posts: rows.length, isMore } };
    },
    post: async (id) => browse().post.whole(id),
    async board(slug) {
      const found = browse()
        .choices()
        .boards.find((one) => one.slug === slug || String(one.id) === slug);
      return found ? browse().pages.board(found.id) : null;
    },
    async person(wanted) {
      const id = typeof wanted === 'number' ? wanted : (await reports().usersWith(wanted))[0];
      return id === undefined ? null : browse().pages.person(id);
    },
    comments: async ({ post, after }) => browse().post.comments(post, after),
    similar: async (request) => texts().similar(request),
    async close() {
      for (const handle of opened) await handle.close();
    },
  };
}

/** A search has no key of its own to go on from: its pages are counted off. */
function besideSearch(
  { offset = 0, limit = SEARCH_LIMIT }: Pick<SearchOptions, 'offset' | 'limit'>,
  isMore: boolean,
): Pick<PostPage, 'next' | 'previous'> {
  const at = (key: number): Place => ({ key, id: 0 });
  const end = offset + limit;
  return {
    next: isMore && end < MOST_FOUND ? at(end) : null,
    previous: offset > 0 ? at(Math.max(0, offset - limit)) : null,
  };
}

function markedRows(rows: readonly ListedPost[], { hits }: Found, isExcerpt: boolean): FoundPost[] {
  const found = new Map(hits.map((hit) => [hit.id, hit]));
  return rows.map((row) => {
    const hit = found.get(row.id);
    const marked = hit && { title: hit.title, snippet: hit.snippet, isComment: hit.comment !== null };
    const excerpt = hit?.excerpt ?? beginningOf(row);
    return { ...row, marked: marked ?? null, ...(isExcerpt && { excerpt }) };
  });
}

function beginningOf({ beginning }: ListedPost): Excerpt {
  return snippetOf(beginning, []).excerpt;
}

/** What goes to a thread, and what comes back. */
export interface Asked {
  name: keyof Reading;
  request: unknown;
}

export type Told = { value: unknown } | { failure: { code: ErrorCode; message: string; hint?: string } };

// This file is also the thread or the process in which another one has it answer.
if (parentPort) serve(workerData as OpenOptions, parentPort, (told) => parentPort?.postMessage(told));
else if (process.argv[1] === import.meta.filename) serveProcess();

function serveProcess(): void {
  process.once('message', (options) =>
    serve(options as OpenOptions, process, (told) => process.send?.(told)),
  );
  process.on('disconnect', () => process.exit());
}

interface Asker {
  on(event: 'message', listener: (asked: Asked) => void): unknown;
}

function serve(options: OpenOptions, asker: Asker, tell: (told: Told) => void): void {
  const reading = openReading(options);
  asker.on('message', ({ name, request }) => void answer(reading, name, request).then(tell));
}

async function answer(reading: Reading, name: keyof Reading, request: unknown): Promise<Told> {
  try {
    const read = reading[name] as (request: unknown) => Promise<unknown>;
    return { value: await read(request) };
  } catch (error) {
    const hint = error instanceof AppError ? error.hint : undefined;
    return { failure: { code: codeOf(error), message: messageOf(error), ...(hint ? { hint } : {}) } };
  }
}
