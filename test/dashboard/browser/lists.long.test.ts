import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../../support/until.ts';
import { onStage, openStage, type Stage, sweepAll } from './stage.ts';
import { barriers, DESKTOP, downloaded, PHONE, settled, textOf, type Visit, visit } from './visit.ts';

describe('somebody with lists and reports', onStage, () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage({
      async past(app, { world }) {
        await sweepAll(app);
        const done = world.statuses().find(({ name }) => name === 'Completed')?.id ?? assert.fail();
        for (const id of [7, 8, 9, 10]) world.setStatus(id, done);
        await sweepAll(app);
      },
    });
  });
  after(() => stage?.close());
  const enter = async (t: TestContext): Promise<Visit> => {
    const visitor = await visit(stage);
    t.after(() => visitor.close());
    return visitor;
  };
  /** Of what is listed, without the moment to which a running day or week is counted. */
  const timesOn = async (page: Page): Promise<string> => {
    const shown = (await textOf(page)).replaceAll(/until .*/g, '');
    return page.url().includes('until=') ? shown : shown.replace(/ to [^,]+, \d\d:\d\d(?=, days of )/, '');
  };

  it('has every choice on the screen of a phone, however long its name is', async (t) => {
    const { page, open, close } = await visit(stage, PHONE);
    t.after(close);
    const places = [
      ['/posts', '#picks-board'],
      ['/posts', '#picks-status'],
      ['/posts', '#picks-views'],
      ['/reports/top-posts', '#picks-status'],
    ] as const;
    for (const [address, box] of places) {
      await open(address);
      if (box !== '#picks-views') await page.getByRole('button', { name: /^Filters/ }).click();
      await page.locator(`${box} summary`).click();
      const list = page.locator(`${box} .picks-list`);
      await list.evaluate((element) => element.append('A status with quite a long name '.repeat(3)));
      const { x = -1, width = 0 } = (await list.boundingBox()) ?? {};
      assert.ok(x >= 0 && x + width <= PHONE.width, `${address} ${box}: ${x} to ${x + width}`);
    }
  });

  it('types a date key by key, in a field that stays while the list is drawn again', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    const focused = (): Promise<unknown> => page.evaluate('document.activeElement.id');
    // Day and month are alike: which comes first is up to the browser.
    await open('/posts?since=2026-10-10');
    await page.locator('#field-since').focus();
    await page.keyboard.type('05');
    await page.locator('a[href*="since=2026-10-05"], a[href*="since=2026-05-10"]').first().waitFor();
    assert.equal(await focused(), 'field-since');
    await page.keyboard.type('0520');
    await page.keyboard.press('Enter');
    assert.doesNotMatch(page.url(), /since=00/, 'the year is not there yet');
    await page.keyboard.type('25');
    await page.keyboard.press('Enter');
    await page.waitForURL(/since=2025-05-05&tz=[^&]+$/);
    await page.locator('#field-until').focus();
    await page.keyboard.type('06062025');
    await page.locator('#field-votes').focus();
    await page.waitForURL(/since=2025-05-05&until=2025-06-07&tz=[^&]+$/);
    assertCalm();
  });

  it('shares days that were chosen, and every report, with whoever reads in another zone', async (t) => {
    const tokyo = await visit(stage, { ...DESKTOP, timezoneId: 'Asia/Tokyo' });
    const links = new Map<string, string>();
    const days = 'since=2026-01-01&until=2027-01-01';
    for (const address of [`/posts?${days}`, '/?since=2026-01-01', '/reports/new-by-week']) {
      await tokyo.open(address);
      links.set(tokyo.page.url(), await timesOn(tokyo.page));
    }
    await tokyo.close();
    const lima = await visit(stage, { ...DESKTOP, timezoneId: 'America/Lima' });
    t.after(() => lima.close());
    for (const [link, shown] of links) {
      assert.equal(new URL(link).searchParams.get('tz'), 'Asia/Tokyo', link);
      await lima.open(link);
      assert.equal(lima.page.url(), link);
      assert.equal(await lima.page.locator('#field-tz').inputValue(), 'Asia/Tokyo', link);
      assert.equal(await timesOn(lima.page), shown, link);
    }
    await lima.open('/posts?since=30d&tz=Asia/Tokyo');
    assert.doesNotMatch(lima.page.url(), /tz=/, 'thirty days are the same everywhere');
  });

  for (const { address, typed, drawn } of [
    { address: '/posts', typed: 'creator', drawn: 'a[download="posts.csv"][href*="since=7d"]' },
    { address: '/reports/first-reply', typed: 'tz', drawn: '.report-filters ~ .stacked:not(.busy)' },
  ])
    it(`goes on choosing on ${address} while what was chosen before is loaded`, async (t) => {
      const { page, open, assertCalm } = await enter(t);
      await open(address);
      const gate = Promise.withResolvers<void>();
      await page.route(`**/data${address}?*`, async (route) => {
        await gate.promise;
        // The page gives up an answer that it does not wait for any more.
        await route.continue().catch(() => undefined);
      });
      await page.locator('#picks-status summary').click();
      for (const n of [0, 1, 2]) await page.locator('input[name=status]').nth(n).click();
      await page.locator('#field-period').selectOption('7d');
      const input = page.locator(`#field-${typed}`);
      await input.fill('');
      await input.pressSequentially('Asia/T');
      gate.resolve();
      await page.locator(drawn).waitFor();
      await page.keyboard.type('okyo');
      assert.equal(await input.inputValue(), 'Asia/Tokyo');
      await page.keyboard.press('Enter');
      await page.waitForURL(({ searchParams: said }) => said.get(typed) === 'Asia/Tokyo');
      const { searchParams: said } = new URL(page.url());
      assert.deepEqual([said.get('status')?.split(',').length, said.get('since')], [3, '7d']);
      assertCalm();
    });

  it('is told of a period that cannot be beside its fields, and mends it there', async (t) => {
    const { page, open } = await enter(t);
    await open('/reports/first-reply?since=2026-01-01&until=2026-02-01');
    await page.locator('#field-since').fill('2026-03-01');
    await page.keyboard.press('Enter');
    await page.getByText('Give since an earlier date, or until a later one.').waitFor();
    await page.locator('#field-since:focus').fill('2026-01-01');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Figures' }).waitFor();
    assert.match(page.url(), /since=2026-01-01&until=2026-02-01&tz=[^&]+$/);
  });

  it('is told of a number of votes that cannot be, and takes none for any', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/posts?votes=2');
    const votes = page.getByLabel('Votes, at least');
    await votes.fill('-3');
    await page.keyboard.press('Enter');
    await page.locator('#field-votes:invalid').waitFor();
    assert.match(page.url(), /votes=2$/);
    await votes.fill('0');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/posts$/);
    await open('/posts?votes=0');
    await page.getByRole('list', { name: 'Posts' }).waitFor();
    assertCalm();
  });

  it('goes through a list by keys, chooses posts and copies their links', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: stage.url });
    await open('/posts');
    // What the button says for a moment is written down: a busy machine may look too late.
    await page.evaluate(`
      window.said = [];
      const button = document.querySelector('#copy-links');
      new MutationObserver(() => said.push(button.textContent)).observe(button, { childList: true, characterData: true, subtree: true });`);
    await page.getByRole('button', { name: 'Copy all links' }).click();
    await until('it says how many it copied', async () =>
      /Copied 1\d\d links/.test(String(await page.evaluate('said.join()'))),
    );
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await page.getByRole('button', { name: 'Copy 2 links' }).waitFor();
    await page.keyboard.press('c');
    await until('two links are on the clipboard', async () =>
      /^http\S+\nhttp\S+$/.test((await page.evaluate('navigator.clipboard.readText()')) as string),
    );
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: 'Reports', level: 1 }).waitFor();
    assertCalm();
  });

  it('goes anywhere by a few letters, from wherever it is', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/settings');
    for (const [letters, found, heading] of [
      ['#7', 'Post 7', /./],
      ['climb', 'Report', /^Climbers$/],
      ['rules', 'Page', /^Rules$/],
      ['robin.harris', 'Person', /^Robin Harris$/],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Where to?' }).waitFor();
      await page.keyboard.type(letters);
      await page.getByRole('option').filter({ hasText: found }).first().waitFor();
      assert.deepEqual(await barriers(page), []);
      while (!(await page.locator('[role=option][aria-selected=true]').innerText()).includes(found))
        await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await settled(page);
    }
    assertCalm();
  });

  it('sorts a report by a column, and follows a row to its posts and back', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/reports/boards');
    const first = async (): Promise<string> => page.locator('.report-rows tbody tr').first().innerText();
    await page.locator('#sort-posts').click();
    await page.locator('th[aria-sort=descending]').waitFor();
    assert.match(page.url(), /sort=-posts/);
    const most = await first();
    await page.locator('#sort-posts').click();
    await page.locator('th[aria-sort=ascending]').waitFor();
    await until('the fewest posts come first', async () => (await first()) !== most);
    const sorted = page.url();
    await page.locator('.report-rows tbody tr').first().getByRole('link').first().click();
    await page.waitForURL(/\/posts\?board=/);
    await page.getByRole('list', { name: 'Posts' }).waitFor();
    await page.goBack();
    await page.locator('th[aria-sort=ascending]').waitFor();
    assert.equal(page.url(), sorted);
    assertCalm();
  });

  it('chooses customers of the file that was imported once, in reports, lists and the overview', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    const send = (path: string, body: object): Promise<unknown> =>
      fetch(stage.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    t.after(() => send('/data/segments/remove', {}));
    await send('/data/segments', {
      csv: 'domain,company,plan,mrr\nexample.com,Acme,Pro,100\nexample.net,Beta,Free,5\n',
    });
    await open('/customers');
    await page.getByRole('link', { name: 'Pro', exact: true }).click();
    await page.waitForURL(/top-posts.*segment=plan%3DPro/);
    await page.getByText('Only posts written by plan=Pro').waitFor();
    await open('/?segment=plan%3DFree');
    const posts = await page.locator('.figure', { hasText: 'Posts' }).locator('b').innerText();
    await open('/posts');
    await page.getByLabel('Customers').fill('plan=Free');
    await page.keyboard.press('Enter');
    await page.waitForURL(/segment=plan%3DFree/);
    await page.getByText(`${posts} posts.`).waitFor();
    await open('/reports/demand');
    await page.getByLabel('Group by').selectOption({ label: 'company' });
    await page.waitForURL(/by=company/);
    await page.reload();
    await page
      .getByRole('cell', { name: /\d Acme/ })
      .first()
      .waitFor();
    assertCalm();
  });

  it('tells people what was delivered: copies their addresses, and leaves them out once they are told', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: stage.url });
    await open('/reports/shipped');
    await page.getByRole('button', { name: 'Copy addresses' }).click();
    await until('addresses are on the clipboard', async () =>
      /^\S+@example\.\w+(, \S+@example\.\w+)*$/.test(
        (await page.evaluate('navigator.clipboard.readText()')) as string,
      ),
    );
    await page.getByRole('button', { name: 'Mark as told' }).click();
    await page.getByLabel('Your name').fill('Mia');
    await page.getByRole('dialog').getByRole('button', { name: 'Mark as told' }).click();
    await page.getByText('Nothing to show for this choice.').waitFor();
    await open(`/sql?q=${encodeURIComponent('SELECT DISTINCT told_by FROM told_people')}`);
    await page.getByRole('cell', { name: 'Mia' }).waitFor();
    assertCalm();
  });

  it('finds people by a part of their name, and their posts', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/people');
    await page.getByLabel('Search people').fill('robin');
    await page.keyboard.press('Enter');
    await page.waitForURL(/search=robin/);
    await page.getByRole('link', { name: 'Robin Harris' }).waitFor();
    await page.locator('main:not(.busy) tbody tr').first().getByRole('link').nth(1).click();
    await page.waitForURL(/\/posts\?creator=\d+/);
    await page.getByRole('list', { name: 'Posts' }).waitFor();
    assertCalm();
  });

  it('writes SQL with the names of tables and columns offered', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/sql');
    await page.locator('.cm-content').waitFor();
    await page.getByRole('textbox', { name: 'Statement' }).click();
    await page.keyboard.type('SELECT count(*) AS n FROM live_p');
    // A key that comes within the editor's first moment is taken for typing on.
    await page.getByRole('option', { name: 'live_posts' }).first().click();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('columnheader', { name: 'n', exact: true }).waitFor();
    assert.match(page.url(), /live_posts/);
    await page.getByRole('textbox', { name: 'Statement' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('re');
    await page.getByRole('option', { name: 'RECURSIVE' }).waitFor();
    assert.equal(await page.getByRole('option', { name: 'REVOKE' }).count(), 0);
    assertCalm();
  });

  it('has everything exported now, and a table without names at once', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/exports');
    await page.getByRole('button', { name: 'Export everything now' }).click();
    await page.getByText('The export is under way').waitFor();
    await page.locator('#field-table').selectOption('users');
    await page.locator('#field-redact').selectOption('emails');
    const file = await readFile(await (await downloaded(page, 'Download', 'link')).path(), 'utf8');
    assert.match(file, /@redacted\.invalid/);
    const made = page.getByRole('link', { name: /^posts\.parquet/ });
    await until('the export is listed', async () => {
      await page.reload();
      await page.getByRole('heading', { name: 'Exports', level: 1 }).waitFor();
      return (await made.count()) > 0;
    });
    const [download] = await Promise.all([page.waitForEvent('download'), made.first().click()]);
    assert.equal((await readFile(await download.path())).subarray(0, 4).toString(), 'PAR1');
    assertCalm();
  });
});
