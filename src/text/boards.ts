import { foldedName, nearest } from './text.ts';

/** A board that can be named: seen on a post, or in a post that was confirmed. */
export interface KnownBoard {
  /** Null where only the short part of its URL is known. */
  id: number | null;
  slug: string;
  name: string;
}

export interface BoardMatch {
  /** The short part of the URL, which the API takes; null where no board, or more than one, is meant. */
  slug: string | null;
  suggestions: string[];
}

const MOST_SUGGESTIONS = 3;
const SLUG = /^[\p{L}\p{N}][\p{L}\p{N}_.~-]*$/u;

/** The boards that a text names: by slug, name or id to the letter, or else without regard to case, accents and punctuation. */
export function boardsCalled<B extends KnownBoard>(boards: readonly B[], given: string): B[] {
  const text = given.trim();
  const forms = new Set([foldedName(text), foldedName(boardSlug(text))]);
  const ways: ((board: B) => boolean)[] = [
    ({ slug }) => slug === text,
    ({ name }) => name === text,
    ({ id }) => id !== null && String(id) === text,
    ({ slug, name }) => [slug, name].some((form) => forms.has(foldedName(form))),
  ];
  for (const isCalled of ways) {
    const found = boards.filter(isCalled);
    if (found.length > 0) return found;
  }
  return [];
}

/** The one board that a text names. Where the boards may not be all, a text that could be a slug is taken for one. */
export function matchBoard(boards: readonly KnownBoard[], text: string, areAll = true): BoardMatch {
  const given = text.trim();
  const [first, ...others] = new Set(boardsCalled(boards, given).map(({ slug }) => slug));
  if (first !== undefined && others.length === 0) return { slug: first, suggestions: [] };
  if (first !== undefined) return { slug: null, suggestions: [first, ...others] };
  const suggestions = suggestionsFor(given, boards);
  if (areAll) return { slug: null, suggestions };
  if (SLUG.test(given)) return { slug: given, suggestions: [] };
  const own = [slugFrom(given)].filter((slug) => slug !== '');
  return { slug: null, suggestions: [...new Set([...suggestions, ...own])] };
}

/** The board that a text names, or the text itself: the upstream decides about a board that the mirror has not seen. */
export function boardNamed(boards: readonly KnownBoard[], text: string): string {
  return matchBoard(boards, text).slug ?? text;
}

/** The short part of a board's URL, also of one that already is just that. */
export function boardSlug(url: string): string {
  return slugOf(url).toLowerCase();
}

/** The last segment of a URL's path, as creates want it. */
export function slugOf(url: string): string {
  const path = url.replace(/[?#].*$/, '').replace(/\/+$/, '');
  return path.slice(path.lastIndexOf('/') + 1);
}

/** People write a board's name where the API wants the short part of its URL: both are looked at, the latter is said. */
function suggestionsFor(text: string, boards: readonly KnownBoard[]): string[] {
  const given = foldedName(text);
  const isPart = ({ slug, name }: KnownBoard): boolean =>
    [slug, name]
      .map(foldedName)
      .some((form) => form.includes(given) || (form !== '' && given.includes(form)));
  const near = nearest(
    text,
    boards.flatMap(({ slug, name }) => [slug, name]),
  );
  const nearBoard = boards.filter(({ slug, name }) => slug === near || name === near);
  const found = [...nearBoard, ...(given === '' ? [] : boards.filter(isPart))].map(({ slug }) => slug);
  return [...new Set(found)].slice(0, MOST_SUGGESTIONS);
}

function slugFrom(text: string): string {
  const plain = text.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '');
  return plain.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '');
}
