/**
 * Where records start, found in another way than the program does: one regular expression over the whole text.
 * It is slow and needs everything in memory, and is the judge of "accepted + refused = records".
 */
export function recordLines(text: string, delimiter: string): number[] {
  const plain = `[^${delimiter}\\r\\n]*`;
  const field = `(?:"[^"]*(?:""[^"]*)*(?:"(?!")${plain}|$)|${plain})`;
  const record = new RegExp(`${field}(?:${delimiter}${field})*`, 'y');
  const lineEnd = /\r\n|\n|\r|$/y;
  const lines: number[] = [];
  let line = 1;
  for (let at = 0; at < text.length; ) {
    record.lastIndex = at;
    const found = record.exec(text)?.[0] ?? '';
    if (found !== '') lines.push(line);
    line += found.match(/\r\n|\n|\r/g)?.length ?? 0;
    lineEnd.lastIndex = at + found.length;
    const end = lineEnd.exec(text)?.[0];
    if (end === undefined) throw new Error(`the reference is stuck at ${at}`);
    at += found.length + end.length;
    line += 1;
  }
  return lines;
}
