import { withoutFormulaGuards } from '../../text/csv.ts';
import { caseFolded, emailKey } from '../../text/email.ts';
import { plainForm } from '../../text/text.ts';
import type { FileMatches, NewRow, PostText, StoredRow } from './types.ts';

/**
 * Is a row of a file one that the outbox has? A row is known by its key, by the key that an earlier version gave it, or by its words, board
 * and person. The board may be called by its short name today and by its number tomorrow, and a column of keys may come or go. The words
 * are those that the row came with, also where a person has edited it since. Rows with two keys are two rows, unless the row has the other
 * key in another column. Of rows that say the same, each is met once by a file. `store/source.ts` looks up the rows that are asked about.
 */

/** Only a row that was never sent: what may have left a post waits for a person who looks at it. */
export function canRevive(found: StoredRow, { wasCancelled }: Pick<NewRow, 'wasCancelled'>): boolean {
  const { state, attempts, was_ambiguous, erased_at } = found;
  return (
    wasCancelled === true &&
    state === 'cancelled' &&
    attempts === 0 &&
    was_ambiguous === 0 &&
    erased_at === null
  );
}

/** The upstream certainly has no post of a row that it rejected: other words under its key are that row, corrected in the file. */
export function isCorrectable({ state, was_ambiguous }: StoredRow): boolean {
  return state === 'rejected' && was_ambiguous === 0;
}

/** Whether a row with these words can be this one, in a file that has gained or lost a column. */
export function isOtherForm(each: StoredRow, row: NewRow, fileMatches: FileMatches): boolean {
  if (!isKeyless(each)) return isKeyless(row) ? !fileMatches.hasKeys : hasCell(row, keyOf(each, fileMatches));
  // What is written alike is told apart by its count alone: another row of the file may be that one.
  return !isKeyless(row) || spellingOf(each.source_key) !== spellingOf(row.source_key);
}

/** The key of a row without one of its own, but for its count. */
export function spellingOf(key: string): string {
  return key.replace(/:\d+$/, '');
}

/** Without a key of the person's own: named by its content. */
export function isKeyless({ source_key }: Pick<NewRow, 'source_key'>): boolean {
  return source_key.startsWith('row:');
}

/** Without the tool's name: its export may lack the columns by which it is recognised. */
function keyOf({ source_key }: StoredRow, { tools }: FileMatches): string {
  const [, tool = '', key = ''] = /^key:([^:]*):(.*)$/s.exec(source_key) ?? [];
  return tools.has(tool) ? key : source_key.slice('key:'.length);
}

function hasCell({ cells = [] }: NewRow, key: string): boolean {
  return cells.some((cell) => cell.trim() === key);
}

export const hashesOf = ({ content_hash, other_hashes = [] }: NewRow): string[] => [
  content_hash,
  ...other_hashes,
];

/** The digits of a key without the zeros before them; null for a key of another kind. */
export function keyNumber({ source_key }: Pick<NewRow, 'source_key'>): string | null {
  return /^key:0*(\d+)$/.exec(source_key)?.[1] ?? null;
}

export const isPadded = ({ source_key }: Pick<NewRow, 'source_key'>): boolean =>
  source_key.startsWith('key:0');

/** Line ends, spaces and accents as another system may write them, without the apostrophe that guards against formulas. */
export const wordForm = (text: string): string => plainForm(withoutFormulaGuards(text));

/** Title, text and person; capitals of an address do not count. */
function isSameWords(a: PostText, b: PostText): boolean {
  return (
    (['title', 'content'] as const).every((name) => isAlike(a[name], b[name], wordForm)) &&
    isAlike(a.email, b.email, (email) => emailKey(withoutFormulaGuards(email)))
  );
}

/** Whether two names mean one board, as far as the mirror knows: a board can have another short name since. */
export type SameBoard = (a: string, b: string) => boolean;

export function isSamePost(a: PostText, b: PostText, isSameBoard: SameBoard): boolean {
  return isSameWords(a, b) && (isAlike(a.board, b.board, wordForm) || isSameBoard(a.board, b.board));
}

/** The same post in the same person's name, as it is written. */
export function isSameText(a: PostText, b: PostText, isSameBoard: SameBoard): boolean {
  return (
    isSamePost(a, b, isSameBoard) && isAlike(a.full_name, b.full_name, (name) => caseFolded(wordForm(name)))
  );
}

/** A row whose words were erased since; the hash of its words still finds it. */
export function isErasedFrom({ erased_at, email }: StoredRow, row: NewRow): boolean {
  return erased_at !== null && isAlike(email, row.email, emailKey);
}

function isAlike(a: string | null, b: string | null, form: (text: string) => string): boolean {
  return a === b || (a !== null && b !== null && form(a) === form(b));
}
