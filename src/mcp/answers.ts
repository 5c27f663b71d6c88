import type { AskMirror } from '../app/readers.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { FoundPost, Wanted } from '../http/dashboard/reading.ts';
import type { DashboardReads } from '../http/dashboard/reads.ts';
import { SCHEMA_HINT } from '../query/explain.ts';
import { collect, type Value } from '../query/run.ts';
import { calendarOf, momentOf } from '../reports/moment.ts';
import type { ColumnKind, ReportResult, Value as ReportValue } from '../reports/report.ts';
import type { SORTS } from '../store/browse/browse.ts';
import { EVERY_LIVE_POST } from '../store/browse/filter.ts';
import type { CommentPlace, PostFacts, ShownComment, State } from '../store/browse/post.ts';
import type { Change, Values } from '../store/changes/change.ts';
import type { ChangeFeed } from '../store/changes/feed.ts';
import type { OutboxRow, PostText } from '../store/outbox/types.ts';
import type { SimilarPost } from '../store/search/similar.ts';
import { Paged } from './limits.ts';
import type { TextRules } from './text.ts';

/** What the tools reach: the mirror for reading, and nothing that sends. */
export interface ToolDeps extends ToolHandles, ToolFacts {}

/** What is open on the mirror. */
export interface ToolHandles {
  ask: DashboardReads['ask'];
  feed: Pick<ChangeFeed, 'after' | 'head'>;
  query: AskMirror;
  row(id: number): OutboxRow | null;
  /** Null where agents may only read. */
  drafts: Drafts | null;
}

/** What stays the same from call to call. */
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

export const NAME = 200;
const SNIPPET = 300;
const TEXT = 4000;
const COMMENT = 1000;
export const CELL = 500;
const MOST_STATES = 60;
/** Of a status, where it stands in every row: a post must fit into an answer together with one comment. */
const STATE_NAME = 60;
/** Of a text a little more is asked for than is shown, so that it is seen to be cut. */
export const SQL = {
  maxRows: 200,
  maxBytes: 200_000,
  maxText: 2 * CELL + 2,
  maxMemoryBytes: 256 * 1024 * 1024,
};

type Given<Input> = Input & { board?: string | undefined; status?: string | undefined };

interface SearchInput {
  text: string;
  since?: string | undefined;
  until?: string | undefined;
  votes?: number | undefined;
  deleted: 'no' | 'only' | 'too';
  internal: boolean;
  sort: (typeof SORTS)[number];
  limit: number;
}

export async function search(
  { ask, rules, clock, timeZone }: ToolDeps,
  given: Given<SearchInput>,
): Promise<object> {
  const { text, sort, limit: most, deleted, votes = null } = given;
  const at = (name: 'since' | 'until'): string | null => {
    const words = given[name];
    return words === undefined ? null : momentOf(name, words, clock.now(), calendarOf(timeZone));
  };
  const one = (name?: string): string[] => (name === undefined ? [] : [name]);
  const among = { board: one(given.board), status: one(given.status), creator: null };
  const filter: Wanted = {
    ...EVERY_LIVE_POST,
    ...among,
    since: at('since'),
    until: at('until'),
    votes,
    deleted,
  };
  if (text.trim() === '') {
    const { rows, total } = await ask('posts', { filter, sort, after: null, limit: most, isExcerpt: true });
    const posts = rows.map((post) => listedPost(rules, post));
    return { posts, total: total.isMore ? `more than ${total.posts}` : total.posts };
  }
  const wanted = { text, filter, limit: most, typing: false, isInternal: given.internal, isExcerpt: true };
  const { rows, isPartial, suggestion } = await ask('search', wanted);
  return {
    posts: rows.map((post) => listedPost(rules, post)),
    ...(isPartial ? { note: 'no post has all of the words: these have some' } : {}),
    ...(suggestion === null ? {} : { customer_words_meant: rules.text(suggestion, NAME) }),
  };
}

type Fact = Pick<
  FoundPost & PostFacts & SimilarPost,
  'id' | 'title' | 'url' | 'board' | 'status' | 'votes' | 'comments' | 'created'
>;

function postFacts(rules: TextRules, post: Fact): Record<string, unknown> {
  const { id: number, board: on, status: now, votes, comments, created } = post;
  const url = rules.link(post.url);
  return {
    id: number,
    customer_title: rules.text(post.title, NAME),
    board: rules.text(on, NAME),
    status: rules.text(now, NAME),
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
      : await ask('comments', { post: given.id, after: placeOf(given.comments_after) });
  const asked = page.rows.slice(0, given.comments);
  const shown = asked.filter((comment) => given.internal || !comment.internal);
  const isLast = page.after === null && asked.length === page.rows.length;
  const whole = {
    ...postFacts(rules, post),
    ...(post.deleted === null ? {} : { deleted: post.deleted }),
    customer_name: rules.person(post.creatorId, post.creator),
    by_team: post.creatorIsTeam === 1,
    customer_text: rules.text(post.content, TEXT),
    edits: edits.length,
    history: states.slice(-MOST_STATES).map((state) => shownState(rules, state)),
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

function placeOf(text: string): CommentPlace {
  const [created = '', number = ''] = text.split(' ');
  if (!/^\d{1,15}$/.test(number)) throw new AppError('usage', 'comments_after is not a comments_next');
  return { created, id: Number(number) };
}

function shownComment(rules: TextRules, comment: ShownComment): object {
  return {
    id: comment.id,
    created: comment.created,
    kind: rules.text(comment.kind, NAME),
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

export function reportTable(rules: TextRules, result: ReportResult): object {
  const { columns, rows, notes, title, since, until, timeZone } = result;
  const cell = (name: string, value: ReportValue | undefined, row: Record<string, ReportValue>): unknown => {
    if (typeof value !== 'string') return value ?? null;
    const email = typeof row.email === 'string' ? row.email : null;
    if (name === 'email') return rules.email(value) || null;
    return name === 'customer' ? rules.customer(value, email) : rules.text(value, NAME);
  };
  const units = columns.flatMap(({ name, kind }) => (UNITS[kind] ? [[name, UNITS[kind]]] : []));
  return {
    title,
    since,
    until,
    time_zone: timeZone,
    ...(result.board === null ? {} : { board: rules.text(result.board, NAME) }),
    columns: columns.map(({ name }) => agentName(name)),
    ...(units.length > 0 ? { units: Object.fromEntries(units) } : {}),
    rows: rows.map((row) => columns.map(({ name }) => cell(name, row[name], row))),
    notes: notes.map((note) => rules.text(note, CELL)),
  };
}

/** What customers wrote stands under names that say so. */
function agentName(column: string): string {
  if (column === 'customer') return 'customer_name';
  return column.endsWith('title') || column === 'email' ? `customer_${column}` : column;
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

/** What is not here is told by the other tools, or is of no use to an agent. */
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
    ...(before ? { before: shownValues(rules, before) } : {}),
    ...(after ? { after: shownValues(rules, after) } : {}),
    ...(post
      ? { post: { customer_title: rules.text(post.title, NAME), status: rules.text(post.status, NAME) } }
      : {}),
    ...(outbox ? { outbox: shownValues(rules, outbox) } : {}),
    ...(change.sync ? { sync: shownValues(rules, change.sync) } : {}),
  };
}

function shownValues(rules: TextRules, values: Values): Values {
  const renamed = (name: string): string =>
    name === 'title' ? 'customer_title' : name === 'content' ? 'customer_text' : name;
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => !name.endsWith('_id'))
      .map(([name, value]) => [renamed(name), typeof value === 'string' ? rules.text(value, CELL) : value]),
  );
}

export async function askSql(
  { query, rules, key }: ToolDeps,
  { sql, internal: isInternal }: { sql: string; internal: boolean },
): Promise<object> {
  const { columns, rows, more } = await collect(query({ sql, ...SQL, shown: { key, isInternal } })).catch(
    (error: unknown) => {
      if (!(error instanceof AppError) || !error.hint?.includes(SCHEMA_HINT)) throw error;
      const hint = error.hint.replace(SCHEMA_HINT, 'The resource mirror://schema lists tables and columns.');
      throw new AppError(error.code, error.message, { hint });
    },
  );
  return {
    columns: columns.map((name) => rules.text(name, NAME)),
    customer_rows: rows.map((row) => row.map((value) => plainValue(rules, value))),
    ...(more === null ? {} : { more: 'there are more rows' }),
  };
}

/** Bytes are nothing that an agent can read, and JSON knows no integers beyond 2^53. */
function plainValue(rules: TextRules, value: Value): string | number | null {
  if (typeof value === 'string') return rules.text(value, CELL);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return typeof value === 'bigint' ? String(value) : value;
}

export function rowFacts(rules: TextRules, row: OutboxRow): object {
  const { id: number, state, post_id, url, last_error: error, created_at, changed_at } = row;
  return {
    id: number,
    state,
    board: rules.text(row.board, NAME),
    customer_title: rules.text(row.title, NAME),
    ...(post_id === null ? {} : { post_id, url: url && rules.link(url) }),
    ...(error === null || post_id !== null ? {} : { last_error: rules.text(error, CELL) }),
    created_at,
    changed_at,
  };
}
