import type { Pulse } from '../../dashboard/shapes.ts';
import type { SyncState } from '../../dashboard/sync.ts';
import { ask } from '../api.ts';
import { fill, h } from '../dom.ts';
import { span } from '../format.ts';
import type { Page } from '../page.ts';
import { banner, pageHead } from '../parts.ts';
import { onNews } from '../refresh.ts';
import { heldBack, suspected } from './sync-held.ts';
import { listCards } from './sync-lists.ts';
import { quarantineCard } from './sync-quarantine.ts';
import { healthCard, queueCard, runsCard } from './sync-service.ts';

/** How fresh the mirror is, what stands in its way, and what the service is doing. */
export const page: Page = {
  title: 'Sync',
  async show(context) {
    const { root, signal } = context;
    const load = (): Promise<SyncState> => ask('/data/sync', { signal });
    const news = h('div', { 'aria-live': 'polite' });
    const [top, bottom] = [h('div', { class: 'stacked' }), h('div', { class: 'stacked' })];
    // The numbers below show soon enough what came of it.
    const say = (sentence: string): void => {
      const told = banner('good', sentence);
      fill(news, told);
      setTimeout(() => told.remove(), 10_000);
    };
    let pulse: Pulse | null = null;
    const held = heldBack(signal, say);
    const suspects = suspected(signal);
    const quarantine = quarantineCard(signal);
    const draw = async (): Promise<void> => {
      const state = await load();
      fill(top, closed(state), ...listCards(state, pulse, news, say));
      fill(bottom, h('div', { class: 'grid' }, healthCard(state), queueCard(state)), runsCard(state));
      await held.update(state);
      await suspects.update(state);
      await quarantine.update(state.lists.reduce((sum, { quarantined }) => sum + quarantined, 0));
    };
    context.onPulse((next) => {
      pulse = next;
    });
    await draw();
    root.append(
      pageHead(
        'Sync',
        'A sweep reads a whole list and finds deletions; a head looks at the newest rows only.',
      ),
      news,
      h('div', { class: 'stacked' }, held.element, top, suspects.element, bottom, quarantine.element),
    );
    onNews(context, draw);
  },
};

function closed({ closedUntil, now }: SyncState): HTMLElement | null {
  if (closedUntil === null || closedUntil <= now) return null;
  return banner('warn', `The upstream asked for no calls for another ${span(closedUntil - now)}.`);
}
