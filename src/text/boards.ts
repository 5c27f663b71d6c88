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

/**
 * The board that a text names: by slug, name or id, without regard to case, accents and punctuation. Two boards that are spelt so
 * alike are told apart by the exact slug or name only. Where the boards may not be all, a text that could be a slug is taken for one.
 */
export function boardMatcher(boards: readonly KnownBoard[], areAll = true): (text: string) => BoardMatch {
  const bySlug = new Set(boards.map(({ slug }) => slug));
  const byForm = new Map<string, Set<string>>();
  for (const { id, slug, name } of boards)
    for (const form of [slug, name, ...(id === null ? [] : [String(id)])]) {
      const key = foldedName(form);
      byForm.set(key, (byForm.get(key) ?? new Set()).add(slug));
    }
  return (text) => {
    const given = text.trim();
    if (bySlug.has(given)) return { slug: given, suggestions: [] };
    // C++ and C# are the same without their signs.
    const [named, ...namesakes] = boards.filter(({ name }) => name === given);
    if (named && namesakes.length === 0) return { slug: named.slug, suggestions: [] };
    const found = [given, boardSlug(given)].flatMap((form) => [...(byForm.get(foldedName(form)) ?? [])]);
    const [first, ...others] = new Set(found);
    if (first !== undefined && others.length === 0) return { slug: first, suggestions: [] };
    if (first !== undefined) return { slug: null, suggestions: [first, ...others] };
    if (areAll) return { slug: null, suggestions: suggestionsFor(given, boards) };
    if (SLUG.test(given)) return { slug: given, suggestions: [] };
    const own = [slugFrom(given)].filter((slug) => slug !== '');
    return { slug: null, suggestions: [...new Set([...suggestionsFor(given, boards), ...own])] };
  };
}

/** The board that a text names, or the text itself: the upstream decides about a board that the mirror has not seen. */
export function boardNamed(boards: readonly KnownBoard[], text: string): string {
  return boardMatcher(boards)(text).slug ?? text;
}

/** The short part of a board's URL, also of one that already is just that. */
export function boardSlug(url: string): string {
  const path = url.replace(/[?#].*$/, '').replace(/\/+$/, '');
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase();
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
