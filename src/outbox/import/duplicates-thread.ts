import { parentPort, workerData } from 'node:worker_threads';
import { toldFailure } from '../../base/errors.ts';
import type { OpenOptions } from '../../db/open.ts';
import { withoutMarkup } from '../../text/markup.ts';
import { distinctWords, fold } from '../../text/words.ts';
import { openImportReads } from '../store/imports.ts';
import type { ComparedRow, Duplicate, DuplicateKind, ThreadFindings } from './duplicates.ts';
import { ExactPosts, FieldIndex, WordNumbers } from './word-index.ts';

/** As much of a text as tells it from others. */
const TEXT_WORDS = 60;
const TEXT_CHARACTERS = 2000;
/** How much of two titles must be shared; of two texts more, because long ones of a language are alike anyway. */
const ALIKE_TITLE = 0.7;
const ALIKE_TEXT = 0.8;
const SAME = 0.95;
/** A shorter text, such as "please!", may be under any title. */
const SHORTEST_TEXT = 40;

/** Between title and text, where both count. */
const THEN = -1;

interface Best {
  post: number;
  kind: DuplicateKind;
  score: number;
}

const RANK: Record<DuplicateKind, number> = { same: 2, title: 1, content: 0 };

type Posts = ReturnType<typeof readPosts>;

/** All live posts, by their words. */
function readPosts(mirror: OpenOptions) {
  const vocabulary = new WordNumbers();
  const [titles, contents] = [new FieldIndex(), new FieldIndex()];
  const posts: { id: number; title: string }[] = [];
  const idsOf = (text: string): number[] => {
    const words = [...distinctWords(text.slice(0, TEXT_CHARACTERS))].slice(0, TEXT_WORDS);
    return words.map((word) => vocabulary.add(word));
  };
  const reads = openImportReads(mirror);
  for (const { id, title, content } of reads?.livePosts() ?? []) {
    titles.add(idsOf(title));
    contents.add(idsOf(content));
    posts.push({ id, title });
  }
  reads?.close();
  for (const index of [titles, contents]) index.close(vocabulary.letters.length);
  return { titles, contents, posts, idsOf, letters: vocabulary.letters };
}

/** The posts that may be like a row: those with exactly its words, and those that share most of the rare ones. */
function openCandidates({ titles, contents, posts, letters }: Posts) {
  const byTitle = new ExactPosts(posts.length, (post) => titles.wordsOf(post));
  const byText = new ExactPosts(posts.length, (post) => contents.wordsOf(post));
  const byBoth = new ExactPosts(posts.length, (post) => [
    ...titles.wordsOf(post),
    THEN,
    ...contents.wordsOf(post),
  ]);
  return (ours: readonly number[], text: readonly number[]): Set<number> =>
    new Set([
      ...(ours.length > 0 ? byBoth.find([...ours, THEN, ...text]) : []),
      ...byTitle.find(ours),
      ...byText.find(text),
      ...titles.candidates(ours, letters),
      ...contents.candidates(text, letters),
    ]);
}

function openComparison(mirror: OpenOptions): (row: ComparedRow) => Duplicate | null {
  const known = readPosts(mirror);
  const { titles, contents, posts, idsOf, letters } = known;
  const candidates = openCandidates(known);
  return ({ line, title, content }) => {
    const [ours, text] = [idsOf(title), idsOf(content)];
    let best: Best | null = null;
    for (const post of candidates(ours, text)) {
      const match = compare(likeness(ours, titles.wordsOf(post), letters), {
        score: likeness(text, contents.wordsOf(post), letters),
        letters: sum(text, letters),
        isSameTitle: () => isSameTitle(title, posts[post]?.title ?? ''),
      });
      if (match && isBetter(match, best)) best = { post, ...match };
    }
    const post = best && posts[best.post];
    return best && post
      ? { line, title, kind: best.kind, score: best.score, postId: post.id, postTitle: post.title }
      : null;
  };
}

function isBetter(match: Omit<Best, 'post'>, best: Best | null): boolean {
  if (!best || match.kind !== best.kind) return !best || RANK[match.kind] > RANK[best.kind];
  return match.score > best.score;
}

function isSameTitle(one: string, other: string): boolean {
  return one === other || titleKey(one) === titleKey(other);
}

/** Words do not tell "C#" from "C++", one flag from another, or "Show it" from "Do not show it", whose small words do not count. */
function titleKey(title: string): string {
  const signs = withoutMarkup(title)
    .normalize('NFKC')
    .replace(/[\p{L}\p{N}\p{M}\s.,;:!?'"…“”‘’()]/gu, '');
  return JSON.stringify([fold(title).replace(/[^\p{L}\p{N}\p{M}]/gu, ''), signs]);
}

interface TextMatch {
  score: number;
  letters: number;
  isSameTitle(): boolean;
}

function compare(title: number, text: TextMatch): Omit<Best, 'post'> | null {
  if (title >= SAME && text.score >= SAME && text.isSameTitle())
    return { kind: 'same', score: Math.min(title, text.score) };
  if (title >= ALIKE_TITLE) return { kind: 'title', score: title };
  return text.score >= ALIKE_TEXT && text.letters >= SHORTEST_TEXT
    ? { kind: 'content', score: text.score }
    : null;
}

/** The same measure as `likeness` of `base/words.ts`, over numbers; two empty texts are the same. */
function likeness(ours: readonly number[], theirs: Int32Array, letters: readonly number[]): number {
  if (ours.length === 0 && theirs.length === 0) return 1;
  const all = sum(ours, letters) + sum(theirs, letters);
  let shared = 0;
  for (const word of ours) if (theirs.includes(word)) shared += letters[word] ?? 0;
  return (2 * shared) / all;
}

function sum(words: Iterable<number>, letters: readonly number[]): number {
  let total = 0;
  for (const word of words) total += letters[word] ?? 0;
  return total;
}

let comparison: ReturnType<typeof openComparison> | undefined;

function answer(rows: readonly ComparedRow[]): ThreadFindings {
  try {
    comparison ??= openComparison(workerData as OpenOptions);
    const compared = comparison;
    return { found: rows.map((row) => compared(row)).filter((match) => match !== null) };
  } catch (error) {
    return { failure: toldFailure(error) };
  }
}

parentPort?.on('message', (rows: ComparedRow[]) => parentPort?.postMessage(answer(rows)));
