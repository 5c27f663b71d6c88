import { createRequire } from 'node:module';
import { styleText } from 'node:util';
import type { TableConstructorOptions } from 'cli-table3';
import { grouped, oneLine } from '../text/text.ts';

export type TableCell = string | number | null;
type Align = 'left' | 'right';

const NOTHING = { top: '', bottom: '', left: '', right: '', mid: '', middle: '  ' };
const PLAIN = {
  ...NOTHING,
  ...Object.fromEntries(
    ['top', 'bottom'].flatMap((side) => ['mid', 'left', 'right'].map((at) => [`${side}-${at}`, ''])),
  ),
  ...Object.fromEntries(['left', 'mid', 'right'].map((side) => [`${side}-mid`, ''])),
};

const GAP = 2;
/** Text in a narrower column is hard to read: then each row gets lines of its own. */
const NARROWEST = 12;
/** A longer word, such as a link, is cut rather than given all the room. */
const LONGEST_WORD = 30;

/** How many columns the reader has; null where the output goes to a file or a program. COLUMNS is believed where it is set. */
export function screenWidth(): number | null {
  const asked = Number(process.env.COLUMNS);
  return asked > 0 ? asked : (process.stdout.columns ?? null);
}

/** Columns side by side without lines; numbers to the right. */
export function table(head: string[], rows: TableCell[][]): string {
  const aligns = head.map((_, i) => (isNumeric(rows.map((row) => row[i] ?? null)) ? 'right' : 'left'));
  const cells = rows.map((row) => row.map(cellLine));
  return headed(draw([head.map((title) => title.toUpperCase()), ...cells], aligns), head);
}

/** On a terminal the line of heads is bold, unless NO_COLOR is set. Rows that are blocks of lines have no such line. */
function headed(drawn: string, head: readonly string[]): string {
  if (!process.stdout.isTTY) return drawn;
  const [line = '', ...rows] = drawn.split('\n');
  const isHead = head.every((title) => line.includes(title.trim().toUpperCase()));
  return isHead ? [styleText('bold', line, { stream: process.stdout }), ...rows].join('\n') : drawn;
}

/** The same for cells that are printed as they are, head included: each of them must be safe to print. */
export function draw(lines: string[][], aligns: Align[], width = screenWidth()): string {
  const natural = aligns.map((_, i) => widest(lines.map((line) => widthOf(line[i] ?? ''))));
  const words = (i: number): number[] =>
    lines.flatMap((line) => (line[i] ?? '').split(' ').map((word) => Math.min(widthOf(word), LONGEST_WORD)));
  const floors = aligns.map((align, i) =>
    align === 'left' ? Math.max(NARROWEST, widest(words(i))) : Infinity,
  );
  const widths = width === null ? natural : fitted(natural, floors, width);
  return widths === null ? records(lines, width ?? 0) : columns(lines, aligns, natural, widths);
}

/** Of any number of them, where the arguments of a function are limited. */
function widest(widths: readonly number[]): number {
  return widths.reduce((most, n) => Math.max(most, n), 0);
}

/** Widths that fit, the widest texts giving way first; null where some text would have too little room. */
function fitted(natural: number[], floors: number[], width: number): number[] | null {
  const widths = [...natural];
  const room = width - GAP * (widths.length - 1);
  for (let over = widths.reduce((sum, n) => sum + n, -room); over > 0; over--) {
    const spare = widths.map((n, i) => (n > (floors[i] ?? 0) ? n : 0));
    const widest = spare.indexOf(Math.max(...spare));
    if (spare[widest] === 0) return null;
    widths[widest] = (spare[widest] ?? 0) - 1;
  }
  return widths;
}

/** A row as a block of lines, one for each column that says something. */
function records([head = [], ...rows]: string[][], width: number): string {
  const titles = widest(head.map(widthOf));
  const room = Math.max(NARROWEST, width - titles - GAP);
  const block = (row: string[]): string => {
    const pairs = head.flatMap((title, i) => (row[i]?.trim() ? [[title.trim(), row[i].trim()]] : []));
    const longest = widest(pairs.map(([, value]) => widthOf(value ?? '')));
    return columns(pairs, ['left', 'left'], [titles, longest], [titles, room]);
  };
  return rows.map(block).join('\n\n');
}

function columns(lines: string[][], colAligns: Align[], natural: number[], widths: number[]): string {
  const isFitting = widths.every((n, i) => n >= (natural[i] ?? 0));
  if (isFitting) return lines.map((line) => padded(line, colAligns, widths)).join('\n');
  // Loaded where text is wrapped: the help of a command draws no table.
  const Table = createRequire(import.meta.url)('cli-table3') as typeof import('cli-table3');
  const options: TableConstructorOptions = {
    chars: PLAIN,
    colAligns,
    colWidths: widths,
    wordWrap: true,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  };
  const drawn: string[] = [];
  for (let from = 0; from < lines.length; from += DRAWN_AT_ONCE) {
    const part = new Table(options);
    for (const line of lines.slice(from, from + DRAWN_AT_ONCE)) part.push(line);
    drawn.push(part.toString());
  }
  return drawn.join('\n').replaceAll(/ +$/gm, '');
}

/** The package looks at all rows for each: of ten thousand it took three seconds, and of a hundred thousand three minutes. */
const DRAWN_AT_ONCE = 100;

function padded(line: readonly string[], aligns: readonly Align[], widths: readonly number[]): string {
  const cells = widths.map((width, i) => {
    const cell = line[i] ?? '';
    const space = ' '.repeat(Math.max(0, width - widthOf(cell)));
    return aligns[i] === 'right' ? space + cell : cell + space;
  });
  return cells.join(' '.repeat(GAP)).trimEnd();
}

/** Numbers, some of which may be missing. */
function isNumeric(column: TableCell[]): boolean {
  const present = column.filter((cell) => cell !== null);
  return present.length > 0 && present.every((cell) => typeof cell === 'number');
}

/** A cell from upstream must not break its line. */
export function cellLine(cell: TableCell): string {
  return typeof cell === 'number' ? grouped(cell) : oneLine(cell ?? '');
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

function widthOf(text: string): number {
  return [...text].reduce((sum, sign) => sum + (WIDE.test(sign) ? 2 : 1), 0);
}

/** Cuts a text to so many characters, and never within one. */
export function cut(text: string, most: number): string {
  const characters = [...cellLine(text)];
  return characters.length <= most ? characters.join('') : `${characters.slice(0, most - 1).join('')}…`;
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const LEVELS = '▁▂▃▄▅▆▇█';

/** A bar as long as the value's share of the largest, to an eighth of a character; what is not nothing shows. */
export function bar(value: number, largest: number, width: number): string {
  if (value <= 0 || largest <= 0) return '';
  const eighths = Math.max(1, Math.round((value / largest) * width * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

/** A character a number, from the lowest step for nothing to the highest for the largest. */
export function sparkline(values: readonly number[]): string {
  const largest = Math.max(1, ...values);
  return values.map((value) => LEVELS[Math.ceil((Math.max(0, value) / largest) * 7)] ?? '').join('');
}
