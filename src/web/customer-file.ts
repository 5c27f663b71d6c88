/**
 * The file of customers that somebody has chosen: for this window only, until it is closed or reloaded. It is sent with the questions
 * that need it and kept nowhere else.
 */
let text: string | null = null;

export function keepCustomers(chosen: string | null): void {
  text = chosen;
}

export function customersText(): string | null {
  return text;
}

/** The names of its columns. */
export function customerColumns(): string[] {
  return cellsOf((text ?? '').split(/\r?\n/, 1)[0] ?? '');
}

/** What the file says of a person; null where it does not have them. */
export function customerRow(email: string | null): [name: string, value: string][] | null {
  if (text === null || email === null) return null;
  const heads = customerColumns();
  const line = text
    .split(/\r?\n/)
    .map(cellsOf)
    .find((cells) => cells.some((cell) => cell.toLowerCase() === email.toLowerCase()));
  return line ? heads.map((head, i) => [head, line[i] ?? '']) : null;
}

/** Enough for looking one person up; the figures are made by the service, which reads the file as CSV is meant. */
function cellsOf(line: string): string[] {
  const delimiter = [',', ';', '\t'].reduce((best, next) =>
    line.split(next).length > line.split(best).length ? next : best,
  );
  const pattern = new RegExp(`(?:^|${delimiter})("(?:[^"]|"")*"|[^${delimiter}]*)`, 'g');
  return [...line.matchAll(pattern)].map(([, cell = '']) =>
    (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell).trim(),
  );
}
