import { render } from 'preact';
import type { PageAddress } from '../../http/dashboard/assets.ts';
import type { LiveStats } from '../../http/dashboard/events.ts';
import { HttpError, messageOf } from '../api.ts';
import { span } from '../format.ts';
import { h, type VNode } from '../h.ts';
import { mounted, unmounted } from '../mount.ts';
import { button } from '../parts/controls.ts';
import type { Go, Loaded, LoadedPage, PagePlace } from './page.ts';

export interface PageRoute {
  /** The page of the navigation that it belongs to. */
  name: string;
  load(): Promise<{ page: LoadedPage }>;
}

/** Where the person was on a page, for the way back to it. */
interface Left {
  y?: number;
  focus?: string;
}

interface Current {
  page: LoadedPage;
  place: PagePlace;
  loaded: Loaded;
  isBusy: boolean;
  problem: unknown;
}

/** A browser may remember for good that a script could not be loaded, so only a reload helps. */
class ScriptMissing extends Error {}

const RETRY_MS = 3000;
/** A page that takes longer says so. */
const WORKING_MS = 1500;

const CANCELLED = new Error('You cancelled it.');

/** Shows the page of the current address in `main`. An old page, or the skeleton of the document, stays until the new one is complete. */
export function startRouter(pages: Partial<Record<PageAddress, PageRoute>>, main: HTMLElement) {
  const routes = Object.entries(pages).map(([address, route]) => ({ ...route, path: patternOf(address) }));
  const routeAt = (pathname: string) => routes.find(({ path }) => path.test(unmounted(pathname)));
  let current: Current | null = null;
  let stats: LiveStats | null = null;
  let leave = new AbortController();
  let [asked, drawn] = [0, 0];
  let onNextNews = (_stats: LiveStats): void => undefined;

  const show = async (left: Left | null): Promise<void> => {
    leave.abort();
    leave = new AbortController();
    onNextNews = () => undefined;
    const { signal } = leave;
    const url = new URL(location.href);
    const route = routeAt(url.pathname);
    const parts = route?.path.exec(unmounted(url.pathname))?.slice(1) ?? [];
    const place: PagePlace = { url, parts, go, reload: () => reload() };
    const before = current?.place.url.pathname === url.pathname ? current : null;
    markCurrent(route?.name);
    if (before) paint({ ...before, place, isBusy: true });
    else main.classList.add('busy');
    const done = showWorking(signal, () => leave.abort(CANCELLED));
    try {
      if (!route) return stand(nowhere());
      const page = before?.page ?? (await pageOf(route));
      if (signal.aborted) return;
      const settled = page.choices?.settled(url);
      if (settled !== undefined && settled !== `${url.pathname}${url.search}`) {
        history.replaceState(history.state, '', settled);
        place.url = new URL(location.href);
      }
      const turn = ++asked;
      const loaded = await page.load(place, signal);
      if (signal.aborted) return;
      drawn = turn;
      paint({ page, place, loaded, isBusy: false, problem: null });
      document.title = `${loaded.title} · Feedback Mirror`;
    } catch (cause) {
      if (signal.aborted && signal.reason !== CANCELLED) return;
      const error = signal.aborted ? CANCELLED : cause;
      if (before) return paint({ ...before, place, isBusy: false, problem: error });
      standError(error, signal);
    } finally {
      done();
    }
    main.classList.remove('busy');
    main.removeAttribute('aria-busy');
    if (left) arrive(left);
  };

  const paint = (next: Current): void => {
    if (current === null) main.replaceChildren();
    current = next;
    const { place, loaded, isBusy, problem } = next;
    render(h('div', { key: place.url.pathname }, loaded.draw({ place, isBusy, problem, stats })), main);
  };

  /** Shows something that is no page. */
  const stand = (content: VNode): void => {
    if (current === null) main.replaceChildren();
    current = null;
    render(null, main);
    render(content, main);
    main.classList.remove('busy');
    main.removeAttribute('aria-busy');
  };

  const reload = async (): Promise<void> => {
    if (!current) return;
    const { page, place } = current;
    const { signal } = leave;
    const turn = ++asked;
    const loaded = await page.load(place, signal);
    // The person may have gone to another page meanwhile, and what was asked later may have been answered first.
    if (signal.aborted || current?.place !== place || turn < drawn) return;
    drawn = turn;
    paint({ ...current, loaded, isBusy: false, problem: null });
  };

  const go: Go = (address, { replace = false, keepsPlace = false } = {}) => {
    const target = new URL(mounted(address), location.href);
    if (replace) history.replaceState(history.state, '', target);
    else {
      remember();
      history.pushState(null, '', target);
    }
    void show(keepsPlace ? null : {});
  };

  /** One request at a time; an event that comes meanwhile causes one more. What fails is tried with the next event. */
  let [isCatchingUp, isDue] = [false, false];
  const catchUp = async (): Promise<void> => {
    isDue = true;
    if (isCatchingUp) return;
    isCatchingUp = true;
    while (isDue) {
      isDue = false;
      if (current?.loaded.follows) await reload().catch(() => undefined);
      else if (current) paint(current);
    }
    isCatchingUp = false;
  };

  /** Tries again by itself: every few seconds, or with the next news where something is not there. */
  const standError = (error: unknown, signal: AbortSignal): void => {
    const again = (): void => {
      if (error instanceof ScriptMissing) location.reload();
      else void show(null);
    };
    if (isMissing(error)) onNextNews = ({ version }) => version !== stats?.version && again();
    else if (error !== CANCELLED && (!(error instanceof HttpError) || error.status >= 500))
      waitForService(signal, again);
    stand(errorPage(error, again));
  };

  history.scrollRestoration = 'manual';
  addEventListener('pagehide', remember);
  document.addEventListener('click', (event) => {
    const href = ownLink(event, ({ pathname }) => routeAt(pathname) !== undefined);
    if (href === null) return;
    event.preventDefault();
    go(href);
    main.focus({ preventScroll: true });
  });
  addEventListener('popstate', ({ state }) => void show((state as Left | null) ?? {}));
  const first = show((history.state as Left | null) ?? {});
  return {
    go,
    /** Resolves once the first page stands. */
    first,
    onStats(next: LiveStats): void {
      const hasNews = onNextNews;
      if (stats !== null) hasNews(next);
      stats = next;
      void catchUp();
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof HttpError && error.status === 404;
}

function errorPage(error: unknown, again: () => void): VNode {
  return h(
    'div.empty',
    { role: 'alert' },
    h('h1', isMissing(error) ? 'Not found' : 'This page could not be loaded'),
    h('p', messageOf(error)),
    h('div.actions', button('Try again', again), h('a.button', { href: '/' }, 'Overview')),
  );
}

/** Where a click leads, if it is a link of this service. Such a link changes the page in place; everything else is the browser's. */
function ownLink(event: MouseEvent, isPage: (target: URL) => boolean): string | null {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link || event.defaultPrevented || event.button !== 0) return null;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target) return null;
  if (link.hasAttribute('download')) return null;
  const target = new URL(link.href);
  const isHere = target.origin === location.origin && mounted(target.pathname) === target.pathname;
  if (!isHere || !isPage(target)) return null;
  return target.hash && target.pathname === location.pathname ? null : target.href;
}

/** What takes long says for how long it has taken, and can be cancelled. Returns what ends that. */
function showWorking(signal: AbortSignal, cancel: () => void): () => void {
  const began = Date.now();
  const box = document.createElement('div');
  box.className = 'working';
  box.setAttribute('role', 'status');
  const tell = (): void => {
    if (!box.isConnected) document.body.append(box);
    const age = h('span', { 'aria-live': 'off' }, `Working for ${span(Date.now() - began)} …`);
    render(h('div', age, button('Cancel', cancel)), box);
  };
  const timers = [setTimeout(tell, WORKING_MS), setInterval(() => box.isConnected && tell(), 1000)];
  const end = (): void => {
    for (const timer of timers) clearTimeout(timer);
    render(null, box);
    box.remove();
  };
  signal.addEventListener('abort', end, { once: true });
  return end;
}

/** A number in the place of `:id`, anything without a slash in that of other names. */
function patternOf(address: string): RegExp {
  const parts = address.replace(/:(\w+)/g, (_, name) => (name === 'id' ? '(\\d+)' : '([^/]+)'));
  return new RegExp(`^${parts}$`);
}

async function pageOf(route: PageRoute): Promise<LoadedPage> {
  try {
    return (await route.load()).page;
  } catch (cause) {
    throw new ScriptMissing('The service does not answer.', { cause });
  }
}

function remember(): void {
  const left: Left = { y: scrollY };
  const id = document.activeElement?.id;
  if (id && id !== 'main') left.focus = id;
  history.replaceState(left, '');
}

function arrive({ y = 0, focus }: Left): void {
  scrollTo(0, y);
  if (focus !== undefined) document.getElementById(focus)?.focus({ preventScroll: true });
}

function nowhere(): VNode {
  return h(
    'div.empty',
    h('h1', 'There is no such page'),
    h('p', 'The address may be mistyped. ', h('a', { href: '/' }, 'Go to the overview'), '.'),
  );
}

function waitForService(signal: AbortSignal, again: () => void): void {
  const timer = setInterval(async () => {
    const isBack = await fetch('/healthz').then(
      ({ ok }) => ok,
      () => false,
    );
    if (isBack && !signal.aborted) again();
  }, RETRY_MS);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

function markCurrent(name: string | undefined): void {
  for (const link of document.querySelectorAll<HTMLElement>('nav a[data-page]')) {
    const isCurrent = link.dataset.page === name;
    if (isCurrent) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
    // On a phone the pages stand in one line that is moved sideways.
    const line = link.parentElement;
    if (isCurrent && line) line.scrollLeft = link.offsetLeft - (line.clientWidth - link.offsetWidth) / 2;
  }
}
