import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../db/open.ts';
import { scalar } from '../db/sql.ts';
import type { Numbers } from '../mirror/index/columns.ts';
import { DENSE, greatestOf } from '../mirror/index/select.ts';
import { matchTerm, matchText, type Term } from '../mirror/index/terms.ts';
import { fold, withoutAddresses } from '../text/words.ts';
import { columnList } from './browse/columns-list.ts';
import { EVERY_LIVE_POST, type PostFilter } from './browse/filter.ts';
import { marker, READ_LENGTH } from './marks.ts';

/** A title is about ten words, a content a hundred: a word of the title says more of what a post is about. */
const TITLE_WEIGHT = 8;
/**
 * Of a match in more posts than this the newest are taken: it says little, and ranking so many takes too long. As many of the newest are
 * looked through for those with it in the title, which come first.
 */
const COMMON = 30_000;
/** A word in this many posts is asked for beside others, and not ranked by. SQLite counts every post of each word that is ranked by. */
const VERY_COMMON = 200_000;
/** To rank reads every post of each word that is asked for: words with more posts together are not ranked, however few posts have all. */
const MOST_READ = 500_000;
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
  /** How many of those are shown; the others are only counted. */
  shown: number;
  /** Whether words inside e-mail addresses count. */
  isInAddresses: boolean;
}

/** The text in which words are looked for. */
export function searchedTextOf(isInAddresses: boolean): (text: string) => string {
  return isInAddresses ? (text) => text : withoutAddresses;
}

/** Whether a match in so many posts is ranked. */
function isRankable(posts: number): boolean {
  return posts < COMMON;
}

export type Rank = ReturnType<typeof ranking>;

/** How many posts have a word. */
function sizer(db: Db, shareOf: (beginning: string) => number) {
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
    terms.map((term) => {
      const [words = []] = term.phrases;
      // The index would gather every word that begins so.
      const isBeginning = term.isOpen && words.length === 1;
      const posts = isBeginning
        ? Math.round((newestId.get() ?? 0) * shareOf(words.join('')))
        : estimate(matchTerm(term));
      return { term, posts };
    });
  return { newestId: (): number => newestId.get() ?? 0, estimate, size };
}

/** Questions to the index of posts, each bounded by what it reads and not by the size of the mirror. */
export function ranking(db: Db) {
  const { beginnings, having, shareOf } = newestScan(db);
  const { newestId, estimate, size } = sizer(db, shareOf);
  const conditionOf = conditions(db);
  const ask = (sql: (condition: string) => string, bound: object, { filter, limit }: Scope): Scored[] => {
    const { condition, wanted } = conditionOf(filter);
    return db.prepare<object, Scored>(sql(condition)).all({ ...bound, limit, wanted });
  };

  /** The best by relevance; of very many the newest, those with a match in their title first. `whole` has words that are not ranked by. */
  const best = (match: string, scope: Scope, posts = estimate(match), whole = match): Scored[] => {
    if (!isRankable(posts)) return newest(whole, scope, posts);
    const sql = whole === match ? SEARCH_SQL.best : SEARCH_SQL.bestOf;
    return ask(sql, { match, whole }, scope);
  };
  const newest = (match: string, scope: Scope, posts = estimate(match)): Scored[] => {
    const floor = Math.floor(newestId() * (1 - Math.min(1, COMMON / posts)));
    const inTitle = ask(SEARCH_SQL.newest, { match: `title : (${match})`, floor }, scope);
    if (inTitle.length >= scope.limit) return inTitle;
    const known = new Set(inTitle.map(({ id }) => id));
    const others = ask(SEARCH_SQL.newest, { match, floor: 0 }, scope).filter(({ id }) => !known.has(id));
    return [...inTitle, ...others].slice(0, scope.limit);
  };
  /** How many entries of the index these take; of a phrase every word is read. */
  const readOf = (sized: readonly Sized[]): number =>
    sized.reduce((sum, { term, posts }) => {
      const [words = []] = term.phrases;
      const entries = words.length === 1 ? [posts] : words.map((word) => estimate(`"${word}"`));
      return entries.reduce((all, some) => all + some, sum);
    }, 0);
  /** The best that have all of them. No more posts have all than have the rarest: to count those would be another walk over each word. */
  const all = (sized: readonly Sized[], scope: Scope): Scored[] => {
    const wanted = rankedTerms(sized);
    const [match, whole, read] = [matchOf(wanted), matchOf(sized), readOf(wanted)];
    if (read > MOST_READ) return newest(whole, scope, read);
    const fewest = Math.min(...wanted.map(({ posts }) => posts));
    return best(match, scope, isRankable(fewest) || wanted.length === 1 ? fewest : undefined, whole);
  };
  /** The best that have any of these, together in no more posts than can be ranked. */
  const any = (sized: readonly Sized[], scope: Scope): Scored[] => {
    const posts = sized.reduce((sum, one) => sum + one.posts, 0);
    return sized.length === 0
      ? []
      : best(sized.map(({ term }) => matchTerm(term)).join(' OR '), scope, posts);
  };
  /** The newest that have it, by one walk over its words: to estimate those of a beginning first takes as long as to find them. */
  const latest = (match: string, scope: Scope): Scored[] =>
    ask(SEARCH_SQL.newest, { match, floor: 0 }, scope);
  const isTooMuch = (sized: readonly Sized[]): boolean => readOf(sized) > MOST_READ;
  const some = someWords(db, any);
  return { size, all, latest, beginnings, having, isTooMuch, some };
}

export function isEveryPost(filter: PostFilter): boolean {
  return isDeepStrictEqual(filter, EVERY_LIVE_POST);
}

/**
 * Which posts may be found, as a condition of SQL. A look at the table for each match took 40 times as long as one at a byte for each post,
 * which the columns of reports fill in some ten milliseconds. With the plus SQLite walks the index alone.
 */
export function conditions(db: Db) {
  const columns = columnList(db);
  let last: { filter: PostFilter; wanted: Buffer | string } | undefined;
  return (filter: PostFilter, id = 'rowid'): { condition: string; wanted: Buffer | string | null } => {
    if (isEveryPost(filter))
      return { condition: `+${id} NOT IN (SELECT id FROM posts WHERE deleted_at IS NOT NULL)`, wanted: null };
    if (last?.filter !== filter) last = { filter, wanted: flagsOf(columns.ids(filter)) };
    const { wanted } = last;
    const condition =
      typeof wanted === 'string'
        ? `+${id} IN (SELECT value FROM json_each($wanted))`
        : `substr($wanted, ${id} + 1, 1) = x'01'`;
    return { condition, wanted };
  };
}

/** A byte for each id up to the greatest; a list of ids that are too great for that. */
function flagsOf(ids: Numbers): Buffer | string {
  const greatest = greatestOf(ids);
  if (greatest >= DENSE) return JSON.stringify([...ids]);
  const flags = Buffer.alloc(greatest + 1);
  for (const id of ids) flags[id] = 1;
  return flags;
}

export const SEARCH_SQL: Record<'sample', string> &
  Record<'best' | 'bestOf' | 'newest', (condition: string) => string> = {
  sample: `
    SELECT count(*) AS found, min(rowid) AS oldest
      FROM (SELECT rowid FROM posts_text WHERE posts_text MATCH ? ORDER BY rowid DESC LIMIT ${SAMPLE})`,
  // One pass over the index: its own ORDER BY rank carries every place of every word along, and takes a third longer.
  best: (condition: string) => `
    SELECT rowid AS id, bm25(posts_text, ${TITLE_WEIGHT}.0, 1.0) AS relevance FROM posts_text
     WHERE posts_text MATCH $match AND ${condition}
     ORDER BY relevance, rowid DESC LIMIT $limit`,
  bestOf: (condition: string) =>
    SEARCH_SQL.best(
      `+rowid IN (SELECT rowid FROM posts_text WHERE posts_text MATCH $whole) AND ${condition}`,
    ),
  // A number is bound as REAL, which FTS5 takes for no bound: it would read on to the oldest match.
  newest: (condition: string) => `
    SELECT rowid AS id, 0 AS relevance FROM posts_text
     WHERE posts_text MATCH $match AND rowid >= CAST($floor AS INTEGER) AND ${condition}
     ORDER BY rowid DESC LIMIT $limit`,
};

/** Posts whose titles are looked through for a beginning: some milliseconds. */
const SCANNED = 3000;

/**
 * The newest posts with a word that begins so in their title, and after them those with one in their text. The index would gather every
 * word with that beginning, which for two letters is nearly every post (2.5 s in a million); letters that begin so many words are met in
 * the first few hundred titles.
 */
function newestScan(db: Db) {
  const conditionOf = conditions(db);
  const whole = db.prepare<[number], { title: string; content: string }>(
    'SELECT title, content FROM posts WHERE id = ?',
  );
  const beginsIn = (beginning: string, { isInAddresses }: Pick<Scope, 'isInAddresses'>) => {
    const read = searchedTextOf(isInAddresses);
    const begins = new RegExp(`(?<![\\p{L}\\p{N}\\p{M}])${beginning}`, 'u');
    return (text: string): boolean => begins.test(fold(read(text)));
  };
  const scan = (beginning: string, { filter, isInAddresses }: Scope, most: number) => {
    const { condition, wanted } = conditionOf(filter, 'p.id');
    const rows = db
      .prepare<object, { id: number; title: string; content: string }>(`
        SELECT p.id, p.title, substr(p.content, 1, ${READ_LENGTH}) AS content FROM posts p WHERE ${condition}
         ORDER BY p.created DESC, p.id DESC LIMIT $most`)
      .iterate({ wanted, most });
    return { rows, has: beginsIn(beginning, { isInAddresses }) };
  };
  return {
    beginnings(beginning: string, scope: Scope): number[] {
      const { rows, has } = scan(beginning, scope, SCANNED);
      const [titles, texts]: [number[], number[]] = [[], []];
      for (const { id, title, content } of rows) {
        if (has(title)) titles.push(id);
        else if (texts.length < scope.shown && has(content)) texts.push(id);
        if (titles.length === scope.shown) break;
      }
      return [...titles, ...texts].slice(0, scope.shown);
    },
    /** The first so many of some posts that have a word that begins so. To be asked where many of them do. */
    having(beginning: string, ids: readonly number[], scope: Scope): number[] {
      const has = beginsIn(beginning, scope);
      const found: number[] = [];
      for (const id of ids) {
        const { title = '', content = '' } = whole.get(id) ?? {};
        if (has(title) || has(content)) found.push(id);
        if (found.length === scope.shown) break;
      }
      return found;
    },
    /** Which share of the newest posts have a word that begins so. */
    shareOf(beginning: string): number {
      const { rows, has } = scan(
        beginning,
        { filter: EVERY_LIVE_POST, limit: 0, shown: 0, isInAddresses: true },
        SAMPLE,
      );
      let found = 0;
      for (const { title, content } of rows) if (has(title) || has(content)) found++;
      return found / SAMPLE;
    },
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
    const [cover, read] = [coverageOf(chosen), searchedTextOf(scope.isInAddresses)];
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

export function isVeryCommon({ posts }: Sized): boolean {
  return posts >= VERY_COMMON;
}

/** What is ranked by: without words that nearly every post has, unless there is nothing else. */
export function rankedTerms(sized: readonly Sized[]): Sized[] {
  const rare = sized.filter((one) => !isVeryCommon(one));
  return rare.length > 0 ? rare : [...sized];
}

function matchOf(sized: readonly Sized[]): string {
  return matchText(sized.map(({ term }) => term)) ?? '';
}
