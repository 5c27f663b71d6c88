import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SyncState } from '../../../src/http/dashboard/sync.ts';
import type { PersonView } from '../../../src/search/browse/pages.ts';
import { until } from '../../support/until.ts';
import { examplesOf, REPORTS } from './addresses.ts';
import { onStage, openStage, type Stage } from './stage.ts';
import { barriers, DESKTOP, type Look, PHONE, sideways, textOf, visit, weightOf } from './visit.ts';

/** Shown in the page that is open already: opening it takes longer than all that is checked. The phone is dark. */
const LOOKS: Look[] = [DESKTOP, { ...DESKTOP, width: 1024, height: 768 }, PHONE];

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

  it('stand without a complaint of the browser, keep nobody out and scroll one way only, at any width, by day and by night', async (t) => {
    const { page, open, go, assertCalm, close } = await visit(stage);
    t.after(close);
    await open('/');
    for (const [n, address] of [...addresses(), ...REPORTS].entries()) {
      await go(address);
      assert.equal(await page.locator('main [role=alert]').count(), 0, address);
      // The reports are made of the same parts: whether they keep somebody out is looked at in every fourth. The colours of the night are
      // the same everywhere: every third page is enough.
      const isReport = REPORTS.includes(address);
      const isTried = isReport ? REPORTS.indexOf(address) % 4 === 0 : true;
      for (const look of LOOKS) {
        await page.emulateMedia({ colorScheme: look.scheme });
        await page.setViewportSize(look);
        // A chart takes its new size when the page has been drawn.
        await until(
          `${address} cannot be scrolled sideways at ${look.width}`,
          async () => (await sideways(page)) <= 0,
        );
        if (isTried && (look === DESKTOP || (look === PHONE && n % 3 === 0)))
          assert.deepEqual(await barriers(page), [], address);
      }
    }
    assertCalm();
  });

  it('are printed light, without navigation, as wide as the paper, and from the first sheet on', async (t) => {
    const { page, open, go, close } = await visit(stage, { ...DESKTOP, scheme: 'dark' });
    t.after(close);
    await open('/');
    for (const address of ['/posts', '/reports/top-posts', '/reports/new-by-week', '/boards/bugs']) {
      await go(address);
      await page.emulateMedia({ media: 'print' });
      await page.evaluate("dispatchEvent(new Event('beforeprint'))");
      for (const part of ['nav', '.filters', '.actions', '.button'])
        assert.equal(
          await page.locator(`${part}:visible`).count(),
          0,
          `${part} of ${address} is not printed`,
        );
      assert.equal(await page.locator('main h1').isVisible(), true);
      assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'light');
      // The chart keeps the size of the window, and is shown as wide as the paper.
      await page.setViewportSize({ width: 720, height: 1000 });
      assert.ok((await sideways(page)) <= 0, `${address} fits on paper`);
      const breaks =
        "[...document.querySelectorAll('.card')].map((card) => getComputedStyle(card).breakInside)";
      assert.deepEqual(new Set((await page.evaluate(breaks)) as string[]), new Set(['auto']), address);
      await page.evaluate("dispatchEvent(new Event('afterprint'))");
      assert.equal(await page.evaluate('document.documentElement.dataset.theme'), undefined);
      await page.emulateMedia({ media: 'screen' });
      await page.setViewportSize(DESKTOP);
    }
  });

  it(`weigh less than ${MOST_BYTES / 1000} kB at first sight, charts included`, async (t) => {
    const { page, close } = await visit(stage);
    t.after(close);
    const bytes = await weightOf(page, '/');
    t.diagnostic(`${bytes} bytes`);
    assert.ok(bytes > 20_000 && bytes < MOST_BYTES, `${bytes} bytes`);
  });
});
