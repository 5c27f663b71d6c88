/** What a results file has after the columns of the file it is about. */
export const RESULT_COLUMNS = ['state', 'post_id', 'url', 'reason'] as const;

/** How many columns hold the person's own data: all, or all but the last four of one of our results files. */
export function dataColumns(headers: readonly string[]): number {
  const start = headers.length - RESULT_COLUMNS.length;
  return start > 0 && RESULT_COLUMNS.every((name, i) => headers[start + i] === name) ? start : headers.length;
}
