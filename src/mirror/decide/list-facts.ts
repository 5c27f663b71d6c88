import { type Learned, NOTHING_LEARNED } from './absence.ts';

/** What passes have learned about a list. */
export interface ListFacts {
  absences: Learned;
  /** When the last sweep that counts had read the list; null before the first. */
  readAt: number | null;
  /** Whether new rows come on the first pages, where a head pass finds them; null while it is not known. */
  newRows: 'start' | 'elsewhere' | null;
}

const NO_FACTS: ListFacts = { absences: NOTHING_LEARNED, readAt: null, newRows: null };

export function readFacts(text: string | null): ListFacts {
  return text === null ? NO_FACTS : (JSON.parse(text) as ListFacts);
}
