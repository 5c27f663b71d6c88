import type { SyncList, SyncState } from '../../dashboard/sync.ts';
import { ask } from '../api.ts';
import { confirm } from '../dialog.ts';
import { fill, h } from '../dom.ts';
import { counted, number } from '../format.ts';
import { button, card } from '../parts.ts';
import { absentRows } from './sync-absent.ts';

/** A part of the page that is only drawn again when what it shows has changed: lists that people opened stay open. */
export interface Part<T> {
  element: HTMLElement;
  update(state: T): void | Promise<void>;
}

/** Deletions that the mass-delete guard holds, with the rows they would take, and the button that accepts them. */
export function heldBack(signal: AbortSignal, say: (sentence: string) => void): Part<SyncState> {
  return absentPart('held', (list) => heldCard(list, signal, say));
}

/** Rows that did not show up, of which it is not certain yet that they are gone. */
export function suspected(signal: AbortSignal): Part<SyncState> {
  return absentPart('suspects', ({ resource, suspects }) =>
    card(
      { title: `${counted(suspects, 'row')} of ${resource} not shown upstream` },
      h(
        'p',
        { class: 'note' },
        'They did not show up where they should have. They are deleted once further sweeps have shown the same.',
      ),
      absentRows({ resource, held: false, signal }),
    ),
  );
}

function absentPart(kind: 'held' | 'suspects', draw: (list: SyncList) => HTMLElement): Part<SyncState> {
  const element = h('div', { class: 'stacked' });
  let shown = '[]';
  return {
    element,
    update({ lists }) {
      const filled = lists.filter((list) => list[kind] > 0);
      const key = JSON.stringify(filled.map((list) => [list.resource, list[kind]]));
      if (key === shown) return;
      shown = key;
      fill(element, ...filled.map(draw));
    },
  };
}

function heldCard(
  { resource, held, live }: SyncList,
  signal: AbortSignal,
  say: (sentence: string) => void,
): HTMLElement {
  const label = `Accept ${counted(held, 'deletion')}`;
  const accept = button(
    label,
    () =>
      confirm({
        title: `Delete ${counted(held, 'row')} of the ${resource}?`,
        text:
          'The list is read once more; what is still missing then is marked as deleted here. Its history stays for as long as your ' +
          'settings say, and a row that comes back is there again.',
        action: label,
        isDangerous: true,
        async run() {
          await ask(`/data/sync/${resource}/accept-deletes`, { body: { held } });
          say(`Accepted. The ${resource} are read once more, then the rows are gone from here.`);
        },
      }),
    'danger',
  );
  accept.id = `accept-${resource}`;
  const element = card(
    { title: `${counted(held, 'deletion')} of ${resource} held` },
    h(
      'p',
      {},
      `${number(held)} of ${number(live)} rows no longer show upstream. The mass-delete guard holds them until a person decides: it may ` +
        'be a wish, or a fault over there. Look at some of them upstream before you accept.',
    ),
    h('div', { class: 'actions' }, accept),
    absentRows({ resource, held: true, signal }),
  );
  element.dataset.tone = 'warn';
  return element;
}
