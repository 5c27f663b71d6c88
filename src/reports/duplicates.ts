import { likeness, wordsOf } from '../base/words.ts';
import type { ReportReader } from '../store/reports.ts';
import type { Answer } from './report.ts';
import { boundOf, type Question } from './tally.ts';

/** How much of two titles must be shared. */
const ALIKE = 0.6;
/** Titles that are alike share at least two of these; two rare words together are in few titles. */
const RAREST = 4;
/** Of the titles that share two rare words each is compared with so many before it: more share a form that posts are written in. */
const NEIGHBOURS = 10;
/** A pair of words and the place of a title go into one number that is exact: 32 bits and 21. */
const MOST_TITLES = 2 ** 21;

interface Titled {
  id: number;
  title: string;
}

interface Pair {
  post: Titled;
  other: Titled;
  likeness: number;
}

/**
 * Pairs of posts with much the same title, the most alike first: each post of the scope with every other of the mirror, each pair once.
 * All titles are taken apart once and sorted by the rare words they share, because asking the index for each takes milliseconds a post.
 */
export async function duplicates(reader: ReportReader, asked: Question): Promise<Answer> {
  const { board, limit } = asked;
  const period = { since: boundOf(asked.since), until: boundOf(asked.until) };
  const scope = await reader.rows(SCOPE, { ...period, board, statuses: JSON.stringify(asked.statuses) });
  const found = await reader.tuples(ALL, { most: MOST_TITLES });
  const titles = found.map(([id, title]) => ({ id: Number(id), title: String(title) }));
  const inScope = new Set(scope.map(({ id }) => id));
  const pairs = pairsOf(titles, ({ id }) => inScope.has(id))
    .sort((a, b) => b.likeness - a.likeness || b.post.id - a.post.id || b.other.id - a.other.id)
    .slice(0, limit);
  const facts = await reader.rows(FACTS, { ids: JSON.stringify(pairs.map(({ other }) => other.id)) });
  const byId = new Map(facts.map((row) => [row.id, row]));
  const rows = pairs.map(({ post, other, likeness: alike }) => ({
    likeness: alike,
    post: post.id,
    title: post.title,
    other: other.id,
    other_title: other.title,
    other_votes: byId.get(other.id)?.votes ?? null,
    other_status: byId.get(other.id)?.status ?? null,
  }));
  const compared = `${scope.length.toLocaleString('en')} posts of the period were compared with the whole mirror`;
  const notes = [
    'Likeness is the share of letters in words that both titles have; pairs from 60 % on are shown.',
    `The ${compared}; --since, --until and --board choose others.`,
  ];
  return { rows, notes };
}

/** The posts whose likeness to others is looked for. */
const SCOPE = `
  SELECT id FROM posts
   WHERE deleted_at IS NULL AND created >= $since AND created < $until AND ($board IS NULL OR board_id = $board)
     AND ($statuses = '[]' OR status_id IN (SELECT value FROM json_each($statuses)))`;
const ALL = 'SELECT id, title FROM posts WHERE deleted_at IS NULL ORDER BY id DESC LIMIT $most';
const FACTS = `
  SELECT p.id, p.votes_count AS votes, s.name AS status FROM posts p JOIN statuses s ON s.id = p.status_id
   WHERE p.id IN (SELECT value FROM json_each($ids))`;

/** Titles in the order of the newest first. */
function pairsOf(titles: readonly Titled[], isWanted: (post: Titled) => boolean): Pair[] {
  const pairs = new Map<number, Pair>();
  const keys = sharedKeys(titles);
  for (let i = 1; i < keys.length; i++) {
    const [hash, at] = partsOf(keys[i]);
    const older = titles[at];
    let words: Set<string> | null = null;
    for (let j = i - 1; j >= Math.max(0, i - NEIGHBOURS); j--) {
      const [sameHash, before] = partsOf(keys[j]);
      const newer = titles[before];
      if (sameHash !== hash || !newer || !older) break;
      const key = before * MOST_TITLES + at;
      const [post, other] = isWanted(newer) ? [newer, older] : [older, newer];
      if (newer === older || !isWanted(post) || pairs.has(key) || !canBeAlike(newer.title, older.title))
        continue;
      words ??= wordsOf(older.title);
      const alike = likeness(words, wordsOf(newer.title));
      if (alike >= ALIKE) pairs.set(key, { post, other, likeness: alike });
    }
  }
  return [...pairs.values()];
}

function partsOf(key = 0): [hash: number, place: number] {
  return [Math.floor(key / MOST_TITLES), key % MOST_TITLES];
}

/** The shorter title would have to be in the longer one with all its letters. */
function canBeAlike({ length: a }: string, { length: b }: string): boolean {
  return 2 * Math.min(a, b) >= 0.9 * ALIKE * (a + b);
}

/** For every title each pair of its rarest words with its place, sorted: titles that share a pair stand side by side. */
function sharedKeys(titles: readonly Titled[]): Float64Array {
  const spread = new Map<string, { id: number; titles: number }>();
  const words = titles.map(({ title }) =>
    [...wordsOf(title)].map((word) => {
      const known = spread.get(word) ?? { id: spread.size + 1, titles: 0 };
      spread.set(word, known);
      known.titles++;
      return known;
    }),
  );
  const keys: number[] = [];
  for (const [place, own] of words.entries()) {
    const rare = own.sort((a, b) => a.titles - b.titles || a.id - b.id).slice(0, RAREST);
    const tells = rare.filter((word) => word.titles > 1);
    for (const [i, a] of tells.entries())
      for (const b of rare.length === 1 ? [a] : tells.slice(i + 1))
        keys.push(pairHash(Math.min(a.id, b.id), Math.max(a.id, b.id)) * MOST_TITLES + place);
  }
  return Float64Array.from(keys).sort();
}

function pairHash(a: number, b: number): number {
  return (Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b)) >>> 0;
}
