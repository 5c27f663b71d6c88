import {
  fold,
  formsOf,
  inAddress,
  isUnspaced,
  joinedForms,
  LETTER,
  segment,
  signsOf,
  withEmoji,
  withEmojiWords,
} from '../../text/words.ts';

/** More words than anyone types; each is a look-up of its own. */
export const MOST_WORDS = 32;
/** People type fewer words. Words beyond this number are left out. */
const MOST_CHARACTERS = 10_000;

/** One thing to look for: a word, words that stand side by side, or the beginning of either. */
export interface Term {
  /** Entries of the index in a row. The first is what was written, the others are forms that count as much. */
  phrases: string[][];
  /** Whether the last word of the first is only the beginning of one. */
  isOpen: boolean;
  /** Whether it is also looked for inside e-mail addresses. */
  isInAddresses: boolean;
}

/** A term before it is known who asks for it. */
type Written = Omit<Term, 'isInAddresses'>;

const QUOTED = /["“”„«»]([^"“”„«»]*)["“”„«»](\*?)/gu;
const WORDS = new RegExp(`${LETTER}(?:${LETTER}|\\p{M})*`, 'gu');
/** `e-mail`, `don't` and `2.1` are written as one word and indexed as two: they are looked for side by side. */
const JOINED = new RegExp(`${LETTER}(?:${LETTER}|\\p{M}|[-‐‑'’._,](?=${LETTER}))*(\\*?)`, 'gu');

/** What a person's text asks for. Only letters and digits are taken from it: AND, NEAR, ^ or a colon are words or nothing. */
export function readTerms(
  text: string,
  { typing = false, most = MOST_WORDS, isInAddresses = true } = {},
): Term[] {
  const given = withEmojiWords(fold(text.slice(0, MOST_CHARACTERS)).replace(/[\ue000\ue001]/g, ' '));
  const terms: Written[] = [];
  let at = 0;
  for (const quoted of given.matchAll(QUOTED)) {
    terms.push(...looseTerms(given.slice(at, quoted.index)));
    const phrase = (quoted[1]?.match(WORDS) ?? []).flatMap(signsOf);
    if (phrase.length > 0) terms.push({ phrases: [phrase], isOpen: quoted[2] === '*' });
    at = quoted.index + quoted[0].length;
  }
  terms.push(...looseTerms(given.slice(at)));
  const wanted = distinct(terms, most);
  const last = wanted.at(-1);
  // Someone who has just typed a space, a dot or a closing quote is done with the word before it. A sign is never half a sign, and a
  // version is looked for in both its forms.
  const isWhole = isUnspaced(given.slice(-1)) || VERSION.test(given);
  if (typing && last && new RegExp(`${LETTER}\\p{M}*$`, 'u').test(given) && !isWhole) last.isOpen = true;
  return wanted.map((term) => ({ ...term, isInAddresses }));
}

function looseTerms(text: string): Written[] {
  return [...text.matchAll(JOINED)].flatMap(([word, open]) => {
    if (open === '*') return [{ phrases: [wordsIn(word)], isOpen: true }];
    return isUnspaced(word) ? unspacedTerms(word) : [wordTerm(word)];
  });
}

function wordsIn(text: string): string[] {
  return (text.match(WORDS) ?? []).flatMap(signsOf);
}

function wordTerm(written: string): Written {
  const words = wordsIn(written);
  const [word = ''] = words;
  if (words.length === 1) return { phrases: [word, ...contraction(word)].flatMap(phrasesOf), isOpen: false };
  const [last = '', ...before] = words.toReversed();
  const apart = formsOf(last).map((form) => [...before.toReversed(), form]);
  // At a comma without a space only a number goes on.
  const joined = joinedForms(written).flatMap(formsOf);
  return {
    phrases: [...apart, ...versionOf(written), ...groupedOf(written), ...joined.map((form) => [form])],
    isOpen: false,
  };
}

/** `1234.56` finds 1,234.56, which the index holds as 1, 234 and 56. */
function groupedOf(written: string): string[][] {
  const [, whole, decimals] = /^(\d{4,})[.,](\d+)$/.exec(written) ?? [];
  return whole === undefined || decimals === undefined
    ? []
    : [[...whole.split(/\B(?=(?:\d{3})+$)/), decimals]];
}

const VERSION = /(?<!\S)v?\d+(?:\.\d+)+$/;

/** `2.5` finds v2.5, and the other way round. */
function versionOf(written: string): string[][] {
  if (!VERSION.test(written)) return [];
  return [wordsIn(written.startsWith('v') ? written.slice(1) : `v${written}`)];
}

function phrasesOf(word: string): string[][] {
  return word.includes(' ') ? [word.split(' ')] : formsOf(word).map((form) => [form]);
}

/** `dont` finds don't, which the index holds as two words. */
function contraction(word: string): string[] {
  const [, verb] = /^(ca|could|did|do|does|has|have|is|should|wo|would)nt$/.exec(word) ?? [];
  return verb === undefined ? [] : [`${verb}n t`];
}

/** What a Korean word may end on beside what it means. */
const PARTICLE = /(?:에서|으로|까지|부터|하기|[을를이가은는에의로과와도만])$/u;

/** A run without spaces, taken apart by a dictionary; grammar between its words is not looked for. */
function unspacedTerms(run: string): Written[] {
  const words = segment(run).filter((word) => signsOf(word).length > 0);
  const telling = words.filter((word) => !/^\p{sc=Hiragana}{1,2}$/u.test(word));
  return (telling.length > 0 ? telling : words).map((word) => {
    if (!isUnspaced(word)) return wordTerm(word);
    const stem = /^\p{sc=Hangul}{3,}$/u.test(word) ? word.replace(PARTICLE, '') : word;
    return { phrases: [...new Set([word, stem])].map(signsOf), isOpen: false };
  });
}

/** Each once, and not more words than the most. */
function distinct(terms: readonly Written[], most: number): Written[] {
  const known = new Map<string, Written>();
  let room = most;
  for (const { phrases, isOpen } of terms) {
    const [written = [], ...others] = phrases;
    const words = written.slice(0, room);
    const key = `${words.join(' ')}${isOpen ? '*' : ''}`;
    if (words.length === 0 || known.has(key)) continue;
    room -= words.length;
    known.set(key, { phrases: [words, ...others], isOpen });
  }
  return [...known.values()];
}

/** The terms in the language of the index: all of them must be there. Null where there is nothing to look for. */
export function matchText(terms: readonly Term[]): string | null {
  return terms.length === 0 ? null : terms.map(matchTerm).join(' AND ');
}

export function matchTerm({ phrases, isOpen, isInAddresses }: Term): string {
  const seen = isOpen ? phrases.slice(0, 1) : phrases;
  const all = isInAddresses ? [...seen, ...seen.map((words) => words.map(inAddress))] : seen;
  return `(${all.map((words) => `"${words.join(' ')}"${isOpen ? ' *' : ''}`).join(' OR ')})`;
}

/** The term as it was written, for a person. */
export function rowText({ phrases: [words = []] }: Term): string {
  return withEmoji(words.some(isUnspaced) ? words.join('') : words.join(' '));
}
