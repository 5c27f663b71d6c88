/** One sentence of a page, without markup, and how many words it has. */
export interface Sentence {
  text: string;
  words: number;
}

/** A cell of a table or an item of a list with fewer words is a name or a value, and no sentence. */
const FRAGMENT_WORDS = 5;

/**
 * The sentences of a Markdown page. A paragraph, an item of a list and a cell of a table end a sentence. Blocks of code, headings and
 * diagrams have none. A piece of code inside a sentence is one word.
 */
export function sentencesOf(markdown: string): Sentence[] {
  const blocks = blocksOf(markdown.replace(/^( *)```[\s\S]*?^\1```$/gm, '\n'));
  return blocks.flatMap(({ text, isPart }) =>
    split(plain(text)).filter(({ words }) => words >= (isPart ? FRAGMENT_WORDS : 1)),
  );
}

interface Block {
  text: string;
  /** A cell or an item. */
  isPart: boolean;
}

const ITEM = /^\s*(?:[-*]|\d+\.)\s+/;

function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let isOpen = false;
  for (const line of markdown.split('\n')) {
    const isText = line.trim() !== '' && !/^(#|!\[|\|)/.test(line);
    if (line.startsWith('|')) blocks.push(...cellsOf(line).map((text) => ({ text, isPart: true })));
    const last = blocks.at(-1);
    if (isText && isOpen && last && !ITEM.test(line)) last.text += ` ${line.trim()}`;
    else if (isText) blocks.push({ text: line.replace(ITEM, '').trim(), isPart: ITEM.test(line) });
    isOpen = isText;
  }
  return blocks;
}

/** A bar in a piece of code is written with a backslash before it. */
export function cellsOf(line: string): string[] {
  if (/^\|[\s:|-]+\|$/.test(line)) return [];
  return line
    .replace(/^\||\|\s*$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** Code becomes one word, a link its text. */
function plain(text: string): string {
  return text
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/`[^`]*`/g, 'code')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>]+>/g, '')
    .replace(/\*\*|__/g, '');
}

function split(text: string): Sentence[] {
  return text
    .split(/(?<=[.!?]["”)]?)\s+(?=["“(]?[A-Z0-9`c])/)
    .map((sentence) => ({ text: sentence.trim(), words: wordsOf(sentence) }))
    .filter(({ words }) => words > 0);
}

export function wordsOf(text: string): number {
  return plain(text)
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** How long the sentences of a page are. */
export function lengthsOf(sentences: readonly Sentence[]): {
  median: number;
  ninth: number;
  longest: number;
} {
  const sorted = sentences.map(({ words }) => words).sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { median: at(0.5), ninth: at(0.9), longest: at(1) };
}
