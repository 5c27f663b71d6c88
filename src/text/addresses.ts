/**
 * E-mail addresses in texts that people wrote, in the spellings that a reader or a program takes for one: escaped, percent-encoded, with
 * markup or invisible signs in between, with look-alike signs, with spaces or brackets around the sign and the dots. A text is first read as it would be shown, with the place of
 * each letter in the original beside it; then there is one form left to look for.
 */
export interface Address {
  /** The address in plain letters, equal for all spellings. */
  address: string;
  from: number;
  to: number;
}

/** Replaces each address by the result of `by`. `written` is the address as the text spells it. */
export function replaceAddresses(text: string, by: (address: string, written: string) => string): string {
  return replaced(text, everyAddress(text), by);
}

/** The piece of the text from `start` to `end`, longer where an address would be cut in half at its ends. */
export function withWholeAddresses(
  text: string,
  { start, end }: { start: number; end: number },
): { start: number; end: number } {
  const cut = everyAddress(text).filter(({ from, to }) => from < end && to > start);
  return {
    start: Math.min(start, ...cut.map(({ from }) => from)),
    end: Math.max(end, ...cut.map(({ to }) => to)),
  };
}

function everyAddress(text: string): Address[] {
  if (!UNUSUAL.test(text) || (!MAY_HOLD_ADDRESS.test(text) && !ANY_UNSEEN.test(text))) return [];
  const decoded = decode(text);
  const untagged = withoutTags(decoded);
  const found = addressesIn(decoded);
  // An address may lie across tags, and another one within a tag.
  return untagged === decoded ? found : together(addressesIn(untagged), found);
}

/** Merges both lists in order. Of two addresses in one place the first stays. */
function together(first: readonly Address[], second: readonly Address[]): Address[] {
  let next = 0;
  const others = second.filter(({ from, to }) => {
    while ((first[next]?.to ?? Infinity) <= from) next++;
    return (first[next]?.from ?? Infinity) >= to;
  });
  return [...first, ...others].sort((a, b) => a.from - b.from);
}

/** The address that the text is, and nothing else, in plain letters; null where it is none. */
export function soleAddress(text: string): string | null {
  const [only] = addressesIn(decode(text));
  return only?.from === 0 && only.to === text.length ? only.address : null;
}

/** A piece of a text with what may be half an address at its ends replaced. */
export function withoutHalfAddresses(piece: string, by: (half: string) => string): string {
  const seen = decode(piece);
  const halves = [...seen.text.matchAll(HALF)].map((match) => spanOf(seen, match.index, match[0].length));
  return replaced(
    piece,
    halves.map((span) => ({ ...span, address: piece.slice(span.from, span.to) })),
    by,
  );
}

function replaced(
  text: string,
  found: readonly Address[],
  by: (address: string, written: string) => string,
): string {
  let [result, at] = ['', 0];
  for (const { address, from, to } of found) {
    result += text.slice(at, from) + by(address, text.slice(from, to));
    at = to;
  }
  return result + text.slice(at);
}

const WORD = String.raw`\p{L}\p{M}\p{N}`;
/** Invisible characters, and the blank one that looks like a space. */
const UNSEEN = String.raw`(?!\n|\t)[\p{C}\p{Default_Ignorable_Code_Point}]`;
const OPEN = '[[({<]';
const CLOSE = String.raw`[\])}>]`;
const SPACE = String.raw`[^\S\n]`;
const EMPHASIS = '*_~\x60';
const QUOTES = `"'“”‘’`;

/**
 * The sign, perhaps repeated, emphasised, in brackets or written out in them, with spaces around it. None of those before it may end a line,
 * as a mention begins one; only where it is alone on its line.
 */
const AT = new RegExp(
  String.raw`(?:${SPACE}{1,4}[${EMPHASIS}]{1,3}|${SPACE}{0,4}|\s{1,4}(?=@${SPACE}{0,4}\n))` +
    String.raw`(?:${OPEN}\s{0,2}(?:@|at)\s{0,2}${CLOSE}|@+)[${EMPHASIS}${QUOTES}]{0,3}\s{0,4}(?:[${EMPHASIS}${QUOTES}({<]|\[(?!\d|ipv6)){0,3}`,
  'giu',
);
/** Emphasis may begin and end anywhere; it belongs to the parts and not to the dots, as a text that fits both would be tried in every way. */
const PART = `[${WORD}${EMPHASIS}-]+`;
/** The last part is a word, which tells an address from a price or a version. Emphasis behind it is of the sentence, unless it stands after one letter. */
const LAST = String.raw`[${EMPHASIS}]{0,3}(?:\p{L}[${WORD}-]*[${WORD}]|\p{L}${PART}[${WORD}])`;
const DOT = String.raw`(?:\.|\s?${OPEN}\s?(?:[Dd][Oo][Tt]|\.)\s?${CLOSE}\s?)`;
const DOMAIN = new RegExp(String.raw`(?:${PART}${DOT})+${LAST}|\[(?:ipv6:)?[\d.:a-f]{3,45}\]`, 'iuy');
/**
 * What is read as a domain only where there is no better one: dots with spaces beside them, two dots, the word. After a sign that touches the
 * words on both sides a space may follow a dot; elsewhere that ends a sentence ("me @ work. thanks"), as it does before a capital letter.
 */
const WORD_DOT = String.raw`\s{1,2}[Dd][Oo][Tt]\s{1,2}`;
const LOOSE_LAST = String.raw`[${EMPHASIS}]{0,3}(?!\p{Lu}\p{Ll})[\p{L}\p{M}]{2,24}(?![${WORD}@-])`;
const TIGHT_DOT = String.raw`[${QUOTES}\])}>]?\s{0,2}\.{1,2}\s{0,2}|${WORD_DOT}`;
const LOOSE_DOMAIN = {
  spaced: new RegExp(String.raw`(?:${PART}(?:${DOT}|\s{1,2}\.\s{0,2}|${WORD_DOT}))+${LOOSE_LAST}`, 'uy'),
  tight: new RegExp(
    String.raw`(?:${PART}(?:${TIGHT_DOT}))+${LOOSE_LAST}|\d{1,3}(?:\.\d{1,3}){3}(?![${WORD}-]|\.[${WORD}])`,
    'uy',
  ),
};
/** Of one part, each a letter of RFC 5322, an apostrophe as programs write it, or half of a letter beyond 16 bits. */
const LOCAL = new RegExp(String.raw`[${WORD}!#$%&'’*+\-/=?^_\x60{|}~.\ud800-\udfff]`, 'u');
/** What may stand before the name: signs that no name begins with, the name of a field, and in a link all up to that. */
const MARKS = new RegExp(`^[^${WORD}_"]+`, 'u');
const FIELD = /^(?:e-?mail|mail|to|cc|bcc|from|user|username|login)=/i;
const LINK_FIELD = /^\S*[?&][\w.-]{1,40}=/;

/** Every spelling of an address has one of these characters. A plain English sentence has none, and this check takes a tenth of the time. */
const UNUSUAL = /[^\t\n !"#$')-;>?A-Z\]-z|}~]/;
/** Most texts hold none of these. Two patterns take half the time of one. */
const ANY_UNSEEN = new RegExp(UNSEEN, 'u');
const MAY_HOLD_ADDRESS =
  /[@\uff20\ufe6b]|&(?:#|amp|commat)|%[\du]{0,9}40|=40|\\(?:[ux]|100)|[[({<\uff3b\uff08\uff5b\uff1c]\s{0,2}(?:at|\uff41\uff54)\s{0,2}[\])}>\uff3d\uff09\uff5d\uff1e]/iu;

/** A dot with spaces beside it, behind the first part of a domain, and all that follows. */
const HALF_DOT = String.raw`(?:\s{1,2}(?:(?:\.{1,2}|d(?:ot?)?)\s{0,2}\S*)?|(?<=\.)\s{1,2}\S*)?`;
/** At the end only from where its word begins, as each later letter would be tried up to the end, too. */
const HALF = new RegExp(String.raw`^\S*(?:${AT.source})\S*|(?<!\S)\S*(?:${AT.source})\S*${HALF_DOT}$`, 'giu');

/** A text as it is shown, and where each of its units begins and ends in the original; null where they are the same. */
interface Seen {
  text: string;
  places: { from: number[]; to: number[] } | null;
}

function spanOf({ places }: Seen, index: number, length: number): { from: number; to: number } {
  const last = index + length - 1;
  return places
    ? { from: places.from[index] ?? 0, to: places.to[last] ?? 0 }
    : { from: index, to: index + length };
}

function addressesIn(seen: Seen): Address[] {
  const found: Address[] = [];
  const { text } = seen;
  let floor = 0;
  for (const { 0: sign, index } of text.matchAll(AT)) {
    const domain = index < floor ? undefined : domainAfter(text, sign, index + sign.length);
    const name = domain === undefined ? null : nameBefore(text, { from: index, sign }, floor);
    if (domain === undefined || name === null) continue;
    const end = index + sign.length + domain.length;
    const address = `${name.plain}@${plainDomain(domain)}`;
    found.push({ address, ...spanOf(seen, name.from, end - name.from) });
    floor = end;
  }
  return found;
}

function domainAfter(text: string, sign: string, at: number): string | undefined {
  for (const pattern of [DOMAIN, LOOSE_DOMAIN[/\s/.test(sign) ? 'spaced' : 'tight']]) {
    pattern.lastIndex = at;
    const domain = pattern.exec(text)?.[0];
    if (domain !== undefined) return domain;
  }
  return undefined;
}

/** What stands before the sign; walked backwards, so that the longest text costs no more than its length. */
function nameBefore(
  text: string,
  { from: end, sign }: { from: number; sign: string },
  floor: number,
): { from: number; plain: string } | null {
  const quote = quotedBefore(text, end, floor);
  if (quote !== null) return { from: quote, plain: text.slice(quote, end) };
  const until = nameEnd(text, end, floor);
  let from = until;
  while (from > floor && LOCAL.test(text[from - 1] ?? '')) from--;
  // The path of a link is no part of an address: there the name follows the last slash.
  const isLink = text[from - 1] === ':' && text.startsWith('//', from);
  if (isLink) from = text.lastIndexOf('/', until - 1) + 1;
  const run = text.slice(from, until);
  const [field = ''] = (isLink ? LINK_FIELD : FIELD).exec(run) ?? [];
  const [marks = ''] = MARKS.exec(run.slice(field.length)) ?? [];
  const before = field.length + marks.length;
  const plain = withoutEmphasis(run.slice(before), marks, sign.slice(sign.lastIndexOf('@') + 1));
  return plain === '' ? null : { from: from + before, plain };
}

const LONGEST_QUOTED = 66;
/** As RFC 5322 lets one stand behind a name: `kim(office)@example.com`. */
const COMMENT = new RegExp(String.raw`(?<=[${WORD}])\([^()\n]*\)$`, 'u');

/** Before a comment, or one sign that ends what is in brackets or quotes. */
function nameEnd(text: string, end: number, floor: number): number {
  const comment = COMMENT.exec(text.slice(Math.max(floor, end - LONGEST_QUOTED), end));
  if (comment) return end - comment[0].length;
  return /[\])>"”»]/.test(text[end - 1] ?? '') ? end - 1 : end;
}

function quotedBefore(text: string, end: number, floor: number): number | null {
  if (text[end - 1] !== '"') return null;
  const line = text.slice(Math.max(floor, end - LONGEST_QUOTED), end);
  const quoted = /"[^"\n]+"$/.exec(line);
  return quoted && end - quoted[0].length;
}

/** `**kim**` is kim, and so is `kim**@**`. Walked backwards: a pattern would try each sign within the name as the first. */
function withoutEmphasis(name: string, before: string, behind: string): string {
  let end = name.length;
  while (end > 0 && /[*_~`']/.test(name[end - 1] ?? '')) end--;
  const marks = name.slice(end);
  const plain = before.endsWith(marks) || behind.startsWith(marks) ? name.slice(0, end) : name;
  return plain.replaceAll('’', "'");
}

const ANY_DOT = new RegExp(`${TIGHT_DOT}|${DOT}`, 'giu');

function plainDomain(domain: string): string {
  return domain.replaceAll(ANY_DOT, '.').replaceAll(/[*~`]|(?<=^|\.)_+|_+(?=\.|$)/g, '');
}

const BLANKS = { nbsp: ' ', ensp: ' ', emsp: ' ', thinsp: ' ', Tab: '\t', NewLine: '\n' };
const UNSEEN_NAMES = { shy: '', zwj: '', zwnj: '', ZeroWidthSpace: '', NoBreak: '', wj: '' };
const BRACKETS = { lt: '<', gt: '>', lpar: '(', rpar: ')', lbrack: '[', rbrack: ']', lsqb: '[', rsqb: ']' };
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: '&', commat: '@', period: '.', plus: '+', hyphen: '-', dash: '-', lowbar: '_', sol: '/' },
  ...{ equals: '=', quot: '"', apos: "'", excl: '!', num: '#', ast: '*' },
  ...BLANKS,
  ...UNSEEN_NAMES,
  ...BRACKETS,
};
/** Forms of letters and signs that are the same for those who read and for many who send; a dash between words is none of them. */
const ALIKE = String.raw`[\u00b7\u2010\u2011\u2013\u2024\u2027\u2212\u24b6-\u24e9\u3002\ufe50-\ufe6b\uff01-\uff5e\uff61\u{1d400}-\u{1d7ff}]`;
/** A dot only within a word: elsewhere it begins the points of a list, or is a letter. */
const INNER_DOT = String.raw`(?<=[${WORD}])[\u2022\ua4f8](?=[${WORD}])`;
/** A letter beyond ASCII, percent-encoded: two to four bytes of UTF-8. */
const ENCODED_LETTER = String.raw`%(?:25)*[c-f][\da-f](?:%(?:25)*[89ab][\da-f]){1,3}`;
/** HTML with or without its semicolon, percent-encoding, JSON, C, quoted-printable and Markdown; the first two also escaped many times over. */
const ESCAPE = new RegExp(
  String.raw`&(?:amp;?)*(?:#\d{1,7}|#x[\da-f]{1,6}|${Object.keys(ENTITIES).join('|')});?|${ENCODED_LETTER}|%(?:25)*(?:u00)?[2-7][\da-f]|\\x[2-7][\da-f]` +
    String.raw`|\\u(?:\{0{0,6}[2-7][\da-f]\}|0{2,6}[2-7][\da-f])|(?<=[${WORD}])\\(?:0[4-7]|1[0-7])[0-7](?!\d)|=(?:40|2[ebd]|5f)(?=[${WORD}])` +
    String.raw`|\\[!-/:-@[-\x60{-~]|${UNSEEN}|\u2800|${ALIKE}|${INNER_DOT}`,
  'giu',
);
const IS_ALIKE = new RegExp(ALIKE, 'u');
/** How many ways of escaping are undone one after the other. A text with more of them is not read. */
const MOST_ROUNDS = 4;

function decode(text: string): Seen {
  let seen: Seen = { text, places: null };
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const next = rewritten(seen, ESCAPE, unescaped);
    if (next === seen) break;
    seen = next;
  }
  return seen;
}

const BY_LOWER_CASE = new Map(Object.entries(ENTITIES).map(([name, sign]) => [name.toLowerCase(), sign]));

function unescaped(written: string): string {
  switch (written[0]) {
    case '&':
      return entity(
        written
          .slice(1)
          .toLowerCase()
          .replace(/;$/, '')
          .replace(/^(?:amp;?)+(?=[^;])/, ''),
      );
    case '%':
      return percentDecoded(written);
    case '=':
      return letter(Number.parseInt(written.slice(-2), 16));
    case '\\':
      if (/^\\\d/.test(written)) return letter(Number.parseInt(written.slice(1), 8));
      return written.length === 2
        ? written.slice(1)
        : letter(Number.parseInt(written.replace(/\W|[ux]/gi, ''), 16));
    default:
      return alike(written);
  }
}

/** One byte is an ASCII character. Bytes that are not UTF-8 stay encoded. */
function percentDecoded(written: string): string {
  const bytes = written.split(/%(?:25)*(?:u00)?/i).slice(1);
  const sign = new TextDecoder().decode(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)));
  return sign.includes('\ufffd') ? written : sign;
}

/** Empty for what cannot be seen. */
function alike(sign: string): string {
  if (sign === '\u2800') return ' ';
  if (/[\u2010\u2011\u2013\u2212]/.test(sign)) return '-';
  if (/[\u00b7\u2022\u2027\u3002\ua4f8\uff61]/.test(sign)) return '.';
  return IS_ALIKE.test(sign) ? sign.normalize('NFKC') : '';
}

function entity(name: string): string {
  if (name.startsWith('#x')) return letter(Number.parseInt(name.slice(2), 16));
  return name.startsWith('#') ? letter(Number(name.slice(1))) : (BY_LOWER_CASE.get(name) ?? '');
}

function letter(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

const TAG =
  /<\/?[a-z][a-z\d]{0,20}(?:\s[^<>]{0,500})?\/?>|<!--[\s\S]{0,500}?-->|\[\/?(?:b|i|u|s|url|email|color|size)(?:=[^\]\s]{0,200})?\]/giu;
/** These stand within a line and show nothing themselves; whatever else there is keeps words apart. */
const INLINE =
  /^(?:<\/?(?:a|abbr|b|bdi|bdo|code|del|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|var|wbr)\b|<!|\[)/iu;

function withoutTags(seen: Seen): Seen {
  return rewritten(seen, TAG, (tag) => (INLINE.test(tag) ? '' : ' '));
}

/** The same where nothing matches. */
function rewritten(seen: Seen, pattern: RegExp, by: (match: string) => string): Seen {
  const places: { from: number[]; to: number[] } = { from: [], to: [] };
  let at = 0;
  const keep = (end: number): void => {
    for (; at < end; at++) {
      places.from.push(seen.places?.from[at] ?? at);
      places.to.push(seen.places?.to[at] ?? at + 1);
    }
  };
  const text = seen.text.replace(pattern, (match: string, index: number) => {
    keep(index);
    const [sign, { from, to }] = [by(match), spanOf(seen, index, match.length)];
    for (let unit = 0; unit < sign.length; unit++) {
      places.from.push(from);
      places.to.push(to);
    }
    at = index + match.length;
    return sign;
  });
  if (at === 0) return seen;
  keep(seen.text.length);
  return { text, places };
}
