import type { ListFacts } from '../decide/list-facts.ts';
import type { Pass } from '../decide/types.ts';
import { type PassContext, walk, writePage } from './pages.ts';

/** Pages that a head pass reads at most. What comes in larger numbers is left to the next sweep. */
export const HEAD_PAGES = 5;

/** Reads pages from the start of the list while they bring anything new. It concludes nothing from absence. */
export async function readHead(context: PassContext, pass: Pass, facts: ListFacts): Promise<ListFacts> {
  const { client, signal, onPage } = context;
  // Nothing ahead: most passes end after one page, and a second would be asked for in vain.
  for await (const page of walk(client, pass.resource, { signal, ahead: 0 })) {
    const { unchanged } = writePage(context, pass, page);
    onPage(pass);
    if (unchanged || pass.counts.pages === HEAD_PAGES) break;
  }
  return pass.counts.inserted > 0 ? { ...facts, newRows: 'start' } : facts;
}
