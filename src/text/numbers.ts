/** A cell as a number: the number, nothing at all, or words that are no number. */
type ReadNumber =
  | { kind: 'number'; value: number; isGuess: boolean }
  | { kind: 'empty' }
  | { kind: 'unread' };

/** What people write where they have no number. */
const NOTHING = new Set(['', '-', '–', '—', 'n/a', 'na', 'n.a.', 'none', 'null', 'nil', '?', 'unknown']);

type DecimalMark = '.' | ',';

/**
 * The numbers of one column, as people write them: `1,250.00`, `1.250,00 €`, `1 250`, `1'250`, `(99)`, `12k`. One column has one decimal
 * mark. Cells such as `1.250,00` and `9.5` show it. Where no cell shows it, three digits behind one mark are thousands, and that is a guess.
 * So are three decimals: `2,400` in a column with `1.250,00` may come from another country.
 */
export function readNumbers(cells: readonly string[]): ReadNumber[] {
  const plain = cells.map(withoutDecoration);
  const mark = decimalMarkOf(plain.map(({ text }) => text));
  return plain.map(({ text, factor }) => {
    if (NOTHING.has(text)) return { kind: 'empty' };
    const digits = digitsOf(text, mark);
    if (digits === null) return { kind: 'unread' };
    const isGuess = isAmbiguous(text) && (mark === null || text.includes(mark));
    return { kind: 'number', value: Number(digits) * factor, isGuess };
  });
}

interface Plain {
  text: string;
  factor: number;
}

const FACTORS: Record<string, number> = { k: 1e3, m: 1e6 };

/** Removes currency, spaces, apostrophes between groups, brackets of negative amounts, and a letter for thousands or millions. */
function withoutDecoration(cell: string): Plain {
  const trimmed = cell.trim().toLowerCase();
  if (NOTHING.has(trimmed)) return { text: trimmed, factor: 1 };
  const bare = trimmed
    .replace(/[\p{Sc}\s]/gu, '')
    .replace(/^(?:[a-z]{3})(?=[-(\d])|(?<=[\d)])(?:[a-z]{3})$/gu, '')
    .replace(/^\((.*)\)$/, '-$1')
    .replace(/^−/, '-')
    .replace(/(?<=\d)['’](?=\d{3})/g, '');
  const [, text = bare, letter = ''] = /^(.*\d)([km])$/.exec(bare) ?? [];
  return { text, factor: FACTORS[letter] ?? 1 };
}

/** The mark that cells of the column use for decimals; null where none shows it, or where they contradict each other. */
function decimalMarkOf(texts: readonly string[]): DecimalMark | null {
  const shown = new Set(texts.map(shownMark).filter((mark) => mark !== null));
  const [only = null] = shown;
  return shown.size === 1 ? only : null;
}

function shownMark(text: string): DecimalMark | null {
  if (!/^-?\d[\d.,]*$/.test(text)) return null;
  const last = Math.max(text.lastIndexOf('.'), text.lastIndexOf(','));
  if (last < 0) return null;
  const mark = text[last] as DecimalMark;
  const other = mark === '.' ? ',' : '.';
  if (text.includes(other)) return mark;
  const isRepeated = text.indexOf(mark) !== last;
  if (isRepeated) return other;
  return isAmbiguous(text) ? null : mark;
}

/** A text with one mark, one to three digits before it and three behind it: `1.200` and `1,200`. */
function isAmbiguous(text: string): boolean {
  return /^-?[1-9]\d{0,2}[.,]\d{3}$/.test(text);
}

/** Digits as JavaScript reads them; null where the text is no number under that mark. */
function digitsOf(text: string, columnMark: DecimalMark | null): string | null {
  const mark = columnMark ?? shownMark(text) ?? (text.includes(',') ? '.' : ',');
  const [whole = '', decimals = '', ...more] = text.split(mark);
  const groups = whole.split(mark === '.' ? ',' : '.');
  const isGrouped = groups.length === 1 || groups.slice(1).every((group) => /^\d{3}$/.test(group));
  const digits = groups.join('');
  if (more.length > 0 || !isGrouped || !/^-?\d+$/.test(digits) || !/^\d*$/.test(decimals)) return null;
  return decimals === '' ? digits : `${digits}.${decimals}`;
}
