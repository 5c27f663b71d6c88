import { hash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { plainFailure } from '../../base/errors.ts';
import type { OpenOptions } from '../../db/open.ts';
import { withoutMarkup } from '../../text/markup.ts';
import { distinctWords, fold, likeness } from '../../text/words.ts';
import { openImportReads } from '../store/imports.ts';
import type { ComparedRow, Duplicate, DuplicateKind, ThreadFindings } from './duplicates.ts';

/** As much of a text as tells it from others. */
const TEXT_CHARACTERS = 2000;
/** How much of two titles must be shared. */
const ALIKE_TITLE = 0.7;
/** A shorter text, such as "please!", may be under any title. */
const SHORTEST_TEXT = 40;
/** Entries of the index that are looked at for one row: the rarest words first. */
const MOST_ENTRIES = 5000;
/** How many of the posts that share most with a row are compared word for word. */
const CANDIDATES = 8;

interface Text {
  title: string;
  content: string;
}

type Known = Text & { id: number };

/** All live posts: by the words of their titles, and by what titles and texts say. */
function readPosts(mirror: OpenOptions) {
  const posts: { id: number; title: string; text: string }[] = [];
  const byWord = new Map<string, number[]>();
  const bySaying = new Map<string, number>();
  const add = ({ id, title, content }: Known): void => {
    const post = posts.push({ id, title, text: textKey(content) }) - 1;
    for (const saying of sayings({ title, content })) if (!bySaying.has(saying)) bySaying.set(saying, post);
    for (const word of distinctWords(title)) {
      const having = byWord.get(word);
      if (having) having.push(post);
      else byWord.set(word, [post]);
    }
  };
  const reads = openImportReads(mirror);
  for (const post of reads?.livePosts() ?? []) add(post);
  reads?.close();
  return { posts, byWord, bySaying };
}

/** Words do not tell "C#" from "C++", one flag from another, or "Show it" from "Do not show it", whose small words do not count. */
function titleKey(title: string): string {
  const signs = withoutMarkup(title)
    .normalize('NFKC')
    .replace(/[\p{L}\p{N}\p{M}\s.,;:!?'"…“”‘’()]/gu, '');
  return digest(fold(title).replace(/[^\p{L}\p{N}\p{M}]/gu, ''), signs);
}

function textKey(content: string): string {
  return digest(...distinctWords(content.slice(0, TEXT_CHARACTERS)));
}

function digest(...parts: string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64').slice(0, 16);
}

/** Keys by which equal posts are found: title and text together, then each alone. */
function sayings({ title, content }: Text): string[] {
  const [ours, text] = [titleKey(title), textKey(content)];
  return [`${ours} ${text}`, `title ${ours}`, `text ${text}`];
}

/** The posts that share most letters in rare words with a title. */
function candidatesFor(words: ReadonlySet<string>, byWord: ReadonlyMap<string, number[]>): number[] {
  const known = [...words].map((word) => ({ word, posts: byWord.get(word) ?? [] }));
  known.sort((a, b) => a.posts.length - b.posts.length);
  const shared = new Map<number, number>();
  let left = MOST_ENTRIES;
  for (const { word, posts } of known) {
    if (left <= 0) break;
    left -= posts.length;
    for (const post of posts) shared.set(post, (shared.get(post) ?? 0) + word.length);
  }
  let most = 0;
  for (const letters of shared.values()) most = Math.max(most, letters);
  // Thousands share one word, and few share as much as half of what the best does.
  const many = [...shared].filter(([, letters]) => 2 * letters >= most);
  const best = many.sort(([, a], [, b]) => b - a).slice(0, CANDIDATES);
  return best.map(([post]) => post);
}

const RANK: Record<DuplicateKind, number> = { same: 2, title: 1, content: 0 };

/** For each row the post of the mirror that it is most like. */
export function openComparison(mirror: OpenOptions): (row: ComparedRow) => Duplicate | null {
  const { posts, byWord, bySaying } = readPosts(mirror);
  return ({ line, title, content }) => {
    const [words, text, ours] = [distinctWords(title), textKey(content), titleKey(title)];
    const exact = sayings({ title, content }).flatMap((saying) => bySaying.get(saying) ?? []);
    const found = [...new Set([...exact, ...candidatesFor(words, byWord)])].flatMap((at): Duplicate[] => {
      const post = posts[at];
      if (!post) return [];
      const isSameTitle = titleKey(post.title) === ours;
      const score = isSameTitle ? 1 : likeness(words, distinctWords(post.title));
      const told = { line, title, postId: post.id, postTitle: post.title };
      if (isSameTitle && post.text === text) return [{ ...told, kind: 'same', score }];
      if (score >= ALIKE_TITLE) return [{ ...told, kind: 'title', score }];
      const isText = post.text === text && content.length >= SHORTEST_TEXT;
      return isText ? [{ ...told, kind: 'content', score: 1 }] : [];
    });
    const [best = null] = found.sort((a, b) => RANK[b.kind] - RANK[a.kind] || b.score - a.score);
    return best;
  };
}

let comparison: ReturnType<typeof openComparison> | undefined;

function answer(rows: readonly ComparedRow[]): ThreadFindings {
  try {
    comparison ??= openComparison(workerData as OpenOptions);
    const compared = comparison;
    return { found: rows.map((row) => compared(row)).filter((match) => match !== null) };
  } catch (error) {
    return { failure: plainFailure(error) };
  }
}

parentPort?.on('message', (rows: ComparedRow[]) => parentPort?.postMessage(answer(rows)));
