/**
 * A text as an FTS5 phrase on one column, or null where it has no word. The index takes it apart by its own rules; doubled quotes
 * keep any of it from being read as a query's own signs.
 */
export function textQuery(text: string, column: 'title' | 'content'): string | null {
  if (!/[\p{L}\p{N}\p{Co}]/u.test(text)) return null;
  return `${column} : "${text.replaceAll('\0', ' ').replaceAll('"', '""')}"`;
}
