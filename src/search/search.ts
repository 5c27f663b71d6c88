import { SEARCH_LIMIT } from '../contract/endpoints.ts';
import type { Db, OpenOptions } from '../db/open.ts';
import { scalar } from '../db/sql.ts';
import { openMirrorReadOnly } from '../mirror/file/open.ts';
import { matchText, readTerms, type Term } from '../mirror/index/terms.ts';
import { unindexedPosts } from '../mirror/index/text-index.ts';
import { boardFinder } from '../mirror/store/boards.ts';
import { segmentReader } from '../segments/filter.ts';
import { EVERY_LIVE_POST, type PostFilter } from './browse/filter.ts';
import { LINE_COLUMNS, LINE_TABLES, type PostLine } from './browse/post.ts';
import { type Excerpt, highlighted, marker, type Part, READ_LENGTH, snippetOf } from './marks.ts';
import {
  conditions,
  isEveryPost,
  isVeryCommon,
  type Rank,
  rankedTerms,
  ranking,
  type Scope,
  type Sized,
  searchedTextOf,
} from './rank.ts';
import { moreLikeThis, type SimilarPost, type SimilarRequest } from './similar.ts';
import { suggester } from './suggest.ts';

export type { Excerpt, Part } from './marks.ts';

export interface SearchOptions {
  /** 50 unless given. */
  limit?: number;
  /** How many of the best are passed over: where a page of the list begins. */
  offset?: number;
  /** Only posts of this board, by the short part of its URL or by its name. */
  board?: string | undefined;
  /** Only posts of these imported customers, such as `plan=Pro`. */
  segment?: string | undefined;
  /** Whether the last word may still be growing. */
  typing?: boolean;
  /** Which posts may be found; the live ones unless given. */
  among?: PostFilter;
  /** Whether comments that only the team sees count; they do unless this is false. */
  isInternal?: boolean;
  /** Whether words inside e-mail addresses count; they do unless this is false. */
  isInAddresses?: boolean;
  /** Whether each hit comes with its snippet as an excerpt. */
  isExcerpt?: boolean;
  /** Whether all that it finds is counted. */
  isCounted?: boolean;
}

/** The best so many of a search can be gone through, page by page or in a file. */
export const MOST_FOUND = 10_000;

export interface Found {
  hits: Hit[];
  /** Whether others match behind these. */
  isMore: boolean;
  /** How many match, where they are counted; `isMore` if there are more than that. */
  total: { posts: number; isMore: boolean };
  /** Whether the text held anything to look for. */
  isQuestion: boolean;
  /** Whether no post has all of the words, and the hits have only some of them. */
  isPartial: boolean;
  /** The text with words that the mirror knows, where it has none like those that were asked for. */
  suggestion: string | null;
  /** Posts that cannot be found yet: the index of a new mirror is still being made. */
  unindexed: number;
}

export const NOTHING_FOUND: Found = {
  hits: [],
  isMore: false,
  total: { posts: 0, isMore: false },
  isQuestion: true,
  isPartial: false,
  suggestion: null,
  unindexed: 0,
};

export interface Hit extends Omit<PostLine, 'title'> {
  title: Part[];
  /** Where the content, or a comment, says it; or how the content begins. */
  snippet: Part[];
  /** The same place with some of the text around it, where it was asked for. */
  excerpt?: Excerpt;
  /** The comment that matched where the post itself does not. */
  comment: number | null;
  /** Comparable within one search only; the best has the smallest. */
  relevance: number;
}

export type SearchReads = ReturnType<typeof openSearchReads>;

/** The full-text search of live posts and their comments, from a handle that cannot change them. */
export function openSearchReads(options: OpenOptions) {
  const db = openMirrorReadOnly(options);
  const { find, ids } = searcher(db, options.upstream);
  const similar = db.transaction(moreLikeThis(db));
  return {
    /** The most relevant first; a word in the title weighs more than one in the content, and posts come before comments. */
    find: async (text: string, wanted?: SearchOptions): Promise<Found> => find(text, wanted),
    /** All that it finds in the same order, as far as can be gone through, without a look at their texts. */
    ids: async (text: string, wanted?: SearchOptions): Promise<{ ids: number[]; isMore: boolean }> =>
      ids(text, wanted),
    /** Posts that are about the same as a post or a text, the most similar first; null where there is no such post. */
    similar: async (request: SimilarRequest): Promise<SimilarPost[] | null> => similar(request),
    async close(): Promise<void> {
      db.close();
    },
  };
}

interface Match {
  id: number;
  comment: number | null;
}

interface Ranked {
  scope: Scope;
  terms: Term[];
  best: Match[];
  isPartial: boolean;
  /** Words that no post has. */
  unknown: Term[];
  /** Whether the words stand in so many posts that matches are not ranked. */
  isTooMuch: boolean;
}

/** The best matches among the posts themselves, the best first; null where the text holds nothing to look for. */
export function ranker(db: Db, upstream: string): (text: string, options?: SearchOptions) => Ranked | null {
  const rank = ranking(db);
  const named = namedPosts(db, upstream);
  const boardNamed = boardFinder(db);
  const segmentOf = segmentReader(db);
  return (text, options = {}) => {
    const {
      limit = SEARCH_LIMIT,
      board,
      segment,
      typing = false,
      among = EVERY_LIVE_POST,
      isInAddresses = true,
      isCounted = false,
    } = options;
    const filter = {
      ...among,
      ...(board !== undefined && { board: [boardNamed(board).id] }),
      ...(segment !== undefined && { segment: segmentOf(segment) }),
    };
    const { ids, words, isAddress } = named(text, { filter, isInAddresses });
    const terms = readTerms(words, { typing: typing && !isAddress, isInAddresses });
    const sized = rank.size(terms);
    const scope = {
      filter,
      limit: isCounted && !sized.some((one) => isOfManyWords(one, sized.length)) ? MOST_FOUND + 1 : limit,
      shown: limit,
      isInAddresses,
    };
    if (terms.length === 0 && ids.length === 0) return null;
    const found = bestOf(rank, terms, scope);
    const isPartial = found.isPartial && ids.length === 0;
    // Beside the post that is named, posts with some of the words are none that were meant.
    const others = found.isPartial && !isPartial ? [] : found.ids;
    const all = [...new Set([...ids, ...others])].slice(0, scope.limit);
    return {
      scope,
      terms,
      best: all.map((id) => ({ id, comment: null })),
      isPartial,
      unknown: found.unknown,
      isTooMuch: rank.isTooMuch(sized),
    };
  };
}

interface Ids {
  ids: number[];
  isPartial: boolean;
  unknown: Term[];
}

/** Fewer hits than this leave room for posts that have most of the words. */
const FEW = 5;
/** A beginning of so many letters can be one of so many words that to gather them takes 1.5 s in a million posts. */
const SHORT = 3;

function isOfManyWords(sized: Sized, terms: number): boolean {
  const { isOpen, phrases } = sized.term;
  return isOpen && (terms > 1 || (phrases[0]?.at(-1)?.length ?? 0) <= SHORT) && isVeryCommon(sized);
}

function bestOf(rank: Rank, terms: readonly Term[], scope: Scope): Ids {
  const open = terms.at(-1);
  if (open?.isOpen) return bestBeginnings(rank, terms.slice(0, -1), open, scope);
  return bestOfWords(rank, rank.size(terms), scope);
}

/** Those with all words first, then those with most of them. */
function bestOfWords(rank: Rank, sized: readonly Sized[], scope: Scope): Ids {
  const unknown = sized.filter(({ posts }) => posts === 0).map(({ term }) => term);
  const wanted = rankedTerms(sized);
  const all = sized.length === 0 || unknown.length > 0 ? [] : rank.all(sized, scope);
  const ids = all.map(({ id }) => id);
  if (ids.length >= FEW || wanted.length < 2) return { ids, isPartial: false, unknown };
  const some = rank.some(wanted, scope).map(({ id }) => id);
  return { ids: [...new Set([...ids, ...some])].slice(0, scope.limit), isPartial: ids.length === 0, unknown };
}

/** The last word is still being typed, or ends on a star. */
function bestBeginnings(rank: Rank, closed: readonly Term[], open: Term, scope: Scope): Ids {
  const [words = []] = open.phrases;
  const [beginning = ''] = words;
  const none = { isPartial: false, unknown: [] };
  // Where no word begins so, it is one that the person has ended, and may have misspelt.
  const finished = { ...open, isOpen: false };
  if (closed.length === 0 && words.length === 1) {
    const met = rank.beginnings(beginning, scope);
    // Among all posts longer words add little to one that so many have, and the index would gather every post of all of them.
    const isWhole = isEveryPost(scope.filter) && rank.size([finished]).some(isVeryCommon);
    const match = matchText([isWhole ? finished : open]) ?? '';
    const others = met.length < scope.limit ? rank.latest(match, scope).map(({ id }) => id) : [];
    const ids = [...new Set([...met, ...others])].slice(0, scope.limit);
    return ids.length > 0 ? { ids, ...none } : bestOfWords(rank, rank.size([finished]), scope);
  }
  const [sized, begun] = [rank.size(closed), rank.size([open])];
  // The index would gather every post of every word that begins so. Many of those that have the other words have one of them.
  const isInText = begun.some(isVeryCommon) && words.length === 1;
  const all = rank.all(
    isInText ? sized : [...sized, ...begun],
    isInText ? { ...scope, limit: MOST_FOUND } : scope,
  );
  const found = all.map(({ id }) => id);
  const ids = isInText ? rank.having(beginning, found, scope) : found;
  return ids.length > 0 ? { ids, ...none } : bestOfWords(rank, rank.size([...closed, finished]), scope);
}

/** The number in `#17`, also as other keyboards and sentences write it: `＃17`, `# 17`, `#17.`. */
export function postNumberIn(text: string): number | null {
  const [, digits] = /^#\s?(\d{1,15})$/.exec(bare(text)) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** Without the brackets around it and what ends a sentence. */
function bare(text: string): string {
  return text
    .normalize('NFKC')
    .trim()
    .replace(/[.,;:!?]+$/, '')
    .replace(/^<(.*)>$/, '$1');
}

interface Named {
  ids: number[];
  /** What is left to look for as words. */
  words: string;
  /** Whether the text is an address or a path: it was pasted, and its last word is not being typed. */
  isAddress: boolean;
}

/** Posts that are asked for by number or address. What may as well be something else is looked for as words, too. */
function namedPosts(
  db: Db,
  upstream: string,
): (text: string, scope: Pick<Scope, 'filter' | 'isInAddresses'>) => Named {
  const find = (condition: string, wanted: readonly (number | string)[], filter: PostFilter): KnownPost[] =>
    db
      .prepare<object, KnownPost>(
        `SELECT p.id, p.url FROM posts p WHERE ${condition} AND ${IS_THERE[filter.deleted]}`,
      )
      .all({ wanted: JSON.stringify(wanted) });
  return (text, { filter, isInAddresses }) => {
    const read = searchedTextOf(isInAddresses);
    const asked = bare(text);
    const number = /^\d{1,15}$/.test(asked) ? Number(asked) : postNumberIn(asked);
    if (number !== null)
      return { ids: find(BY_ID, [number], filter).map(({ id }) => id), words: asked, isAddress: false };
    const address = addressIn(asked, upstream);
    if (!address) return { ids: [], words: text, isAddress: false };
    const numbered = find(BY_ID, numbersIn(wholePath(address)), filter);
    const all = [...numbered, ...find(BY_URL, spellingsOf(address), filter)];
    const meant = all.filter((post) => read(post.url) === post.url && isAddressOf(address, post, upstream));
    return { ids: meant.map(({ id }) => id), words: asked.replace(/[-_]/g, ' '), isAddress: true };
  };
}

interface KnownPost {
  id: number;
  url: string;
}

const IS_THERE: Record<PostFilter['deleted'], string> = {
  no: 'p.deleted_at IS NULL',
  only: 'p.deleted_at IS NOT NULL',
  too: 'true',
};
const BY_ID = 'p.id IN (SELECT value FROM json_each($wanted))';
/** The words of the index `posts_by_url`. A post with its number in its URL is found by that. */
const BY_URL = 'p.url IN (SELECT value FROM json_each($wanted)) AND instr(p.url, p.id) = 0';
/** As much of a path as is looked through for numbers. */
const LONGEST_PATH = 300;
const MOST_DIGITS = 15;

/** Every number that stands in a path, also within another: all that the id of a post in its URL can be. */
function numbersIn(path: string): number[] {
  const runs = path.slice(0, LONGEST_PATH).match(/\d+/g) ?? [];
  const within = (run: string): string[] =>
    [...run].flatMap((_, from) =>
      Array.from({ length: Math.min(MOST_DIGITS, run.length - from) }, (_, i) =>
        run.slice(from, from + i + 1),
      ),
    );
  return [...new Set(runs.flatMap(within).map(Number))];
}

/** How a service may write an address: whole or as a path, with a slash at its end or without, percent signs or letters. */
function spellingsOf({ origin, pathname, search, hash }: URL): string[] {
  const path = pathname.replace(/\/+$/, '');
  const behind = [...new Set([search + hash, search])].filter((rest) => rest !== '');
  const decoded = path.replace(/(?:%[89a-f][\da-f])+/gi, (letters) => unescaped(letters));
  const bare = [path, decoded].flatMap((one) => [one, `${one}/`]);
  const paths = [...bare, ...bare.flatMap((one) => behind.map((rest) => one + rest))];
  return [...new Set(paths.flatMap((one) => [one, `${origin}${one}`]))];
}

function unescaped(letters: string): string {
  try {
    return decodeURIComponent(letters);
  } catch {
    return letters;
  }
}

/** What the paths of an upstream without an address of its own, as that of the sandbox, are completed with. */
const NO_UPSTREAM = 'http://upstream.invalid';

/** A whole address, one without its `http://`, or a path of the upstream. */
function addressIn(text: string, upstream: string): URL | null {
  if (/^(?:https?:\/\/|\/)\S+$/i.test(text)) return URL.parse(text, baseOf(upstream));
  return /^[^\s/]+[.:][^\s/]+\/\S*$/.test(text) ? URL.parse(`http://${text}`) : null;
}

function baseOf(upstream: string): string {
  return URL.canParse(upstream) ? upstream : NO_UPSTREAM;
}

/**
 * Whether an address is that of a post: it has the path of the post's own URL, or its number in the same place, where the board or the title
 * may differ and a comment may follow. The host does not count: the portal of a service may be on another one than its API. The path of
 * a page of the dashboard counts too.
 */
function isAddressOf(address: URL, { id, url }: KnownPost, upstream: string): boolean {
  const own = URL.parse(url, baseOf(upstream));
  const [asked, known] = [partsOf(address), own ? partsOf(own) : []];
  const path = asked.join('/');
  const at = known.findIndex((part) => hasNumber(part, id));
  const isAlike = at >= 0 && hasNumber(asked[at] ?? '', id) && asked[at - 1] === known[at - 1];
  // The post may be named behind the path: `/view?post=17`.
  const isPath = path === known.join('/') && wholePath(address).includes(own ? own.search + own.hash : '');
  return isAlike || isPath || path === `posts/${id}`;
}

function wholePath({ pathname, search, hash }: URL): string {
  return pathname + search + hash;
}

function partsOf({ pathname }: URL): string[] {
  return pathname.split('/').filter((part) => part !== '');
}

/** `17`, `title-17` or `17-title`. */
function hasNumber(part: string, id: number): boolean {
  return new RegExp(`^${id}(?![^-_])|(?:^|[-_])${id}$`).test(part);
}

const SHOWN = `SELECT ${LINE_COLUMNS}, substr(p.content, 1, ${READ_LENGTH}) AS content FROM ${LINE_TABLES} WHERE p.id IN (SELECT value FROM json_each(?))`;

/** What matches in the order of relevance, and one more than was wanted where there are more. */
interface Matches extends Pick<Found, 'isPartial'> {
  terms: Term[];
  /** So many were looked for. */
  limit: number;
  best: Match[];
  /** Words that were asked for in vain. */
  unknown: Term[];
}

function matcher(db: Db, upstream: string): (text: string, options: SearchOptions) => Matches | null {
  const rank = ranker(db, upstream);
  const inComments = commentRanker(db);
  return (text, options) => {
    const ranked = rank(text, options);
    if (ranked === null) return null;
    const { terms, isPartial, scope } = ranked;
    const said = inComments(ranked, options.isInternal ?? true);
    // A comment with all of the words says more than a post with some of them.
    const all = isPartial ? [...said, ...ranked.best] : [...ranked.best, ...said];
    const isWhole = !isPartial && ranked.best.length > 0;
    return {
      terms,
      limit: scope.limit,
      best: firstOfEach(all).slice(0, scope.limit),
      isPartial: isPartial && said.length === 0,
      unknown: isWhole || said.length > 0 ? [] : ranked.unknown,
    };
  };
}

function searcher(db: Db, upstream: string) {
  const matches = matcher(db, upstream);
  const suggest = suggester(db);
  const show = shower(db);
  const find = (text: string, options: SearchOptions = {}): Found => {
    const { limit = SEARCH_LIMIT, offset = 0, isInternal = true } = options;
    const end = Math.min(offset + limit, MOST_FOUND);
    const found = matches(text, { ...options, limit: end + 1 });
    const unindexed = unindexedPosts(db);
    if (found === null) return { ...NOTHING_FOUND, isQuestion: false, unindexed };
    const { terms, best, limit: looked, isPartial, unknown } = found;
    const isCut = best.length === looked;
    return {
      hits: show(terms, best.slice(offset, end), options),
      isMore: best.length > end,
      total: { posts: isCut ? looked - 1 : best.length, isMore: isCut },
      isQuestion: true,
      isPartial,
      suggestion: suggest(text, unknown, isInternal),
      unindexed,
    };
  };
  const ids = (text: string, options: SearchOptions = {}): { ids: number[]; isMore: boolean } => {
    const best = matches(text, { ...options, limit: MOST_FOUND + 1 })?.best ?? [];
    return { ids: best.slice(0, MOST_FOUND).map(({ id }) => id), isMore: best.length > MOST_FOUND };
  };
  // One snapshot for all passes: a row may change or go between two of them.
  return { find: db.transaction(find), ids: db.transaction(ids) };
}

/** Rows with what was found marked in them. */
function shower(db: Db): (terms: readonly Term[], best: readonly Match[], options: SearchOptions) => Hit[] {
  const shown = db.prepare<[string], PostLine & { content: string }>(SHOWN);
  const comment = scalar(db)<[number], string>(
    `SELECT substr(content, 1, ${READ_LENGTH}) FROM comments WHERE id = ?`,
  );
  return (terms, best, { isExcerpt = false, isInAddresses = true }) => {
    const [read, marks] = [searchedTextOf(isInAddresses), marker(terms)];
    const mark = (text: string) => marks(read(text));
    const rows = new Map(shown.all(JSON.stringify(best.map(({ id }) => id))).map((row) => [row.id, row]));
    return best.flatMap((match, place) => {
      const row = rows.get(match.id);
      if (!row) return [];
      const { title, content, ...facts } = row;
      const said = match.comment === null ? content : (comment.get(match.comment) ?? '');
      const { parts: snippet, excerpt } = snippetOf(said, mark(said));
      const parts = { title: highlighted(title, mark(title)), snippet, ...(isExcerpt && { excerpt }) };
      return [{ ...facts, ...parts, comment: match.comment, relevance: place }];
    });
  };
}

function firstOfEach(all: readonly Match[]): Match[] {
  const first = new Map<number, Match>();
  for (const match of all) if (!first.has(match.id)) first.set(match.id, match);
  return [...first.values()];
}

/** So many of the newest comments that match are looked at, and so many of those that may be found are ranked. */
const COMMENTS_MET = 20_000;
const COMMENTS_RANKED = 5000;

/** Posts of which a comment has all of the words, unless the posts that have them themselves fill the answer. */
function commentRanker(db: Db) {
  const conditionOf = conditions(db);
  return (ranked: Ranked, isInternal: boolean): Match[] => {
    const { scope, terms, best, isPartial, isTooMuch } = ranked;
    const { filter, limit } = scope;
    const match = matchText(terms);
    if (match === null || (best.length >= limit && !isPartial)) return [];
    const { condition, wanted } = conditionOf(filter, 'c.post_id');
    const met = isEveryPost(filter) ? COMMENTS_RANKED : COMMENTS_MET;
    const found = db.prepare<object, { id: number; comment: number }>(`
      SELECT comment, id FROM (
        SELECT m.comment, c.post_id AS id, m.relevance
          FROM (SELECT rowid AS comment, ${isTooMuch ? '0' : 'bm25(comments_text)'} AS relevance FROM comments_text
                 WHERE comments_text MATCH $match ORDER BY rowid DESC LIMIT ${met}) AS m
         CROSS JOIN comments c ON c.id = m.comment
         WHERE c.deleted_at IS NULL${isInternal ? '' : ' AND c.internal = 0'} AND ${condition}
           AND EXISTS (SELECT 1 FROM posts p WHERE p.id = c.post_id) LIMIT ${COMMENTS_RANKED})
       ORDER BY relevance, comment DESC`);
    const known = new Set(isPartial ? [] : best.map(({ id }) => id));
    const said: Match[] = [];
    // Many of them may be comments on one post.
    for (const row of found.iterate({ match, wanted })) {
      if (known.has(row.id)) continue;
      known.add(row.id);
      if (said.push(row) === limit) break;
    }
    return said;
  };
}
