import type { PageAddress } from '../../../src/http/dashboard/assets.ts';
import { REPORT_NAMES } from '../../../src/reports/catalogue.ts';

const BY_MONTH = "SELECT strftime('%Y-%m', created) AS month, count(*) AS posts FROM live_posts GROUP BY 1";

export const REPORTS = REPORT_NAMES.map(
  (name) => `/reports/${name}${name === 'post-votes' ? '?post=5' : ''}`,
);

/** One of each: a page without an example is none that people can rely on. */
export function examplesOf(uncertain: number, email: string): Record<PageAddress, string> {
  return {
    '/': '/',
    '/posts': '/posts',
    '/posts/:id': '/posts/5',
    '/boards/:slug': '/boards/bugs',
    '/people': `/people?email=${encodeURIComponent(email)}`,
    '/people/:id': '/people/5',
    '/reports': '/reports',
    '/reports/:name': '/reports/top-posts?since=2026-01-01&until=2026-12-01',
    '/customers': '/customers',
    '/companies/:name': '/companies/Acme',
    '/rules': '/rules',
    '/exports': '/exports',
    '/settings': '/settings',
    '/outbox': '/outbox',
    '/outbox/:id': `/outbox/${uncertain}`,
    '/outbox/import': '/outbox/import',
    '/sync': '/sync',
    '/webhooks': '/webhooks',
    '/queues': '/queues?queue=maintenance&state=planned',
    '/sql': `/sql?q=${encodeURIComponent(BY_MONTH)}`,
    '/ask': '/ask',
  };
}
