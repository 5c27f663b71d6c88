import type { Excerpt } from '../search/search.ts';
import { withoutHalfAddresses, withWholeAddresses } from '../text/addresses.ts';
import { createRedactor, hideAddresses, PSEUDONYM, visible } from '../text/redact.ts';
import { webAddress } from '../text/text.ts';

/** How what others wrote is shown to an agent: as data, never as a message to it. */
export interface TextRules {
  /** A text of a customer: only what can be seen, without addresses, cut to so many characters. */
  text(text: string, most: number): string;
  /**
   * Words that the caller may have put in itself: a statement's literals, a name that is echoed, a draft. Addresses are hidden and have no
   * pseudonym, which would tell whose it is.
   */
  echoed(text: string, most: number): string;
  /** The same for a piece out of the middle of one. Addresses are looked for in what stands around it, too, as its ends may cut one in half. */
  excerpt(excerpt: Excerpt, most: number): string;
  /** A person: a pseudonym that stays the same, or the name where people may be shown. */
  person(id: number, name: string | null): string;
  email(email: string): string;
  /** The page of a post; null where there is none that could be opened, or its address would tell one of a person. */
  link(url: string): string | null;
}

/** Characters of the longest address, with its escapes. */
const LONGEST_ADDRESS = 400;

/** Half a text stays if it has no address beside its pseudonyms. */
function unlessPseudonym(half: string): string {
  const rest = half.replaceAll(PSEUDONYM, '');
  return withoutHalfAddresses(rest, () => '…') === rest ? half : '…';
}

/** `key` is null where personal data may be shown; `upstream` is where addresses without a host belong. */
export function textRules({ key, upstream }: { key: Uint8Array | null; upstream: string | null }): TextRules {
  const redactor = key && createRedactor(key);
  const clean = (text: string): string => (redactor ? redactor.text(visible(text)) : visible(text));
  const hide = (text: string): string => (redactor ? hideAddresses(visible(text)) : visible(text));
  const shown = (text: string, most: number, clear = clean): string => {
    // Cut before it is cleaned too, as a text of megabytes takes its time; half an address at that end is not recognised.
    const head = text.slice(0, most * 4 + LONGEST_ADDRESS);
    const cleaned = [...clear(head)];
    const letters = head === text ? cleaned : cleaned.slice(0, -LONGEST_ADDRESS);
    if (letters.length > most) return `${letters.slice(0, most).join('').trimEnd()}…`;
    return head === text ? letters.join('') : `${letters.join('')}…`;
  };
  return {
    text: (text, most) => shown(text, most),
    echoed: (text, most) => shown(text, most, hide),
    excerpt(excerpt, most) {
      const { text } = excerpt;
      const { start, end } = redactor ? withWholeAddresses(text, excerpt) : excerpt;
      const piece = shown(text.slice(start, end), most);
      // One that is longer than what stands around the piece is still in half.
      const safe = redactor ? withoutHalfAddresses(piece, unlessPseudonym) : piece;
      const dots = (is: boolean): string => (is ? '…' : '');
      return `${dots(start > 0 && !safe.startsWith('…'))}${safe}${dots(end < text.length && !safe.endsWith('…'))}`;
    },
    person: (id, name) => (redactor ? redactor.person(`user:${id}`) : visible(name ?? `Person ${id}`)),
    email: (email) => (redactor ? redactor.email(email) : visible(email)),
    link(url) {
      const address = webAddress(url, upstream);
      return address !== null && clean(address) === address ? address : null;
    },
  };
}
