import type { TestContext } from 'node:test';
import type { LoadedPage } from '../../src/web/shell/page.ts';
import { drawing } from './document.ts';

type Sent = { path: string; body: unknown };

/** The service answers by the beginning of the path; `sent` has what a page sends. */
export function serve(t: TestContext, answers: Record<string, unknown>): Sent[] {
  const sent: Sent[] = [];
  t.mock.method(globalThis, 'fetch', async (path: string, { body }: { body: string | null }) => {
    if (body !== null) sent.push({ path, body: JSON.parse(body) });
    const found = Object.keys(answers).find((beginning) => path.startsWith(beginning));
    return Response.json(found === undefined ? {} : answers[found]);
  });
  return sent;
}

/** A page with its answer, drawn at an address. */
export async function shown(page: LoadedPage, address: string, parts: string[] = []) {
  const place = {
    url: new URL(address, 'http://mirror.test'),
    parts,
    go: () => undefined,
    reload: async () => undefined,
  };
  const loaded = await page.load(place, new AbortController().signal);
  const { root, draw } = drawing();
  draw(loaded.draw({ place, isBusy: false, problem: null, stats: null }));
  const buttons = (): string[] => root.all('button').map(({ text }) => text);
  const links = (): (string | null)[] => root.all('a').map((link) => link.attribute('href'));
  return { root, buttons, links };
}
