import { isSmallWord, tokensOf } from '../text/words.ts';

/**
 * How alike are two short texts? Words that both have speak for it, words that only one has against it, each by its weight: rare words tell
 * more than common ones, and names and numbers most. "Translate to Polish" and "Translate to Finnish" say the same sentence with another
 * word in one place, so they are about two things. A person who asks for the same thing again says it in another sentence.
 */
export interface Word {
  /** In small letters, without accents. */
  text: string;
  /** Forms of an English word have one stem. */
  stem: string;
  /** Words such as "the" and "please", which every title may have. They count for the sentence only. */
  isSmall: boolean;
  /** A product, language, format or number. */
  isName: boolean;
}

/** What a word tells, by the share of titles that have it. */
export function weightOf(titles: number, all: number): number {
  return Math.log(1 + all / Math.max(1, titles));
}

/** A name tells so much more than its rareness. */
export const NAME = 2;
/** What both sides lack of each other, and what only the longer one says. A person says more or less of the same, but not something else. */
const EITHER = 2;
const LONGER = 0.25;
/** The same sentence with another word in one place. */
const OTHER_SUBJECT = 10;

/**
 * 0 to 1. `shared`: the weight of the words that both have; `onlyA`, `onlyB`: of those that one has. The three weights and the place of the
 * difference decide, whatever the texts are.
 */
export function likenessOf(shared: number, onlyA: number, onlyB: number, isOnePlace: boolean): number {
  if (shared === 0) return 0;
  const either = EITHER * Math.min(onlyA, onlyB) * (isOnePlace ? OTHER_SUBJECT : 1);
  return shared / (shared + either + LONGER * Math.max(onlyA, onlyB));
}

/** Whether two sequences of stems are equal but for one place, in which each has something that the other lacks. */
export function differsInOnePlace<T>(a: ArrayLike<T>, b: ArrayLike<T>): boolean {
  const shorter = Math.min(a.length, b.length);
  let before = 0;
  while (before < shorter && a[before] === b[before]) before++;
  let after = 0;
  while (after < shorter - before && a[a.length - 1 - after] === b[b.length - 1 - after]) after++;
  const [restA, restB] = [a.length - before - after, b.length - before - after];
  if (before + after === 0 || restA === 0 || restB === 0) return false;
  for (let i = before; i < before + restA; i++)
    for (let j = before; j < before + restB; j++) if (a[i] === b[j]) return false;
  return true;
}

/** The likeness of two titles. `weight` says what a word tells; small words tell nothing. */
export function titleLikeness(
  a: readonly Word[],
  b: readonly Word[],
  weight: (word: Word) => number,
): number {
  const [inA, inB] = [new Set(stemsOf(a)), new Set(stemsOf(b))];
  let [shared, onlyA, onlyB] = [0, 0, 0];
  for (const [stem, words] of Map.groupBy([...a, ...b], (word) => word.stem)) {
    const [word] = words;
    if (!word || word.isSmall) continue;
    const tells = weight(word) * (words.some(({ isName }) => isName) ? NAME : 1);
    if (inA.has(stem) && inB.has(stem)) shared += tells;
    else if (inA.has(stem)) onlyA += tells;
    else onlyB += tells;
  }
  return likenessOf(shared, onlyA, onlyB, differsInOnePlace(stemsOf(a), stemsOf(b)));
}

export function stemsOf(words: readonly Word[]): string[] {
  return words.map(({ stem }) => stem);
}

export function wordsOfTitle(title: string): Word[] {
  const tokens = tokensOf(title);
  const isNamed = namesIn(title, tokens);
  return tokens.map(({ word }, i) => ({
    text: word,
    stem: stemOf(word),
    isSmall: isSmallWord(word),
    isName: isNamed(i),
  }));
}

/** Where more of the words than this are in capitals, capitals tell nothing: a headline, or German. */
const MOST_CAPITALS = 0.5;

function namesIn(title: string, tokens: readonly { start: number; end: number }[]): (at: number) => boolean {
  const written = tokens.map(({ start, end }) => title.slice(start, end));
  const isCapital = (word: string): boolean => /^\p{Lu}/u.test(word);
  const later = written.slice(1);
  const tells = later.filter(isCapital).length <= MOST_CAPITALS * later.length;
  return (at) => {
    const word = written[at] ?? '';
    return /\p{Nd}/u.test(word) || (tells && (/^\p{Lu}{2}/u.test(word) || (at > 0 && isCapital(word))));
  };
}

/** "integration" and "integrate" ask for the same; so long a beginning tells words apart in every language with letters. */
const STEM = 7;
const ENDING = /(?<=...)(?:ing|ed|es|s|er|ers|ion|ions|e)$/;

function stemOf(word: string): string {
  if (!/^[a-z]/.test(word)) return word.slice(0, STEM);
  return word
    .replace(/(?<=..)ie[sd]$/, 'y')
    .replace(ENDING, '')
    .slice(0, STEM);
}
