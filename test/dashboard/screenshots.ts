/**
 * Every page of the dashboard as a picture, by day and by night, of a service that has lived for a while:
 *   npm run screenshots -- FOLDER [page …]
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { REPORT_NAMES } from '../../src/reports/catalogue.ts';
import type { Stage } from './browser/stage.ts';
import { type Look, visit } from './browser/visit.ts';
import { openLivedIn } from './lived-in.ts';

const [folder, ...wanted] = process.argv.slice(2);
if (folder === undefined) throw new Error('say where: npm run screenshots -- FOLDER');
mkdirSync(folder, { recursive: true });

const stage = await openLivedIn();
try {
  for (const scheme of ['light', 'dark'] as const) {
    const sizes = {
      desktop: { scheme, width: 1440, height: 900 },
      tablet: { scheme, width: 1024, height: 768 },
      phone: { scheme, width: 390, height: 844 },
    };
    for (const [name, address] of await addresses(stage))
      for (const [size, look] of Object.entries(sizes))
        await take(`${name}-${size}-${scheme}`, address, look);
  }
} finally {
  await stage.close();
}

async function addresses({ url, uncertain }: Stage): Promise<[name: string, address: string][]> {
  const sql = 'SELECT post_id FROM post_history GROUP BY post_id ORDER BY count(*) DESC, post_id LIMIT 1';
  const headers = { 'content-type': 'application/json' };
  const found = await fetch(`${url}/data/query`, { method: 'POST', headers, body: JSON.stringify({ sql }) });
  const { rows } = (await found.json()) as { rows: number[][] };
  const asked =
    "SELECT strftime('%Y-%m', created) AS month, count(*) AS posts, sum(votes_count) AS votes\n  FROM live_posts\n GROUP BY month\n ORDER BY month";
  return [
    ['overview', '/'],
    ['posts', '/posts'],
    ['search', '/posts?search=export'],
    ['post', `/posts/${rows[0]?.[0] ?? 1}`],
    ['board', '/boards/feature-requests'],
    ['people', '/people'],
    ['person', '/people/5'],
    ['customers', '/customers'],
    ['company', '/companies/Acme'],
    ['rules', '/rules'],
    ['reports', '/reports'],
    ...REPORT_NAMES.map((name): [string, string] => [
      `report-${name}`,
      `/reports/${name}${name === 'post-votes' ? `?post=${rows[0]?.[0] ?? 1}` : ''}`,
    ]),
    ['webhooks', '/webhooks'],
    ['exports', '/exports'],
    ['settings', '/settings'],
    ['outbox', '/outbox'],
    ['outbox-row', `/outbox/${uncertain}`],
    ['import', '/outbox/import'],
    ['sync', '/sync'],
    ['queues', '/queues'],
    ['sql', `/sql?q=${encodeURIComponent(asked)}`],
  ];
}

async function take(name: string, address: string, look: Look): Promise<void> {
  if (wanted.length > 0 && !wanted.some((page) => name.startsWith(page))) return;
  const { page, open, close } = await visit(stage, look);
  await open(address);
  // What tells the age of the mirror comes with the first event of the stream.
  await page.locator('.updated[data-state]').waitFor();
  await page.locator('.running').waitFor({ state: 'detached' });
  await page.screenshot({ fullPage: true, path: join(folder ?? '', `${name}.png`) });
  await close();
}
