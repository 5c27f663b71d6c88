import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Download, Page } from 'playwright-core';
import type { Stage } from './stage.ts';

export interface Look {
  scheme: 'light' | 'dark';
  width: number;
  height: number;
  /** That of the machine unless told. */
  timezoneId?: string;
}

export const DESKTOP: Look = { scheme: 'light', width: 1440, height: 900 };
export const PHONE: Look = { scheme: 'dark', width: 390, height: 844 };

/** A page of its own, and everything the browser complained about in it. */
export interface Visit {
  page: Page;
  /** Goes there and waits until the page stands. */
  open(address: string): Promise<void>;
  /** The same from a page of the dashboard, as a link does it: the document stays. */
  go(address: string): Promise<void>;
  /** Nothing on the console, no refused script or style, and nothing that was asked for in vain. */
  assertCalm(): void;
  close(): Promise<void>;
}

/** One at a time: it begins without a cookie and without anything that the last one left in the storage. */
export async function visit({ context, url }: Stage, look: Look = DESKTOP): Promise<Visit> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin: url, storageTypes: 'cookies,local_storage' });
  if (look.timezoneId !== undefined)
    await session.send('Emulation.setTimezoneOverride', { timezoneId: look.timezoneId });
  await page.emulateMedia({ colorScheme: look.scheme });
  await page.setViewportSize(look);
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  const stands = (address: string): Promise<void> =>
    settled(page).catch(async (cause: unknown) => {
      const shown = await page.locator('main').innerText();
      throw new Error(`${address} does not stand: ${[shown, ...complaints].join('\n')}`, { cause });
    });
  return {
    page,
    async open(address) {
      await page.goto(address);
      await stands(address);
    },
    async go(address) {
      await page.evaluate(followed(address));
      await stands(address);
    },
    assertCalm: () => assert.deepEqual(complaints, []),
    close: () => page.close(),
  };
}

/** What a link does, for a page that has none to this address. */
export function followed(address: string): string {
  return `history.pushState(null, '', ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent('popstate'))`;
}

/** The new page stands in the place of the old one, its charts drawn: each is as soon as it knows how wide it is. */
export const STANDING = 'main:not(.busy):not(:has(.plot:empty))';

export async function settled(page: Page): Promise<void> {
  await page.locator(`${STANDING} h1`).first().waitFor();
}

/** What can be read on it, at a moment at which it stands: a page is drawn again when something changed. */
export function textOf(page: Page): Promise<string> {
  return page.locator(STANDING).innerText();
}

/** The file behind a button, or behind a link. */
export async function downloaded(
  page: Page,
  name: string,
  role: 'button' | 'link' = 'button',
): Promise<Download> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole(role, { name, exact: true }).click(),
  ]);
  return download;
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Those that follow are made like the first three; to look at all of them takes twice as long. */
const REPEATED = ['tbody tr:nth-child(n+4)', 'li:nth-child(n+4)', 'option:nth-child(n+4)'];

/** What axe-core finds that keeps people out: impact serious or critical. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const where = JSON.stringify({ exclude: REPEATED.map((selector) => [selector]) });
  const { violations } = (await page.evaluate(
    `axe.run(${where}, { resultTypes: ["violations"], preload: false })`,
  )) as AxeResults;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, any }) => `${id}: ${html} ${any[0]?.message ?? ''}`));
}

/** How far the page as a whole can be scrolled sideways, in pixels. */
export function sideways(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - innerWidth');
}

/**
 * Bytes over the wire until the page stands, headers included. Each address counts once: on a slow machine there is news before the page
 * stands, and it asks for its data again. The stream of the news does not end and is left out.
 */
export async function weightOf(page: Page, address: string): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  const [requests, bytes] = [new Map<string, string>(), new Map<string, number>()];
  session.on('Network.requestWillBeSent', ({ requestId, request: { url } }) => {
    const isNew = ![...requests.values()].includes(url) && !url.endsWith('/data/events');
    if (isNew) requests.set(requestId, url);
  });
  const add = (id: string, more: number): unknown => bytes.set(id, (bytes.get(id) ?? 0) + more);
  session.on('Network.dataReceived', ({ requestId, encodedDataLength }) => add(requestId, encodedDataLength));
  session.on('Network.responseReceivedExtraInfo', ({ requestId, headersText = '', headers }) =>
    add(requestId, headersText.length || JSON.stringify(headers).length),
  );
  await page.goto(address);
  await settled(page);
  await session.detach();
  return [...requests.keys()].reduce((sum, id) => sum + (bytes.get(id) ?? 0), 0);
}
