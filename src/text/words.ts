import { replaceAddresses } from './addresses.ts';

/**
 * A text as the full-text index holds it. The same rules take apart what is stored, what is asked for and what is shown, so that all
 * three agree. SQLite deletes a row from the index by its old text: a change to `searchable` needs a migration that makes the index again.
 */

/** Scripts whose words no space ends, and Korean, whose particles grow on to its words: the index holds their signs one by one. */
const SIGN =
  '(?:[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}ー]\\p{M}*)';
const SIGNS = new RegExp(SIGN, 'gu');
const SIGN_RUN = new RegExp(`${SIGN}+`, 'gu');
/** A letter for the tokenizer of the index: letters, digits and the marks on them. */
export const LETTER = '[\\p{L}\\p{N}\\p{Co}]';
/** Pictures and flags that people write; arrows and marks such as © are none. The colour of a skin is left out. */
const EMOJI =
  '(?:\\p{Regional_Indicator}{2}|(?![\\xa9\\xae\\u203c\\u2049\\u2122\\u2139\\u2190-\\u21ff])\\p{Extended_Pictographic})';
const EMOJIS = new RegExp(EMOJI, 'gu');
const WORD = new RegExp(
  `${EMOJI}|${SIGN}|(?:(?!${SIGN})${LETTER})(?:(?!${SIGN})${LETTER}|[\\p{M}\\u00ad\\u200b-\\u200d])*`,
  'gu',
);
/** Matches from the beginning of a word only. Tried at each letter, a word as long as a book would hold up the service for minutes. */
const HYPHENATED = /(?<![\p{L}\p{N}])[\p{L}\p{N}]+(?:[-\u2010\u2011][\p{L}\p{N}]+)+/gu;
const GROUPED = /(?<![\d.,])\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3})+(?!\d)/g;
const JOINED_IN = /[-\u2010\u2011]|\d[,.'’\u00a0\u202f ]\d{3}/;
const LONGEST_JOINED = 40;

/** Other than ASCII and the punctuation of well-set English there may be something to fold. */
const FOREIGN = /[^\0-\x7f\u2010-\u2027\u2030-\u205e]/;
/** Includes the letter before, which may carry an accent. */
const FOREIGN_RUN = /[A-Za-z]?[^\0-\x7f]+/g;

/** Letters that people type for each other, and that neither a decomposition nor the tokenizer makes equal. */
const FOLDED: Readonly<Record<string, string>> = {
  đ: 'd',
  ð: 'd',
  ł: 'l',
  ø: 'o',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ı: 'i',
  ħ: 'h',
  ς: 'σ',
  ى: 'ي',
  ی: 'ي',
  ة: 'ه',
  ک: 'ك',
};
const FOLDABLE = new RegExp(`[${Object.keys(FOLDED).join('')}]`, 'g');
/** Vowel signs of Arabic and Hebrew, its lengthening, and what is not seen at all. */
const UNWRITTEN =
  /[\u0591-\u05c7\u064b-\u065f]|[\u0670]|[\ufe00-\ufe0f]|[\u0640\u00ad\u200b-\u200f\u2060\ufeff]/g;

/** Small letters without what people leave out: accents of Latin and Greek, stress and ё, vowel signs, widths, ligatures. */
export function fold(text: string): string {
  const lower = FOREIGN.test(text) ? text.replace(FOREIGN_RUN, foldedRun) : text;
  return lower.toLowerCase();
}

/** An accented text repeats a few runs. Remembering them takes a quarter of the time. */
const foldedRun = remembering((run) =>
  run
    .normalize('NFKD')
    .replace(/([\p{sc=Latin}\p{sc=Greek}])\p{Mn}+/gu, '$1')
    .replace(/(\p{sc=Cyrillic})[\u0300\u0301]|([еЕ])\u0308/gu, '$1$2')
    .replace(UNWRITTEN, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(FOLDABLE, (letter) => FOLDED[letter] ?? letter),
);

const MOST_REMEMBERED = 10_000;
/** A longer piece of a text would keep the whole text in memory. */
const LONGEST_REMEMBERED = 12;

function remembering<T>(make: (piece: string) => T): (piece: string) => T {
  const made = new Map<string, T>();
  return (piece) => {
    const known = made.get(piece);
    if (known !== undefined) return known;
    const result = make(piece);
    if (piece.length <= LONGEST_REMEMBERED && made.size < MOST_REMEMBERED) made.set(piece, result);
    return result;
  };
}

/**
 * Begins each word of an e-mail address in the index, where it stands behind the text. Those who may not see addresses do not look for such
 * words, so that nothing they find depends on one.
 */
const IN_ADDRESS = '\ue000';

/** Begins the word that the index holds for an emoji: its tokenizer would leave the sign itself out. */
const PICTURED = '\ue001';

/** Emoji as words of their own, each as the numbers of its signs. */
export function withEmojiWords(text: string): string {
  return text.replace(EMOJIS, (emoji) => ` ${emojiWord(emoji)} `);
}

function emojiWord(emoji: string): string {
  return PICTURED + [...emoji].map((sign) => sign.codePointAt(0)?.toString(16).padStart(5, '0')).join('');
}

/** The same, for a person. */
export function withEmoji(words: string): string {
  return words.replace(/\ue001([0-9a-f]+)/g, (_, numbers: string) =>
    String.fromCodePoint(...(numbers.match(/.{5}/g) ?? []).map((number) => Number.parseInt(number, 16))),
  );
}

/** A word as the index holds it inside an address. */
export function inAddress(word: string): string {
  return `${IN_ADDRESS}${word}`;
}

/** The text with blanks in the places of addresses. */
export function withoutAddresses(text: string): string {
  return replaceAddresses(text, (_address, written) => ' '.repeat(written.length));
}

/** What goes into the index for a text. Plain English comes back as it is. */
export function searchable(text: string): string {
  const hidden: string[] = [];
  const seen = replaceAddresses(text, (address) => {
    hidden.push(...tokensOf(address).map(({ word }) => inAddress(word)));
    return ' ';
  });
  const words = wordsSeen(seen);
  return hidden.length === 0 ? words : `${words}\n${hidden.join(' ')}`;
}

function wordsSeen(text: string): string {
  // A text with as many bytes as characters is ASCII. This check takes a third of the time of a pattern.
  const isForeign = Buffer.byteLength(text) !== text.length && FOREIGN.test(text);
  const folded = isForeign ? withEmojiWords(fold(text).replace(SIGNS, ' $& ')) : text;
  if (!JOINED_IN.test(folded)) return folded;
  // Joined forms go to the end, so that they stand between no two words of a phrase.
  const joined = new Set(joinedForms(folded));
  return joined.size === 0 ? folded : `${folded}\n${[...joined].join(' ')}`;
}

/** `email` for e-mail and `1000` for 1,000. Dates and telephone numbers stay apart: a word of hyphens needs a letter. */
export function joinedForms(text: string): string[] {
  const words = /[\u2010\u2011]/.test(text) ? joinedWords(text) : joinedNearHyphens(text);
  const numbers = (text.match(GROUPED) ?? []).map((number) => number.replace(/\D/g, ''));
  return [...words, ...numbers].filter((form) => form.length <= LONGEST_JOINED);
}

/** Looks at the text between spaces around each hyphen. To look at the whole text takes five times as long. */
function joinedNearHyphens(text: string): string[] {
  const words: string[] = [];
  for (let at = text.indexOf('-'); at !== -1; ) {
    const space = text.indexOf(' ', at);
    const end = space === -1 ? text.length : space;
    words.push(...joinedPiece(text.slice(text.lastIndexOf(' ', at) + 1, end)));
    at = text.indexOf('-', end);
  }
  return words;
}

const joinedPiece = remembering(joinedWords);

function joinedWords(text: string): string[] {
  return (text.match(HYPHENATED) ?? []).filter((word) => /\p{L}/u.test(word)).flatMap(joinedParts);
}

/** Joins all parts, and of three or more also each two neighbours: German writes E-Mail-Adresse. */
function joinedParts(word: string): string[] {
  const parts = word.split(/[-\u2010\u2011]/);
  const pairs = parts.length > 2 ? parts.slice(1).map((part, i) => `${parts[i]}${part}`) : [];
  return [parts.join(''), ...pairs];
}

/** One entry of the index, and its place in the text. */
export interface Token {
  word: string;
  start: number;
  end: number;
}

export function tokensOf(text: string): Token[] {
  if (!FOREIGN.test(text))
    return [...text.toLowerCase().matchAll(/[a-z0-9]+/g)].map(({ 0: word, index }) => ({
      word,
      start: index,
      end: index + word.length,
    }));
  return [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
    word: word.search(EMOJIS) < 0 ? fold(word) : emojiWord(fold(word)),
    start: index,
    end: index + word.length,
  }));
}

/** The signs of a word without spaces, or the word itself. */
export function signsOf(word: string): string[] {
  return word.match(WORD) ?? [];
}

export function isUnspaced(text: string): boolean {
  return text.search(SIGNS) >= 0;
}

/** Made when a text first needs it: loading its dictionaries takes some milliseconds. */
let segmenter: Intl.Segmenter | undefined;

/** The words of a text, where those of scripts without spaces are told apart by a dictionary. */
export function segment(text: string): string[] {
  const parts: string[] = [];
  let at = 0;
  for (const { 0: run, index } of text.matchAll(SIGN_RUN)) {
    if (index > at) parts.push(text.slice(at, index));
    segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' });
    for (const { segment: word } of segmenter.segment(run)) parts.push(word);
    at = index + run.length;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

/** English words that have no other form, and that alone say nothing about a text. */
const SMALL =
  'a about after again all also am an and any are as at be because been before but by can could did do does for from get had has have ' +
  'he her here him his how i if in into is it its just like me more most my no not now of off on one only or other our out over please ' +
  'she should so some than that the their them then there these they this those to too up us very was we were what when where which ' +
  'while who why will with would you your';
const SMALL_WORDS = new Set(SMALL.split(' '));

export function isSmallWord(word: string): boolean {
  return SMALL_WORDS.has(word);
}

/**
 * The other forms of an English word: company and companies, export and exporting. Only at the time of a search: a stemmer in the index
 * would know one language, and would find nothing for a half-typed "exporti". A form that is no word is in no text, and costs nothing.
 */
export function formsOf(word: string): string[] {
  const prefixes = PREFIXED.find(({ script }) => script.test(word));
  if (prefixes) return prefixedForms(word, prefixes);
  if (!/^[a-z]{3,}$/.test(word) || isSmallWord(word)) return [word];
  const forms = new Set([word]);
  for (const base of basesOf(word)) for (const form of inflected(base)) forms.add(form);
  return [...forms];
}

interface Prefixes {
  script: RegExp;
  /** Articles and prepositions that the script joins to the front of a word. */
  joined: readonly string[];
  /** Removes such a prefix from the word that was written, if three letters are left. */
  taken: RegExp;
}

const PREFIXED: readonly Prefixes[] = [
  {
    script: /^\p{sc=Arabic}{3,}$/u,
    joined: ['ال', 'وال', 'بال', 'فال', 'كال', 'لل', 'ولل', 'و', 'ب', 'ل', 'ف', 'ك'],
    taken: /^(?:[وفبك]?ال|و?لل)(?=...)/u,
  },
  {
    script: /^\p{sc=Hebrew}{3,}$/u,
    joined: ['ה', 'ו', 'ב', 'ל', 'מ', 'ש', 'כ', 'וה', 'שה', 'מה', 'וב', 'ול'],
    taken: /^(?:[ושמ]?ה|ו?[בל])(?=...)/u,
  },
];

/** A word of Arabic or Hebrew as it was written, without what is joined to its front, and with each that can be. */
function prefixedForms(word: string, { joined, taken }: Prefixes): string[] {
  const bare = word.replace(taken, '');
  const bases = [...new Set([word, bare])];
  return [...new Set([...bases, ...bases.flatMap((base) => joined.map((prefix) => prefix + base))])];
}

function basesOf(word: string): string[] {
  const bases: string[] = [];
  const add = (base: string): void => {
    if (base.length >= 3) bases.push(base);
  };
  if (SINGULAR_IN_S.test(word)) add(word);
  if (/(?:[osxz]|[cs]h)es$/.test(word)) add(word.slice(0, -2));
  if (/ie[sd]$/.test(word)) add(`${word.slice(0, -3)}y`);
  if (/[^s]s$/.test(word)) add(word.slice(0, -1));
  for (const ending of ['ed', 'ing']) {
    const stem = word.slice(0, -ending.length);
    if (!word.endsWith(ending) || !/[aeiouy]/.test(stem)) continue;
    if (DOUBLED.test(stem)) add(stem.slice(0, -1));
    add(stem);
    add(`${stem}e`);
  }
  return bases.length === 0 ? [word] : bases;
}

/** Words that may end so by themselves: status, alias, lens. */
const SINGULAR_IN_S = /(?:[aiu]s|ens)$/;
const DOUBLED = /([bdgklmnprt])\1$/;
/** Such a word doubles its last letter: plan, planned. */
const DOUBLING = /^[^aeiou]+[aeiou][bdgmnprt]$/;

function inflected(base: string): string[] {
  if (/[^aeiou]y$/.test(base)) {
    const stem = base.slice(0, -1);
    return [base, `${stem}ies`, `${stem}ied`, `${base}ing`];
  }
  if (base.endsWith('e'))
    return [base, `${base}s`, `${base}d`, `${base.replace(/ie$/, 'y').replace(/e$/, '')}ing`];
  const stem = DOUBLING.test(base) ? base + base.slice(-1) : base;
  return [base, ...pluralsOf(base), `${stem}ed`, `${stem}ing`];
}

/** Words in -o take -s or -es: photos, heroes. */
function pluralsOf(base: string): string[] {
  if (base.endsWith('o')) return [`${base}s`, `${base}es`];
  return [/(?:[sxz]|[cs]h)$/.test(base) ? `${base}es` : `${base}s`];
}

/** The words of a text, each once, as the index takes it apart. Titles of plain English are taken apart a million at a time. */
export function distinctWords(text: string): Set<string> {
  if (!FOREIGN.test(text)) return new Set(text.toLowerCase().match(/[a-z0-9]+/g));
  return new Set(tokensOf(text).map(({ word }) => word));
}

/** 1 for the same words, 0 for none in common; counted in letters, because small words are in every title. */
export function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const letters = (words: Iterable<string>): number => [...words].reduce((sum, word) => sum + word.length, 0);
  const all = letters(a) + letters(b);
  return all === 0 ? 0 : (2 * letters([...a].filter((word) => b.has(word)))) / all;
}
