import { setImmediate } from 'node:timers/promises';
import { fetchAhead, type ReadPage } from './ahead.ts';
import { Failure } from './failure.ts';
import { idMemory } from './id-memory.ts';
import { type Arrived, opened, type Page } from './page.ts';

export interface WalkOptions {
  signal?: AbortSignal | undefined;
  /** Where to resume: the `cursor` of an earlier page. */
  from?: string | undefined;
  /** Pages under way while one is worked on; more than 1 only where `next` is a plain number. */
  ahead?: number | undefined;
  /** Whether an id is new to this walk, where the caller already keeps track of them. */
  isNewId?: ((id: number) => boolean) | undefined;
}

/**
 * Turns of the loop until a request has left on a connection that was just used: undici looks twice whether the other end has closed
 * it. Without them the request would wait until the page before it is written.
 */
const TURNS_TO_SEND = 3;

/** So many pages in a row without a new id mean that the upstream goes in circles. */
const STALE_PAGES = 3;

/** The pages of a list in order, each following one under way while the current one is worked on. */
export async function* walk<T extends { id: number }>(
  read: ReadPage<T>,
  { signal, from = '', ahead = 1, isNewId }: WalkOptions,
  explain: (failure: Failure, page: Page<T>) => Error,
): AsyncGenerator<Page<T>, void, undefined> {
  signal?.throwIfAborted();
  const pages = fetchAhead(read, ahead, signal);
  const check = circleCheck<T>(from, isNewId);
  try {
    let cursor: string | null = from;
    for (let number = 1; cursor !== null; number++) {
      const arrived: Arrived<T> = await pages.take(cursor, number);
      const leadsBack = check.next(arrived);
      // Before the rows are decoded and worked on, so that the upstream works meanwhile.
      if (leadsBack === null) pages.prepare(arrived);
      for (let turn = 0; turn < TURNS_TO_SEND; turn++) await setImmediate();
      const page = opened(arrived);
      const problem = leadsBack ?? check.rows(page);
      if (problem !== null) throw explain(problem, page);
      yield page;
      cursor = page.next;
    }
  } finally {
    pages.stop();
  }
}

function circleCheck<T extends { id: number }>(from: string, isNewId: WalkOptions['isNewId']) {
  const cursors = new Set(['', from]);
  const isNew = noveltyCheck(isNewId);
  let stale = 0;
  return {
    next({ next }: Arrived<T>): Failure | null {
      if (next === null) return null;
      if (cursors.has(next)) {
        return new Failure('protocol', '`next` leads back to a page of this walk: the list goes in circles');
      }
      cursors.add(next);
      return null;
    },
    rows(page: Page<T>): Failure | null {
      stale = isNew(page) ? 0 : stale + 1;
      if (stale < STALE_PAGES) return null;
      return new Failure(
        'protocol',
        `the last ${STALE_PAGES} pages brought no new id: the list goes in circles`,
      );
    },
  };
}

/** Rows that did not decode are never known to the caller, so their ids are remembered here in any case. */
function noveltyCheck<T extends { id: number }>(isNewId: WalkOptions['isNewId']): (page: Page<T>) => boolean {
  const isFirst = idMemory();
  return ({ rows, rejects }) => {
    let found = false;
    // Every id is visited, not only up to the first new one: the next page is judged by all of them.
    for (const { id } of rejects) if (id !== null && isFirst(id)) found = true;
    if (isNewId) return rows.some(({ id }) => isNewId(id)) || found;
    for (const { id } of rows) if (isFirst(id)) found = true;
    return found;
  };
}
