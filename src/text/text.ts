/** Control characters, line separators, and those that turn the direction of the text around them. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/u;
const UNPRINTABLE_RUN = new RegExp(`${UNPRINTABLE.source}+`, 'gu');
const UNPRINTABLE_BUT_LINES = new RegExp(`(?:(?![\\n\\t])${UNPRINTABLE.source})+`, 'gu');

/** Text from an upstream or a file on one line: it must not move the cursor, colour the terminal or break the line. */
export function oneLine(text: string): string {
  return text.replace(UNPRINTABLE_RUN, ' ');
}

/** The same for several lines. Everything that is printed for a person goes through this, once, where it is printed. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE_BUT_LINES, ' ');
}

/** The longest name in a message: Slack and Teams refuse a title of 30 kB. */
const NAME_LENGTH = 150;

/** Text on one line, cut to what names a thing. */
export function shortName(text: string): string {
  const line = oneLine(text);
  return line.length > NAME_LENGTH ? `${line.slice(0, NAME_LENGTH - 1).toWellFormed()}…` : line;
}

/** A link that is safe inside the markup of Slack or Markdown. Encoded characters stay encoded. */
export function linkAddress(address: string): string {
  return encodeURI(address).replaceAll('%25', '%').replaceAll('(', '%28').replaceAll(')', '%29');
}

/** The absolute address of a page. Null for addresses that are not http or https: a link to them could run a script. */
export function webAddress(url: string, base: string | null): string | null {
  const found = URL.parse(url, base ?? undefined);
  return found && /^https?:$/.test(found.protocol) ? found.href : null;
}

/** A text within HTML that the program writes itself. */
export function htmlText(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

const UNUSUAL = /[\u0300-\uffff\xa0]|\s\s|[^\S ]|^\s|\s$/;

/** The form in which texts of a file are compared: another system may have rewritten its line ends, spaces and accents. */
export function plainForm(text: string): string {
  return UNUSUAL.test(text) ? text.normalize('NFC').replace(/\s+/g, ' ').trim() : text;
}

/** `1,234,567`: what `toLocaleString('en')` makes of a number, without the 25 ms that its first call takes. */
export function grouped(n: number): string {
  return Number.isSafeInteger(n) ? String(n).replace(/\B(?=(\d{3})+$)/g, ',') : n.toLocaleString('en');
}

/** `1 post`, `1,200 posts`. */
export function counted(n: number, thing: string, things = `${thing}s`): string {
  return `${grouped(n)} ${n === 1 ? thing : things}`;
}

/** `350 ms`, `4.2 s`, `40 s`, `12 min`, `5.2 h`, `12.3 d`; as exact as anybody acts on. */
export function durationText(ms: number): string {
  if (!Number.isFinite(ms)) return '?';
  const seconds = ms / 1000;
  if (ms > 0 && ms < 950) return `${Math.round(ms)} ms`;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return seconds < 48 * 3600 ? `${(seconds / 3600).toFixed(1)} h` : `${(seconds / 86_400).toFixed(1)} d`;
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** `1.1 MB`; thousands, as disks are sold. */
export function sizeText(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  const amount = bytes / 1000 ** power;
  return `${amount < 10 && power > 0 ? Number(amount.toFixed(1)) : Math.round(amount)} ${UNITS[power]}`;
}

/** Equal for all spellings of a name: case, accents, spaces and punctuation do not count. */
export function foldedName(text: string): string {
  const plain = text.normalize('NFKD').toLowerCase().replaceAll('ß', 'ss');
  return plain.replace(/[^\p{L}\p{N}]+/gu, '');
}

/** The candidate that takes the fewest edits to become the text, unless that would be most of it, or more than `most`. */
export function nearest(
  text: string,
  candidates: readonly string[],
  most = Math.ceil(text.length / 2),
): string | null {
  let best: string | null = null;
  let least = most + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - text.length) >= least) continue;
    const edits = distance(text.toLowerCase(), candidate.toLowerCase());
    if (edits < least) [best, least] = [candidate, edits];
  }
  return best;
}

/** Levenshtein's distance, one row of the table at a time. */
export function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    above = row;
  }
  return above[b.length] ?? 0;
}
