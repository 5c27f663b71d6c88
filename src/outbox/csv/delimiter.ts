import { parse } from 'csv-parse/sync';
import { AppError } from '../../base/errors.ts';
import { LINE_ENDS } from './cells.ts';
import { countClaims } from './columns.ts';
import type { Delimiter, ReadOptions } from './csv-file.ts';

export const DELIMITERS: readonly Delimiter[] = [',', ';', '\t'];

/**
 * The delimiter that the header line uses outside quotes. When it uses several, the one that yields more columns we
 * know; a file of one column has none, and is read with commas.
 */
export function chooseDelimiter(header: Buffer, map: ReadOptions['map']): Delimiter {
  const candidates = DELIMITERS.map((delimiter) => {
    const headers = splitHeader(header, delimiter);
    return { delimiter, columns: headers.length, known: countClaims(headers, map) };
  }).filter(({ columns }) => columns > 1);
  const [best, next] = candidates.sort((a, b) => b.known - a.known || b.columns - a.columns);
  if (!best) return ',';
  if (next && next.known === best.known && (best.known > 0 || next.columns === best.columns)) {
    throw new AppError('usage', `the header line has both ${named(best)} and ${named(next)} between names`, {
      hint: 'Use one delimiter throughout, and put a name that contains the other in double quotes.',
    });
  }
  return best.delimiter;
}

/** No columns when the line makes no sense with this delimiter: then it is another one. */
function splitHeader(header: Buffer, delimiter: Delimiter): string[] {
  try {
    const [headers] = parse(header, {
      delimiter,
      record_delimiter: LINE_ENDS,
      relax_quotes: true,
    }) as unknown as string[][];
    return headers ?? [];
  } catch {
    return [];
  }
}

function named({ delimiter }: { delimiter: Delimiter }): string {
  return { ',': 'commas', ';': 'semicolons', '\t': 'tabs' }[delimiter];
}
