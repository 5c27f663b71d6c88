import type { Pulse } from '../dashboard/shapes.ts';

/** What a page is given: where to draw, what its address says, and when to stop. */
export interface PageContext {
  root: HTMLElement;
  url: URL;
  /** The parts of the path that the route leaves open, such as the id of a post. */
  parts: string[];
  /** Aborted when the person goes elsewhere. */
  signal: AbortSignal;
  /** Goes to another page of this service, or to the same with other filters. */
  go(address: string, options?: { replace?: boolean }): void;
  /** Called when the numbers of the service have moved; what the page does with it is drawn in place. */
  onPulse(listener: (pulse: Pulse) => void): void;
}

export interface Page {
  title: string;
  /** Draws the page; resolves when it stands. */
  show(context: PageContext): Promise<void>;
}
