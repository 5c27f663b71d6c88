import type { AbsentRow } from '../../../store/mirror/view.ts';
import type { Absent, SyncList, SyncState } from '../../dashboard/sync.ts';
import { ask, withQuery } from '../api.ts';
import { confirm } from '../dialog.ts';
import { fill, h } from '../dom.ts';
import { counted, number, time } from '../format.ts';
import { button, card, table } from '../parts.ts';

/** A part of the page that is only drawn again when what it shows has changed: lists that people opened stay open. */
export interface Part<T> {
  element: HTMLElement;
  update(state: T): Promise<void>;
}

/** Deletions that were held back, with the rows they would take, and the button that accepts them. */
export function heldBack(signal: AbortSignal, say: (sentence: string) => void): Part<SyncState> {
  const element = h('div', { class: 'stacked' });
  let shown = '';
  return {
    element,
    async update({ lists }) {
      const held = lists.filter((list) => list.held > 0);
      const key = JSON.stringify(held.map((list) => [list.resource, list.held]));
      if (key === shown) return;
      const cards = await Promise.all(held.map((list) => heldCard(list, signal, say)));
      shown = key;
      fill(element, ...cards);
    },
  };
}

async function heldCard(
  { resource, held, live }: SyncList,
  signal: AbortSignal,
  say: (sentence: string) => void,
): Promise<HTMLElement> {
  const load = (after: number | null): Promise<Absent> =>
    ask(withQuery(`/data/sync/${resource}/absent`, { held: 1, after }), { signal });
  const rows: AbsentRow[] = [];
  const body = h('div', {
    class: 'tall',
    tabindex: 0,
    role: 'region',
    'aria-label': `${resource} held back`,
  });
  const more = async (after: number | null): Promise<void> => {
    const found = await load(after);
    rows.push(...found.rows);
    fill(
      body,
      rowTable(resource, rows),
      found.after === null ? null : moreButton(resource, found.after, more),
    );
  };
  await more(null);
  const accept = button(`Accept ${counted(held, 'deletion')}`, () =>
    confirm({
      title: `Delete ${counted(held, 'row')} of the ${resource}?`,
      text:
        'The list is read once more; what is still missing then is marked as deleted here. History stays until it is erased by your ' +
        'settings, and a row that comes back is there again.',
      action: `Accept ${counted(held, 'deletion')}`,
      isDangerous: true,
      async run() {
        await ask(`/data/sync/${resource}/accept-deletes`, { body: { held } });
        say(`Accepted. The ${resource} are read once more, then the rows are gone from here.`);
      },
    }),
  );
  accept.className = 'danger';
  accept.id = `accept-${resource}`;
  const element = card(
    { title: `${counted(held, 'deletion')} of ${resource} held back` },
    h(
      'p',
      {},
      `${number(held)} of ${number(live)} rows no longer show upstream. That is more than is believed without a person: it may be a ` +
        'wish, or a fault over there. Look at some of them upstream before you accept.',
    ),
    h('div', { class: 'actions' }, accept),
    h('details', { class: 'below' }, h('summary', { id: `held-${resource}` }, 'Which rows'), body),
  );
  element.dataset.tone = 'warn';
  return element;
}

function rowTable(resource: string, rows: readonly AbsentRow[]): HTMLElement {
  return table<AbsentRow>(
    [
      { head: 'Id', cell: ({ id }) => String(id) },
      {
        head: resource === 'posts' ? 'Title' : 'Text',
        cell: ({ id, text }) => (resource === 'posts' ? h('a', { href: `/posts/${id}` }, text) : text),
      },
      { head: 'Missing since', cell: ({ since }) => h('span', { class: 'nowrap' }, time(since)) },
    ],
    rows,
    `Ids and texts of ${resource} held back`,
  );
}

function moreButton(resource: string, after: number, more: (after: number) => Promise<void>): HTMLElement {
  const element = button('More', () => void more(after));
  element.id = `more-held-${resource}`;
  return h('div', { class: 'pager' }, element);
}
