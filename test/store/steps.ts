import type { Comment, Post } from '../../src/contract/decode.ts';
import type { Resource } from '../../src/contract/endpoints.ts';
import type {
  KeyRange,
  MirrorStore,
  PageResult,
  PageRows,
  PageWrite,
  Pass,
  PassEnd,
  PassStart,
  PassSummary,
} from '../../src/store/mirror/seam.ts';
import { minute } from './rows.ts';

/** The steps of a pass, with what a test does not care about filled in. Times are minutes of the story. */

export const EVERYWHERE: KeyRange = { above: null, below: null };

export function between(low: number, high: number): KeyRange {
  return { above: { created: '', id: low }, below: { created: '', id: high } };
}

export function begin(
  store: MirrorStore,
  resource: Resource,
  at = 0,
  rest: Partial<PassStart> = {},
): Promise<Pass> {
  return store.beginPass({ resource, mode: 'sweep', now: minute(at), resume: true, ...rest });
}

export function apply(
  store: MirrorStore,
  pass: Pass,
  rows: readonly (Post | Comment)[],
  at = 0,
  rest: Partial<PageWrite> = {},
): Promise<PageResult> {
  const page = { resource: pass.resource, rows } as PageRows;
  const plain = { rejects: [], absence: null, keepIds: false, state: null };
  return store.applyPage({ pass, page, observedAt: minute(at), ...plain, ...rest });
}

export function finish(
  store: MirrorStore,
  pass: Pass,
  at = 0,
  rest: Partial<PassEnd> = {},
): Promise<PassSummary> {
  const plain = { error: null, keepState: null, conclude: 'nothing', acceptDeletes: false } as const;
  return store.finishPass({ pass, outcome: 'complete', now: minute(at), ...plain, ...rest });
}

/** A whole sweep of one page that proves the absence of everything it does not show. */
export async function sweep(
  store: MirrorStore,
  resource: Resource,
  rows: readonly (Post | Comment)[],
  at = 0,
  rest: Partial<PassEnd> = {},
): Promise<PassSummary> {
  const pass = await begin(store, resource, at, { resume: false });
  const absence = { by: 'id', proven: [EVERYWHERE], suspected: null } as const;
  await apply(store, pass, rows, at, { absence: { ...absence, proven: [EVERYWHERE] } });
  return finish(store, pass, at, { conclude: 'proven', ...rest });
}

/** A whole sweep of a list whose order proves nothing: the ids of its pages are kept and counted. */
export async function unorderedSweep(
  store: MirrorStore,
  resource: Resource,
  pages: readonly (readonly (Post | Comment)[])[],
  at = 0,
  rest: Partial<PassEnd> = {},
): Promise<PassSummary> {
  const pass = await begin(store, resource, at, { resume: false });
  for (const rows of pages) await apply(store, pass, rows, at, { keepIds: true });
  return finish(store, pass, at, { conclude: 'missing', ...rest });
}
