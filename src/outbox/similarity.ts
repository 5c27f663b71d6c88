import { type Details, detailsOf, hasOtherSign, isDetailOf, without } from './details.ts';
import { withoutMarkup } from './match.ts';

/** From here on a post keeps a row from being sent again, whoever made it. */
export const CLEARLY_SIMILAR = 0.8;
/** Nothing can be compared: emoji and signs only, or no text at all. */
export const INCOMPARABLE = 0.5;

/** A post taken apart for comparing, once for many comparisons. */
export interface ComparableText {
  title: Words;
  content: Words;
  numbers: Set<string>;
}

interface Words {
  /** Every letter and digit in a row, without marks: equal however words were joined, split, dressed or punctuated. */
  letters: string;
  /** The same with the marks on them. No service drops those: without its marks a word is another one. */
  spelt: string;
  /** In their order, with those of scripts: a service may drop a script, or show it as text. */
  list: string[];
  /** Words of scripts and links, which a service may drop. */
  optional: Set<string>;
  details: Details;
  /** As it is read, with the signs between the words. */
  bare: string;
  /** Signs that carry a meaning, `+`, `€`, the minus of a number: a service may drop some, but puts none in their place. */
  operators: string[];
  /** Those that no service drops: at numbers, and the hyphen inside of a word. */
  kept: string[];
  /** It ends with dots that stand for what was left out. */
  isCut: boolean;
  counts: Map<string, number>;
  /** Words that a service may have cut: followed by dots, or the last one. */
  cut: Set<string>;
  /** Names after an @, which a service may write out. */
  mentions: Set<string>;
  /** Words that a filter has masked. */
  masks: number;
  /** How many letters stand before the first word that may be masked, cut, dropped or followed by others. */
  firm: number;
}

interface Text {
  title: string;
  content: string;
}

export function comparable({ title, content }: Text): ComparableText {
  const words = { title: wordsOf(title), content: wordsOf(content) };
  return { ...words, numbers: numbersOf(words) };
}

/**
 * How likely a shown post is the one that was sent, from 0 to 1. Measured in `test/outbox/similarity.test.ts` over the ways in which
 * services rewrite: all of them stay above CLEARLY_SIMILAR, while another wish of the same form stays below. A service cuts, drops,
 * masks and dresses words, but it does not make another number of a number: rows of an import often differ in nothing else. Below `least`
 * the answer is only that: the texts of a thousand rows and posts take half a minute to compare.
 */
export function similarity(sent: ComparableText, shown: ComparableText, least = 0): number {
  if (least > INCOMPARABLE && numbersDiffer(sent, shown)) return INCOMPARABLE;
  const title = compare(sent.title, shown.title);
  if (title !== null && TITLE * title + 1 - TITLE < least && !isBare(sent) && !isBare(shown)) return 0;
  const content = compare(sent.content, shown.content);
  if (title === null && content === null) return INCOMPARABLE;
  const score =
    title === null || content === null
      ? (title ?? content ?? 0) * (isBare(sent) === isBare(shown) ? 1 : ONE_FIELD)
      : TITLE * title + (1 - TITLE) * content;
  return numbersDiffer(sent, shown) ? Math.min(score, INCOMPARABLE) : score;
}

/**
 * Whether the shown text can be what a service made of the sent one. A service cuts the end, masks and dresses words, and drops scripts and
 * parts of links; it drops no other word, adds none of its own and does not change their order. Another wish of the same form has a word
 * that was never sent ("Export to Excel", "Export to PDF"), or lacks one ("Do not remove it", "Do remove it").
 */
export function isRewriting(sent: ComparableText, shown: ComparableText): boolean {
  const isSameText = sent.content.spelt === shown.content.spelt && sent.content.letters.length >= TELLING;
  const isTitle = isMadeOf(sent.title, shown.title, isSameText ? SHORTEST_CUT : SHORTEST_TITLE);
  if (isBare(shown) && !isBare(sent))
    return isTitle && shown.title.letters !== '' && hasDetailsOf(sent.content, shown.content);
  // Words where none were sent are another row's, unless the title was repeated.
  if (isBare(sent) && !isBare(shown)) return isTitle && shown.content.spelt === shown.title.spelt;
  return isTitle && isMadeOf(sent.content, shown.content, 0);
}

/** By what is cheap to know: whether the shown text begins as one does that a service made of the sent one. */
export function beginsAlike(sent: ComparableText, shown: ComparableText): boolean {
  return (['title', 'content'] as const).every((part) => {
    const [ours, theirs] = [sent[part], shown[part]];
    const firm = theirs.letters.slice(0, Math.min(ours.firm, theirs.firm));
    return ours.letters === '' || ours.letters.startsWith(firm);
  });
}

/** The same of a service that drops accents too. None is known, so this only keeps a row from being sent again. */
export function couldBeRewriting(sent: Text, shown: ComparableText): boolean {
  if (isRewriting(comparable(sent), shown)) return true;
  const bare = { title: withoutMarks(sent.title), content: withoutMarks(sent.content) };
  return isRewriting(comparable(bare), shown);
}

/** No service cuts titles shorter than this, in letters, without saying so by dots; unless the text below tells that it is the same. */
const SHORTEST_TITLE = 40;
const TELLING = 30;
/** Words that may follow a mention: the rest of the person's name. */
const MOST_NAMES = 3;

/** Whether symbols, emoji, tags and links of the shown text can be those of the sent one, whatever its words. */
export function isSameInDetail(sent: ComparableText, shown: ComparableText): boolean {
  return hasDetailsOf(sent.title, shown.title) && hasDetailsOf(sent.content, shown.content);
}

/** Equal for two texts with the same details. */
export function detailKey({ title, content }: ComparableText): string {
  const parts = [title, content].map(({ details: { signs, tags, codes, targets } }) => [
    [...signs],
    [...tags],
    codes,
    targets,
  ]);
  return JSON.stringify(parts);
}

function hasDetailsOf(sent: Words, shown: Words): boolean {
  return isDetailOf(sent.details, shown.details, !shown.isCut && sent.letters === shown.letters);
}

function isMadeOf(sent: Words, shown: Words, shortestCut: number): boolean {
  if (!hasDetailsOf(sent, shown)) return false;
  if (without(shown.operators, sent.operators).length > 0) return false;
  // Cut off with the end of the text, but not from between what is shown.
  if (shown.kept.some((one, n) => sent.kept[n] !== one)) return false;
  if (sent.letters === shown.letters && shown.kept.length < sent.kept.length) return false;
  // A masked word that was never sent is a word of another row.
  if (sent.letters === shown.letters)
    return sent.spelt === shown.spelt && shown.masks <= sent.masks && !hasOtherSign(sent.bare, shown.bare);
  if (shown.letters === '') return shortestCut === 0;
  const isCut = shown.isCut || shown.letters.length >= shortestCut;
  if (isCut && sent.spelt.startsWith(shown.spelt))
    return !isOtherNumber(sent, shown) && !hasOtherSign(sent.bare, shown.bare);
  let [at, added, dropped] = [0, 0, 0];
  for (const word of shown.list) {
    const found = sent.list.findIndex(
      (other, i) => i >= at && (other === word || (shown.cut.has(word) && other.startsWith(word))),
    );
    if (found < 0) {
      if (!sent.mentions.has(sent.list[at - 1] ?? '') || !isName(word, shown) || ++added > MOST_NAMES)
        return false;
      continue;
    }
    dropped += sent.list.slice(at, found).filter((other) => !sent.optional.has(other)).length;
    at = found + 1;
  }
  const rest = sent.list.slice(at).filter((other) => !sent.optional.has(other)).length;
  return dropped + (isCut ? 0 : rest) <= shown.masks;
}

/** Written with a capital, where its script has any: "@channel mentions" has not become "channel email mentions". */
function isName(word: string, { details: { text } }: Words): boolean {
  const capitals = text.match(/[\p{Lu}\p{Lt}][\p{L}\p{N}\p{M}]*/gu) ?? [];
  return /^\p{Lo}/u.test(word) || capitals.some((name) => name.toLowerCase() === word);
}

/** "To 3" is hardly what became of "to 30 s": a short text that ends in a number and says no more has another number. */
function isOtherNumber(sent: Words, shown: Words): boolean {
  const isShort = !shown.isCut && shown.letters.length < SHORTEST_TITLE;
  return isShort && /\d$/.test(shown.letters) && /^\d/.test(sent.letters.slice(shown.letters.length));
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
function numbersDiffer({ numbers: ours }: ComparableText, { numbers: theirs }: ComparableText): boolean {
  return hasOther(ours, theirs) && hasOther(theirs, ours);
}

function hasOther(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const one of some) if (!others.has(one)) return true;
  return false;
}

function numbersOf({ title, content }: Pick<ComparableText, 'title' | 'content'>): Set<string> {
  return new Set([...title.counts.keys(), ...content.counts.keys()].filter((word) => /^\d+$/.test(word)));
}

/** What a word filter leaves of a word: `****`, `d***`, `d**n`. */
const MASK = '*';
const WORDS = /\d+|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*?(?=\d|[^\p{L}\p{N}\p{M}]|$)|\*/gu;

/** Dots that stand for what was left out follow the word at once; their one sign has become three. */
const CUT_WORD = /[\p{L}\p{N}\p{M}]+(?=\.{3})/gu;

function wordsOf(text: string): Words {
  const short = text.slice(0, LONGEST);
  // A script goes with its text.
  const scriptless = short.replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, ' ');
  const bare = bareOf(scriptless);
  const plain = masked(bare);
  const found = plain.match(WORDS) ?? [];
  const all = scriptless === short ? found : (plainOf(short).match(WORDS) ?? []);
  const words: Words = {
    letters: '',
    spelt: found.filter((word) => word !== MASK).join(''),
    list: [],
    optional: new Set(optionalIn(short)),
    details: detailsOf(short),
    bare,
    ...operatorsIn(scriptless),
    isCut: /(?:\.{3}|…)\W*$/u.test(plain),
    counts: new Map(),
    cut: new Set(),
    mentions: new Set(),
    masks: 0,
    firm: 0,
  };
  for (const marked of found.flatMap(split)) {
    if (marked === MASK) {
      words.masks++;
      continue;
    }
    const word = withoutMarks(marked);
    words.counts.set(word, (words.counts.get(word) ?? 0) + 1);
  }
  words.list = all.flatMap(split).filter((word) => word !== MASK);
  words.cut = new Set([...plain.matchAll(CUT_WORD)].map(([word]) => word));
  words.mentions = new Set([...plain.matchAll(/@([\p{L}\p{N}\p{M}]+)/gu)].map(([, name = '']) => name));
  words.firm = scriptless === short ? firmLetters(words, found.flatMap(split)) : 0;
  const last = words.list.at(-1);
  if (last !== undefined) words.cut.add(last);
  words.letters = withoutMarks(words.spelt);
  return words;
}

function firmLetters({ optional, cut, mentions }: Words, found: readonly string[]): number {
  const first = found.findIndex(
    (word) => word === MASK || optional.has(word) || cut.has(word) || mentions.has(word),
  );
  return first === -1 ? Number.POSITIVE_INFINITY : withoutMarks(found.slice(0, first).join('')).length;
}

/** A dash or a dot is one at a number only: anywhere else it is dressed in other ways. */
const OPERATORS =
  /[+#%=<>±≤≥≠]|\p{Sc}|(?<=\p{N})[.,-](?=\p{N})|(?<![\p{L}\p{N}-])-(?=\p{N})|(?<=\p{L})-(?=\p{N})|(?<=[\p{L}\p{N}])-(?![\p{L}\p{N}\s-])|(?<=\p{Lu})-(?=\s)/gu;

/** "Show -5 degrees" is not what became of "Show 5 degrees", nor "Resign" of "Re-sign". */
const KEPT =
  /[%±≤≥≠]|\p{Sc}|[<>+](?=\s*\p{N})|(?<=\p{N})[.,-](?=\p{N})|(?<![\p{L}\p{N}-])-(?=\p{N})|(?<=\p{L})-(?=[\p{L}\p{N}])/gu;

function operatorsIn(text: string): Pick<Words, 'operators' | 'kept'> {
  const plain = withoutMarkup(text)
    .normalize('NFKC')
    .replace(/\p{Pd}+/gu, '-');
  // Links are shortened, and emoji spelt, in ways of their own.
  const words = plain.split(/\s+/).filter((word) => !word.includes('/') && !/^:[a-z0-9_+-]+:$/i.test(word));
  const line = words.join(' ');
  return { operators: line.match(OPERATORS) ?? [], kept: line.match(KEPT) ?? [] };
}

function optionalIn(text: string): string[] {
  const parts = text.match(/<(script|style)\b[\s\S]*?<\/\1\s*>|https?:\/\/\S+/gi) ?? [];
  return parts.flatMap((part) => plainOf(part).match(WORDS) ?? []).flatMap(split);
}

/** Scripts that put no spaces between words are compared by their signs. */
const UNSPACED = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{M}]+$/u;

function split(word: string): string[] {
  return UNSPACED.test(word) ? (word.match(/\P{M}\p{M}*/gu) ?? []) : [word];
}

function withoutMarks(text: string): string {
  return /[^\0-\x7f]/.test(text) ? text.normalize('NFKD').replace(/\p{M}/gu, '') : text;
}

/** As much as tells one text from another; a hostile one of megabytes would be searched for a very long time. */
const LONGEST = 20_000;

/** Small letters without mark-up, invisible signs and what only makes links and emoji work. */
function bareOf(text: string): string {
  // A tag that a cut has left open goes too.
  return withoutMarkup(text.replace(/<\/?[a-z][^<>]*$/i, ' '))
    .replace(/[\p{Me}\p{Cf}\p{Variation_Selector}]|(?!\s)\p{Cc}/gu, '')
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFC')
    .replace(/!?\[([^\]]*)\]\([^)]*(?:\)|$)/g, '$1 ')
    .replace(/https?:\/\/(www\.)?/g, '')
    .replace(/:[a-z][a-z0-9_+-]*:/g, ' ');
}

function plainOf(text: string): string {
  return masked(bareOf(text));
}

function masked(bare: string): string {
  return bare.replace(
    /[\p{L}\p{N}\p{M}]+\*{2,}(?=[\p{L}\p{N}])[\p{L}\p{N}\p{M}]*|[\p{L}\p{N}\p{M}]*\*{3,}|(\*+)/gu,
    (_, markup) => (markup ? ' ' : ` ${MASK} `),
  );
}
