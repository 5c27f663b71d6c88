import { parentPort, workerData } from 'node:worker_threads';
import { type PlainFailure, plainFailure } from '../../base/errors.ts';
import { SEARCH_LIMIT } from '../../contract/endpoints.ts';
import type { OpenOptions } from '../../db/open.ts';
import { type Overview, type OverviewRequest, readOverview } from '../../reports/overview.ts';
import type { ReportRequest, ReportResult } from '../../reports/report.ts';
import { boardOf, runReport, statusIds } from '../../reports/run.ts';
import { openReportReader } from '../../reports/store.ts';
import {
  type Choices,
  openBrowseReads,
  type PageRequest,
  type Place,
  type PostPage,
  type PostTally,
} from '../../search/browse/browse.ts';
import type { CompanyView } from '../../search/browse/company.ts';
import type { PostFilter } from '../../search/browse/filter.ts';
import type { BoardView, PersonView } from '../../search/browse/pages.ts';
import type { PeoplePage, PeopleRequest } from '../../search/browse/people.ts';
import type { CommentPage, CommentPlace, ListedPost, WholePost } from '../../search/browse/post.ts';
import { snippetOf } from '../../search/marks.ts';
import {
  type Excerpt,
  type Found,
  MOST_FOUND,
  NOTHING_FOUND,
  openSearchReads,
  type Part,
  postNumberIn,
  type SearchOptions,
} from '../../search/search.ts';
import type { SimilarPost, SimilarRequest } from '../../search/similar.ts';

/** What the pages ask the mirror. In a large one some of it takes a second, so threads answer it (`reading-pool.ts`). */
export interface Reading {
  overview(request: OverviewRequest): Promise<Overview>;
  report(request: { name: string; request: ReportRequest }): Promise<ReportResult>;
  choices(request: null): Promise<Choices>;
  tally(request: null): Promise<PostTally[]>;
  posts(request: ListRequest): Promise<FilteredPage>;
  search(request: SearchRequest): Promise<FilteredPage>;
  found(request: Pick<SearchRequest, 'text' | 'filter'>): Promise<Pick<PostPage, 'rows' | 'total'>>;
  post(id: number): Promise<WholePost | null>;
  board(slug: string): Promise<BoardView | null>;
  /** Finds a person by number or by e-mail. */
  person(wanted: number | string): Promise<PersonView | null>;
  people(request: PeopleRequest): Promise<PeoplePage>;
  /** Finds a company of the imported customers by its name. */
  company(name: string): Promise<CompanyView | null>;
  comments(request: { post: number; after: CommentPlace }): Promise<CommentPage>;
  similar(request: SimilarRequest): Promise<SimilarPost[] | null>;
}

export interface ListRequest extends Omit<PageRequest, 'filter' | 'beginning'> {
  filter: Wanted;
  isExcerpt?: boolean;
}

interface SearchRequest
  extends Pick<
    SearchOptions,
    'limit' | 'offset' | 'typing' | 'isInternal' | 'isInAddresses' | 'isExcerpt' | 'isCounted'
  > {
  text: string;
  filter: Wanted;
}

/** Boards, statuses and people by slug, name, e-mail or id. */
export interface Wanted extends Omit<PostFilter, 'board' | 'status' | 'creator' | 'segment'> {
  board: readonly string[];
  status: readonly string[];
  creator: string | null;
  /** Such as `plan=Pro`. */
  segment: string | null;
}

export interface FilteredPage extends PostPage, Choices {
  rows: FoundPost[];
  creator: { id: number; name: string | null } | null;
  unindexed: number;
  isPartial: boolean;
  suggestion: string | null;
}

export interface FoundPost extends ListedPost {
  /** The title and a piece of the content with what was looked for marked; null where nothing was. */
  marked: { title: Part[]; snippet: Part[]; isComment: boolean } | null;
  /** The snippet or the beginning with some of the text around it, where it was asked for. */
  excerpt?: Excerpt;
}

/** So much of a content is read for an excerpt of its beginning, which is far shorter. */
const EXCERPTED = 1000;

const NOTHING_TOLD = { isPartial: false, suggestion: null, unindexed: 0 };

/** Opens what it needs when it is first asked for it. */
export function openReading(
  options: OpenOptions,
  onProgress?: (share: number) => void,
): Reading & { close(): Promise<void> } {
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
  const handles = {
    reports: once(() => openReportReader(options, onProgress)),
    browse: once(() => openBrowseReads(options)),
    texts: once(() => openSearchReads(options)),
  };
  const { reports, browse, texts } = handles;
  return {
    overview: async (request) => readOverview(reports(), request),
    report: async ({ name, request }) => runReport(reports(), name, request),
    choices: async () => browse().choices(),
    tally: async () => browse().tally(),
    ...postLists(handles),
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
    people: async (request) => browse().people(request),
    company: async (name) => browse().company(name),
    comments: async ({ post, after }) => browse().post.comments(post, after),
    similar: async (request) => texts().similar(request),
    async close() {
      for (const handle of opened) await handle.close();
    },
  };
}

interface Handles {
  reports: () => ReturnType<typeof openReportReader>;
  browse: () => ReturnType<typeof openBrowseReads>;
  texts: () => ReturnType<typeof openSearchReads>;
}

/** Posts by filters and by words. `#626` is the post of that number, whatever the filters say, deleted or not. */
function postLists({ reports, browse, texts }: Handles): Pick<Reading, 'posts' | 'search' | 'found'> {
  const resolve = filterResolver({ reports, browse });
  return {
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
      const number = postNumberIn(text);
      const asked = { ...options, typing, among: filter };
      const found = number === null ? await texts().find(text, asked) : NOTHING_FOUND;
      const ids = number === null ? found.hits.map(({ id }) => id) : [number];
      const listed = browse().rows(ids, options.isExcerpt ? EXCERPTED : undefined);
      const rows = markedRows(listed, found, options.isExcerpt ?? false);
      const { isMore, isPartial, suggestion, unindexed } = found;
      const beside = besideSearch(options, isMore);
      const total = number === null ? found.total : { posts: rows.length, isMore: false };
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
  };
}

/** The names of a filter as ids, and what is shown around a list. */
function filterResolver({ reports, browse }: Pick<Handles, 'reports' | 'browse'>) {
  return async ({ board, status, creator, segment, ...rest }: Wanted) => {
    const boards: number[] = [];
    for (const name of board) boards.push((await boardOf(reports(), name))?.id ?? 0);
    const people = creator === null ? [] : browse().creators(creator);
    const filter: PostFilter = {
      ...rest,
      board: boards,
      status: await statusIds(reports(), status),
      // No person has the id 0, so an unknown name finds no post.
      creator: creator !== null && people.length === 0 ? [0] : people,
      segment: segment === null ? null : browse().segment(segment),
    };
    const [only] = people;
    const person = only === undefined || people.length > 1 ? null : browse().creator(only);
    return { filter, around: { ...browse().choices(), creator: person } };
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

/** What goes to a thread or process, and what comes back. */
export interface ThreadQuestion {
  name: keyof Reading;
  request: unknown;
}

export type ThreadAnswer = { value: unknown } | { failure: PlainFailure } | { progress: number };

// This file is also the worker thread of `reading-pool.ts`.
const asker = parentPort;
if (asker)
  serve(
    openReading(workerData as OpenOptions),
    (given) => asker.postMessage(given),
    (hear) => asker.on('message', hear),
  );

export function serve(
  reading: Reading,
  tell: (given: ThreadAnswer) => void,
  listen: (hear: (question: ThreadQuestion) => void) => void,
): void {
  listen(({ name, request }) => void answer(reading, name, request).then(tell));
}

async function answer(reading: Reading, name: keyof Reading, request: unknown): Promise<ThreadAnswer> {
  try {
    const read = reading[name] as (request: unknown) => Promise<unknown>;
    return { value: await read(request) };
  } catch (error) {
    return { failure: plainFailure(error) };
  }
}
