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
