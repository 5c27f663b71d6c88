import type { Clock } from '../base/clock.ts';

/** Before so many pages the average says little: the first one also waits for a connection. */
const FEWEST_PAGES = 10;
/** To index a page's rows as they come takes 3 ms, and 1 ms in bulk. */
const LEISURELY_MS = 10;

/** How long a sweep waits for its pages. */
export interface Pace {
  /** To be called with each page; true where there was time for more than a page's own work. */
  arrived(): boolean;
  /** To be called when the page is worked off. */
  done(): void;
}

export function paceOf(clock: Clock): Pace {
  let since = clock.now();
  let waited = 0;
  let pages = 0;
  return {
    arrived() {
      waited += clock.now() - since;
      pages++;
      return pages >= FEWEST_PAGES && waited >= pages * LEISURELY_MS;
    },
    done() {
      since = clock.now();
    },
  };
}
