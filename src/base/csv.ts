/** Every delimiter is quoted, not only the one in use, so that a header line is never ambiguous to whoever reads it. */
const NEEDS_QUOTES = /[",;\t\r\n\uFEFF]/;

/** What a spreadsheet would run. Some of them skip a line feed, and take the full-width signs of East Asian input for the others. */
const FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** One cell as RFC 4180 writes it. */
export function csvCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text with an apostrophe before it where a spreadsheet would take it for a formula. */
export function inert(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
