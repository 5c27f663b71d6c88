import type { QuarantinedRow } from '../../../store/mirror/view.ts';
import type { Quarantine } from '../../dashboard/sync.ts';
import { ask, withQuery } from '../api.ts';
import { fill, h } from '../dom.ts';
import { counted, number, time } from '../format.ts';
import { button, card } from '../parts.ts';
import type { Part } from './sync-held.ts';

/** Rows the upstream sent broken, with the reason; what was sent is fetched when somebody opens it, and shown as text. */
export function quarantineCard(signal: AbortSignal): Part<number> {
  const element = h('div', {});
  let shown = -1;
  return {
    element,
    async update(total) {
      if (total === shown) return;
      const list = h('ul', { class: 'lines' });
      const foot = h('div', { class: 'pager' });
      const more = async (before: number | null): Promise<void> => {
        const found = await ask<Quarantine>(withQuery('/data/sync/quarantine', { before }), { signal });
        list.append(...found.rows.map((row) => line(row, signal)));
        fill(foot, found.before === null ? null : button('Older', () => void more(found.before)));
      };
      await more(null);
      shown = total;
      fill(
        element,
        card(
          { title: 'Quarantine', note: total === 0 ? null : `${counted(total, 'row')} not taken in` },
          total === 0 ? h('p', { class: 'empty' }, 'Nothing is in quarantine.') : list,
          foot,
        ),
      );
    },
  };
}

function line({ id, resource, reason, seen_at, size }: QuarantinedRow, signal: AbortSignal): HTMLElement {
  const body = h('pre', { class: 'raw', tabindex: 0 }, '…');
  const details = h('details', {}, h('summary', {}, `What was sent (${number(size)} characters)`), body);
  const show = async (): Promise<void> => {
    const { body: text } = await ask<{ body: string }>(`/data/sync/quarantine/${id}`, { signal });
    body.textContent = text;
  };
  details.addEventListener('toggle', () => {
    if (details.open)
      show().catch((error: unknown) => {
        body.textContent = error instanceof Error ? error.message : String(error);
      });
  });
  return h(
    'li',
    {},
    h('span', { class: 'tag' }, resource),
    h('div', { class: 'main' }, h('span', { class: 'name' }, reason), h('div', { class: 'facts' }, details)),
    h('span', { class: 'when' }, time(seen_at)),
  );
}
