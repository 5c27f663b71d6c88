/** The posts of a mirror as CSV: node bench/floors/export-csv.ts mirror.db posts.csv */
import { closeSync, openSync, writeSync } from 'node:fs';
import { type Cell, COLUMNS, posts } from './export-rows.ts';

const [mirror = '', out = ''] = process.argv.slice(2);
const file = openSync(out, 'w');
let text = `${COLUMNS.join(',')}\n`;
for (const row of posts(mirror).raw().iterate() as Iterable<Cell[]>) {
  text += `${row.map(written).join(',')}\n`;
  if (text.length < 1_000_000) continue;
  writeSync(file, text);
  text = '';
}
writeSync(file, text);
closeSync(file);

function written(cell: Cell): string {
  const value = String(cell ?? '');
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
