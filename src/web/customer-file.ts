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

/** Enough for the first line; the figures are made by the service, which reads the file as CSV is meant. */
function cellsOf(line: string): string[] {
  const delimiter = [',', ';', '\t'].reduce((best, next) =>
    line.split(next).length > line.split(best).length ? next : best,
  );
  const pattern = new RegExp(`(?:^|${delimiter})("(?:[^"]|"")*"|[^${delimiter}]*)`, 'g');
  return [...line.matchAll(pattern)].map(([, cell = '']) =>
    (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell).trim(),
  );
}
