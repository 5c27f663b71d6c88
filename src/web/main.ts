import type { PageAddress } from '../http/dashboard/assets.ts';
import { fetchJson } from './api.ts';
import { keepFocus, loadPalette, settleSearch, startFrame } from './shell/frame.ts';
import { startLive } from './shell/live.ts';
import { type PageRoute, Router } from './shell/router.ts';
import { startSwitcher } from './shell/switcher.ts';

const sql = { name: 'sql', load: () => import('./pages/sql.ts') };

const main = document.querySelector('main') ?? document.body;

const pages: Record<PageAddress, PageRoute> = {
  '/': { name: 'overview', load: () => import('./pages/overview.ts') },
  '/posts': { name: 'posts', load: () => import('./pages/posts.ts') },
  '/posts/:id': { name: 'posts', load: () => import('./pages/post.ts') },
  '/boards/:slug': { name: 'posts', load: () => import('./pages/board.ts') },
  '/people': { name: 'people', load: () => import('./pages/people.ts') },
  '/customers': { name: 'people', load: () => import('./pages/customers.ts') },
  '/companies/:name': { name: 'people', load: () => import('./pages/company.ts') },
  '/rules': { name: 'reports', load: () => import('./pages/rules.ts') },
  '/people/:id': { name: 'people', load: () => import('./pages/person.ts') },
  '/reports': { name: 'reports', load: () => import('./pages/reports.ts') },
  '/reports/:name': { name: 'reports', load: () => import('./pages/report.ts') },
  '/outbox': { name: 'outbox', load: () => import('./pages/outbox.ts') },
  '/outbox/import': { name: 'outbox', load: () => import('./pages/import.ts') },
  '/outbox/:id': { name: 'outbox', load: () => import('./pages/outbox-row.ts') },
  '/sync': { name: 'sync', load: () => import('./pages/sync.ts') },
  '/queues': { name: 'sync', load: () => import('./pages/queues.ts') },
  '/webhooks': { name: 'sync', load: () => import('./pages/webhooks.ts') },
  '/exports': { name: 'exports', load: () => import('./pages/exports.ts') },
  '/settings': { name: 'settings', load: () => import('./pages/settings.ts') },
  '/sql': sql,
  // The page was called "Ask" once; addresses that people kept still lead to it.
  '/ask': sql,
};
const router = new Router(pages, main);
const first = router.start();

startLive((stats) => router.onStats(stats));
void first.then(loadPalette);
// The name stays where the list cannot be had.
void startSwitcher().catch(() => undefined);
startFrame({
  go: router.go,
  async signOut() {
    await fetchJson('/logout', { body: {} });
    location.assign('/login');
  },
});
keepFocus(main);
new MutationObserver(settleSearch).observe(main, { childList: true, subtree: true });
