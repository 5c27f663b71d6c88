import type { SourcesAnswer } from '../sources/site.ts';
import { fetchJson } from './api.ts';
import { startFrame } from './shell/frame.ts';
import { Router } from './shell/router.ts';

/** The one page over all sources. Everything else is below the name of a source. */
const main = document.querySelector('main') ?? document.body;
void new Router({ '/': { name: 'sources', load: () => import('./pages/all-sources.ts') } }, main).start();

startFrame({
  go: (address) => location.assign(address),
  async signOut() {
    await fetchJson('/logout', { body: {} });
    location.assign('/login');
  },
});

async function listSources(): Promise<void> {
  const { sources } = await fetchJson<SourcesAnswer>('/data/sources');
  const links = sources.map(({ name }) => {
    const link = document.createElement('a');
    link.href = `/s/${name}/`;
    link.textContent = name;
    return link;
  });
  document.querySelector('nav')?.append(...links);
}

// The page itself says what is wrong where the list cannot be had.
void listSources().catch(() => undefined);
