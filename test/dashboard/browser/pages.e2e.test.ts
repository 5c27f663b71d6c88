import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SyncState } from '../../../src/http/dashboard/sync.ts';
import type { PersonView } from '../../../src/search/browse/pages.ts';
import { until } from '../../support/until.ts';
import { examplesOf, REPORTS } from './addresses.ts';
import { onStage, openStage, type Stage } from './stage.ts';
import { barriers, DESKTOP, type Look, PHONE, sideways, textOf, visit, weightOf } from './visit.ts';

/** A page is opened in the first look and shown in the others too: opening it takes longer than all that is checked. */
const LOOKS: [name: string, first: Look, others: Look[]][] = [
  ['on a desk and a tablet by day', DESKTOP, [{ scheme: 'light', width: 768, height: 1024 }]],
  [
    'on a phone by night and day, and on a desk by night',
    PHONE,
    [
      { ...PHONE, scheme: 'light' },
      { ...DESKTOP, scheme: 'dark' },
    ],
  ],
];

/** 73.8 kB before Preact, and 20 kB for it. */
const MOST_BYTES = 93_800;

describe('the pages of the dashboard', onStage, () => {
  let stage: Stage;
  let email: string;
  before(async () => {
    stage = await openStage();
    const { person } = (await (await fetch(`${stage.url}/data/people?id=5`)).json()) as PersonView;
    email = person.email ?? '';
    // Something is held by the mass-delete guard, so that it is looked at too.
    for (let id = 60; id < 90; id++) stage.sandbox.world.deletePost(id);
    const headers = { 'content-type': 'application/json' };
    const posts = async () => {
      const { lists } = (await (await fetch(`${stage.url}/data/sync`)).json()) as SyncState;
      return lists.find(({ resource }) => resource === 'posts');
    };
    while ((await posts())?.held !== 30) {
      const swept = (await posts())?.lastSweepAt;
      await fetch(`${stage.url}/data/sync/posts/run`, { method: 'POST', headers, body: '{"mode":"sweep"}' });
      await until('another sweep has ended', async () => (await posts())?.lastSweepAt !== swept);
    }
  });
  after(() => stage?.close());

  const addresses = (): string[] => [
    ...Object.values(examplesOf(stage.uncertain, email)),
    '/reports/new-by-week',
  ];

  it('show days, weeks and parts of them by the clock and in the format of whoever looks', async (t) => {
    const reader = { ...DESKTOP, timezoneId: 'Pacific/Kiritimati' };
    const { page, open, close } = await visit(stage, reader);
    t.after(close);
    // 14 hours ahead of UTC.
    const { format: dayOf } = new Intl.DateTimeFormat('en-GB', {
      timeZone: reader.timezoneId,
      dateStyle: 'medium',
    });
    for (const address of ['/', '/reports/new-by-week', '/reports/first-reply']) {
      const before = dayOf(Date.now());
      await open(address);
      const shown = await textOf(page);
      const today = new RegExp(`until (${before}|${dayOf(Date.now())}), \\d\\d:\\d\\d`);
      assert.match(shown, today, address);
      assert.doesNotMatch(shown, /\d{4}-\d\d-\d\d/, address);
    }
  });

  for (const [name, first, others] of LOOKS)
    it(`${name} stand without a complaint of the browser, keep nobody out and scroll one way only`, async (t) => {
      const { page, open, assertCalm, close } = await visit(stage, first);
      t.after(close);
      // The reports are made of the same parts: that they fit is looked at once, and whether they keep somebody out at every fourth; by
      // night, whose colours are the same everywhere, at every other page.
      const every = first === DESKTOP ? 1 : 2;
      for (const [n, address] of [...addresses(), ...(first === DESKTOP ? REPORTS : [])].entries()) {
        await open(address);
        assert.equal(await page.locator('main [role=alert]').count(), 0, address);
        if (REPORTS.indexOf(address) % 4 <= 0 && n % every === 0)
          assert.deepEqual(await barriers(page), [], address);
        for (const look of [first, ...others]) {
          await page.emulateMedia({ colorScheme: look.scheme });
          await page.setViewportSize(look);
          // A chart takes its new size when the page has been drawn.
          await until(
            `${address} cannot be scrolled sideways at ${look.width}`,
            async () => (await sideways(page)) <= 0,
          );
        }
        await page.emulateMedia({ colorScheme: first.scheme });
        await page.setViewportSize(first);
      }
      assertCalm();
    });

  it(`weigh less than ${MOST_BYTES / 1000} kB at first sight, charts included`, async (t) => {
    const { page, close } = await visit(stage);
    t.after(close);
    const bytes = await weightOf(page, '/');
    t.diagnostic(`${bytes} bytes`);
    assert.ok(bytes > 20_000 && bytes < MOST_BYTES, `${bytes} bytes`);
  });
});
