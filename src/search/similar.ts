import type { Db } from '../db/open.ts';
import { scalar } from '../db/sql.ts';
import { matchTerm, readTerms, type Term } from '../mirror/index/terms.ts';
import { distinctWords, isSmallWord, likeness } from '../text/words.ts';
import { LINE_COLUMNS, LINE_TABLES, type PostLine } from './browse/post.ts';
import { differsInOnePlace, stemsOf, titleLikeness, weightOf, wordsOfTitle } from './likeness.ts';
import { marker } from './marks.ts';
import { ranking, rarest, type Sized, searchedTextOf } from './rank.ts';

/** What posts are to be like: one of the mirror, or a text that is none yet. */
export interface SimilarRequest {
  about: number | { title: string; content: string };
  /** 10 unless given. */
  limit?: number;
  /** Whether words inside e-mail addresses count; they do unless this is false. */
  isInAddresses?: boolean;
}

export interface SimilarPost extends Omit<PostLine, 'boardSlug'> {
  /** How much of the one is in the other, 0 to 1; from 0.5 on a person should compare them. */
  likeness: number;
  /** Whether a person has said that it is the same. */
  isSame: boolean;
}

/** As much of a text as its subject is said in; the words of a pasted log would crowd it out. */
const BEGINNING = 1500;
const MOST_WORDS = 48;
const ASKED = 10;
/** Posts that may have one of the words asked for. By `bench -- similar` 15,000 find no pair more; 3,000 find 1 % less of the sandbox's. */
const MOST_POSTS = 6000;
/** The best by the words asked for, which are compared by all words. */
const COMPARED = 60;
/** Some of the best may be deleted. */
const FETCHED = 4 * COMPARED;
const LIMIT = 10;
/** A word counts for more where it stands in the title, of either. */
const TITLE = 1.5;
/** How much of the comparison is the titles' alone. */
const TITLES = 0.1;
/** How much of it a longer text loses: it has more words in common with every text. */
const LENGTH = 0.75;
/** A title that is being typed counts as a text of so many characters: no post is longer than it for having a content. */
const SHORT = 120;
/** Less than this is no likeness: one common word. */
const LEAST = 0.12;

interface Asked extends Sized {
  isTitle: boolean;
  weight: number;
}

const CANDIDATES = `SELECT ${LINE_COLUMNS}, substr(p.content, 1, ${BEGINNING}) AS content FROM ${LINE_TABLES} WHERE p.id IN (SELECT value FROM json_each(?))`;

/**
 * More like this: the rarest words of a text are asked of the search index, and what it finds is compared by the weight of the words
 * they share. The same for a post, for one that is being written and for a row of an import. Null where there is no such post.
 */
export function moreLikeThis(db: Db): (request: SimilarRequest) => SimilarPost[] | null {
  const rank = ranking(db);
  const span = scalar(db)<[], number>(`
    SELECT ifnull((SELECT max(id) FROM posts) - (SELECT min(id) FROM posts), 0) + 1`);
  const find = db.prepare<[number], Text>(`
    SELECT title, substr(content, 1, ${BEGINNING}) AS content FROM posts WHERE id = ?`);
  const rows = db.prepare<[string], PostLine & { content: string }>(CANDIDATES);
  const same = sameAs(db);
  const candidates = candidatesOf(db);
  return ({ about, limit = LIMIT, isInAddresses = true }) => {
    const read = searchedTextOf(isInAddresses);
    const found = typeof about === 'number' ? find.get(about) : about;
    if (!found) return null;
    const text = { title: read(found.title), content: read(found.content) };
    const own = typeof about === 'number' ? about : null;
    const sized = (terms: readonly Term[]): Sized[] => rank.size(terms);
    const all = span.get() ?? 1;
    const asked = askedOf(text, sized, { isInAddresses, known: own === null ? 0 : 1, all });
    const marked = own === null ? new Set<number>() : same(own);
    const ids = new Set([...marked, ...candidates(rarest(asked, ASKED, MOST_POSTS), own)]);
    const compare = comparison(text, asked);
    const isAnother = otherSubject(text.title, (word) => {
      const posts = sized(readTerms(word, { isInAddresses })).reduce(
        (least, one) => Math.min(least, one.posts),
        all,
      );
      return weightOf(posts, all);
    });
    return rows
      .all(JSON.stringify([...ids]))
      .map(({ content, boardSlug: _, ...post }) => ({
        ...post,
        likeness: compare({ title: read(post.title), content: read(content) }),
        isSame: marked.has(post.id),
      }))
      .filter((post) => post.isSame || post.likeness >= LEAST)
      .sort(byLikeness)
      .slice(0, limit)
      .map((post) => ({ ...post, likeness: meanOf(post.likeness, isAnother(read(post.title))) }))
      .sort(byLikeness);
  };
}

function byLikeness(a: SimilarPost, b: SimilarPost): number {
  return Number(b.isSame) - Number(a.isSame) || b.likeness - a.likeness || b.id - a.id;
}

interface Text {
  title: string;
  content: string;
}

/**
 * The live posts with the most weight of these words. Adding it up here takes a fifth of the time of SQLite's bm25(), which looks for
 * every form of every word in each post, and what is compared afterwards finds as many pairs. A word may stand in nearly every post, and
 * then it is the only one chosen: its posts weigh the same but for their titles, and the newest will do.
 */
function candidatesOf(db: Db): (chosen: readonly Asked[], own: number | null) => number[] {
  const having = scalar(db)<[string, number], number>(
    'SELECT rowid FROM posts_text WHERE posts_text MATCH ? ORDER BY rowid DESC LIMIT ?',
  );
  const live = scalar(db)<[string], number>(`
    SELECT p.id FROM json_each(?) AS found CROSS JOIN posts p ON p.id = found.value
     WHERE p.deleted_at IS NULL ORDER BY found.key LIMIT ${COMPARED}`);
  return (chosen, own) => {
    const weights = new Map<number, number>();
    const add = (id: number, weight: number) => weights.set(id, (weights.get(id) ?? 0) + weight);
    const most = chosen.length === 1 ? FETCHED : MOST_POSTS;
    for (const { term, weight } of chosen) {
      const match = matchTerm(term);
      const inTitle = new Set(having.all(`title : ${match}`, most));
      for (const id of inTitle) add(id, TITLE * weight);
      for (const id of having.all(match, most)) if (!inTitle.has(id)) add(id, weight);
    }
    if (own !== null) weights.delete(own);
    const best = [...weights].sort(([a, x], [b, y]) => y - x || b - a).slice(0, FETCHED);
    return live.all(JSON.stringify(best.map(([id]) => id)));
  };
}

/** The words that tell something, each with its weight; `known` posts have every one of them, and prove nothing. */
function askedOf(
  { title, content }: Text,
  size: (terms: readonly Term[]) => Sized[],
  { known, all, isInAddresses }: { known: number; all: number; isInAddresses: boolean },
): Asked[] {
  const tells = ({ phrases: [words = []] }: Term): boolean =>
    words.length > 1 || ((words[0]?.length ?? 0) > 1 && !isSmallWord(words[0] ?? ''));
  const read = (text: string): Term[] =>
    readTerms(text.replace(/["“”„«»*]/gu, ' '), { most: MOST_WORDS, isInAddresses }).filter(tells);
  const keyOf = ({ phrases: [words = []] }: Term): string => words.join(' ');
  const inTitle = read(title);
  const keys = new Set(inTitle.map(keyOf));
  const inContent = read(content.slice(0, BEGINNING)).filter((term) => !keys.has(keyOf(term)));
  return size([...inTitle, ...inContent])
    .map((sized, i) => ({ ...sized, isTitle: i < inTitle.length }))
    .filter(({ posts }) => posts > known)
    .map((sized) => ({
      ...sized,
      weight: Math.log(1 + all / sized.posts) ** 2 * (sized.isTitle ? TITLE : 1),
    }));
}

/** The weight of the shared words, as in the cosine of two texts, and a little of how alike the titles are; 1 for the same text. */
function comparison(text: Text, asked: readonly Asked[]): (other: Text) => number {
  const mark = marker(asked.map(({ term }) => term));
  const met = (part: string): Set<number> => new Set(mark(part).map(({ term }) => term));
  const whole = asked.reduce((sum, { weight, isTitle }) => sum + weight * (isTitle ? TITLE : 1), 0);
  const [own, length] = [distinctWords(text.title), Math.max(SHORT, lengthOf(text))];
  return (other) => {
    const inTitle = met(other.title);
    let shared = 0;
    for (const at of new Set([...inTitle, ...met(other.content.slice(0, BEGINNING))]))
      shared += (asked[at]?.weight ?? 0) * (inTitle.has(at) ? TITLE : 1);
    const longer = Math.sqrt(1 - LENGTH + (LENGTH * lengthOf(other)) / length);
    const words = whole === 0 ? 0 : Math.min(1, shared / whole / longer);
    return (1 - TITLES) * words + TITLES * likeness(own, distinctWords(other.title));
  };
}

/**
 * A title that says the same sentence with another word in one place counts as much as all the rest. It moves a post down the list and
 * never out of it: where it did, `bench -- similar` found 86.2 % of the sandbox's pairs among the first ten instead of 89.8.
 */
function meanOf(likeness: number, titles: number | null): number {
  return titles === null || titles > likeness ? likeness : Math.sqrt(likeness * Math.max(LEAST, titles));
}

/** The likeness of such a title; null for any other. */
function otherSubject(title: string, weight: (stem: string) => number): (other: string) => number | null {
  const own = wordsOfTitle(title);
  return (other) => {
    const others = wordsOfTitle(other);
    if (!differsInOnePlace(stemsOf(own), stemsOf(others))) return null;
    return titleLikeness(own, others, ({ text }) => weight(text));
  };
}

function lengthOf({ title, content }: Text): number {
  return title.length + Math.min(BEGINNING, content.length);
}

/** Every post that people have marked as the same as this one, directly or by way of others. */
function sameAs(db: Db): (id: number) => Set<number> {
  const group = scalar(db)<[number], number>(`
      WITH RECURSIVE same (id) AS (
         VALUES (?)
         UNION SELECT iif(m.post_id = same.id, m.same_as, m.post_id)
           FROM same JOIN same_posts m ON same.id IN (m.post_id, m.same_as))
       SELECT id FROM same`);
  return (id) => new Set(group.all(id).filter((other) => other !== id));
}
