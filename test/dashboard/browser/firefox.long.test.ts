import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { type Browser, launch, type Page } from 'puppeteer-core';
import type { PersonView } from '../../../src/search/browse/pages.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { requireProgram, skipUnless } from '../../support/programs.ts';
import { until } from '../../support/until.ts';
import { examplesOf } from './addresses.ts';
import { openServed, type Served } from './stage.ts';
import { followed, STANDING } from './visit.ts';

describe('the dashboard in Firefox', skipUnless('firefox-esr', 'redis-server'), () => {
  let served: Served;
  let browser: Browser;
  const folder = temporaryFolder('firefox');
  before(async () => {
    served = await openServed();
    browser = await launch({
      browser: 'firefox',
      executablePath: requireProgram('firefox-esr'),
      extraPrefsFirefox: { 'browser.download.folderList': 2, 'browser.download.dir': folder },
    });
  });
  after(async () => {
    await browser?.close();
    await served?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** A page of its own, and everything Firefox complained about in it. */
  const enter = async (t: TestContext): Promise<{ page: Page; complaints: string[] }> => {
    const page = await browser.newPage();
    t.after(() => page.close());
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (['error', 'warn'].includes(message.type())) complaints.push(message.text());
    });
    await page.setViewport({ width: 1440, height: 900 });
    return { page, complaints };
  };
  const open = async (page: Page, address: string): Promise<void> => {
    await page.goto(`${served.url}${address}`);
    await page.waitForSelector(`${STANDING} h1`);
  };

  it('shows every page without a complaint', async (t) => {
    const { page, complaints } = await enter(t);
    const { person } = (await (await fetch(`${served.url}/data/people?id=5`)).json()) as PersonView;
    await open(page, '/settings');
    for (const address of Object.values(examplesOf(served.uncertain, person.email ?? ''))) {
      await page.evaluate(followed(address));
      await page.waitForSelector(`${STANDING} h1`);
      assert.equal(await page.$('main [role=alert]'), null, address);
      assert.deepEqual(complaints, [], address);
    }
  });

  it('walks from the overview to a post and back to its place, by links', async (t) => {
    const { page, complaints } = await enter(t);
    await open(page, '/');
    await page.click('nav a[data-page=posts]');
    await page.waitForSelector('ol.posts');
    await page.type('#field-search', 'export');
    const holds = async (fact: string): Promise<boolean> => (await page.evaluate(fact)) === true;
    await until('the address has the search', () => holds("location.search === '?search=export'"));
    // What an earlier letter found stands until then, and goes while it is clicked.
    await page.waitForSelector('main:not(:has(.busy)) ol.posts mark');
    await page.click('ol.posts li:last-child a.post-title');
    await page.waitForSelector('#all-posts');
    await page.goBack();
    await until('the search is there again', () =>
      holds("document.querySelector('#field-search')?.value === 'export'"),
    );
    await until('the post has the focus', () =>
      holds("document.activeElement.matches('ol.posts li:last-child a.post-title')"),
    );
    assert.deepEqual(complaints, []);
  });

  it('saves the file of a report whole', async (t) => {
    const { page } = await enter(t);
    await open(page, '/reports/top-posts');
    await page.locator('button ::-p-text(Download CSV)').click();
    const file = join(folder, 'top-posts.csv');
    const whole = await (await fetch(`${served.url}/data/reports/top-posts?format=csv`)).text();
    const saved = (): Promise<string> => readFile(file, 'utf8').catch(() => '');
    await until('the file is whole', async () => (await saved()).length >= whole.length);
    assert.equal(await saved(), whole);
  });
});
