import type { Clock } from '../../base/clock.ts';
import { likeness, wordsOf } from '../../base/likeness.ts';
import type { ImportReads } from '../../store/outbox/import-reads.ts';
import type { NewRow } from '../../store/outbox/types.ts';

/** Rows whose title is nearly that of a post the mirror already has. */
export interface Duplicates {
  /** How many rows were looked at; the others were left out for the sake of time. */
  checked: number;
  found: number;
  examples: Duplicate[];
}

export interface Duplicate {
  line: number | null;
  title: string;
  postId: number;
  postTitle: string;
}

export interface DuplicateSearch {
  readonly result: Duplicates;
  look(rows: readonly NewRow[]): Promise<void>;
}

/** A search takes a fraction of a millisecond to some tens of them, by the size of the mirror: a budget suits both. */
const SEARCH_MS = 10_000;
const EXAMPLES = 10;
/** The longest words are the rarest, so these few find what there is and leave out most of what there is not. */
const WORDS = 4;
const CANDIDATES = 5;
/** How much of two titles must be shared. */
const ALIKE = 0.7;

/** Looks for the first rows' titles in the mirror until the time for it is used up. */
export function duplicateSearch(
  reads: Pick<ImportReads, 'titlesWith'>,
  clock: Clock,
  budgetMs = SEARCH_MS,
): DuplicateSearch {
  const result: Duplicates = { checked: 0, found: 0, examples: [] };
  let left = budgetMs;
  return {
    result,
    async look(rows) {
      for (const row of rows) {
        if (left <= 0) return;
        const began = clock.now();
        const match = bestMatch(reads, row.title);
        left -= clock.now() - began;
        // A service that rehearses an import has other things to do as well.
        await new Promise(setImmediate);
        result.checked++;
        if (match === null) continue;
        result.found++;
        if (result.examples.length < EXAMPLES)
          result.examples.push({
            line: row.line,
            title: row.title,
            postId: match.id,
            postTitle: match.title,
          });
      }
    },
  };
}

function bestMatch(reads: Pick<ImportReads, 'titlesWith'>, title: string) {
  const words = wordsOf(title);
  if (words.size === 0) return null;
  const rarest = [...words].sort((a, b) => b.length - a.length).slice(0, WORDS);
  const posts = reads.titlesWith(rarest, CANDIDATES);
  const [best] = posts
    .map((post) => ({ ...post, likeness: likeness(words, wordsOf(post.title)) }))
    .sort((a, b) => b.likeness - a.likeness);
  return best && best.likeness >= ALIKE ? best : null;
}
