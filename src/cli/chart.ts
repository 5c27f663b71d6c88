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
