import type { AskMirror } from '../app/queries.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Change, Values } from '../changes/change.ts';
import type { ChangeFeed } from '../changes/feed.ts';
import { SEARCH_LIMIT } from '../contract/endpoints.ts';
import type { FoundPost, Wanted } from '../http/dashboard/reading.ts';
import type { DashboardReads } from '../http/dashboard/reading-pool.ts';
import type { OutboxRow, PostText } from '../outbox/decide/types.ts';
import { SCHEMA_HINT } from '../query/explain.ts';
import { collectRows, type SqlValue } from '../query/run.ts';
import { calendarOf, momentOf } from '../reports/moment.ts';
import type { ColumnKind, ReportResult, Value as ReportValue } from '../reports/report.ts';
import type { Place, SORTS } from '../search/browse/browse.ts';
import { EVERY_LIVE_POST } from '../search/browse/filter.ts';
import type { CommentPlace, PostFacts, ShownComment, State } from '../search/browse/post.ts';
import type { SimilarPost } from '../search/similar.ts';
import { Paged } from './limits.ts';
import type { TextRules } from './text.ts';

/** What the tools reach: the mirror for reading, and nothing that sends. */
export interface ToolDeps extends ToolHandles, ToolFacts {}

export interface ToolHandles {
  ask: DashboardReads['ask'];
  feed: Pick<ChangeFeed, 'after' | 'head'>;
  query: AskMirror;
  row(id: number): OutboxRow | null;
  /** Null where agents may only read. */
  drafts: Drafts | null;
}

export interface ToolFacts {
  rules: TextRules;
  /** What pseudonyms are made with; null where people may be shown. */
  key: Uint8Array | null;
  clock: Clock;
  timeZone: string;
  usualDelivered: readonly string[] | null;
}

/** Puts a post where only a person can send it. */
export interface Drafts {
  propose(draft: Pick<PostText, 'board' | 'title' | 'content'>): OutboxRow;
}

export const LONGEST_NAME = 200;
const SNIPPET = 300;
const TEXT = 4000;
const COMMENT = 1000;
export const LONGEST_CELL = 500;
const MOST_STATES = 60;
/** Letters of a status in the history of a post, which has one in each row. A post and one comment must fit into an answer. */
const STATE_NAME = 60;
/** Texts are read a little longer than they are shown, so that the answer can tell which were cut. */
export const SQL = {
  maxRows: 200,
  maxBytes: 200_000,
  maxText: 2 * LONGEST_CELL + 2,
  maxMemoryBytes: 256 * 1024 * 1024,
};

type Given<Input> = Input & { board?: string | undefined; status?: string | undefined };

interface SearchInput {
  text: string;
  segment?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  votes?: number | undefined;
  deleted: 'no' | 'only' | 'too';
  internal: boolean;
  sort: (typeof SORTS)[number];
  limit: number;
  after?: string | undefined;
}

export async function search(deps: ToolDeps, given: Given<SearchInput>): Promise<Paged> {
  const { clock, timeZone } = deps;
  const { deleted, votes = null } = given;
  const at = (name: 'since' | 'until'): string | null => {
    const words = given[name];
    return words === undefined ? null : momentOf(name, words, clock.now(), calendarOf(timeZone));
  };
  const one = (name?: string): string[] => (name === undefined ? [] : [name]);
  const among = {
    board: one(given.board),
    status: one(given.status),
    creator: null,
    segment: given.segment ?? null,
  };
  const filter: Wanted = {
    ...EVERY_LIVE_POST,
    ...among,
    since: at('since'),
    until: at('until'),
    votes,
    deleted,
  };
  return given.text.trim() === '' ? listPosts(deps, given, filter) : findPosts(deps, given, filter);
}

const SORT_KEYS = {
  newest: 'created',
  oldest: 'created',
  votes: 'votes',
  comments: 'comments',
  changed: 'changed',
} as const;

async function listPosts(
  { ask, rules }: ToolDeps,
  { sort, limit, after: place }: SearchInput,
  filter: Wanted,
): Promise<Paged> {
  const key = SORT_KEYS[sort];
  const after = place === undefined ? null : listPlace(place, key === 'votes' || key === 'comments');
  const { rows, next, total } = await ask('posts', { filter, sort, after, limit, isExcerpt: true });
  const posts = rows.map((post) => listedPost(rules, post));
  return new Paged(rows.length, (kept) => {
    const last = kept < rows.length || next ? rows[kept - 1] : undefined;
    return {
      posts: posts.slice(0, kept),
      total: total.isMore ? `more than ${total.posts}` : total.posts,
      ...(last && { next: `${last[key]} ${last.id}` }),
    };
  });
}

function listPlace(text: string, isNumber: boolean): Place {
  const { key, id: number } = placeOf(text, 'after is not the next of a list');
  if (!isNumber) return { key, id: number };
  if (!/^-?\d{1,15}$/.test(key)) throw new AppError('usage', 'after is not the next of a list by this sort');
  return { key: Number(key), id: number };
}

async function findPosts(
  { ask, rules, key }: ToolDeps,
  { text, limit, after = '0', internal }: SearchInput,
  filter: Wanted,
): Promise<Paged> {
  if (!/^\d{1,2}$/.test(after)) throw new AppError('usage', 'after is not the next of a search for words');
  const most = Math.min(Number(after) + limit, SEARCH_LIMIT);
  const seen = { isInternal: internal, isInAddresses: key === null };
  const wanted = { text, filter, limit: most, typing: false, ...seen, isExcerpt: true };
  const { rows, total, isPartial, suggestion } = await ask('search', wanted);
  const posts = rows.slice(Number(after)).map((post) => listedPost(rules, post));
  return new Paged(posts.length, (kept) => {
    const isMore = kept < posts.length || total.isMore;
    const reached = Number(after) + kept;
    return {
      posts: posts.slice(0, kept),
      ...(isMore && reached < SEARCH_LIMIT && { next: String(reached) }),
      ...(isMore && reached >= SEARCH_LIMIT && { more: NARROW }),
      ...(isPartial ? { note: 'no post has all of the words: these have some' } : {}),
      ...(suggestion === null ? {} : { customer_words_meant: rules.echoed(suggestion, LONGEST_NAME) }),
    };
  });
}

const NARROW = `only the ${SEARCH_LIMIT} most relevant are listed: ask with more words, a board, a status or a period`;

type Fact = Pick<
  FoundPost & PostFacts & SimilarPost,
  'id' | 'title' | 'url' | 'board' | 'status' | 'votes' | 'comments' | 'created'
>;

function postFacts(rules: TextRules, post: Fact): Record<string, unknown> {
  const { id: number, board: on, status: now, votes, comments, created } = post;
  const url = rules.link(post.url);
  return {
    id: number,
    customer_title: rules.text(post.title, LONGEST_NAME),
    board: rules.text(on, LONGEST_NAME),
    status: rules.text(now, LONGEST_NAME),
    votes,
    comments,
    created,
    ...(url === null ? {} : { url }),
  };
}

/** With the place where the words stand, or how the text begins. */
function listedPost(rules: TextRules, post: FoundPost): object {
  const { marked, excerpt, deleted } = post;
  const name = marked?.isComment ? 'customer_comment' : 'customer_text';
  return {
    ...postFacts(rules, post),
    ...(deleted === null ? {} : { deleted }),
    ...(excerpt && { [name]: rules.excerpt(excerpt, SNIPPET) }),
  };
}

export function similarPost(rules: TextRules, post: SimilarPost): object {
  return {
    ...postFacts(rules, post),
    similarity: Math.round(post.likeness * 100) / 100,
    ...(post.isSame ? { marked_as_same: true } : {}),
  };
}

export function noPost(number: number | undefined): AppError {
  return new AppError('usage', `there is no post ${number}`, { hint: 'Use search to find posts.' });
}

interface PostInput {
  id: number;
  internal: boolean;
  comments: number;
  comments_after?: string | undefined;
}

export async function wholePost({ ask, rules }: ToolDeps, given: PostInput): Promise<Paged> {
  const found = await ask('post', given.id);
  if (!found) throw noPost(given.id);
  const { post, states, edits } = found;
  const page =
    given.comments_after === undefined
      ? found.comments
      : await ask('comments', { post: given.id, after: commentPlace(given.comments_after) });
  const asked = page.rows.slice(0, given.comments);
  const shown = asked.filter((comment) => given.internal || !comment.internal);
  const isLast = page.after === null && asked.length === page.rows.length;
  const whole = {
    ...postFacts(rules, post),
    ...(post.deleted === null ? {} : { deleted: post.deleted }),
    customer_name: rules.person(post.creatorId, post.creator),
    by_team: post.creatorIsTeam === 1,
    customer_text: rules.text(post.content, TEXT),
    ...(post.content.length > TEXT && {
      text_cut: `it has ${post.content.length} characters: substr(content, n, ${LONGEST_CELL}) of posts in the tool sql has the rest`,
    }),
    edits: edits.length,
    history: states.slice(-MOST_STATES).map((state) => shownState(rules, state)),
    ...(states.length > MOST_STATES && { history_cut: 'earlier states are in post_history of the tool sql' }),
  };
  const comments = shown.map((comment) => shownComment(rules, comment));
  return new Paged(shown.length, (kept) => {
    const last = kept < shown.length ? shown[kept - 1] : isLast ? undefined : asked.at(-1);
    const next = last ? { comments_next: `${last.created} ${last.id}` } : {};
    return { ...whole, comment_list: comments.slice(0, kept), ...next };
  });
}

function shownState(rules: TextRules, { at, votes, status: then, deleted }: State): object {
  return {
    at,
    votes,
    status: then && rules.text(then, STATE_NAME),
    ...(deleted ? { deleted: true } : {}),
  };
}

function commentPlace(text: string): CommentPlace {
  const { key, id: number } = placeOf(text, 'comments_after is not a comments_next');
  return { created: key, id: number };
}

/** What a row is in order by, and its id. */
function placeOf(text: string, failure: string): { key: string; id: number } {
  const [key = '', number = ''] = text.split(' ');
  if (!/^\d{1,15}$/.test(number)) throw new AppError('usage', failure);
  return { key, id: Number(number) };
}

function shownComment(rules: TextRules, comment: ShownComment): object {
  return {
    id: comment.id,
    created: comment.created,
    kind: rules.text(comment.kind, LONGEST_NAME),
    customer_name: rules.person(comment.creatorId, comment.creator),
    by_team: comment.isTeam === 1,
    ...(comment.internal ? { internal: true } : {}),
    likes: comment.likes,
    customer_text: rules.text(comment.content, COMMENT),
  };
}

const UNITS: Partial<Record<ColumnKind, string>> = {
  duration: 'seconds',
  percent: 'share from 0 to 1',
  post: 'id of a post',
  trend: 'a number for each week',
};

export function reportTable(rules: TextRules, result: ReportResult, most: number): object {
  const { notes, title, since, until, timeZone, people = [] } = result;
  // The name of a company tells who a customer is.
  const columns = result.columns.filter(({ name }) => name !== 'company');
  const cell = (name: string, value: ReportValue | undefined, row: number): unknown => {
    if (typeof value !== 'string') return value ?? null;
    if (name === 'email') return rules.email(value) || null;
    return name === 'customer' ? rules.person(people[row] ?? 0, value) : rules.text(value, LONGEST_NAME);
  };
  const units = columns.flatMap(({ name, kind }) => (UNITS[kind] ? [[name, UNITS[kind]]] : []));
  return {
    // Without the flags that the command line names in brackets.
    title: title.replace(/ \(--[^)]*\)/g, ''),
    counts: result.counts,
    since,
    until,
    time_zone: timeZone,
    ...(result.board === null ? {} : { board: rules.text(result.board, LONGEST_NAME) }),
    columns: columns.map(({ name }) => agentName(name)),
    ...(units.length > 0 ? { units: Object.fromEntries(units) } : {}),
    rows: result.rows.slice(0, most).map((row, i) => columns.map(({ name }) => cell(name, row[name], i))),
    ...(result.rows.length > most && {
      more: 'there are more rows: ask with a larger limit (100 at most), a board or a period',
    }),
    notes: notes.map((note) => rules.echoed(note, LONGEST_CELL)),
  };
}

/** What customers wrote stands under names that say so. */
function agentName(column: string): string {
  if (column === 'customer') return 'customer_name';
  return column.endsWith('title') || column === 'titles' || column === 'email'
    ? `customer_${column}`
    : column;
}

interface ChangesInput {
  since?: string | undefined;
  types?: string[] | undefined;
  board?: string | undefined;
  internal: boolean;
  limit: number;
}

export async function changes({ feed, rules }: ToolDeps, given: ChangesInput): Promise<Paged> {
  const { types, limit: most } = given;
  const boards = given.board === undefined ? undefined : [given.board];
  const since = given.since ?? newest(feed.head(), most);
  const page = feed.after(since, { limit: most, types, boards });
  const seen = page.changes.filter(({ comment }) => given.internal || !comment?.internal);
  const shown = seen.map((change) =>
    shownChange(rules, given.internal ? change : withoutCommentTexts(change)),
  );
  return new Paged(shown.length, (kept) => {
    const last = kept < shown.length ? seen[kept - 1] : undefined;
    const rest = last ? { next: last.position, more: true } : { next: page.next, more: !page.isLast };
    return { changes: shown.slice(0, kept), ...rest };
  });
}

/** What a comment said before may have been internal then: whoever does not ask for such reads comments as they are now. */
function withoutCommentTexts(change: Change): Change {
  if (!change.type.startsWith('comment.')) return change;
  const [before, after] = [change.before, change.after].map((values) => {
    const { content: _, ...rest } = values ?? {};
    return values && rest;
  });
  return { ...change, ...(before && { before }), ...(after && { after }) };
}

function newest({ position, oldest }: ReturnType<ChangeFeed['head']>, most: number): string {
  return String(Math.max(Number.parseInt(position, 10) - most, (oldest ?? 1) - 1, 0));
}

/** Leaves out what other tools tell, and what is of no use to an agent. */
function shownChange(rules: TextRules, change: Change): object {
  const { number, type, time, post, before, after, outbox } = change;
  const ids = Object.fromEntries(
    Object.entries(change).filter(([name, value]) => name.endsWith('_id') && typeof value === 'number'),
  );
  return {
    number,
    type,
    time,
    ...ids,
    ...(before ? { before: shownValues(rules.text, before) } : {}),
    ...(after ? { after: shownValues(rules.text, after) } : {}),
    ...(post
      ? {
          post: {
            customer_title: rules.text(post.title, LONGEST_NAME),
            status: rules.text(post.status, LONGEST_NAME),
          },
        }
      : {}),
    ...(outbox ? { outbox: shownValues(rules.echoed, outbox) } : {}),
    ...(change.sync ? { sync: shownValues(rules.echoed, change.sync) } : {}),
  };
}

/** What others wrote, which includes the upstream's own words. */
const MARKED_NAMES: Readonly<Record<string, string>> = {
  title: 'customer_title',
  content: 'customer_text',
  error: 'customer_error',
};

function shownValues(show: TextRules['text'], values: Values): Values {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => !name.endsWith('_id'))
      .map(([name, value]) => [
        MARKED_NAMES[name] ?? name,
        typeof value === 'string' ? show(value, LONGEST_CELL) : value,
      ]),
  );
}

export async function askSql(
  { query, rules, key }: ToolDeps,
  { sql, internal: isInternal }: { sql: string; internal: boolean },
): Promise<object> {
  const { columns, rows, more } = await collectRows(query({ sql, ...SQL, shown: { key, isInternal } })).catch(
    (error: unknown) => {
      if (!(error instanceof AppError) || !error.hint?.includes(SCHEMA_HINT)) throw error;
      const hint = error.hint.replace(SCHEMA_HINT, 'The resource mirror://schema lists tables and columns.');
      throw new AppError(error.code, error.message, { hint });
    },
  );
  return {
    columns: columns.map((name) => rules.echoed(name, LONGEST_NAME)),
    customer_rows: rows.map((row) => row.map((value) => plainValue(rules, value))),
    ...(more === null ? {} : { more: 'there are more rows: continue with LIMIT and OFFSET' }),
  };
}

/** Bytes are nothing that an agent can read, and JSON knows no integers beyond 2^53. */
function plainValue(rules: TextRules, value: SqlValue): string | number | null {
  if (typeof value === 'string') return rules.echoed(value, LONGEST_CELL);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return typeof value === 'bigint' ? String(value) : value;
}

export function rowFacts(rules: TextRules, row: OutboxRow): object {
  const { id: number, state, post_id, url, last_error: error, created_at, changed_at } = row;
  return {
    id: number,
    state,
    board: rules.echoed(row.board, LONGEST_NAME),
    customer_title: rules.echoed(row.title, LONGEST_NAME),
    ...(post_id === null ? {} : { post_id, url: url && rules.link(url) }),
    ...(error === null || post_id !== null ? {} : { customer_last_error: rules.echoed(error, LONGEST_CELL) }),
    created_at,
    changed_at,
  };
}
