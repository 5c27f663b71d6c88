import type { LiveStats } from '../../http/dashboard/events.ts';
import { withQuery } from '../api.ts';
import { type Child, h, type VNode } from '../h.ts';
import { failure } from '../parts/layout.ts';

/** Where a page is shown, and the ways from there. */
export interface PagePlace {
  url: URL;
  /** The parts of the path that the route leaves open, such as the id of a post. */
  parts: string[];
  go: Go;
  /** Loads the page's answer again; resolves once it is drawn. */
  reload(): Promise<void>;
}

/** Goes to another page of this service, or to the same with other choices. */
export type Go = (address: string, options?: { replace?: boolean; keepsPlace?: boolean }) => void;

/** What a page is drawn from, each time that something has changed. */
export interface PageProps<T> {
  place: PagePlace;
  /** What was loaded last; that of another choice while this one is loaded. */
  answer: T;
  isBusy: boolean;
  /** Why there is no answer to what is chosen now. */
  problem: unknown;
  /** The live numbers, once they are known. */
  stats: LiveStats | null;
}

interface PageParts<T> {
  title: string | ((answer: T) => string);
  load(place: PagePlace, signal: AbortSignal): Promise<T>;
  /** A component: it may keep a state, which ends when another address is shown. */
  view(shown: PageProps<T>): Child;
  /** Whether its answer is loaded again when the service has news. */
  follows?(place: PagePlace, answer: T): boolean;
  /** What it reads from the address. */
  choices?: { settled(url: URL): string };
}

/** A page with its answer, ready to be drawn. */
export interface Loaded {
  title: string;
  follows: boolean;
  draw(shown: Omit<PageProps<unknown>, 'answer'>): VNode;
}

export type LoadedPage = Pick<PageParts<never>, 'choices'> & {
  load(place: PagePlace, signal: AbortSignal): Promise<Loaded>;
};

export function pageOf<T>({ title, load, view, follows, choices }: PageParts<T>): LoadedPage {
  return {
    ...(choices && { choices }),
    async load(place, signal) {
      const answer = await load(place, signal);
      return {
        title: typeof title === 'string' ? title : title(answer),
        follows: follows?.(place, answer) ?? false,
        draw: (shown) => h(view, { ...shown, answer }),
      };
    },
  };
}

/** The part of a page that shows the answer. It is pale while another answer is loaded, and shows the error where there is none. */
export function results({ isBusy, problem }: PageProps<unknown>, ...content: Child[]): VNode {
  return h('div.stacked', { class: isBusy ? 'busy' : null }, problem ? failure(problem) : content);
}

/** What is chosen on a page, by name; null is no choice. */
type Chosen<K extends string> = Record<K, string | null>;

/** A change is merged with what is chosen by then, not with what was drawn. */
export type Choose<K extends string> = (
  change: Partial<Chosen<K>> | ((now: Chosen<K>) => Partial<Chosen<K>>),
  options?: { replace?: boolean },
) => void;

/**
 * The choices of a page, which its address carries. `settle` adds what a choice implies, such as a time zone. The router writes that into
 * the address first, so a link has it too.
 */
export function choicesOf<K extends string>(
  names: readonly K[],
  settle: (chosen: Chosen<K>) => Chosen<K> = (chosen) => chosen,
) {
  const read = ({ searchParams }: URL): Chosen<K> =>
    settle(Object.fromEntries(names.map((name) => [name, searchParams.get(name)])) as Chosen<K>);
  return {
    read,
    settled: (url: URL): string => withQuery(url.pathname, read(url)),
    chooser:
      ({ url: { pathname }, go }: PagePlace): Choose<K> =>
      (change, { replace = false } = {}) => {
        // The person may have left while the choice was made.
        if (location.pathname !== pathname) return;
        const now = read(new URL(location.href));
        const next = settle({ ...now, ...(typeof change === 'function' ? change(now) : change) });
        const address = withQuery(pathname, next);
        const isSame = address === `${location.pathname}${location.search}`;
        go(address, { replace: replace || isSame, keepsPlace: true });
      },
  };
}
