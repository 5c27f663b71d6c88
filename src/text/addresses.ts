/**
 * E-mail addresses in texts that people wrote: plain, with the sign or a dot escaped for HTML, JSON or a link, in full-width letters, as
 * [at] and [dot], with a space beside the sign, and with invisible characters.
 */
export interface Address {
  /** The address in plain letters, equal for all spellings. */
  address: string;
  from: number;
  to: number;
}

/** Replaces each address by the result of `by`. `written` is the address as the text spells it. */
export function replaceAddresses(text: string, by: (address: string, written: string) => string): string {
  let [result, at] = ['', 0];
  for (const { address, from, to } of addressesIn(text)) {
    result += text.slice(at, from) + by(address, text.slice(from, to));
    at = to;
  }
  return result + text.slice(at);
}

/** The piece of the text from `start` to `end`, longer where an address would be cut in half at its ends. */
export function withWholeAddresses(
  text: string,
  { start, end }: { start: number; end: number },
): { start: number; end: number } {
  const cut = addressesIn(text).filter(({ from, to }) => from < end && to > start);
  return {
    start: Math.min(start, ...cut.map(({ from }) => from)),
    end: Math.max(end, ...cut.map(({ to }) => to)),
  };
}

/** The address that the text is, and nothing else, in plain letters; null where it is none. */
export function soleAddress(text: string): string | null {
  const [only] = addressesIn(text);
  return only?.from === 0 && only.to === text.length ? only.address : null;
}

/** A piece of a text with what may be half an address at its ends replaced. */
export function withoutHalfAddresses(piece: string, by: (half: string) => string): string {
  return piece.replace(HALF, by);
}

const WORD = String.raw`\p{L}\p{M}\p{N}\p{Cf}\p{Default_Ignorable_Code_Point}`;
const SPACE = String.raw`[ \t\u00a0]?`;
const bracketed = (word: string): string =>
  String.raw`${SPACE}[[(\uff3b\uff08]${SPACE}${word}${SPACE}[\])\uff3d\uff09]${SPACE}`;
/** A sign of ASCII as HTML, links and JSON spell it, escaped once or more. */
const escaped = (code: number, entity: string): string => {
  const hex = code.toString(16);
  return String.raw`%(?:25)*${hex}|&(?:amp;)*(?:#0*${code}|#x0*${hex}|${entity});?|\\u00${hex}`;
};
const AT = String.raw`(?:${SPACE}(?:[@\uff20\ufe6b]|${escaped(0x40, 'commat')})${SPACE}|${bracketed('(?:@|at)')})`;
const DOT = String.raw`(?:[.\uff0e\u2024\u3002]|${escaped(0x2e, 'period')}|${bracketed(String.raw`(?:\.|dot)`)})`;
/** Without signs that RFC 5322 allows but links have before an address: a slash, a question mark, an ampersand, an equals sign. */
const NAME = String.raw`"[^"\n]{1,64}"|[${WORD}!#$%'’*+^_\x60{|}~.-]{1,128}`;
/** The last part begins with a letter, which tells an address from a price or a version. */
const DOMAIN = String.raw`(?:[${WORD}_-]{1,63}${DOT}){1,10}\p{L}[${WORD}-]{0,62}[${WORD}]|\[(?:ipv6:)?[\d.:a-f]{3,45}\]`;
/** Found by its sign, with what stands before and after, so that a long text costs no more than its length. */
const ADDRESS = new RegExp(`(?<=(${NAME}))${AT}(?=(${DOMAIN}))`, 'giu');
/** Signs that more often stand around a name than belong to it. */
const MARKS = new RegExp(`^[^${WORD}_"]+`, 'u');
const HALF = new RegExp(String.raw`^\S*${AT}\S*|(?<!\S)\S*${AT}\S*\s*$`, 'giu');
/** Most texts hold none of these, and this check takes a fraction of the time. */
const MAY_HOLD = /[@\uff20\ufe6b]|%(?:25)*40|&(?:amp;)*(?:#|commat)|\\u0040|[[(\uff3b\uff08][ \t\u00a0]?at/iu;

function addressesIn(text: string): Address[] {
  if (!MAY_HOLD.test(text)) return [];
  const found: Address[] = [];
  let floor = 0;
  for (const { 0: sign, 1: before = '', 2: domain = '', index } of text.matchAll(ADDRESS)) {
    const name = before.slice(Math.max(0, floor - (index - before.length))).replace(MARKS, '');
    if (index < floor || name === '') continue;
    const to = index + sign.length + domain.length;
    const address = `${plain(name)}@${plain(domain.replaceAll(ANY_DOT, '.'))}`;
    found.push({ address, from: index - name.length, to });
    floor = to;
  }
  return found;
}

const ANY_DOT = new RegExp(DOT, 'giu');
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Bytes that are not UTF-8 stay encoded. */
function plain(part: string): string {
  const letters = part.replaceAll(/(?:%(?:25)*[\da-f]{2})+/gi, (bytes) =>
    decoded(bytes.replaceAll(/%(?:25)+/g, '%')),
  );
  return letters.normalize('NFKC').replaceAll(UNSEEN, '').replaceAll('’', "'");
}

function decoded(bytes: string): string {
  try {
    return decodeURIComponent(bytes);
  } catch {
    return bytes;
  }
}
