import type { LiveStats } from '../http/dashboard/events.ts';
import { withQuery } from './api.ts';
import { type Child, fill } from './dom.ts';
import { ago, counted } from './format.ts';

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
  onStats(listener: (stats: LiveStats) => void): void;
}

export interface Page {
  title: string;
  /** Draws the page; resolves when it stands. */
  show(context: PageContext): Promise<void>;
}

/** What an address says about these, by their names; null is no choice. */
export function chosenIn<K extends string>(
  { searchParams }: URL,
  names: readonly K[],
): Record<K, string | null> {
  return Object.fromEntries(names.map((name) => [name, searchParams.get(name)])) as Record<K, string | null>;
}

/** What is chosen on a page; null is no choice. */
export type Choose<K extends string> = (
  change:
    | Partial<Record<K, string | null>>
    | ((now: Record<K, string | null>) => Partial<Record<K, string | null>>),
  options?: { replace?: boolean },
) => void;

/**
 * What the address says about these, and the way to change it. A change is merged with what is chosen by then, not with what was drawn,
 * and drawn in place, so that whoever types or chooses keeps the field; the address says the same, and so does the button back. What
 * `settle` adds to a choice stands in the address from the beginning, so that a link says it too.
 */
export function keepChosen<K extends string>(
  { url, signal }: PageContext,
  names: readonly K[],
  /** Says itself what it fails with. */
  redraw: () => Promise<void>,
  settle: (chosen: Record<K, string | null>) => Record<K, string | null> = (chosen) => chosen,
): { now(): Record<K, string | null>; choose: Choose<K> } {
  const given = chosenIn(url, names);
  let chosen = settle(given);
  const address = (said: typeof chosen): string => withQuery(url.pathname, said);
  if (address(chosen) !== address(given)) history.replaceState(null, '', address(chosen));
  return {
    now: () => chosen,
    choose(change, { replace = false } = {}) {
      if (signal.aborted) return;
      chosen = settle({ ...chosen, ...(typeof change === 'function' ? change(chosen) : change) });
      const isSame = address(chosen) === `${location.pathname}${location.search}`;
      if (replace || isSame) history.replaceState(null, '', address(chosen));
      else history.pushState(null, '', address(chosen));
      void redraw();
    },
  };
}

/**
 * Draws a part of the page again with every event of the stream, one request at a time; an event that comes meanwhile causes one more.
 * What fails is tried with the next event, and the frame tells that the service is away.
 */
export function onNews(
  { onStats, signal }: Pick<PageContext, 'onStats' | 'signal'>,
  draw: () => Promise<void>,
): void {
  let [isBusy, isDue] = [false, false];
  const catchUp = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    while (isDue && !signal.aborted) {
      isDue = false;
      await draw().catch(() => undefined);
    }
    isBusy = false;
  };
  onStats(() => {
    isDue = true;
    void catchUp();
  });
}

/**
 * Draws an answer now, and again with every event that brings another one. What somebody has opened stays as it is until they close
 * it. Returns what loads and draws at once. The signal of a drawing ends with it.
 */
export async function keepDrawn<T>(
  context: PageContext,
  body: Element,
  load: () => Promise<T>,
  draw: (answer: T, signal: AbortSignal) => Child[],
): Promise<() => Promise<void>> {
  let [shown, drawing, asked] = ['', new AbortController(), 0];
  const isOpen = (): boolean => body.querySelector('details[open], [data-more]') !== null;
  const redraw = async ({ isNews = false } = {}): Promise<void> => {
    const turn = isNews ? asked : ++asked;
    if (!isNews) body.classList.add('busy');
    const isLast = (): boolean => turn === asked;
    const answer = await load()
      .catch((error: unknown) => {
        shown = '';
        if (isLast()) throw error;
      })
      .finally(() => isLast() && body.classList.remove('busy'));
    // Another choice may have been made meanwhile, and its answer is the one to draw.
    if (answer === undefined || !isLast()) return;
    const text = JSON.stringify(answer);
    if (text === shown || (isNews && isOpen())) return;
    shown = text;
    drawing.abort();
    drawing = new AbortController();
    fill(body, ...draw(answer, AbortSignal.any([context.signal, drawing.signal])));
  };
  await redraw();
  onNews(context, () => redraw({ isNews: true }));
  return redraw;
}

type Listener = (stats: LiveStats) => void;

/** A stream that the server has refused is not opened again by the browser itself. */
const REOPEN_MS = 5000;

/**
 * The one event stream of this window. While it is away the frame says so. A hidden window has none: a browser opens six connections
 * to a host at most, and many windows would take them all.
 */
export function startLive(): { subscribe(listener: Listener, signal: AbortSignal): void } {
  const listeners = new Set<Listener>();
  let last: LiveStats | null = null;
  let stream: EventSource | null = null;
  const onMessage = ({ data }: MessageEvent<string>): void => {
    last = JSON.parse(data) as LiveStats;
    showStats(last);
    for (const listener of listeners) listener(last);
  };
  const onError = (): void => {
    tell('bad', 'The service does not answer');
    if (stream?.readyState === EventSource.CLOSED) setTimeout(listen, REOPEN_MS);
  };
  const listen = (): void => {
    stream?.close();
    stream = document.hidden ? null : new EventSource('/data/events');
    stream?.addEventListener('message', onMessage);
    stream?.addEventListener('error', onError);
  };
  listen();
  document.addEventListener('visibilitychange', listen);
  // Ages grow although nothing happens.
  setInterval(() => last && stream?.readyState === EventSource.OPEN && showStats(last), 10_000);
  return {
    subscribe(listener, signal) {
      listeners.add(listener);
      signal.addEventListener('abort', () => listeners.delete(listener), { once: true });
    },
  };
}

function showStats({ updatedAt, isReady, trouble, toDecide, held }: LiveStats): void {
  badge('outbox', toDecide, `${counted(toDecide, 'row')} to decide about`);
  badge('sync', held, `${counted(held, 'deletion')} held`);
  if (isReady) tell('good', `Updated ${ago(updatedAt)}`);
  else tell('warn', trouble ?? 'Starting');
}

function badge(name: string, n: number, meaning: string): void {
  const element = document.querySelector<HTMLElement>(`.badge[data-stats="${name}"]`);
  if (!element) return;
  element.hidden = n === 0;
  element.textContent = String(n);
  element.title = meaning;
  element.setAttribute('aria-label', meaning);
}

function tell(state: string, text: string): void {
  const line = document.querySelector<HTMLElement>('[data-stats="updated"]');
  if (!line) return;
  line.dataset.state = state;
  line.textContent = text;
}
