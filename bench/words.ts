import { createRandom, type Random } from '../src/sandbox/random.ts';

/** As many words as a large product's customers use, the n-th most frequent of them 1/n as often as the first. */
const VOCABULARY = 50_000;
/** Draws from a table instead of a search in the cumulated shares: a hundred million words take seconds. */
const DRAWS = 1 << 22;
const SYLLABLES = 'ba ce di fo gu ha ki le mo nu pa ra sie tor vun wel xam yot zen qua'.split(' ');

export interface Language {
  /** Most frequent first. */
  words: readonly string[];
  /** So many words, as a text has them. */
  text(length: number, random: Random): string;
}

/** Made-up words of two to five syllables, the same in every run; the frequent ones are short. */
export function zipfLanguage(): Language {
  const words = vocabulary();
  const table = drawingTable();
  const word = (random: Random): string => words[table[random.int(DRAWS)] ?? 0] ?? '';
  return { words, text: (length, random) => Array.from({ length }, () => word(random)).join(' ') };
}

function vocabulary(): string[] {
  const random = createRandom(20_261_115);
  const words = new Set<string>();
  while (words.size < VOCABULARY) {
    const length = 2 + Math.min(3, Math.floor(Math.log10(words.size + 1)));
    words.add(Array.from({ length }, () => random.pick(SYLLABLES)).join(''));
  }
  return [...words];
}

function drawingTable(): Uint16Array {
  const shares = Array.from({ length: VOCABULARY }, (_, rank) => 1 / (rank + 1));
  const whole = shares.reduce((sum, share) => sum + share, 0);
  const table = new Uint16Array(DRAWS);
  let at = 0;
  let cumulated = 0;
  for (const [rank, share] of shares.entries()) {
    cumulated += share;
    const end = Math.round((cumulated / whole) * DRAWS);
    table.fill(rank, at, end);
    at = end;
  }
  return table;
}
