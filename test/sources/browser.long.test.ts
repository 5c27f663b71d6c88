import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chromium, type Page } from 'playwright-core';
import { BROWSER, requireProgram, skipUnless } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { place, start } from './place.ts';

describe('the pages of several sources', skipUnless(BROWSER), () => {
  it('stay below the name of their source, and change to another one', async (t) => {
    const site = await place(t, { acme: { posts: 30 }, beta: { posts: 10 } });
    const service = await start(t, site);
    await until('both are ready', async () => {
      const { body } = await service.json('/readyz');
      return Object.values(body.sources as Record<string, boolean>).every(Boolean);
    });
    const browser = await chromium.launch({
      executablePath: requireProgram(BROWSER),
      args: ['--no-sandbox'],
    });
    t.after(() => browser.close());
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
    });
    await page.goto(`${service.url}/`);
    await page.waitForSelector('nav a[href="/s/beta/"]');
    await openPalette(page);
    await page.keyboard.type('bet');
    await page.waitForSelector('dialog.palette li >> text=beta');
    await page.keyboard.press('Escape');
    await page.click('main table a[href="/s/acme/"]');
    await page.waitForSelector('main h1');
    await page.click('nav a[data-page="posts"]');
    await page.waitForSelector('a[href^="/s/acme/posts/"]');
    assert.equal(new URL(page.url()).pathname, '/s/acme/posts');
    await page.click('a[href^="/s/acme/posts/"]');
    await page.waitForURL(/\/s\/acme\/posts\/\d+$/);
    await openPalette(page);
    await page.keyboard.type(wordOf(site.sandboxes.beta?.world.posts()[0]?.title ?? ''));
    await page.waitForSelector('dialog.palette li >> text=beta, post');
    await page.keyboard.press('Escape');
    await page.selectOption('#source', { label: 'beta' });
    await page.waitForURL(/\/s\/beta\/$/);
    await page.click('nav a[data-page="sql"]');
    await page.waitForURL(/\/s\/beta\/sql/);
    await page.goto(`${service.url}/s/acme/queues`);
    await page.getByRole('heading', { name: 'Queues', exact: true }).waitFor();
    assert.deepEqual(problems, []);
  });
});

/** The palette is loaded after the page: keys that are pressed before its field has the focus go to the page. */
async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.waitForSelector('dialog.palette input:focus');
}

/** The longest word of a title. */
function wordOf(title: string): string {
  return title.split(/[^A-Za-z]+/).sort((a, b) => b.length - a.length)[0] ?? '';
}
