import type { Comment, Post } from '../../src/contract/decode.ts';
import type { Resource } from '../../src/contract/endpoints.ts';
import { judgeAbsences } from '../../src/mirror/decide/absence.ts';
import { readFacts } from '../../src/mirror/decide/list-facts.ts';
import type {
  PageResult,
  PageRows,
  PageWrite,
  Pass,
  PassEnd,
  PassStart,
  PassSummary,
} from '../../src/mirror/decide/types.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { minute } from './rows.ts';

/** The steps of a pass, with what a test does not care about filled in. Times are minutes of the story. */

type Rows = readonly (Post | Comment)[];

/** The first and last rows of a list need the most sweeps, above all after one of them came back. */
const MOST_SWEEPS = 12;

export function begin(store: MirrorStore, resource: Resource, at = 0, rest: Partial<PassStart> = {}): Pass {
  return store.beginPass({ resource, mode: 'sweep', now: minute(at), resume: true, ...rest });
}

export function apply(
  store: MirrorStore,
  pass: Pass,
  rows: Rows,
  at = 0,
  rest: Partial<PageWrite> = {},
): PageResult {
  const page = { resource: pass.resource, rows } as PageRows;
  const plain = { rejects: [], shown: null, state: null };
  return store.applyPage({ pass, page, observedAt: minute(at), now: minute(at), ...plain, ...rest });
}

/** A page of a sweep that says which rows the list has. */
export function show(
  store: MirrorStore,
  pass: Pass,
  rows: Rows,
  at = 0,
  rest: Partial<PageWrite> = {},
): PageResult {
  return apply(store, pass, rows, at, { shown: rows.map(({ id }) => id), ...rest });
}

export function finish(store: MirrorStore, pass: Pass, at = 0, rest: Partial<PassEnd> = {}): PassSummary {
  return store.finishPass({ pass, outcome: 'complete', now: minute(at), ...rest });
}

/** Ends a sweep that has reached the end of its list: rows that it did not show are missing. */
export function conclude(store: MirrorStore, pass: Pass, at = 0, rest: Partial<PassEnd> = {}): PassSummary {
  const facts = readFacts(store.learnedOf(pass.resource));
  const verdict = judgeAbsences(store.evidence(pass, facts.absences));
  const learned = JSON.stringify({ ...facts, absences: verdict.learned, readAt: minute(at) });
  return finish(store, pass, at, { verdict, learned, ...rest });
}

/** One sweep of a list with these pages. */
export function sweepPages(
  store: MirrorStore,
  resource: Resource,
  pages: readonly Rows[],
  at = 0,
  rest: Partial<PassEnd> = {},
): PassSummary {
  const pass = begin(store, resource, at, { resume: false });
  for (const rows of pages) show(store, pass, rows, at);
  return conclude(store, pass, at, rest);
}

/** One sweep of a list of one page. */
export function oneSweep(
  store: MirrorStore,
  resource: Resource,
  rows: Rows,
  at = 0,
  rest: Partial<PassEnd> = {},
): PassSummary {
  return sweepPages(store, resource, [rows], at, rest);
}

/** The same, and again while rows are missing: until they are deleted or held. */
export function sweep(...args: Parameters<typeof oneSweep>): PassSummary {
  const first = oneSweep(...args);
  let last = first;
  let deleted = first.deleted;
  for (let sweeps = 1; last.outcome === 'complete' && last.suspects > 0 && sweeps < MOST_SWEEPS; sweeps++) {
    last = oneSweep(...args);
    deleted += last.deleted;
  }
  return { ...first, deleted, held: last.held, suspects: last.suspects };
}
