import type { Clock } from '../../base/clock.ts';

/** The average of fewer pages says little. The first page does not count, because it also waits for a connection. */
const FEWEST_PAGES = 10;
/** To index a page's rows as they come takes 5 ms more than in bulk. A server on this machine takes about 10 for each of its first pages. */
const LEISURELY_MS = 20;

/**
 * How long a sweep waits for its pages, with nothing else to do. Where other sources are read at the same time, or the machine is busy,
 * pages come late and there is no time for more all the same.
 */
interface PageWait {
  /** To be called with each page. Returns whether there was time for more than a page's own work. */
  arrived(): boolean;
  /** To be called when the page is worked off. */
  done(): void;
}

export function pageWaitOf(clock: Clock): PageWait {
  let since = clock.idle();
  let waited = 0;
  let pages = 0;
  return {
    arrived() {
      if (pages++ > 0) waited += clock.idle() - since;
      return pages >= FEWEST_PAGES && waited >= (pages - 1) * LEISURELY_MS;
    },
    done() {
      since = clock.idle();
    },
  };
}
