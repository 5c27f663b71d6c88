import type { PageAddress } from '../http/dashboard/assets.ts';
import { fetchJson, HttpError, messageOf } from './api.ts';
import { h } from './dom.ts';
import { keepFocus, startFrame } from './frame.ts';
import { type Page, type PageContext, startLive } from './page.ts';
import { button } from './parts.ts';

interface Route {
  /** The page of the navigation that it belongs to. */
  name: string;
  load(): Promise<{ page: Page }>;
}

const person = { name: 'posts', load: () => import('./pages/person.ts') };
const report = { name: 'reports', load: () => import('./pages/report.ts') };
const sql = { name: 'sql', load: () => import('./pages/sql.ts') };

const PAGES: Record<PageAddress, Route> = {
  '/': { name: 'overview', load: () => import('./pages/overview.ts') },
  '/posts': { name: 'posts', load: () => import('./pages/posts.ts') },
  '/posts/:id': { name: 'posts', load: () => import('./pages/post.ts') },
  '/boards/:slug': { name: 'posts', load: () => import('./pages/board.ts') },
  '/people': person,
  '/people/:id': person,
  '/reports': report,
  '/reports/:name': report,
  '/outbox': { name: 'outbox', load: () => import('./pages/outbox.ts') },
  '/outbox/import': { name: 'outbox', load: () => import('./pages/import.ts') },
  '/outbox/:id': { name: 'outbox', load: () => import('./pages/outbox-row.ts') },
  '/sync': { name: 'sync', load: () => import('./pages/sync.ts') },
  '/webhooks': { name: 'sync', load: () => import('./pages/webhooks.ts') },
  '/exports': { name: 'exports', load: () => import('./pages/exports.ts') },
  '/settings': { name: 'settings', load: () => import('./pages/settings.ts') },
  '/sql': sql,
  // The page was called "Ask" once; addresses that people kept still lead to it.
  '/ask': sql,
};

const ROUTES = Object.entries(PAGES).map(([address, route]) => ({ ...route, path: patternOf(address) }));

/** A number in the place of `:id`, anything without a slash in that of other names. */
function patternOf(address: string): RegExp {
  const parts = address.replace(/:(\w+)/g, (_, name) => (name === 'id' ? '(\\d+)' : '([^/]+)'));
  return new RegExp(`^${parts}$`);
}

const live = startLive();
let leave = new AbortController();

/** Shows the page of the current address. The old page, or the skeleton of the document, stays until the new one is complete. */
async function show({ keepsPlace = false } = {}): Promise<void> {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const url = new URL(location.href);
  const route = ROUTES.find(({ path }) => path.test(url.pathname));
  const root = document.createElement('div');
  const main = document.querySelector('main');
  markCurrent(route?.name);
  main?.classList.add('busy');
  try {
    const { page } = route ? await loaded(route) : { page: NOWHERE };
    if (signal.aborted) return;
    document.title = `${page.title} · Feedback Mirror`;
    const context: PageContext = {
      root,
      url,
      parts: route?.path.exec(url.pathname)?.slice(1) ?? [],
      signal,
      go,
      onStats: (listener) => live.subscribe(listener, signal),
    };
    await page.show(context);
  } catch (error) {
    if (signal.aborted) return;
    root.replaceChildren(errorPage(error, signal));
  }
  if (signal.aborted) return;
  main?.classList.remove('busy');
  main?.removeAttribute('aria-busy');
  keepFocus(root, () => main?.replaceChildren(root));
  if (!keepsPlace) scrollTo(0, 0);
}

/** A browser may remember for good that a script could not be loaded, so only a reload helps. */
class ScriptMissing extends Error {}

async function loaded(route: Route): Promise<{ page: Page }> {
  try {
    return await route.load();
  } catch (cause) {
    throw new ScriptMissing('The service does not answer.', { cause });
  }
}

const NOWHERE: Page = {
  title: 'Not found',
  async show({ root }) {
    root.append(
      h(
        'div.empty',
        h('h1', 'There is no such page'),
        h('p', 'The address may be mistyped. ', h('a', { href: '/' }, 'Go to the overview'), '.'),
      ),
    );
  },
};

const RETRY_MS = 3000;

/** What is wrong, a button, and another attempt by itself: every few seconds, or with the next news where something is not there. */
function errorPage(error: unknown, signal: AbortSignal): HTMLElement {
  const isMissing = error instanceof HttpError && error.status === 404;
  const again = (): void => {
    if (error instanceof ScriptMissing) location.reload();
    else void show({ keepsPlace: true });
  };
  if (isMissing) waitForNews(signal, again);
  else if (!(error instanceof HttpError) || error.status >= 500) waitForService(signal, again);
  return h(
    'div.empty',
    { role: 'alert' },
    h('h1', isMissing ? 'Not found' : 'This page could not be loaded'),
    h('p', messageOf(error)),
    h('div.actions', button('Try again', again), h('a.button', { href: '/' }, 'Overview')),
  );
}

function waitForNews(signal: AbortSignal, again: () => void): void {
  let version: number | null = null;
  live.subscribe((stats) => {
    if (version !== null && stats.version !== version) again();
    version = stats.version;
  }, signal);
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
    if (link.dataset.page === name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function go(address: string, { replace = false } = {}): void {
  const target = new URL(address, location.href);
  if (replace) history.replaceState(null, '', target);
  else history.pushState(null, '', target);
  void show({ keepsPlace: replace });
}

/** Links of this service change the page in place; everything else is the browser's. */
function follow(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target || link.download)
    return;
  const target = new URL(link.href);
  if (target.origin !== location.origin || !ROUTES.some(({ path }) => path.test(target.pathname))) return;
  if (target.hash && target.pathname === location.pathname) return;
  event.preventDefault();
  go(target.href);
  document.querySelector('main')?.focus({ preventScroll: true });
}

async function signOut(): Promise<void> {
  await fetchJson('/logout', { body: {} });
  location.assign('/login');
}

startFrame({ go, signOut });
document.addEventListener('click', follow);
addEventListener('popstate', () => void show());
void show();
