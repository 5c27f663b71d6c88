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
export class Router {
  readonly #routes: (PageRoute & { path: RegExp })[];
  readonly #main: HTMLElement;
  #current: Current | null = null;
  #stats: LiveStats | null = null;
  #leave = new AbortController();
  /** Loads are counted: what was asked later may be answered first, and an older answer is not drawn over it. */
  #asked = 0;
  #drawn = 0;
  #onNextNews = (_stats: LiveStats): void => undefined;
  #isCatchingUp = false;
  #isDue = false;

  constructor(pages: Partial<Record<PageAddress, PageRoute>>, main: HTMLElement) {
    this.#routes = Object.entries(pages).map(([address, route]) => ({ ...route, path: patternOf(address) }));
    this.#main = main;
  }

  /** Resolves once the first page stands. */
  async start(): Promise<void> {
    history.scrollRestoration = 'manual';
    addEventListener('pagehide', remember);
    document.addEventListener('click', (event) => {
      const href = ownLink(event, ({ pathname }) => this.#routeAt(pathname) !== undefined);
      if (href === null) return;
      event.preventDefault();
      this.go(href);
      this.#main.focus({ preventScroll: true });
    });
    addEventListener('popstate', ({ state }) => void this.#show((state as Left | null) ?? {}));
    await this.#show((history.state as Left | null) ?? {});
  }

  readonly go: Go = (address, { replace = false, keepsPlace = false } = {}) => {
    const target = new URL(mounted(address), location.href);
    if (replace) history.replaceState(history.state, '', target);
    else {
      remember();
      history.pushState(null, '', target);
    }
    void this.#show(keepsPlace ? null : {});
  };

  /** News of the service. */
  onStats(next: LiveStats): void {
    const hasNews = this.#onNextNews;
    if (this.#stats !== null) hasNews(next);
    this.#stats = next;
    void this.#catchUp();
  }

  #routeAt(pathname: string): (PageRoute & { path: RegExp }) | undefined {
    return this.#routes.find(({ path }) => path.test(unmounted(pathname)));
  }

  async #show(left: Left | null): Promise<void> {
    this.#leave.abort();
    const leave = new AbortController();
    this.#leave = leave;
    this.#onNextNews = () => undefined;
    const { signal } = leave;
    const url = new URL(location.href);
    const route = this.#routeAt(url.pathname);
    const parts = route?.path.exec(unmounted(url.pathname))?.slice(1) ?? [];
    const place: PagePlace = { url, parts, go: this.go, reload: () => this.#reload() };
    const before = this.#current?.place.url.pathname === url.pathname ? this.#current : null;
    markCurrent(route?.name);
    if (before) this.#paint({ ...before, place, isBusy: true });
    else this.#main.classList.add('busy');
    const done = showWorking(signal, () => leave.abort(CANCELLED));
    try {
      if (!route) return this.#stand(nowhere());
      const page = before?.page ?? (await pageOf(route));
      if (signal.aborted) return;
      settle(page, place);
      const turn = ++this.#asked;
      const loaded = await page.load(place, signal);
      if (signal.aborted) return;
      this.#drawn = turn;
      this.#paint({ page, place, loaded, isBusy: false, problem: null });
      document.title = `${loaded.title} · Feedback Mirror`;
    } catch (cause) {
      if (signal.aborted && signal.reason !== CANCELLED) return;
      const error = signal.aborted ? CANCELLED : cause;
      if (before) return this.#paint({ ...before, place, isBusy: false, problem: error });
      this.#standError(error, signal);
    } finally {
      done();
    }
    this.#endBusy();
    if (left) arrive(left);
  }

  #paint(next: Current): void {
    if (this.#current === null) this.#main.replaceChildren();
    this.#current = next;
    const { place, loaded, isBusy, problem } = next;
    const drawn = loaded.draw({ place, isBusy, problem, stats: this.#stats });
    render(h('div', { key: place.url.pathname }, drawn), this.#main);
  }

  /** Shows something that is no page. */
  #stand(content: VNode): void {
    if (this.#current === null) this.#main.replaceChildren();
    this.#current = null;
    render(null, this.#main);
    render(content, this.#main);
    this.#endBusy();
  }

  #endBusy(): void {
    this.#main.classList.remove('busy');
    this.#main.removeAttribute('aria-busy');
  }

  async #reload(): Promise<void> {
    if (!this.#current) return;
    const { page, place } = this.#current;
    const { signal } = this.#leave;
    const turn = ++this.#asked;
    const loaded = await page.load(place, signal);
    // The person may have gone to another page meanwhile.
    if (signal.aborted || this.#current?.place !== place || turn < this.#drawn) return;
    this.#drawn = turn;
    this.#paint({ ...this.#current, loaded, isBusy: false, problem: null });
  }

  /** One request at a time; an event that comes meanwhile causes one more. What fails is tried with the next event. */
  async #catchUp(): Promise<void> {
    this.#isDue = true;
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    while (this.#isDue) {
      this.#isDue = false;
      if (this.#current?.loaded.follows) await this.#reload().catch(() => undefined);
      else if (this.#current) this.#paint(this.#current);
    }
    this.#isCatchingUp = false;
  }

  /** Tries again by itself: every few seconds, or with the next news where something is not there. */
  #standError(error: unknown, signal: AbortSignal): void {
    const again = (): void => {
      if (error instanceof ScriptMissing) location.reload();
      else void this.#show(null);
    };
    if (isMissing(error)) this.#onNextNews = ({ version }) => version !== this.#stats?.version && again();
    else if (error !== CANCELLED && (!(error instanceof HttpError) || error.status >= 500))
      waitForService(signal, again);
    this.#stand(errorPage(error, again));
  }
}

/** The page may read the address in its own way: what it settles on becomes the address. */
function settle({ choices }: LoadedPage, place: PagePlace): void {
  const { pathname, search } = place.url;
  const settled = choices?.settled(place.url);
  if (settled === undefined || settled === `${pathname}${search}`) return;
  history.replaceState(history.state, '', settled);
  place.url = new URL(location.href);
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
