import { setImmediate } from 'node:timers/promises';
import { codeOf } from '../base/errors.ts';
import { grouped } from '../text/text.ts';
import { linkAbort } from './exchange.ts';
import { Failure, shortHash } from './failure.ts';
import { decodedPage, type Page, type ReceivedPage } from './read.ts';

export interface WalkOptions {
  signal?: AbortSignal | undefined;
  /** Where to resume: the `cursor` of an earlier page. */
  from?: string | undefined;
  /** Pages under way while one is worked on; more than 1 only where `next` is a plain number. */
  ahead?: number | undefined;
}

/**
 * Turns of the loop until a request has left on a connection that was just used: undici looks twice whether the other end has closed
 * it. Without them the request would wait until the page before it is written.
 */
const TURNS_TO_SEND = 3;

/** A service that hides rows after it has cut the list into pages shows empty pages, often many of them side by side. */
const MOST_EMPTY = 1000;
/** New rows shift a list down, so that pages repeat what was read: at most as many pages as brought something new, and these few more. */
const MORE_REPEATED = 3;

export async function* walkPages<T extends { id: number }>(
  read: ReadPage<T>,
  { signal, from = '', ahead = 1 }: WalkOptions,
  explain: (failure: Failure, page: Page<T>) => Error,
): AsyncGenerator<Page<T>, void, undefined> {
  signal?.throwIfAborted();
  const pages = fetchAhead(read, ahead, signal);
  const check = endlessCheck<T>(from);
  try {
    let cursor: string | null = from;
    let before: string | null = null;
    for (let number = 1; cursor !== null; number++) {
      const received: ReceivedPage<T> = await takeOrEnd(pages, cursor, number, before);
      const leadsBack = check.next(received);
      // Before the rows are decoded and worked on, so that the upstream works meanwhile.
      if (leadsBack === null) pages.prepare(received);
      for (let turn = 0; turn < TURNS_TO_SEND; turn++) await setImmediate();
      const page = decodedPage(received);
      const { problem, repeated } = check.rows(page);
      if (leadsBack ?? problem) throw explain((leadsBack ?? problem) as Failure, page);
      yield repeated.size === 0 ? page : { ...page, repeated };
      [before, cursor] = [cursor, page.next];
    }
  } finally {
    pages.stop();
  }
}

/** What services answer where there is no such page. */
const NO_PAGE = ['refused', 'protocol'];

/**
 * A list that became shorter may have no page any more where the one before said there was another, and many services answer 404 there.
 * If the one before now says that it is the last, this is the end: like that of a service that answers with a page without rows.
 */
async function takeOrEnd<T>(
  pages: Ahead<T>,
  cursor: string,
  number: number,
  before: string | null,
): Promise<ReceivedPage<T>> {
  try {
    const received = await pages.take(cursor, number);
    // The page before said that there is more. An end without a row is asked for again: it may be one page that went wrong.
    return isEmptyEnd(received) ? await pages.take(cursor, number) : received;
  } catch (error) {
    if (before === null || !NO_PAGE.includes(codeOf(error))) throw error;
    const last = await pages.take(before, number - 1);
    if (last.next !== null) throw error;
    return { ...last, cursor, number, decode: () => ({ rows: [], rejects: [] }) };
  }
}

function isEmptyEnd<T>({ cursor, next, decode }: ReceivedPage<T>): boolean {
  if (cursor === '' || next !== null) return false;
  const { rows, rejects } = decode();
  return rows.length + rejects.length === 0;
}

/** Refuses a list that would be read for ever: `next` leads back, or always on to pages that bring nothing. */
function endlessCheck<T extends { id: number }>(from: string) {
  const cursors = new Set(['', from]);
  const known = new Set<number | string>();
  const isFirst = (id: number | string): boolean => known.size < known.add(id).size;
  const pages: PageCounts = { fresh: 0, stale: 0, repeated: 0, empty: 0 };
  return {
    next({ next }: ReceivedPage<T>): Failure | null {
      if (next === null) return null;
      if (cursors.has(next)) {
        return new Failure('protocol', '`next` leads back to a page of this walk: the list goes in circles');
      }
      cursors.add(next);
      return null;
    },
    /**
     * Rows that did not decode count as well: a page of them is new. Where there is no id, a digest of the row takes its place. A row
     * that is `null` has neither, and counts as none.
     */
    rows({ rows, rejects, next }: Page<T>): { problem: Failure | null; repeated: Set<number> } {
      const rejected = rejects.filter(({ body }) => body !== 'null');
      let isNew = false;
      const [here, repeated] = [new Set<number>(), new Set<number>()];
      // Every id is visited, not only up to the first new one: the next page is judged by all of them.
      for (const { id, body } of rejected) if (isFirst(id ?? shortHash(body))) isNew = true;
      for (const { id } of rows) {
        if (isFirst(id)) here.add(id);
        else if (!here.has(id)) repeated.add(id);
      }
      countPage(pages, { isNew: isNew || here.size > 0, isEmpty: rows.length + rejected.length === 0 });
      return { problem: next === null ? null : endlessness(pages), repeated };
    },
  };
}

interface PageCounts {
  fresh: number;
  /** Pages since the last of those, and those of them that had rows. */
  stale: number;
  repeated: number;
  empty: number;
}

function countPage(pages: PageCounts, { isNew, isEmpty }: { isNew: boolean; isEmpty: boolean }): void {
  if (isNew) {
    Object.assign(pages, { fresh: pages.fresh + 1, stale: 0, repeated: 0, empty: 0 });
    return;
  }
  pages.stale++;
  pages.empty = isEmpty ? pages.empty + 1 : 0;
  if (!isEmpty) pages.repeated++;
}

function endlessness({ fresh, stale, repeated, empty }: PageCounts): Failure | null {
  if (empty > MOST_EMPTY) {
    const why = `the last ${grouped(empty)} pages had no rows, and \`next\` says again that there is more`;
    return new Failure('protocol', why);
  }
  if (repeated <= fresh + MORE_REPEATED) return null;
  return new Failure('protocol', `the last ${grouped(stale)} pages brought no new id: the list does not end`);
}

/** A page that was only guessed is asked for once, and not again where that fails. */
export type ReadPage<T> = (
  cursor: string,
  number: number,
  signal: AbortSignal,
  isGuess: boolean,
) => Promise<ReceivedPage<T>>;

interface Ahead<T> {
  /** The page at the cursor, from what is under way or read now. */
  take(cursor: string, number: number): Promise<ReceivedPage<T>>;
  prepare(page: ReceivedPage<T>): void;
  stop(): void;
}

interface Pending<T> {
  page: Promise<ReceivedPage<T>>;
  /** Asked for on a prediction, before any page said that it exists. */
  guessed: boolean;
}

function fetchAhead<T>(read: ReadPage<T>, ahead: number, signal: AbortSignal | undefined): Ahead<T> {
  const pending = new Map<string, Pending<T>>();
  let controller = new AbortController();
  let unlink = linkAbort(signal, controller);
  let predict = ahead > 1;

  const begin = (cursor: string, number: number, guessed: boolean): Pending<T> => {
    const page = read(cursor, number, controller.signal, guessed);
    // The error is thrown when the page is taken. Until then Node must not count it as unhandled.
    page.catch((error: unknown) => {
      // Many services allow one request at a time and refuse all others.
      if (codeOf(error) === 'throttled') predict = false;
    });
    return { page, guessed };
  };
  const ensure = (cursor: string, number: number, guessed: boolean): void => {
    if (!pending.has(cursor)) pending.set(cursor, begin(cursor, number, guessed));
  };
  const stop = (): void => {
    controller.abort();
    unlink();
    pending.clear();
  };
  const dropAll = (): void => {
    stop();
    controller = new AbortController();
    unlink = linkAbort(signal, controller);
  };

  return {
    async take(cursor, number) {
      const { page, guessed } = pending.get(cursor) ?? begin(cursor, number, false);
      pending.delete(cursor);
      try {
        return await page;
      } catch (error) {
        if (!guessed || controller.signal.aborted) throw error;
        // The page was asked for before it was known to exist. It is known now, so the earlier answer does not count.
        if (NO_PAGE.includes(codeOf(error))) {
          predict = false;
          dropAll();
        }
        return await read(cursor, number, controller.signal, false);
      }
    },
    prepare(page) {
      if (page.next !== null && pending.size > 0 && !pending.has(page.next)) {
        predict = false;
        dropAll();
      }
      if (page.next === null || ahead < 1) return;
      ensure(page.next, page.number + 1, false);
      if (!predict) return;
      for (const [i, cursor] of predicted(page.cursor, page.next, ahead - 1).entries())
        ensure(cursor, page.number + i + 2, true);
    },
    stop,
  };
}

/** The cursors that likely follow the second of these. */
function predicted(from: string, to: string, most: number): string[] {
  const step = stepBetween(from, to);
  if (step === null) return [];
  return Array.from({ length: most }, (_, i) => advance(to, step.at, step.by * (i + 1)));
}

/**
 * How to get from one cursor to the next where they differ in one plain number (a page, an offset) that grew; null
 * where they do not, as with every opaque cursor.
 */
function stepBetween(from: string, to: string): { at: number; by: number } | null {
  // The first page is asked for without its number; where a second follows, that is one.
  const before = (from === '' ? to.replace(/(?<=^page=|&page=)2(?=&|$)/, '1') : from).split('&');
  const after = to.split('&');
  const changed = after.flatMap((part, index) => (part === before[index] ? [] : [index]));
  const [at] = changed;
  if (before.length !== after.length || at === undefined || changed.length > 1) return null;
  const [name, size] = numeric(after[at]) ?? [];
  const [oldName, oldSize] = numeric(before[at]) ?? [];
  if (name === undefined || size === undefined || oldSize === undefined || name !== oldName) return null;
  const by = size - oldSize;
  return by <= 0 ? null : { at, by };
}

function numeric(part = ''): [string, number] | null {
  const match = /^([^=]+)=(0|[1-9]\d{0,14})$/.exec(part);
  return match?.[1] === undefined ? null : [match[1], Number(match[2])];
}

function advance(cursor: string, at: number, step: number): string {
  const part = (text: string, index: number): string => {
    const [name, value] = (index === at ? numeric(text) : null) ?? [];
    return name === undefined || value === undefined ? text : `${name}=${value + step}`;
  };
  return cursor.split('&').map(part).join('&');
}
