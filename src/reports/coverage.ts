import type { Watched } from '../store/reports.ts';
import type { Calendar } from './moment.ts';
import type { Period } from './period.ts';

export interface Coverage {
  /** From when on changes within the period are known; null where they are not known at all. */
  from: string | null;
  /** Why a figure is missing or smaller than expected. */
  notes: string[];
}

/** A sweep a day is enough for figures by the week. */
const FRESH_MS = 86_400_000;

/**
 * Which part of a period the mirror was watching. Its history begins with the end of the first complete sweep, when every post
 * had been seen, and tells nothing before the posts were looked at a second time.
 */
export function coverage({ first, last }: Watched, { since, until }: Period, { spoken }: Calendar): Coverage {
  if (first === null)
    return unknown(
      'No sweep of posts has been completed yet, so changes over time are not known: run "feedback-mirror sync".',
    );
  if (last === null)
    return unknown(
      `The mirror has looked at the posts once, on ${spoken(first)}: how they change is known after the next sweep.`,
    );
  if (until <= first)
    return unknown(
      `The mirror has been watching since ${spoken(first)}: changes before that are not known, and are left empty.`,
    );
  const lag = `The mirror last looked at the posts on ${spoken(last)}: changes after that are not known.`;
  if (since !== null && since >= last) return unknown(lag);
  const notes = Date.parse(until) - Date.parse(last) > FRESH_MS ? [lag] : [];
  if (since !== null && since >= first) return { from: since, notes };
  const young = `The mirror has been watching since ${spoken(first)}: changes before that are not in the figures.`;
  return { from: first, notes: [young, ...notes] };
}

function unknown(note: string): Coverage {
  return { from: null, notes: [note] };
}
