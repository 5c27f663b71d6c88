import { type Child, h } from '../dom.ts';

/** A text with the part marked in which it differs from another one: from the first word that is different to the last. */
export function markDifference(text: string, other: string): Child {
  const [mine, theirs] = [wordsOf(text), wordsOf(other)];
  const shortest = Math.min(mine.length, theirs.length);
  let start = 0;
  while (start < shortest && mine[start] === theirs[start]) start++;
  let end = 0;
  while (end < shortest - start && mine.at(-1 - end) === theirs.at(-1 - end)) end++;
  const differs = mine.slice(start, mine.length - end).join('');
  return [
    mine.slice(0, start).join(''),
    differs === '' ? null : h('mark', {}, differs),
    mine.slice(mine.length - end).join(''),
  ];
}

/** Words and what stands between them, so that nothing is lost. */
function wordsOf(text: string): string[] {
  return text.split(/(?<=\s)(?=\S)|(?<=\S)(?=\s)/);
}
