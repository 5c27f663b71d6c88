import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { csvLine } from '../../query/text.ts';
import { calendarOf, momentOf } from '../../reports/moment.ts';
import { type Place, type PostPage, SORTS } from '../../search/browse/browse.ts';
import { type ListedPerson, PEOPLE_SORTS, type PeoplePage } from '../../search/browse/people.ts';
import type { CommentPage, CommentPlace, WholePost } from '../../search/browse/post.ts';
import type { SamePosts } from '../../search/same-posts.ts';
import { MOST_FOUND } from '../../search/search.ts';
import type { SimilarPost } from '../../search/similar.ts';
import { webAddress } from '../../text/text.ts';
import { sendFile, untilGone } from '../server/replies.ts';
import { idOf, listOf, numberOf, required, textIn, wordIn, zoneOf } from './parameters.ts';
import type { FilteredPage, FoundPost, ListRequest, Wanted } from './reading.ts';
import type { DashboardReads } from './reading-pool.ts';

interface PostsDeps {
  reads: DashboardReads;
  same: SamePosts;
  /** Where the upstream's own pages are; null where it has none. */
  upstream: string | null;
  clock: Clock;
  /** Whose days a filter means that names no zone. */
  timeZone: string;
}

export interface PostsAnswer extends Omit<FilteredPage, 'next' | 'previous' | 'rows'> {
  rows: LinkedPost[];
  next: string | null;
  previous: string | null;
}

export type LinkedPost = FoundPost & { original: string | null };

export interface LinksAnswer {
  links: Pick<LinkedPost, 'id' | 'original'>[];
  isMore: boolean;
}

/** A part of a list that is gone through to its end. */
type Step = Pick<PostPage, 'rows' | 'total'>;

export interface PostAnswer extends WholePost {
  original: string | null;
  nextComments: string | null;
}

export interface SimilarAnswer {
  posts: SimilarPost[];
}

export interface NotSameAnswer {
  changed: boolean;
  takenBack: number[];
}

export interface CommentsAnswer extends Omit<CommentPage, 'after'> {
  next: string | null;
}

export interface PeopleAnswer extends PeoplePage {
  /** Where the page begins in the list, from 1. */
  from: number;
  /** What a page holds at most. */
  pageRows: number;
}

export type { ListedPerson };

const PAGE_ROWS = 50;
const MOST_ROWS = 200;
/** As many links as a page counts posts; a file has the others. */
const MOST_LINKS = 10_000;
const FILE_STEP = 1000;
/** As many posts as a person compares. */
const SIMILAR = 6;
/** Long enough for a pasted paragraph. */
const MOST_CHARACTERS = 1000;

/** `/data/posts`: lists, search as one types, and one post with all that is known of it; boards and people as pages of their own. */
export function addPosts(app: FastifyInstance, deps: PostsDeps): void {
  addLists(app, deps);
  addWholePosts(app, deps);
  addSimilar(app, deps);
  app.get('/data/boards/:slug', async ({ params }, reply) => {
    const slug = required(textIn(params, 'slug'), 'slug');
    const found = await deps.reads.ask('board', slug);
    return found ?? reply.code(404).send({ detail: `The mirror knows no board "${slug}".` });
  });
  app.get('/data/people', async ({ query }, reply) => {
    const wanted = numberOf(query, 'id') ?? textIn(query, 'email');
    if (wanted === null) return await peopleOf(query, deps, untilGone(reply));
    const found = await deps.reads.ask('person', wanted);
    return found ?? reply.code(404).send({ detail: 'The mirror knows no such person.' });
  });
}

/** People to look through: `search`, `sort`, and `from`, where the page begins in the list. */
async function peopleOf(query: unknown, { reads }: PostsDeps, signal: AbortSignal): Promise<PeopleAnswer> {
  const from = numberOf(query, 'from') ?? 1;
  const text = textIn(query, 'search')?.slice(0, MOST_CHARACTERS).trim() ?? '';
  const sort = wordIn(query, 'sort', PEOPLE_SORTS) ?? 'posts';
  const found = await reads.ask('people', { text, sort, offset: from - 1, limit: PAGE_ROWS }, signal);
  return { ...found, from, pageRows: PAGE_ROWS };
}

function addLists(app: FastifyInstance, { reads, upstream, clock, timeZone }: PostsDeps): void {
  const asked = (query: unknown) => ({
    filter: filterOf(query, clock.now(), timeZone),
    // A space at the end says that the last word is whole.
    text: textIn(query, 'search')?.slice(0, MOST_CHARACTERS).trimStart() ?? '',
  });
  const find = async (query: unknown, signal: AbortSignal): Promise<FilteredPage> => {
    const { filter, text } = asked(query);
    return text === ''
      ? await reads.ask('posts', pageOf(query, filter), signal)
      : await reads.ask('search', { text, filter, offset: offsetOf(query), isCounted: true }, signal);
  };
  /** Every post of the filter in its order, a step at a time: none is left out, and memory does not grow with them. */
  async function* all(query: unknown, signal: AbortSignal): AsyncGenerator<Step, void, undefined> {
    const { filter, text } = asked(query);
    if (text !== '') return yield await reads.ask('found', { text, filter }, signal);
    const request = { ...pageOf(query, filter), isBackward: false, limit: FILE_STEP };
    for (let after: Place | null | undefined; after !== null; ) {
      const page = await reads.ask('posts', { ...request, after: after ?? null }, signal);
      yield page;
      after = page.next;
    }
  }
  app.get('/data/posts.csv', async ({ query }, reply) => {
    const steps = all(query, untilGone(reply));
    // Refuses a wrong request before the file begins.
    const first = await steps.next();
    return sendFile(reply, 'posts.csv', Readable.from(csvOf(first, steps, upstream)));
  });
  app.get('/data/posts/links', async ({ query }, reply): Promise<LinksAnswer> => {
    const links: LinksAnswer['links'] = [];
    for await (const { rows, total } of all(query, untilGone(reply))) {
      links.push(...rows.map(({ id, url }) => ({ id, original: webAddress(url, upstream) })));
      if (links.length >= MOST_LINKS)
        return { links: links.slice(0, MOST_LINKS), isMore: total.isMore || total.posts > MOST_LINKS };
    }
    return { links, isMore: false };
  });
  app.get('/data/posts', async ({ query }, reply): Promise<PostsAnswer> => {
    const found = await find(query, untilGone(reply));
    const { next, previous } = found;
    return {
      ...found,
      rows: found.rows.map((row) => ({ ...row, original: webAddress(row.url, upstream) })),
      next: next && writePlace([next.key, next.id]),
      previous: previous && writePlace([previous.key, previous.id, BACKWARD]),
    };
  });
}

/** One post with the first page of its comments, and the pages after that. */
function addWholePosts(app: FastifyInstance, { reads, upstream }: PostsDeps): void {
  app.get('/data/posts/:id', async (request, reply): Promise<PostAnswer> => {
    const id = idOf(request);
    const whole = await reads.ask('post', id);
    if (!whole) return reply.code(404).send({ detail: `The mirror knows no post ${id}.` });
    return {
      ...whole,
      original: webAddress(whole.post.url, upstream),
      nextComments: nextOf(whole.comments),
    };
  });
  app.get('/data/posts/:id/comments', async (request): Promise<CommentsAnswer> => {
    const place = { post: idOf(request), after: commentPlaceOf(request.query) };
    const found = await reads.ask('comments', place);
    return { rows: found.rows, total: found.total, next: nextOf(found) };
  });
}

/** Posts like one of the mirror, or like one that is being written; and those that a person holds to be the same. */
function addSimilar(app: FastifyInstance, { reads, same, clock }: PostsDeps): void {
  const otherOf = (body: unknown): number => required(numberOf(body, 'other'), 'other');
  app.get('/data/posts/:id/similar', async (request, reply): Promise<SimilarAnswer> => {
    const id = idOf(request);
    const posts = await reads.ask('similar', { about: id, limit: SIMILAR }, untilGone(reply));
    return posts ? { posts } : reply.code(404).send({ detail: `The mirror knows no post ${id}.` });
  });
  app.post('/data/similar', async ({ body }, reply): Promise<SimilarAnswer> => {
    const about = { title: textIn(body, 'title') ?? '', content: textIn(body, 'content') ?? '' };
    return { posts: (await reads.ask('similar', { about, limit: SIMILAR }, untilGone(reply))) ?? [] };
  });
  app.post('/data/posts/:id/same', async (request) => ({
    changed: same.mark(idOf(request), otherOf(request.body), clock.now()),
  }));
  app.post('/data/posts/:id/not-same', async (request): Promise<NotSameAnswer> => {
    const takenBack = same.unmark(idOf(request), otherOf(request.body));
    return { changed: takenBack.length > 0, takenBack };
  });
}

const CSV_COLUMNS = [
  'id',
  'title',
  'board',
  'status',
  'votes',
  'comments',
  'creator',
  'created',
  'changed',
  'deleted',
  'url',
] as const;

async function* csvOf(
  first: IteratorResult<Step, void>,
  steps: AsyncGenerator<Step, void, undefined>,
  upstream: string | null,
): AsyncGenerator<string, void, undefined> {
  yield `${csvLine(CSV_COLUMNS)}\r\n`;
  for (let step = first; !step.done; step = await steps.next()) {
    const lines = step.value.rows.map((row) =>
      csvLine(CSV_COLUMNS.map((name) => (name === 'url' ? webAddress(row.url, upstream) : row[name]))),
    );
    yield lines.map((line) => `${line}\r\n`).join('');
  }
}

function filterOf(query: unknown, now: number, timeZone: string): Wanted {
  const calendar = calendarOf(zoneOf(query, 'tz') ?? timeZone);
  const moment = (name: 'since' | 'until'): string | null => {
    const text = textIn(query, name);
    return text === null ? null : momentOf(name, text, now, calendar);
  };
  return {
    board: listOf(query, 'board'),
    status: listOf(query, 'status'),
    creator: textIn(query, 'creator'),
    segment: textIn(query, 'segment'),
    // Every post has at least 0 votes.
    votes: textIn(query, 'votes') === '0' ? null : numberOf(query, 'votes'),
    deleted: wordIn(query, 'deleted', ['no', 'only', 'too']) ?? 'no',
    since: moment('since'),
    until: moment('until'),
  };
}

function pageOf(query: unknown, filter: Wanted): ListRequest {
  const sort = wordIn(query, 'sort', SORTS) ?? 'newest';
  const limit = Math.min(numberOf(query, 'limit') ?? PAGE_ROWS, MOST_ROWS);
  const after = placeOf(textIn(query, 'cursor'));
  const isText = sort === 'newest' || sort === 'oldest' || sort === 'changed';
  if (after && (typeof after.key === 'string') !== isText) throw noPlace();
  return { filter, sort, after, isBackward: after?.isBackward ?? false, limit };
}

function offsetOf(query: unknown): number {
  const place = placeOf(textIn(query, 'cursor'));
  if (place === null) return 0;
  if (typeof place.key !== 'number' || place.key < 0 || place.key >= MOST_FOUND) throw noPlace();
  return place.key;
}

const BACKWARD = 'back';

function writePlace(place: readonly [string | number, number, typeof BACKWARD?]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function nextOf({ after }: CommentPage): string | null {
  return after && writePlace([after.created, after.id]);
}

function placeOf(cursor: string | null): (Place & { isBackward: boolean }) | null {
  if (cursor === null) return null;
  try {
    const [key, id, way] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[];
    const isKey = typeof key === 'string' || Number.isSafeInteger(key);
    if (isKey && Number.isSafeInteger(id))
      return { key: key as string | number, id: id as number, isBackward: way === BACKWARD };
  } catch {
    // Unreadable text is refused below.
  }
  throw noPlace();
}

function commentPlaceOf(query: unknown): CommentPlace {
  const place = required(placeOf(textIn(query, 'cursor')), 'cursor');
  if (typeof place.key !== 'string') throw noPlace();
  return { created: place.key, id: place.id };
}

function noPlace(): AppError {
  return new AppError('usage', '"cursor" is no place in this list', { hint: 'Begin with the first page.' });
}
