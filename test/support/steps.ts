import type { Comment, Post } from '../../src/contract/decode.ts';
import type { Resource } from '../../src/contract/endpoints.ts';
import type { MirrorStore } from '../../src/store/mirror/store.ts';
import type {
  Absence,
  Conclusion,
  Gap,
  KeyRange,
  PageResult,
  PageRows,
  PageWrite,
  Pass,
  PassEnd,
  PassStart,
  PassSummary,
} from '../../src/store/mirror/types.ts';
import { minute } from './rows.ts';

/** The steps of a pass, with what a test does not care about filled in. Times are minutes of the story. */

export const EVERYWHERE: KeyRange = { above: null, below: null };

export function between(low: number, high: number): KeyRange {
  return { above: { created: '', id: low }, below: { created: '', id: high } };
}

/** Gaps with a neighbour on each side, unless told otherwise. */
export function gaps(ranges: KeyRange[], kind: Gap['kind'] = 'inside'): Absence {
  return { by: 'id', gaps: ranges.map((range) => ({ range, kind, page: '', pageBefore: null })) };
}

const SAID = { why: 'the test says so', moved: false, sameEnd: true, timed: null };
export const PROOF: Conclusion = { rule: 'proof', sweeps: 2, ...SAID };
export const THREE_SWEEPS: Conclusion = { rule: 'three sweeps', sweeps: 3, ...SAID };

export function begin(store: MirrorStore, resource: Resource, at = 0, rest: Partial<PassStart> = {}): Pass {
  return store.beginPass({ resource, mode: 'sweep', now: minute(at), resume: true, ...rest });
}

export function apply(
  store: MirrorStore,
  pass: Pass,
  rows: readonly (Post | Comment)[],
  at = 0,
  rest: Partial<PageWrite> = {},
): PageResult {
  const page = { resource: pass.resource, rows } as PageRows;
  const plain = { rejects: [], absence: null, keepIds: false, state: null };
  return store.applyPage({ pass, page, observedAt: minute(at), now: minute(at), ...plain, ...rest });
}

export function finish(store: MirrorStore, pass: Pass, at = 0, rest: Partial<PassEnd> = {}): PassSummary {
  const plain = { error: null, keepState: null, conclusion: null, acceptDeletes: false };
  return store.finishPass({ pass, outcome: 'complete', now: minute(at), ...plain, ...rest });
}

/** One sweep of one page, read twice, that shows the absence of everything it does not show. */
export function oneSweep(
  store: MirrorStore,
  resource: Resource,
  rows: readonly (Post | Comment)[],
  at = 0,
  rest: Partial<PassEnd> = {},
): PassSummary {
  const pass = begin(store, resource, at, { resume: false });
  const {
    pages,
    rows: read,
    unchanged,
  } = apply(store, pass, rows, at, { absence: gaps([EVERYWHERE]) }).counts;
  apply(store, pass, rows, at, { absence: gaps([EVERYWHERE]) });
  Object.assign(pass.counts, { pages, rows: read, unchanged });
  return finish(store, pass, at, { conclusion: PROOF, ...rest });
}

/** The same, and once more where rows are missing: then they have been missing long enough. */
export function sweep(...args: Parameters<typeof oneSweep>): PassSummary {
  const first = oneSweep(...args);
  if (first.outcome !== 'complete' || first.suspects + first.held === 0) return first;
  const { deleted, held, suspects } = oneSweep(...args);
  return { ...first, deleted: first.deleted + deleted, held, suspects };
}

/** A whole sweep of a list whose order proves nothing: the ids of its pages are kept and counted. */
export function unorderedSweep(
  store: MirrorStore,
  resource: Resource,
  pages: readonly (readonly (Post | Comment)[])[],
  at = 0,
  rest: Partial<PassEnd> = {},
): PassSummary {
  const pass = begin(store, resource, at, { resume: false });
  for (const rows of pages) apply(store, pass, rows, at, { keepIds: true });
  return finish(store, pass, at, { conclusion: THREE_SWEEPS, ...rest });
}
