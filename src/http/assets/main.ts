import { ask } from './api.ts';
import { h } from './dom.ts';
import { startLive } from './live.ts';
import type { Page, PageContext } from './page.ts';

interface Route {
  name: string;
  path: RegExp;
  load(): Promise<{ page: Page }>;
}

const ROUTES: Route[] = [
  { name: 'overview', path: /^\/$/, load: () => import('./pages/overview.ts') },
  { name: 'posts', path: /^\/posts$/, load: () => import('./pages/posts.ts') },
  { name: 'posts', path: /^\/posts\/(\d+)$/, load: () => import('./pages/post.ts') },
  { name: 'outbox', path: /^\/outbox$/, load: () => import('./pages/outbox.ts') },
  { name: 'outbox', path: /^\/outbox\/import$/, load: () => import('./pages/import.ts') },
  { name: 'outbox', path: /^\/outbox\/(\d+)$/, load: () => import('./pages/outbox-row.ts') },
  { name: 'sync', path: /^\/sync$/, load: () => import('./pages/sync.ts') },
  { name: 'ask', path: /^\/ask$/, load: () => import('./pages/ask.ts') },
];

const live = startLive();
let leave = new AbortController();

/** Shows the page of the current address. */
async function show({ keepsPlace = false } = {}): Promise<void> {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const url = new URL(location.href);
  const route = ROUTES.find(({ path }) => path.test(url.pathname));
  markCurrent(route?.name);
  const root = document.createElement('div');
  const stage = document.querySelector('main');
  try {
    const { page } = route ? await route.load() : { page: nowhere };
    if (signal.aborted) return;
    document.title = `${page.title} · Feedback Mirror`;
    const context: PageContext = {
      root,
      url,
      parts: route?.path.exec(url.pathname)?.slice(1) ?? [],
      signal,
      go,
      onPulse: (listener) => live.subscribe(listener, signal),
    };
    // The old page stays until the new one stands: no flash of emptiness.
    stage?.classList.add('busy');
    await page.show(context);
  } catch (error) {
    if (signal.aborted) return;
    root.replaceChildren(trouble(error));
  }
  if (signal.aborted) return;
  stage?.classList.remove('busy');
  stage?.replaceChildren(root);
  if (!keepsPlace) scrollTo(0, 0);
}

const nowhere: Page = {
  title: 'Not found',
  async show({ root }) {
    root.append(
      h('div', { class: 'empty' }, h('h1', {}, 'There is no such page'), h('a', { href: '/' }, 'Overview')),
    );
  },
};

function trouble(error: unknown): HTMLElement {
  const reason = error instanceof Error ? error.message : String(error);
  return h(
    'div',
    { class: 'banner', 'data-tone': 'bad', role: 'alert' },
    h('b', {}, 'This page could not be shown. '),
    reason,
  );
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
  await ask('/logout', { body: {} });
  location.assign('/login');
}

document.querySelector('.sign-out')?.addEventListener('click', () => void signOut());
document.addEventListener('click', follow);
addEventListener('popstate', () => void show());
void show();
