import { likeness, wordsOf } from '../base/likeness.ts';
import type { ReportReader } from '../store/reports.ts';
import type { Value } from './report.ts';

/** Posts that are compared with the whole mirror; a search of the index takes each some milliseconds in a large one. */
export const SCOPE = 1000;
/** How much of two titles must be shared. */
const ALIKE = 0.6;
/** Titles that are alike share at least two of these; two rare words together are in few titles. */
const RAREST = 4;
const CANDIDATES = 50;

export interface Titled {
  id: number;
  title: string;
}

/** Pairs of posts with much the same title, the most alike first: each newer post with every older one, each pair once. */
export async function findDuplicates(
  reader: Pick<ReportReader, 'titlesMatching'>,
  scope: readonly Titled[],
  limit: number,
): Promise<Record<string, Value>[]> {
  const words = new Map(scope.map(({ id, title }) => [id, wordsOf(title)]));
  const spread = frequencies(words.values());
  const pairs = new Map<string, Record<string, Value> & { likeness: number; post: number; other: number }>();
  for (const { id, title } of scope) {
    const own = words.get(id) ?? new Set();
    const query = rareWordQuery(own, spread);
    if (query === null) continue;
    for (const found of await reader.titlesMatching(query, CANDIDATES)) {
      const alike = found.id === id ? 0 : likeness(own, wordsOf(found.title));
      const key = `${Math.min(id, found.id)} ${Math.max(id, found.id)}`;
      if (alike < ALIKE || pairs.has(key)) continue;
      const other = {
        other: found.id,
        other_title: found.title,
        other_votes: found.votes,
        other_status: found.status,
      };
      pairs.set(key, { likeness: alike, post: id, title, ...other });
    }
  }
  const ordered = [...pairs.values()].sort(
    (a, b) => b.likeness - a.likeness || b.post - a.post || b.other - a.other,
  );
  return ordered.slice(0, limit);
}

/** In how many of the titles each word stands. */
function frequencies(titles: Iterable<ReadonlySet<string>>): Map<string, number> {
  const spread = new Map<string, number>();
  for (const words of titles) for (const word of words) spread.set(word, (spread.get(word) ?? 0) + 1);
  return spread;
}

/** Titles with any two of the rarest words; null for a title without words. A word of letters and digits needs no escaping. */
function rareWordQuery(words: ReadonlySet<string>, spread: ReadonlyMap<string, number>): string | null {
  const rarest = [...words]
    .sort((a, b) => (spread.get(a) ?? 0) - (spread.get(b) ?? 0) || b.length - a.length)
    .slice(0, RAREST)
    .map((word) => `"${word}"`);
  const [first] = rarest;
  if (first === undefined) return null;
  const pairs = rarest.flatMap((a, i) => rarest.slice(i + 1).map((b) => `(${a} AND ${b})`));
  return `title : (${pairs.length > 0 ? pairs.join(' OR ') : first})`;
}
