import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../db/open.ts';
import { scalar } from '../db/sql.ts';
import { matchTerm, matchText, type Term } from '../mirror/index/terms.ts';
import { fold, withoutAddresses } from '../text/words.ts';
import { pageSql } from './browse/browse.ts';
import { conditionsOf, EVERY_LIVE_POST, filterBound, type PostFilter } from './browse/filter.ts';
import { marker, READ } from './marks.ts';

/** A title is about ten words, a content a hundred: a word of the title says more of what a post is about. */
const TITLE_WEIGHT = 8;
/**
 * Of a match in more posts than this the newest are taken: it says little, and ranking so many takes too long. As many of the newest are
 * looked through for those with it in the title, which come first.
 */
const COMMON = 30_000;
/** A word in this many posts is not asked for beside others. SQLite counts every post of each word that is ranked by. */
const VERY_COMMON = 200_000;
/** The newest matches are counted up to here, and how far back they reach tells how many there are. */
const SAMPLE = 200;
/** What was estimated is kept while the posts are not more by this share, for so many words. */
const DRIFT = 0.01;
const MOST_KEPT = 20_000;

export interface Sized {
  term: Term;
  /** How many posts have it; an estimate from SAMPLE on. */
  posts: number;
}

interface Scored {
  id: number;
  relevance: number;
}

/** Which posts may be found. */
export interface Scope {
  filter: PostFilter;
  limit: number;
  /** Whether words inside e-mail addresses count. */
  isInAddresses: boolean;
}

/** The text in which words are looked for. */
export function readFor(isInAddresses: boolean): (text: string) => string {
  return isInAddresses ? (text) => text : withoutAddresses;
}

/** Whether a match in so many posts is ranked. */
export function isRankable(posts: number): boolean {
  return posts < COMMON;
}

export type Rank = ReturnType<typeof ranking>;

/** Questions to the index of posts, each bounded by what it reads and not by the size of the mirror. */
export function ranking(db: Db) {
  const newestId = scalar(db)<[], number | null>('SELECT max(id) FROM posts');
  const sample = db.prepare<[string], { found: number; oldest: number }>(SEARCH_SQL.sample);

  /** Of words in many posts, as of one newest post: a text has fifty words, and most of them stand in every other text, too. */
  const frequent = new Map<string, number>();
  let asOf = 0;
  const estimate = (match: string): number => {
    const newest = newestId.get() ?? 0;
    if (Math.abs(newest - asOf) > asOf * DRIFT || frequent.size > MOST_KEPT) {
      frequent.clear();
      asOf = newest;
    }
    const known = frequent.get(match);
    if (known !== undefined) return known;
    const { found, oldest } = sample.get(match) ?? { found: 0, oldest: 0 };
    if (found < SAMPLE) return found;
    const posts = Math.round((SAMPLE * newest) / Math.max(SAMPLE, newest - oldest));
    frequent.set(match, posts);
    return posts;
  };
  const size = (terms: readonly Term[]): Sized[] =>
    terms.map((term) => ({ term, posts: estimate(matchTerm(term)) }));
  const ask = (sql: (condition: string) => string, bound: object, { filter, limit }: Scope): Scored[] =>
    db.prepare<object, Scored>(sql(conditionOf(filter))).all({ ...bound, limit, ...filterBound(filter) });

  /** The best by relevance; of very many the newest, those with a match in their title first. */
  const best = (match: string, scope: Scope, posts = estimate(match)): Scored[] =>
    isRankable(posts) ? ask(SEARCH_SQL.best, { match }, scope) : newest(match, scope, posts);
  const newest = (match: string, scope: Scope, posts = estimate(match)): Scored[] => {
    const last = newestId.get() ?? 0;
    const floor = Math.floor(last * (1 - Math.min(1, COMMON / posts)));
    const inTitle = ask(SEARCH_SQL.newest, { match: `title : (${match})`, floor }, scope);
    if (inTitle.length >= scope.limit) return inTitle;
    const known = new Set(inTitle.map(({ id }) => id));
    const others = ask(SEARCH_SQL.newest, { match, floor: 0 }, scope).filter(({ id }) => !known.has(id));
    return [...inTitle, ...others].slice(0, scope.limit);
  };
  /** The best that have any of these, together in no more posts than can be ranked. */
  const any = (sized: readonly Sized[], scope: Scope): Scored[] => {
    const posts = sized.reduce((sum, one) => sum + one.posts, 0);
    return sized.length === 0
      ? []
      : best(sized.map(({ term }) => matchTerm(term)).join(' OR '), scope, posts);
  };
  return { size, best, newest, any, beginnings: newestScan(db), some: someWords(db, any) };
}

export function isEveryPost(filter: PostFilter): boolean {
  return isDeepStrictEqual(filter, EVERY_LIVE_POST);
}

/** Literal where it can be, so that the planner sees which index serves it; ids of deleted posts come from a list of their own. */
function conditionOf(filter: PostFilter): string {
  if (isEveryPost(filter)) return 'rowid NOT IN (SELECT id FROM posts WHERE deleted_at IS NOT NULL)';
  const conditions = ['p.id = posts_text.rowid', ...conditionsOf(filter)];
  return `EXISTS (SELECT 1 FROM posts p WHERE ${conditions.join(' AND ')})`;
}

export const SEARCH_SQL = {
  sample: `
    SELECT count(*) AS found, min(rowid) AS oldest
      FROM (SELECT rowid FROM posts_text WHERE posts_text MATCH ? ORDER BY rowid DESC LIMIT ${SAMPLE})`,
  // One pass over the index: its own ORDER BY rank carries every place of every word along, and takes a third longer.
  best: (condition: string) => `
    SELECT rowid AS id, bm25(posts_text, ${TITLE_WEIGHT}.0, 1.0) AS relevance FROM posts_text
     WHERE posts_text MATCH $match AND ${condition}
     ORDER BY relevance, rowid DESC LIMIT $limit`,
  newest: (condition: string) => `
    SELECT rowid AS id, 0 AS relevance FROM posts_text
     WHERE posts_text MATCH $match AND rowid >= $floor AND ${condition}
     ORDER BY rowid DESC LIMIT $limit`,
} as const;

/** Posts whose titles are looked through for a beginning: some milliseconds. */
const SCANNED = 3000;

/**
 * The newest posts with a word that begins so in their title, and after them those with one in their text. The index would gather every
 * word with that beginning, which for two letters is nearly every post (2.5 s in a million); letters that begin so many words are met in
 * the first few hundred titles.
 */
function newestScan(db: Db) {
  return (beginning: string, { filter, limit, isInAddresses }: Scope): number[] => {
    const read = readFor(isInAddresses);
    const ids = pageSql({ filter, sort: 'newest', after: null });
    const rows = db
      .prepare<object, { id: number; title: string; content: string }>(`
        SELECT p.id, p.title, substr(p.content, 1, ${READ}) AS content FROM (${ids}) AS newest CROSS JOIN posts p ON p.id = newest.id`)
      .iterate({ ...filterBound(filter), limit: SCANNED });
    const begins = new RegExp(`(?<![\\p{L}\\p{N}\\p{M}])${beginning}`, 'u');
    const [titles, texts]: [number[], number[]] = [[], []];
    for (const { id, title, content } of rows) {
      if (begins.test(fold(read(title)))) titles.push(id);
      else if (texts.length < limit && begins.test(fold(read(content)))) texts.push(id);
      if (titles.length === limit) break;
    }
    return [...titles, ...texts].slice(0, limit);
  };
}

/** The rarest terms are asked for, until so many posts could have one of them. */
const MOST_TERMS = 8;
const MOST_POSTS = 15_000;
/** So many of the best are compared by how much of what was asked they have. */
const COMPARED = 60;
/** As much of a text as is compared. */
const BEGINNING = 4000;
/** Less of it than this share of what the best has is not shown. */
const LEAST_SHARE = 0.5;

interface Covering extends Scored {
  /** How much of what was asked for it has, the rare terms counting more; 0 to 1. */
  coverage: number;
}

/** Posts with as many of the terms as there are, for a text that no post has all of. */
function someWords(db: Db, any: (sized: readonly Sized[], scope: Scope) => Scored[]) {
  const texts = db.prepare<[string], { id: number; title: string; content: string }>(`
    SELECT id, title, substr(content, 1, ${BEGINNING}) AS content FROM posts WHERE id IN (SELECT value FROM json_each(?))`);
  return (sized: readonly Sized[], scope: Scope): Covering[] => {
    const chosen = rarest(sized);
    if (chosen.length === 0) return [];
    const found = any(chosen, { ...scope, limit: COMPARED });
    const all = new Map(found.map(({ id, relevance }) => [id, relevance]));
    const [cover, read] = [coverageOf(chosen), readFor(scope.isInAddresses)];
    const scored = texts
      .all(JSON.stringify([...all.keys()]))
      .map(({ id, title, content }) => ({
        id,
        relevance: all.get(id) ?? 0,
        coverage: cover(read(`${title}\n${content}`)),
      }))
      .sort((a, b) => b.coverage - a.coverage || a.relevance - b.relevance || b.id - a.id);
    const least = LEAST_SHARE * (scored[0]?.coverage ?? 0);
    return scored.filter(({ coverage }) => coverage >= least).slice(0, scope.limit);
  };
}

export function rarest<T extends Sized>(
  sized: readonly T[],
  mostTerms = MOST_TERMS,
  mostPosts = MOST_POSTS,
): T[] {
  const chosen: T[] = [];
  let posts = 0;
  for (const one of sized.filter(({ posts }) => posts > 0).toSorted((a, b) => a.posts - b.posts)) {
    if (chosen.length === mostTerms || (chosen.length > 0 && posts + one.posts > mostPosts)) break;
    chosen.push(one);
    posts += one.posts;
  }
  return chosen;
}

/** A rare word tells more of what a text is about. */
function weightOf({ posts }: Sized): number {
  return 1 / Math.log2(2 + posts);
}

function coverageOf(sized: readonly Sized[]): (text: string) => number {
  const mark = marker(sized.map(({ term }) => term));
  const weights = sized.map(weightOf);
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  return (text) => {
    const met = new Set(mark(text).map(({ term }) => term));
    return [...met].reduce((sum, term) => sum + (weights[term] ?? 0), 0) / whole;
  };
}

/** What must be there: without words that nearly every post has, unless there is nothing else. */
export function telling(sized: readonly Sized[]): Sized[] {
  const rare = sized.filter(({ posts }) => posts < VERY_COMMON);
  return rare.length > 0 ? rare : [...sized];
}

export function matchOf(sized: readonly Sized[]): string {
  return matchText(sized.map(({ term }) => term)) ?? '';
}
