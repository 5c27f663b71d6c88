import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../src/api/client.ts';
import type { App } from '../../src/app.ts';
import { Secret } from '../../src/base/secret.ts';
import type { SyncState } from '../../src/http/dashboard/sync.ts';
import { createLife } from '../../src/sandbox/live.ts';
import type { Sandbox } from '../laboratory/server.ts';
import { fakeClock } from '../support/clock.ts';
import { openStage, type Stage, sweepAll } from './browser/stage.ts';

const DAY = 86_400_000;
const DAYS = 60;
const EVENTS_A_DAY = 45;
const START = Date.now() - DAYS * DAY;

const MAIL = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'mirror@example.com' };

const clock = fakeClock(START);

/** A service that has lived for two months, with something on every page. */
export async function openLivedIn(env: Record<string, string> = {}): Promise<Stage> {
  const stage = await openStage({
    sandbox: { posts: 400, seed: 7, referenceTime: START, clock },
    env: { SYNC_HEAD_EVERY: '10m', WEBHOOK_ALLOW: '127.0.0.1', ...MAIL, ...env },
    past: live,
  });
  try {
    await settle(stage);
    return stage;
  } catch (error) {
    await stage.close();
    throw error;
  }
}

/** Titles that a page may cut, break or set against their direction. */
const TITLES = [
  'أضف تصديرًا إلى ملف PDF مع الحفاظ على اتجاه النص',
  'אפשרות לייצא את כל הפוסטים לקובץ CSV כולל התגובות',
  'When I export a report with several hundred rows for my manager, the columns I have hidden come back, and I have to remove each of them by hand again',
  'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverleihungsurkunde',
];

const CSV = `Title,Description,Board,Email,Name
A calendar of what was shipped,People ask when.,feature-requests,kim@example.com,Kim
,A row without a title,bugs,,
Keep the filters between visits,They are lost.,bugs,,
Sort the comments by likes,The best first.,reporting,ana@example.org,Ana
`;

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
  for (const [n, title] of TITLES.entries())
    world.addPost({ board: 'bugs', title, content: title, votes: 30 - n, email: 'buyer@example.com' });
  await sweepAll({ client, store, clock });
  await client.close();
}

/** Posts, an import, a webhook and rules; and posts that vanished upstream, whose deletions the mass-delete guard holds. */
async function settle({ sandbox, url }: Stage): Promise<void> {
  const ask = async (path: string, type: string, body: string): Promise<{ id: string }> => {
    const answer = await fetch(url + path, { method: 'POST', headers: { 'content-type': type }, body });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  const send = (path: string, body: object) => ask(path, 'application/json', JSON.stringify(body));
  for (const [n, title] of ['Export to a calendar', 'Sort by last reply', 'Remember my filters'].entries())
    await send('/data/outbox', {
      board: 'feature-requests',
      title,
      content: 'It would help a lot.',
      key: `picture-${n}`,
    });
  const { id: file } = await ask('/data/imports', 'text/csv', CSV);
  await send(`/data/imports/${file}/commit`, {});
  await send('/data/webhooks', { url: 'http://127.0.0.1:9/hook', name: 'crm', types: 'post.*' });
  await send('/data/channels', { name: 'product', mail: 'product@example.com' });
  await send('/data/channels', { name: 'team', slack: 'https://hooks.example.com/services/x' });
  const [monday, calls] = [
    { what: 'digest', every: 'weekly', at: 'mon 09:00' },
    { what: 'status', every: 'at-once' },
  ];
  await send('/data/rules', { name: 'monday', to: ['product', 'team'], ...monday });
  await send('/data/rules', { name: 'status-changes', to: ['team'], ...calls });
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
