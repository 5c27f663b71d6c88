/** The posts of a mirror as a JSON object a line: node bench/floors/export-ndjson.ts mirror.db posts.ndjson */
import { closeSync, openSync, writeSync } from 'node:fs';
import { posts } from './export-rows.ts';

const [mirror = '', out = ''] = process.argv.slice(2);
const file = openSync(out, 'w');
let text = '';
for (const post of posts(mirror).iterate()) {
  text += `${JSON.stringify(post)}\n`;
  if (text.length < 1_000_000) continue;
  writeSync(file, text);
  text = '';
}
writeSync(file, text);
closeSync(file);
