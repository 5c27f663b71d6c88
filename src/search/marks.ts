import type { Term } from '../mirror/index/terms.ts';
import { type Token, tokensOf } from '../text/words.ts';

/** A piece of a text, and whether it is what was looked for. */
export interface Part {
  text: string;
  isMatch: boolean;
}

/** A piece of a text. */
interface Span {
  start: number;
  end: number;
}

/** Where a term stands in a text. */
interface Mark extends Span {
  term: number;
}

/** As much of a text as is looked through for marks; a hostile one of megabytes would take a second. */
const LOOKED_AT = 20_000;
/** So much text around a snippet is read but not shown: it says what is cut in half at the ends. */
const MARGIN = 400;
/** All that is needed of a text, so that long ones need not be held whole: with the last snippet in it, and the margin behind that. */
export const READ_LENGTH = LOOKED_AT + 1000;
/** Parts of `e-mail` or `1,000,000`, which the index holds in one piece too. */
const MOST_PIECES = 4;
const JOINT = /^[-\u2010\u2011,.'’\u00a0\u202f ]$/;

/** Finds terms in shown texts as the index does. Its own highlight() and snippet() take the stored text apart, and the index holds other words. */
export function marker(terms: readonly Term[]): (text: string) => Mark[] {
  const byFirst = new Map<string, { term: number; words: string[] }[]>();
  const open: { term: number; words: string[] }[] = [];
  for (const [term, { phrases, isOpen }] of terms.entries())
    for (const words of isOpen ? phrases.slice(0, 1) : phrases) {
      const [first = ''] = words;
      if (isOpen) open.push({ term, words });
      else byFirst.set(first, [...(byFirst.get(first) ?? []), { term, words }]);
    }
  const longest = Math.max(0, ...[...byFirst.keys()].map((word) => word.length));
  return (text) => {
    const tokens = tokensOf(text.slice(0, LOOKED_AT));
    const marks: Mark[] = [];
    const add = (term: number, from: number, count: number): void => {
      const [first, last] = [tokens[from], tokens[from + count - 1]];
      if (first && last) marks.push({ term, start: first.start, end: last.end });
    };
    for (const i of tokens.keys()) {
      for (const [form, count] of formsAt(text, tokens, i, longest))
        for (const { term, words } of byFirst.get(form) ?? [])
          if (words.length === 1 || (count === 1 && isPhraseAt(tokens, i, words)))
            add(term, i, Math.max(count, words.length));
      for (const { term, words } of open) if (isBeginningAt(tokens, i, words)) add(term, i, words.length);
    }
    return marks;
  };
}

/** The word at a place, and what it makes with those that a hyphen or a separator of numbers joins to it, up to so many letters. */
function formsAt(
  text: string,
  tokens: readonly Token[],
  at: number,
  longest: number,
): [form: string, count: number][] {
  const forms: [string, number][] = [];
  let form = '';
  for (let count = 1; count <= MOST_PIECES; count++) {
    const [before, token] = [tokens[at + count - 2], tokens[at + count - 1]];
    if (!token || (count > 1 && before && !JOINT.test(text.slice(before.end, token.start)))) break;
    form += token.word;
    if (form.length > longest) break;
    forms.push([form, count]);
  }
  return forms;
}

function isPhraseAt(tokens: readonly Token[], at: number, words: readonly string[]): boolean {
  return words.every((word, i) => tokens[at + i]?.word === word);
}

function isBeginningAt(tokens: readonly Token[], at: number, words: readonly string[]): boolean {
  return words.every((word, i) =>
    i === words.length - 1 ? tokens[at + i]?.word.startsWith(word) : tokens[at + i]?.word === word,
  );
}

/** The whole text in pieces. */
export function highlighted(text: string, marks: readonly Mark[]): Part[] {
  return pieces(text, marks, 0, text.length);
}

const SNIPPET = 180;
const BEFORE = 60;

/** A piece of a text with some of what stands around it; where that ends a sign or a word may be cut in half. */
export interface Excerpt extends Span {
  text: string;
}

/** The place of a text that has most of the terms, or how it begins. */
export function snippetOf(text: string, marks: readonly Mark[]): { parts: Part[]; excerpt: Excerpt } {
  const { start, end } = snippetSpan(text, marks);
  const dots = (is: boolean): Part[] => (is ? [{ text: '…', isMatch: false }] : []);
  const from = Math.max(0, start - MARGIN);
  return {
    parts: [...dots(start > 0), ...pieces(text, marks, start, end), ...dots(end < text.length)],
    excerpt: { text: text.slice(from, end + MARGIN), start: start - from, end: end - from },
  };
}

function snippetSpan(text: string, marks: readonly Mark[]): Span {
  if (text.length <= SNIPPET + BEFORE) return { start: 0, end: text.length };
  const focus = focusOf(marks);
  const start = focus === null || focus <= BEFORE ? 0 : wordStart(text, focus - BEFORE);
  return { start, end: start + SNIPPET >= text.length ? text.length : wordEnd(text, start + SNIPPET) };
}

function focusOf(marks: readonly Mark[]): number | null {
  let [best, most] = [null as number | null, 0];
  for (const { start } of marks) {
    const near = new Set(
      marks
        .filter((mark) => mark.start >= start && mark.end <= start + SNIPPET - BEFORE)
        .map(({ term }) => term),
    );
    if (near.size > most) [best, most] = [start, near.size];
  }
  return best;
}

/** At a space nearby; a text without spaces is cut between signs, and never within a pair of surrogates. */
function wordStart(text: string, at: number): number {
  const space = text.slice(at, at + 20).search(/\s/);
  return space >= 0 ? at + space + 1 : at + Number(isLowSurrogate(text, at));
}

function wordEnd(text: string, at: number): number {
  const space = text.slice(at - 20, at).search(/\s\S*$/);
  return space >= 0 ? at - 20 + space : at + Number(isLowSurrogate(text, at));
}

function isLowSurrogate(text: string, at: number): boolean {
  return /[\udc00-\udfff]/.test(text[at] ?? '');
}

function pieces(text: string, marks: readonly Mark[], from: number, to: number): Part[] {
  const parts: Part[] = [];
  const add = (piece: string, isMatch: boolean): void => {
    if (piece !== '') parts.push({ text: piece, isMatch });
  };
  let at = from;
  for (const { start, end } of united(marks)) {
    if (start < from || end > to) continue;
    add(text.slice(at, start), false);
    add(text.slice(start, end), true);
    at = end;
  }
  add(text.slice(at, to), false);
  return parts;
}

/** In order, none within another, and signs side by side in one piece. */
function united(marks: readonly Mark[]): Span[] {
  const spans: Span[] = [];
  for (const { start, end } of marks.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = spans.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else spans.push({ start, end });
  }
  return spans;
}
