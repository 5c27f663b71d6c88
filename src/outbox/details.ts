import { unescapedText } from './match.ts';

/**
 * What a comparison of words does not see, and what still tells one text from another: symbols and emoji, shortcodes, literal tags and
 * where links lead. A service drops, converts or cuts them, but never puts another one in the place of one: what is shown was sent, and of
 * each kind all is shown, or nothing, or what stands before a cut.
 */
export interface Details {
  /** Symbols and parts of emoji, by kind and in their order. */
  signs: Map<string, string[]>;
  /** Tags by their name, opened and closed; and whatever else stands between angle brackets. */
  tags: Map<string, string[]>;
  /** How many parts of emoji there are, with those that have a compatibility form. */
  emoji: number;
  /** Shortcodes, such as `:smile:`. */
  codes: string[];
  /** Where links lead that are not seen in the text. */
  targets: string[];
  /** Without escapes: what an address, a mention or a break can have been made of. */
  text: string;
}

const NONE: string[] = [];
const PLAIN = { signs: new Map(), tags: new Map(), emoji: 0, codes: NONE, targets: NONE };
/** Scripts go with their text, and a tag that a cut has left open goes too. */
const SCRIPT = /<(script|style)\b[\s\S]*?<\/\1\s*>/gi;
const OPEN_TAG = /<\/?[a-z][^<>]*$/i;
/** A text without any of these has no details. */
const DETAILED = /[<&:\]]|[^\0-\x7f]/;

export function detailsOf(text: string): Details {
  if (!DETAILED.test(text)) return { ...PLAIN, text };
  const given = unescapedText(text).replace(OPEN_TAG, ' ');
  const literal = given.normalize('NFKC');
  return {
    signs: signsIn(literal.replace(SCRIPT, ' ')),
    tags: tagsIn(literal),
    emoji: given.match(EMOJI)?.length ?? 0,
    codes: literal.toLowerCase().match(/:[a-z][a-z0-9_+-]*:/g) ?? NONE,
    targets: targetsIn(literal),
    text: literal,
  };
}

/** Whether the details of a shown text can be those of the sent one. `isWhole`: nothing was cut off. */
export function isDetailOf(sent: Details, shown: Details, isWhole: boolean): boolean {
  return areSignsOf(sent, shown, isWhole) && areTagsOf(sent, shown, isWhole) && areTargetsOf(sent, shown);
}

/** All of them, none of them, or those before a cut. */
function isKept(sent: readonly string[], shown: readonly string[], isWhole: boolean): boolean {
  if (shown.length === 0) return true;
  if (isWhole && shown.length !== sent.length) return false;
  return shown.every((one, n) => one === sent[n]);
}

const EMOJI = /(?![\0-\x7f])[\p{RI}\p{Emoji_Modifier}\p{Extended_Pictographic}\u{e0020}-\u{e007f}]/gu;
/** With signs such as § and ′, but without what ends sentences. */
const SIGNS =
  /(?![\0-\x7f]|\p{Terminal_Punctuation})[\p{So}\p{Sm}\p{Po}\p{Emoji_Modifier}\p{Extended_Pictographic}\u{e0020}-\u{e007f}]/gu;
/** Programs that drop emoji know some of these, and old databases none beyond 16 bits. */
const KINDS = [
  /\p{RI}/u,
  /\p{Emoji_Modifier}/u,
  /[\u{e0020}-\u{e007f}]/u,
  /\p{Emoji_Presentation}/u,
  /\p{Extended_Pictographic}/u,
];

function signsIn(text: string): Map<string, string[]> {
  const signs = text.match(SIGNS) ?? NONE;
  return Map.groupBy(signs, (sign) => `${KINDS.findIndex((kind) => kind.test(sign))} ${sign.length}`);
}

function isEmoji(kind: string): boolean {
  return !kind.startsWith('-');
}

/** Emoji may be spelt as shortcodes, and shortcodes shown as emoji: which one stands for which is not known. */
function areSignsOf(sent: Details, shown: Details, isWhole: boolean): boolean {
  const isPainted = sent.codes.length > 0 && shown.codes.length === 0;
  for (const [kind, signs] of shown.signs)
    if (!isKept(sent.signs.get(kind) ?? NONE, signs, isWhole) && !(isPainted && isEmoji(kind))) return false;
  const spelt = without(shown.codes, sent.codes).length;
  if (spelt === 0) return isKept(sent.codes, shown.codes, isWhole);
  const isMissing = isWhole && without(sent.codes, shown.codes).length > 0;
  return !isMissing && spelt <= sent.emoji - shown.emoji;
}

const TAG = /<(\/?)([^<>]*)>/g;
const SYNONYMS: Record<string, string> = { strong: 'b', em: 'i', del: 's', strike: 's' };
/** What services put around the parts of a text, and what they make of Markdown. */
const BLOCKS = new Set('p div span ul ol li pre blockquote h1 h2 h3 h4 h5 h6'.split(' '));
const INLINE = new Set(['a', 'b', 'i', 's', 'u', 'code']);

function tagsIn(text: string): Map<string, string[]> {
  const tags = [...text.matchAll(TAG)].map(([, slash = '', inside = '']) => {
    const [name = inside.replace(/[^\p{L}\p{N}]/gu, '')] = /^\p{L}[\p{L}\p{N}_-]*/u.exec(inside) ?? [];
    return { slash, name: SYNONYMS[name.toLowerCase()] ?? name.toLowerCase() };
  });
  const groups = [...Map.groupBy(tags, ({ name }) => name)];
  return new Map(groups.map(([name, all]) => [name, all.map(({ slash }) => slash)]));
}

function areTagsOf(sent: Details, shown: Details, isWhole: boolean): boolean {
  const isStripped = [...INLINE].some((name) => sent.tags.has(name) && !shown.tags.has(name));
  for (const [name, tags] of shown.tags) {
    const own = sent.tags.get(name) ?? NONE;
    if (isKept(own, tags, isWhole)) continue;
    const added = without(tags, own);
    const mayAdd = BLOCKS.has(name) || (INLINE.has(name) && !isStripped);
    const isAdded =
      name === 'br'
        ? added.length <= linesOf(sent.text)
        : mayAdd && (!isWhole || isClosed(added) || isClosed(tags));
    if (!isAdded || (isWhole && without(own, tags).length > 0)) return false;
  }
  return true;
}

function linesOf(text: string): number {
  return text.match(/\r\n?|\n/g)?.length ?? 0;
}

/** What a service puts around something ends, as does a tag that it mends; a literal tag in a sentence stands alone. */
function isClosed(tags: readonly string[]): boolean {
  return 2 * tags.filter((slash) => slash !== '').length === tags.length;
}

const TARGET = /\]\(([^)\s<>]+)|\b(?:href|src)\s*=\s*["']?([^"'\s>]+)/gi;

function targetsIn(text: string): string[] {
  const targets = [...text.matchAll(TARGET)].map(([, markdown, html]) => address(markdown ?? html ?? ''));
  return targets.filter((target) => target !== '');
}

/** An address without what services add to it or leave out. */
function address(text: string): string {
  return text
    .toLowerCase()
    .replace(/^(?:mailto:|(?:https?:)?\/\/(?:www\.)?)/, '')
    .replace(/[/.,;:!?…]+$/, '');
}

/** A link that leads elsewhere than any that was sent is one of a mention, unless one that was sent is missing. */
function areTargetsOf(sent: Details, shown: Details): boolean {
  if (shown.targets.length === 0) return true;
  const words = sent.text.split(/[\s"'<>()[\]]+/);
  // As they are too: a cut may leave nothing but "https:".
  const known = new Set(words.flatMap((word) => [address(word), word.toLowerCase()]));
  known.delete('');
  const isMissing = without(sent.targets, shown.targets).length > 0;
  let left = isMissing ? 0 : (sent.text.match(/@[\p{L}\p{N}]/gu)?.length ?? 0);
  return shown.targets.every((target) => isTargetOf(known, target, shown.text) || --left >= 0);
}

function isTargetOf(known: ReadonlySet<string>, target: string, shown: string): boolean {
  if (known.has(target)) return true;
  const isCut = (): boolean => /^[/?&,;:!]*(?:\.{3}|$)/.test(shown.toLowerCase().split(target).at(-1) ?? '');
  const whole = decoded(target);
  return [...known].some(
    (one) => (one.startsWith(target) && isCut()) || whole.endsWith(`/${one}`) || whole.endsWith(`=${one}`),
  );
}

/** What one keyboard, font or service writes for another. */
const SPELLINGS: [RegExp, string][] = [
  [/[\u2018-\u201b\u2032`´]/g, "'"],
  [/[\u201c-\u201f\u2033«»]/g, '"'],
  [/[-\p{Pd}]+/gu, '-'],
  [/[•·]/g, '*'],
];

/** Whether between the same two letters another sign stands than was sent. Services drop punctuation and add some, but exchange none. */
export function hasOtherSign(sent: string, shown: string): boolean {
  const [ours, theirs] = [signsBetween(sent), signsBetween(shown)];
  const isCut = theirs.letters < ours.letters;
  for (const [place, signs] of theirs.at) {
    const own = ours.at.get(place);
    const isEnd = isCut && place === theirs.letters;
    if (own !== undefined && !isEnd && !isWithin(own, signs) && !isWithin(signs, own)) return true;
  }
  return false;
}

/** Whether all of these signs stand in the others, in their order. */
function isWithin(all: string, some: string): boolean {
  let at = 0;
  for (const sign of all) if (sign === some[at]) at++;
  return at === some.length;
}

/** By the number of letters before them. */
function signsBetween(text: string): { letters: number; at: Map<number, string> } {
  let plain = text;
  for (const [pattern, one] of SPELLINGS) plain = plain.replace(pattern, one);
  const at = new Map<number, string>();
  let letters = 0;
  for (const [piece] of plain.matchAll(/[\p{L}\p{N}]+|[!-/:-@[-`{-~]/gu)) {
    if (/[\p{L}\p{N}]/u.test(piece)) letters += piece.length;
    else at.set(letters, (at.get(letters) ?? '') + piece);
  }
  return { letters, at };
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

/** Those of some that are more often in it than in others. */
export function without(some: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const one of others) left.set(one, (left.get(one) ?? 0) + 1);
  return some.filter((one) => {
    const count = left.get(one) ?? 0;
    left.set(one, count - 1);
    return count <= 0;
  });
}
