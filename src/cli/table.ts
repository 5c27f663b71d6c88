import Table from 'cli-table3';
import { oneLine as onOneLine } from '../base/printable.ts';

const PLAIN = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** Columns side by side without lines; numbers to the right. */
export function table(head: string[], rows: (string | number | null)[][]): string {
  const aligns = head.map((_, i) => (isNumeric(rows.map((row) => row[i] ?? null)) ? 'right' : 'left'));
  return draw(
    [head.map((title) => title.toUpperCase()), ...rows.map((row) => row.map((cell) => oneLine(cell)))],
    aligns,
  );
}

/** The same for cells that are printed as they are, head included: each of them must be safe to print. */
export function draw(lines: string[][], colAligns: ('left' | 'right')[]): string {
  const drawn = new Table({
    chars: PLAIN,
    colAligns,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  });
  for (const line of lines) drawn.push(line);
  return drawn
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Numbers, some of which may be missing. */
function isNumeric(column: (string | number | null)[]): boolean {
  const present = column.filter((cell) => cell !== null);
  return present.length > 0 && present.every((cell) => typeof cell === 'number');
}

/** A cell from upstream must not break its line. */
export function oneLine(cell: string | number | null): string {
  return typeof cell === 'number' ? grouped(cell) : onOneLine(cell ?? '');
}

/** By what it shows, not by its bytes: half a character is none. */
export function cut(text: string, most: number): string {
  const characters = [...oneLine(text)];
  return characters.length <= most ? characters.join('') : `${characters.slice(0, most - 1).join('')}…`;
}

/** What `toLocaleString('en')` makes of a number, without the 25 ms that its first call takes. */
function grouped(n: number): string {
  return Number.isSafeInteger(n) ? String(n).replace(/\B(?=(\d{3})+$)/g, ',') : n.toLocaleString('en');
}
