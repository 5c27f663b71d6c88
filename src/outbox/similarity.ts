import { withoutMarkup } from './match.ts';

/** From here on two texts count as the same one, rewritten. */
export const CLEARLY_SIMILAR = 0.8;
/** Nothing can be compared: emoji and signs only, or no text at all. */
export const INCOMPARABLE = 0.5;

/** A post taken apart for comparing, once for many comparisons. */
export interface ComparableText {
  title: Words;
  content: Words;
}

interface Words {
  /** Every letter and digit in a row: equal however words were joined, split, dressed or punctuated. */
  letters: string;
  counts: Map<string, number>;
  /** Words that a filter has masked. */
  masks: number;
}

export function comparable({ title, content }: { title: string; content: string }): ComparableText {
  return { title: wordsOf(title), content: wordsOf(content) };
}

/**
 * How likely a shown post is the one that was sent, from 0 to 1. Measured in `test/outbox/similarity.test.ts` over the ways in which
 * services rewrite: all of them stay above CLEARLY_SIMILAR, while another wish of the same form stays below. A service cuts, drops,
 * masks and dresses words, but it does not make another number of a number: rows of an import often differ in nothing else.
 */
export function similarity(sent: ComparableText, shown: ComparableText): number {
  const title = compare(sent.title, shown.title);
  const content = compare(sent.content, shown.content);
  if (title === null && content === null) return INCOMPARABLE;
  const score =
    title === null || content === null
      ? (title ?? content ?? 0) * (isBare(sent) === isBare(shown) ? 1 : ONE_FIELD)
      : TITLE * title + (1 - TITLE) * content;
  return numbersDiffer(sent, shown) ? Math.min(score, INCOMPARABLE) : score;
}

/** The title says more than the content, which may be a form that every post is written in. */
const TITLE = 0.6;
/** A field was emptied or added: the other one alone tells. */
const ONE_FIELD = 0.9;
/** The shown text is the beginning of the one that was sent. */
const CUT = 0.95;
/** A shorter beginning may be chance. */
const SHORTEST_CUT = 12;
/** A text of this length nearly all of whose words were sent is a part of what was sent. */
const SHORTEST_PART = 40;
const PART = 0.9;
/** Pairs of letters are alike in all long texts of a language; in a short one they see through joined and broken words. */
const LONGEST_BY_PAIRS = 200;

function isBare({ title, content }: ComparableText): boolean {
  return title.letters === '' || content.letters === '';
}

/** Null where one side has nothing to compare. */
function compare(sent: Words, shown: Words): number | null {
  if (sent.letters === '' || shown.letters === '') return null;
  if (sent.letters === shown.letters) return 1;
  if (shown.letters.length >= SHORTEST_CUT && sent.letters.startsWith(shown.letters)) return CUT;
  const byWords = byCommonWords(sent, shown);
  const isShort = Math.max(sent.letters.length, shown.letters.length) <= LONGEST_BY_PAIRS;
  return Math.min(CUT, isShort ? Math.max(byWords, byPairs(sent.letters, shown.letters)) : byWords);
}

/** Counted in letters, because small words are in every text; a masked word stands for one that was sent and is not shown. */
function byCommonWords(sent: Words, shown: Words): number {
  let common = 0;
  const missing: number[] = [];
  for (const [word, times] of sent.counts) {
    const both = Math.min(times, shown.counts.get(word) ?? 0);
    common += both * word.length;
    for (let n = both; n < times; n++) missing.push(word.length);
  }
  const masked = missing.slice(0, shown.masks).reduce((sum, length) => sum + length, 0);
  const part = common / shown.letters.length;
  if (shown.letters.length >= SHORTEST_PART && part >= PART) return CUT * part;
  return (2 * (common + masked)) / (sent.letters.length + shown.letters.length + masked);
}

function byPairs(a: string, b: string): number {
  const pairs = new Map<string, number>();
  for (let i = 0; i + 1 < a.length; i++) {
    const pair = a.slice(i, i + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  let common = 0;
  for (let i = 0; i + 1 < b.length; i++) {
    const pair = b.slice(i, i + 2);
    const left = pairs.get(pair) ?? 0;
    if (left === 0) continue;
    pairs.set(pair, left - 1);
    common++;
  }
  return (2 * common) / Math.max(1, a.length + b.length - 2);
}

/** Each has a number that the other has not. */
function numbersDiffer(sent: ComparableText, shown: ComparableText): boolean {
  const [ours, theirs] = [numbersOf(sent), numbersOf(shown)];
  return [...ours].some((number) => !theirs.has(number)) && [...theirs].some((number) => !ours.has(number));
}

function numbersOf({ title, content }: ComparableText): Set<string> {
  return new Set([...title.counts.keys(), ...content.counts.keys()].filter((word) => /^\d+$/.test(word)));
}

/** What a word filter leaves of a word: `****`, `d**n`. */
const MASK = '*';
const WORDS = /\d+|[\p{L}\p{N}]+?(?=\d|[^\p{L}\p{N}]|$)|\*/gu;

function wordsOf(text: string): Words {
  const found = plainOf(text).match(WORDS) ?? [];
  const words: Words = { letters: '', counts: new Map(), masks: 0 };
  for (const word of found.flatMap(split)) {
    if (word === MASK) {
      words.masks++;
      continue;
    }
    words.counts.set(word, (words.counts.get(word) ?? 0) + 1);
  }
  words.letters = found.filter((word) => word !== MASK).join('');
  return words;
}

/** Scripts that put no spaces between words are compared by their signs. */
const UNSPACED = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]+$/u;

function split(word: string): string[] {
  return UNSPACED.test(word) ? [...word] : [word];
}

/** As much as tells one text from another; a hostile one of megabytes would be searched for a very long time. */
const LONGEST = 20_000;

/** Small letters without accents, mark-up, invisible signs and what only makes links and emoji work. */
function plainOf(text: string): string {
  // A script goes with its text, and a tag that a cut has left open goes too.
  const open = text.slice(0, LONGEST).replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, ' ');
  return withoutMarkup(open.replace(/<\/?[a-z][^<>]*$/i, ' '))
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]|(?!\s)\p{Cc}/gu, '')
    .toLowerCase()
    .replace(/!?\[([^\]]*)\]\([^)]*(?:\)|$)/g, '$1 ')
    .replace(/https?:\/\/(www\.)?/g, '')
    .replace(/:[a-z][a-z0-9_+-]*:/g, ' ')
    .replace(/[\p{L}\p{N}]+\*{2,}(?=[\p{L}\p{N}])[\p{L}\p{N}]*|\*{3,}|(\*+)/gu, (_, markup) =>
      markup ? ' ' : ` ${MASK} `,
    );
}
