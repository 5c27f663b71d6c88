/**
 * Every page of the dashboard as a picture, by day and by night, of a service that has lived for a while:
 *   npm run screenshots -- FOLDER [page …]
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../src/api/client.ts';
import type { App } from '../../src/app.ts';
import { Secret } from '../../src/base/secret.ts';
import type { SyncState } from '../../src/http/dashboard/sync.ts';
import { REPORT_NAMES } from '../../src/reports/catalogue.ts';
import { createLife } from '../../src/sandbox/live.ts';
import type { Sandbox } from '../laboratory/server.ts';
import { fakeClock } from '../support/clock.ts';
import { openStage, type Stage, sweepAll } from './browser/stage.ts';
import { type Look, visit } from './browser/visit.ts';

const DAY = 86_400_000;
const DAYS = 60;
const EVENTS_A_DAY = 45;
const START = Date.now() - DAYS * DAY;

const [folder, ...wanted] = process.argv.slice(2);
if (folder === undefined) throw new Error('say where: npm run screenshots -- FOLDER');
mkdirSync(folder, { recursive: true });

const clock = fakeClock(START);
const stage = await openStage({
  sandbox: { posts: 400, seed: 7, referenceTime: START, clock },
  env: { SYNC_HEAD_EVERY: '10m' },
  past: live,
});
try {
  await settle(stage);
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

/** Two months in some seconds: people use the service, and each day its lists are read. */
async function live({ store }: App, { world, url }: Sandbox): Promise<void> {
  const step = createLife(world, 7);
  // When a page was read is the client's to say, so it has to have the same clock.
  const token = new Secret('sandbox');
  const client = createClient({ baseUrl: url, auth: { kind: 'header' }, token: () => token, clock });
  await sweepAll({ client, store, clock });
  for (let day = 0; day < DAYS; day++) {
    for (let n = 0; n < EVENTS_A_DAY; n++) {
      clock.advance(DAY / EVENTS_A_DAY);
      step();
    }
    await sweepAll({ client, store, clock });
  }
  await client.close();
}

/** Some posts go out, and some that vanished upstream are held by the mass-delete guard. */
async function settle({ sandbox, url }: Stage): Promise<void> {
  const send = (path: string, body: object): Promise<unknown> =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  for (const [n, title] of ['Export to a calendar', 'Sort by last reply', 'Remember my filters'].entries())
    await send('/data/outbox', {
      board: 'feature-requests',
      title,
      content: 'It would help a lot.',
      key: `picture-${n}`,
    });
  for (let id = 20; id < 100; id++) sandbox.world.deletePost(id);
  const posts = async () => {
    const { lists } = (await (await fetch(`${url}/data/sync`)).json()) as SyncState;
    return lists.find(({ resource }) => resource === 'posts');
  };
  while ((await posts())?.held === 0) {
    const swept = (await posts())?.lastSweepAt;
    await send('/data/sync/posts/run', { mode: 'sweep' });
    while ((await posts())?.lastSweepAt === swept) await sleep(100);
  }
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
