/** More words than anyone types; each is a look-up of its own. */
export const MOST_WORDS = 32;
/** Nobody types more; what a program pastes beyond it is not looked at. */
const MOST_CHARACTERS = 10_000;

/** One thing to look for: a word, words that stand side by side, or the beginning of either. */
export interface Term {
  words: string[];
  /** Whether the last word is only the beginning of one. */
  isOpen: boolean;
  /** Written in quotes: no other form of the word counts. */
  isExact: boolean;
}

const QUOTED = /["“”„«»]([^"“”„«»]*)["“”„«»](\*?)/gu;
const LETTER = '[\\p{L}\\p{N}\\p{Co}]';
const WORD = new RegExp(`${LETTER}(?:${LETTER}|\\p{M})*`, 'gu');
/** `e-mail`, `don't` and `2.1` are written as one word and indexed as two: they are looked for side by side. */
const JOINED = new RegExp(`${LETTER}(?:${LETTER}|\\p{M}|[-'’._](?=${LETTER}))*(\\*?)`, 'gu');

/**
 * What a person's text asks for. Only runs of letters and digits are taken from it, so nothing in it can be the index's own
 * language: AND, NEAR, ^ or a colon are words or nothing.
 */
export function readTerms(text: string, { typing = false }: { typing?: boolean } = {}): Term[] {
  const given = text.slice(0, MOST_CHARACTERS);
  const terms: Term[] = [];
  let at = 0;
  for (const quoted of given.matchAll(QUOTED)) {
    terms.push(...looseTerms(given.slice(at, quoted.index)));
    terms.push(...termOf(quoted[1] ?? '', quoted[2] === '*', true));
    at = quoted.index + quoted[0].length;
  }
  terms.push(...looseTerms(given.slice(at)));
  const wanted = distinct(terms);
  const last = wanted.at(-1);
  // Someone who has just typed a space, a dot or a closing quote is done with the word before it.
  if (typing && last && new RegExp(`${LETTER}\\p{M}*$`, 'u').test(given)) last.isOpen = true;
  return wanted;
}

function looseTerms(text: string): Term[] {
  return [...text.matchAll(JOINED)].flatMap(([word, open]) => termOf(word, open === '*', false));
}

function termOf(text: string, isOpen: boolean, isExact: boolean): Term[] {
  const words = text.match(WORD) ?? [];
  return words.length === 0 ? [] : [{ words, isOpen, isExact }];
}

/** Each once, and not more words than the most. */
function distinct(terms: readonly Term[]): Term[] {
  const known = new Map<string, Term>();
  let room = MOST_WORDS;
  for (const term of terms) {
    const words = term.words.slice(0, room);
    const key = `${words.join(' ').toLowerCase()}${term.isOpen ? '*' : ''}`;
    if (words.length === 0 || known.has(key)) continue;
    room -= words.length;
    known.set(key, { ...term, words });
  }
  return [...known.values()];
}

/** Two letters begin some word of nine posts in ten (measured); in scripts with more signs one sign says a lot. */
const TOO_SHORT = /^[a-z0-9]{1,2}$/i;

/** The terms in the language of the index: all of them must be there. Null where there is nothing to look for. */
export function matchText(terms: readonly Term[]): string | null {
  return terms.length === 0 ? null : terms.map(matchTerm).join(' AND ');
}

function matchTerm({ words, isOpen: asked, isExact }: Term): string {
  const [word = '', ...more] = words;
  const isOpen = asked && !TOO_SHORT.test(words.at(-1) ?? '');
  if (isOpen || isExact || more.length > 0) return `"${words.join(' ')}"${isOpen ? ' *' : ''}`;
  return `(${numberForms(word)
    .map((form) => `"${form}"`)
    .join(' OR ')})`;
}

/**
 * "exports" also finds "export", and the other way round. No more of a grammar than that: a stemmer in the index would know one
 * language only, and would find nothing for a half-typed "exporti".
 */
function numberForms(word: string): string[] {
  if (word.length < 3 || !/^\p{L}+$/u.test(word) || /ss$/i.test(word)) return [word];
  return /s$/i.test(word) ? [word, word.slice(0, -1)] : [word, `${word}s`];
}
