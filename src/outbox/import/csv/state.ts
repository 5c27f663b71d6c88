import { foldedName } from '../../../text/text.ts';
import { CLOSED_PHRASES, CLOSED_WORDS, NOT_YET, wordsOf } from './vocabulary.ts';

/** A column that says how far a post is. */
export interface StateColumn {
  header: string;
  index: number;
  /** `state`: its words say it. `closing`: the header says that the work is over; the cell says when, or whether. */
  role: 'state' | 'closing';
}

/** What a row says about the work on it. */
export interface RowState {
  /** In the words of the file: "Done", or "Archived: true". */
  text: string;
  isClosed: boolean;
}

/** Whether a word for a state says that the work is over. One that is not known is open. */
export function isClosedState(text: string): boolean {
  const name = foldedName(text);
  const words = wordsOf(text);
  if (CLOSED_PHRASES.has(name)) return true;
  // "Not done" is open, and "Closed, not planned" is closed: what comes before the word counts.
  const at = words.findIndex((word) => CLOSED_WORDS.has(word));
  const before = { name, words: at < 0 ? words : words.slice(0, at) };
  return CLOSED_WORDS.isIn({ name, words }) && !NOT_YET.isIn(before);
}

/** What a column whose header says "closed" holds where it is not. */
const NO =
  /^(|0|-|no|n|false|none|null|nein|falsch|non|faux|falso|não|nee|onwaar|nie|fałsz|いいえ|否|false|unresolved|open)$/iu;

/** Redmine's "% done": a share of the work, and no yes. */
const PART = /^([2-9]|[1-9]\d)([.,]\d+)?\s*%?$/;

/** The state of a row: a column that says that it is over goes before one that does not. Null where no column says anything. */
export function stateReader(columns: readonly StateColumn[]): (cells: readonly string[]) => RowState | null {
  // A file has few states and many rows.
  const known = new Map<string, boolean>();
  const isClosedText = (text: string): boolean => {
    const isClosed = known.get(text) ?? isClosedState(text);
    if (known.size < 1000) known.set(text, isClosed);
    return isClosed;
  };
  return (cells) => {
    let open: RowState | null = null;
    for (const { header, index, role } of columns) {
      const text = cells[index]?.trim() ?? '';
      const isClosed = role === 'closing' ? !NO.test(text) && !PART.test(text) : isClosedText(text);
      if (isClosed) return { text: role === 'closing' ? header : text, isClosed };
      if (role === 'state' && text !== '') open ??= { text, isClosed };
    }
    return open;
  };
}
