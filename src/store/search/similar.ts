import { isSmallWord, likeness, wordsOf } from '../../base/words.ts';
import { EVERY_LIVE_POST } from '../browse/filter.ts';
import { LINE, LINES, type PostLine } from '../browse/post.ts';
import type { Db } from '../db.ts';
import { readTerms, type Term } from '../index/terms.ts';
import { scalar } from '../sql.ts';
import { marker } from './marks.ts';
import { ranking, rarest, type Sized, weightOf } from './rank.ts';

/** What posts are to be like: one of the mirror, or a text that is none yet. */
export interface SimilarRequest {
  about: number | { title: string; content: string };
  /** 10 unless given. */
  limit?: number;
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
/** The best of the index that are compared. */
const COMPARED = 60;
const LIMIT = 10;
/** A word of the title counts for so many of the content. */
const TITLE = 2;
/** How much of the comparison is the titles' alone. */
const TITLES = 0.35;
/** Less than this is no likeness: one common word. */
const LEAST = 0.12;

interface Asked extends Sized {
  isTitle: boolean;
  weight: number;
}

const CANDIDATES = `SELECT ${LINE}, p.content FROM ${LINES} WHERE p.id IN (SELECT value FROM json_each(?))`;

/**
 * More like this: the rarest words of a text are asked of the search index, and what it finds is compared by the weight of the words
 * they share. The same for a post, for one that is being written and for a row of an import. Null where there is no such post.
 */
export function moreLikeThis(db: Db): (request: SimilarRequest) => SimilarPost[] | null {
  const rank = ranking(db);
  const find = db.prepare<[number], { title: string; content: string }>(`
    SELECT title, content FROM posts WHERE id = ?`);
  const rows = db.prepare<[string], PostLine & { content: string }>(CANDIDATES);
  const same = sameAs(db);
  return ({ about, limit = LIMIT }) => {
    const text = typeof about === 'number' ? find.get(about) : about;
    if (!text) return null;
    const own = typeof about === 'number' ? about : null;
    const asked = askedOf(text, (terms) => rank.size(terms), own === null ? 0 : 1);
    const chosen = rarest(asked, ASKED);
    const marked = own === null ? new Set<number>() : same(own);
    const found = rank.any(chosen, { filter: EVERY_LIVE_POST, limit: COMPARED });
    const ids = new Set([...marked, ...found.map(({ id }) => id)]);
    const compare = comparison(text.title, asked, chosen);
    return rows
      .all(JSON.stringify([...ids].filter((id) => id !== own)))
      .map(({ content, boardSlug: _, ...post }) => ({
        ...post,
        likeness: compare(post.title, content.slice(0, BEGINNING)),
        isSame: marked.has(post.id),
      }))
      .filter((post) => post.isSame || post.likeness >= LEAST)
      .sort((a, b) => Number(b.isSame) - Number(a.isSame) || b.likeness - a.likeness || b.id - a.id)
      .slice(0, limit);
  };
}

/** The words that tell something, each with its weight; `known` posts have every one of them, and prove nothing. */
function askedOf(
  { title, content }: { title: string; content: string },
  size: (terms: readonly Term[]) => Sized[],
  known: number,
): Asked[] {
  const tells = ({ phrases: [words = []] }: Term): boolean =>
    words.length > 1 || ((words[0]?.length ?? 0) > 1 && !isSmallWord(words[0] ?? ''));
  const read = (text: string): Term[] =>
    readTerms(text.replace(/["“”„«»*]/gu, ' '), { most: MOST_WORDS }).filter(tells);
  const keyOf = ({ phrases: [words = []] }: Term): string => words.join(' ');
  const inTitle = read(title);
  const keys = new Set(inTitle.map(keyOf));
  const inContent = read(content.slice(0, BEGINNING)).filter((term) => !keys.has(keyOf(term)));
  return size([...inTitle, ...inContent])
    .map((sized, i) => ({ ...sized, isTitle: i < inTitle.length }))
    .filter(({ posts }) => posts > known)
    .map((sized) => ({ ...sized, weight: weightOf(sized) * (sized.isTitle ? TITLE : 1) }));
}

/** The weight of the shared words, and how alike the titles are. */
function comparison(title: string, asked: readonly Asked[], chosen: readonly Asked[]) {
  const terms = asked.filter((one) => chosen.includes(one) || one.isTitle);
  const mark = marker(terms.map(({ term }) => term));
  const whole = terms.reduce((sum, { weight }) => sum + weight, 0);
  const own = wordsOf(title);
  return (otherTitle: string, content: string): number => {
    const met = new Set(mark(`${otherTitle}\n${content}`).map(({ term }) => term));
    const shared = [...met].reduce((sum, term) => sum + (terms[term]?.weight ?? 0), 0);
    return (1 - TITLES) * (whole === 0 ? 0 : shared / whole) + TITLES * likeness(own, wordsOf(otherTitle));
  };
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
