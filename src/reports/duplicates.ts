import { setOf } from '../mirror/index/select.ts';
import { differsInOnePlace, likenessOf, NAME, weightOf, wordsOfTitle } from '../search/likeness.ts';
import type { ReportRows } from './report.ts';
import type { ReportReader } from './store.ts';
import { sqlTimeOf, type TallyQuestion } from './tally.ts';

/** `npm run bench -- similar` has the share of paraphrases and near misses above it. */
const ALIKE = 0.5;
/** Titles that are alike share two of these; two rare words together are in few titles. */
const RAREST = 4;
/** Of the titles that share two rare words each is compared with so many before it: more share a form that posts are written in. */
const NEIGHBOURS = 10;
/** A pair of words and the place of a title go into one number that is exact: 32 bits and 21. */
const MOST_TITLES = 2 ** 21;

/** All titles, the newest first, taken apart once. A million of them are 60 MB here, and 400 MB as texts and sets. */
interface Titles {
  ids: Float64Array;
  /** Where the words of a title begin; its last one ends where the next title begins. */
  starts: Uint32Array;
  /** Numbers of stems, in the order of the title. */
  words: Uint32Array;
  /** By the number of a stem: in how many titles it is. */
  counts: Uint32Array;
  /** By the number of a stem: what it tells, 0 for a small word. A name tells more where it is written as one in most titles. */
  weights: Float32Array;
}

interface Pair {
  post: number;
  other: number;
  likeness: number;
}

/**
 * Pairs of posts whose titles ask for much the same, the most alike first: each post of the scope with every other of the mirror, each pair
 * once. Left out are pairs that people marked as the same, and posts whose status says that they are a duplicate.
 */
export async function duplicates(reader: ReportReader, asked: TallyQuestion): Promise<ReportRows> {
  const { board, limit } = asked;
  const period = { since: sqlTimeOf(asked.since), until: sqlTimeOf(asked.until) };
  const people = asked.people && JSON.stringify(asked.people);
  // One number after the other: a million rows at once take 150 MB.
  const ids = new Grown(Float64Array);
  const asks = { ...period, board, people, statuses: JSON.stringify(asked.statuses) };
  for (const [id] of reader.each(SCOPE, asks)) ids.push(Number(id));
  const isInScope = setOf(ids.done());
  const [[all = 0] = []] = await reader.tuples('SELECT count(*) FROM posts', {});
  const tell = (from: number, to: number) => (done: number, of: number) =>
    reader.tell(from + ((to - from) * done) / Math.max(1, of));
  const titles = takeApart(reader.each(TITLES, { most: MOST_TITLES }), Number(all), tell(0, 0.6));
  const same = sameGroups(await reader.tuples(SAME, {}));
  const pairs = mostAlike(titles, { most: limit, tell: tell(0.7, 1) }, ({ post, other }) => {
    const group = same.get(post);
    return (isInScope(post) || isInScope(other)) && (group === undefined || group !== same.get(other));
  }).map((pair) => (isInScope(pair.post) ? pair : { ...pair, post: pair.other, other: pair.post }));
  const shown = JSON.stringify(pairs.flatMap(({ post, other }) => [post, other]));
  const facts = new Map((await reader.rows(FACTS, { ids: shown })).map((row) => [row.id, row]));
  const rows = pairs.map(({ post, other, likeness }) => ({
    likeness,
    post,
    title: facts.get(post)?.title ?? null,
    other,
    other_title: facts.get(other)?.title ?? null,
    other_votes: facts.get(other)?.votes ?? null,
    other_status: facts.get(other)?.status ?? null,
  }));
  const compared = `${ids.length.toLocaleString('en')} posts of the period were compared with the whole mirror`;
  const notes = [
    'Likeness weighs the words that both titles have against those that one has. Rare words count more, and names and numbers most.',
    'Posts that people marked as the same are left out, and posts whose status says duplicate.',
    `The ${compared} (--since, --until and --board choose others).`,
  ];
  return { rows, notes };
}

const IS_DUPLICATE = `status_id IN (SELECT id FROM statuses WHERE lower(trim(name)) IN ('duplicate', 'duplicated', 'merged'))`;
const SCOPE = `
  SELECT id FROM posts
   WHERE deleted_at IS NULL AND created >= $since AND created < $until AND ($board IS NULL OR board_id = $board)
     AND ($people IS NULL OR creator_id IN (SELECT value FROM json_each($people)))
     AND ($statuses = '[]' OR status_id IN (SELECT value FROM json_each($statuses)))`;
const TITLES = `
  SELECT id, title FROM posts WHERE deleted_at IS NULL AND (status_id IS NULL OR NOT ${IS_DUPLICATE}) ORDER BY id DESC LIMIT $most`;
const SAME = 'SELECT post_id, same_as FROM same_posts';
const FACTS = `
  SELECT p.id, p.title, p.votes_count AS votes, s.name AS status FROM posts p LEFT JOIN statuses s ON s.id = p.status_id
   WHERE p.id IN (SELECT value FROM json_each($ids))`;

/** By post: a group of posts that people hold to be the same, directly or by way of others. */
function sameGroups(marks: readonly unknown[][]): Map<number, Set<number>> {
  const groups = new Map<number, Set<number>>();
  for (const [one, other] of marks as [number, number][]) {
    const group = groups.get(one) ?? new Set([one]);
    for (const id of groups.get(other) ?? [other]) {
      group.add(id);
      groups.set(id, group);
    }
    groups.set(one, group);
  }
  return groups;
}

type Tell = (done: number, of: number) => void;
/** Of so many titles or keys one tells how far it is. */
const TOLD = 1000;

function takeApart(rows: Iterable<unknown[]>, all: number, tell: Tell): Titles {
  const stems = new Map<string, number>();
  const known: { titles: number; named: number; last: number; isSmall: boolean }[] = [];
  const [ids, starts, words] = [new Grown(Float64Array), new Grown(Uint32Array), new Grown(Uint32Array)];
  for (const [id, title] of rows as Iterable<[number, string]>) {
    ids.push(id);
    if (ids.length % TOLD === 0) tell(ids.length, all);
    starts.push(words.length);
    for (const { stem, isSmall, isName } of wordsOfTitle(title)) {
      const number = stems.get(stem) ?? stems.size;
      if (number === known.length) {
        stems.set(stem, number);
        known.push({ titles: 0, named: 0, last: 0, isSmall });
      }
      const of = known[number];
      // A title has each word once.
      if (!of || of.last === ids.length) continue;
      of.last = ids.length;
      of.titles++;
      if (isName) of.named++;
      words.push(number);
    }
  }
  starts.push(words.length);
  return {
    ids: ids.done(),
    starts: starts.done(),
    words: words.done(),
    counts: Uint32Array.from(known, ({ titles }) => titles),
    weights: Float32Array.from(known, ({ titles, named, isSmall }) =>
      isSmall ? 0 : weightOf(titles, ids.length) * (2 * named > titles ? NAME : 1),
    ),
  };
}

/** Titles that share two of their rarest words stand side by side after sorting; the most alike of them are kept. */
function mostAlike(
  titles: Titles,
  { most, tell }: { most: number; tell: Tell },
  isWanted: (pair: Pair) => boolean,
): Pair[] {
  const { ids } = titles;
  const keys = sharedKeys(titles);
  const compare = comparison(titles);
  const best = new Map<number, Pair>();
  let least = ALIKE;
  for (let i = 1; i < keys.length; i++) {
    if (i % TOLD === 0) tell(i, keys.length);
    const [hash, older] = partsOf(keys[i]);
    const alike = compare(older);
    for (let j = i - 1; j >= Math.max(0, i - NEIGHBOURS); j--) {
      const [sameHash, newer] = partsOf(keys[j]);
      if (sameHash !== hash) break;
      const likeness = newer === older ? 0 : alike(newer);
      const pair = { post: ids[newer] ?? 0, other: ids[older] ?? 0, likeness };
      if (likeness < least || !isWanted(pair)) continue;
      best.set(newer * MOST_TITLES + older, pair);
      if (best.size >= 2 * most + KEPT) least = cut(best, most);
    }
  }
  cut(best, most);
  return [...best.values()];
}

/** So many pairs more than asked for are kept before the least alike are dropped. */
const KEPT = 1000;

/** Leaves the most alike, in their order, and returns how alike the last of them is. */
function cut(pairs: Map<number, Pair>, most: number): number {
  const sorted = [...pairs].sort(
    ([, a], [, b]) => b.likeness - a.likeness || b.post - a.post || b.other - a.other,
  );
  pairs.clear();
  for (const [key, pair] of sorted.slice(0, most)) pairs.set(key, pair);
  return Math.max(ALIKE, sorted[most - 1]?.[1].likeness ?? 0);
}

/** Compares one title with others, without making anything for each. */
function comparison({ starts, words, weights }: Titles): (one: number) => (other: number) => number {
  /** By stem: the last title that was compared with others and has it, counted from 1. */
  const marks = new Uint32Array(weights.length);
  const [from, to] = [(title: number) => starts[title] ?? 0, (title: number) => starts[title + 1] ?? 0];
  const wordsOf = (title: number): Uint32Array => words.subarray(from(title), to(title));
  const sums = Float64Array.from({ length: starts.length - 1 }, (_, title) =>
    wordsOf(title).reduce((sum, stem) => sum + (weights[stem] ?? 0), 0),
  );
  return (one) => {
    for (let i = from(one); i < to(one); i++) marks[words[i] ?? 0] = one + 1;
    return (other) => {
      let shared = 0;
      for (let i = from(other), end = to(other); i < end; i++)
        if (marks[words[i] ?? 0] === one + 1) shared += weights[words[i] ?? 0] ?? 0;
      const only = (title: number): number => Math.max(0, (sums[title] ?? 0) - shared);
      const likeness = likenessOf(shared, only(one), only(other), false);
      if (likeness < ALIKE || !differsInOnePlace(wordsOf(one), wordsOf(other))) return likeness;
      return likenessOf(shared, only(one), only(other), true);
    };
  };
}

function partsOf(key = 0): [hash: number, place: number] {
  return [Math.floor(key / MOST_TITLES), key % MOST_TITLES];
}

/** For every title each pair of its rarest words with its place, sorted: titles that share a pair stand side by side. */
function sharedKeys({ starts, words, counts, weights }: Titles): Float64Array {
  const keys = new Grown(Float64Array);
  for (let title = 0; title + 1 < starts.length; title++) {
    const rare = [...words.subarray(starts[title], starts[title + 1])]
      .filter((stem) => (weights[stem] ?? 0) > 0 && (counts[stem] ?? 0) > 1)
      .sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0) || a - b)
      .slice(0, RAREST);
    for (const [i, a] of rare.entries())
      for (const b of rare.length === 1 ? [a] : rare.slice(i + 1))
        keys.push(pairHash(Math.min(a, b), Math.max(a, b)) * MOST_TITLES + title);
  }
  return keys.done().sort();
}

function pairHash(a: number, b: number): number {
  return (Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b)) >>> 0;
}

type Numbers = Float64Array | Uint32Array;

/** Numbers one after the other, of which it is not known how many come. */
class Grown<T extends Numbers> {
  #numbers: T;
  length = 0;

  readonly #make: new (
    length: number,
  ) => T;

  constructor(make: new (length: number) => T) {
    this.#make = make;
    this.#numbers = new make(1024);
  }

  push(number: number): void {
    if (this.length === this.#numbers.length) {
      const larger = new this.#make(2 * this.length);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.length++] = number;
  }

  done(): T {
    return this.#numbers.slice(0, this.length) as T;
  }
}
