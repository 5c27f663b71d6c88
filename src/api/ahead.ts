import { codeOf } from '../base/errors.ts';
import type { Arrived } from './page.ts';
import { follow } from './watch.ts';

export type ReadPage<T> = (cursor: string, number: number, signal: AbortSignal) => Promise<Arrived<T>>;

/** Pages under way before their turn. */
export interface Ahead<T> {
  /** The page at the cursor, from what is under way or read now. */
  take(cursor: string, number: number): Promise<Arrived<T>>;
  /** Starts what follows this page. */
  prepare(page: Arrived<T>): void;
  stop(): void;
}

interface Pending<T> {
  page: Promise<Arrived<T>>;
  /** Asked for on a prediction, before any page said that it exists. */
  guessed: boolean;
}

export function fetchAhead<T>(read: ReadPage<T>, ahead: number, signal: AbortSignal | undefined): Ahead<T> {
  const pending = new Map<string, Pending<T>>();
  let controller = new AbortController();
  let unlink = follow(signal, controller);
  let predict = ahead > 1;

  const begin = (cursor: string, number: number, guessed: boolean): Pending<T> => {
    const page = read(cursor, number, controller.signal);
    // Its error is for the turn of that page; until then, or if that never comes, it must not count as unhandled.
    page.catch(() => {});
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
    unlink = follow(signal, controller);
  };

  return {
    async take(cursor, number) {
      const { page, guessed } = pending.get(cursor) ?? begin(cursor, number, false);
      pending.delete(cursor);
      try {
        return await page;
      } catch (error) {
        if (!guessed || !['refused', 'protocol'].includes(codeOf(error))) throw error;
        // It was asked for before it was known to exist. Now it is: what it answered then says nothing.
        predict = false;
        dropAll();
        return await read(cursor, number, controller.signal);
      }
    },
    prepare(page) {
      if (page.next !== null && pending.size > 0 && !pending.has(page.next)) {
        predict = false;
        dropAll();
      }
      if (page.next === null || ahead < 1) return;
      ensure(page.next, page.number + 1, false);
      const step = predict ? stepBetween(page.cursor, page.next) : null;
      for (let cursor = page.next, i = 2; step !== null && i <= ahead; i++) {
        cursor = step(cursor);
        ensure(cursor, page.number + i, true);
      }
    },
    stop,
  };
}

/**
 * How to get from one cursor to the next where they differ in one plain number (a page, an offset) that grew; null
 * where they do not, as with every opaque cursor.
 */
export function stepBetween(from: string, to: string): ((cursor: string) => string) | null {
  // The first page is asked for without its number; where a second follows, that is one.
  const before = (from === '' ? to.replace(/(?<=^page=|&page=)2(?=&|$)/, '1') : from).split('&');
  const after = to.split('&');
  const changed = after.flatMap((part, index) => (part === before[index] ? [] : [index]));
  const [at] = changed;
  if (before.length !== after.length || at === undefined || changed.length > 1) return null;
  const [name, size] = numeric(after[at]) ?? [];
  const [oldName, oldSize] = numeric(before[at]) ?? [];
  if (name === undefined || size === undefined || oldSize === undefined || name !== oldName) return null;
  const step = size - oldSize;
  return step <= 0 ? null : (cursor) => advance(cursor, at, step);
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
