import type { Resource } from '../../contract/endpoints.ts';
import type { Absent, Quarantine, SyncList, SyncState } from '../../http/dashboard/sync.ts';
import type { AbsentRow, QuarantinedRow } from '../../store/mirror/status.ts';
import { fetchJson, messageOf, withQuery } from '../api.ts';
import { fill, h } from '../dom.ts';
import { counted, number, time } from '../format.ts';
import { button, card, openForm, table, tag } from '../parts.ts';
import { excerpt } from '../text.ts';

/** A part of the page that is only drawn again when what it shows has changed: lists that people opened stay open. */
interface Part<T> {
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
        'p.note',
        'They did not show up where they should have. They are deleted once further sweeps have shown the same.',
      ),
      absentRows(resource, false, signal),
    ),
  );
}

function absentPart(kind: 'held' | 'suspects', draw: (list: SyncList) => HTMLElement): Part<SyncState> {
  const element = h('div.stacked');
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
      openForm({
        title: `Delete ${counted(held, 'row')} of the ${resource}?`,
        content: [
          'The list is read once more; what is still missing then is marked as deleted here. Its history stays for as long as your ' +
            'settings say, and a row that comes back is there again.',
        ],
        action: label,
        isDangerous: true,
        async run() {
          await fetchJson(`/data/sync/${resource}/accept-deletes`, { body: { held } });
          say(`Accepted. The ${resource} are read once more, then the rows are gone from here.`);
        },
      }),
    { class: 'danger', id: `accept-${resource}` },
  );
  const element = card(
    { title: `${counted(held, 'deletion')} of ${resource} held` },
    h(
      'p',
      `${number(held)} of ${number(live)} rows no longer show upstream. The mass-delete guard holds them until a person decides: it may ` +
        'be intended, or a fault upstream. Look at some of them upstream before you accept.',
    ),
    h('div.actions', accept),
    absentRows(resource, true, signal),
  );
  element.dataset.tone = 'warn';
  return element;
}

/** Rows that no longer show upstream, `held` by the mass-delete guard or not, folded away; fetched when somebody opens them. */
function absentRows(resource: Resource, held: boolean, signal: AbortSignal): HTMLElement {
  const name = `${resource} ${held ? 'held' : 'not shown'}`;
  const rows: AbsentRow[] = [];
  const body = h('div.tall', { tabindex: 0, role: 'region', 'aria-label': name });
  const more = async (after: number | null): Promise<void> => {
    const path = withQuery(`/data/sync/${resource}/absent`, { held: held ? 1 : 0, after });
    const found = await fetchJson<Absent>(path, { signal });
    rows.push(...found.rows);
    fill(body, rowTable(resource, rows, name), found.after === null ? null : moreButton(found.after));
  };
  const tell = (error: unknown): void => fill(body, messageOf(error));
  const moreButton = (after: number): HTMLElement => {
    const id = `more-${held ? 'held' : 'suspects'}-${resource}`;
    return h(
      'div.pager',
      button('More', () => void more(after).catch(tell), { id }),
    );
  };
  const summary = h('summary', { id: `${held ? 'held' : 'suspects'}-${resource}` }, 'Which rows');
  const details = h('details.below', summary, body);
  details.addEventListener('toggle', () => {
    if (details.open && rows.length === 0) more(null).catch(tell);
  });
  return details;
}

/** The server sends so much of a comment, and one character more where it goes on. */
const BEGINNING = 199;

function rowTable(resource: Resource, rows: readonly AbsentRow[], name: string): HTMLElement {
  return table<AbsentRow>(
    [
      { head: 'Id', cell: ({ id }) => String(id) },
      {
        head: resource === 'posts' ? 'Title' : 'Text',
        cell: ({ id, text }) =>
          resource === 'posts' ? h('a', { href: `/posts/${id}` }, text) : excerpt(text, BEGINNING),
      },
      { head: 'Missing since', cell: ({ since }) => h('span.nowrap', time(since)) },
      { head: 'Sweeps without it', kind: 'number', cell: ({ sweeps }) => sweeps },
      {
        head: 'Counts as deleted',
        kind: 'number',
        cell: ({ score }) => `${Math.floor(100 * score)} % of what is needed`,
      },
    ],
    rows,
    name,
  );
}

/** Rows the upstream sent broken, with the reason; what was sent is fetched when somebody opens it, and shown as text. */
export function quarantineCard(signal: AbortSignal): Part<number> {
  const element = h('div');
  let shown = -1;
  return {
    element,
    async update(total) {
      if (total === shown) return;
      const list = h('ul.lines');
      const foot = h('div.pager');
      const more = async (before: number | null): Promise<void> => {
        const found = await fetchJson<Quarantine>(withQuery('/data/sync/quarantine', { before }), { signal });
        list.append(...found.rows.map((row) => line(row, signal)));
        fill(foot, found.before === null ? null : button('Older', () => void more(found.before)));
      };
      await more(null);
      shown = total;
      fill(
        element,
        card(
          { title: 'Quarantine', note: total === 0 ? null : `${counted(total, 'row')} not taken in` },
          total === 0 ? h('p.empty', 'Nothing is in quarantine.') : list,
          foot,
        ),
      );
    },
  };
}

function line({ id, resource, reason, seen_at, size }: QuarantinedRow, signal: AbortSignal): HTMLElement {
  const body = h('pre.raw', { tabindex: 0 }, '…');
  const details = h('details', h('summary', `What was sent (${number(size)} characters)`), body);
  const show = async (): Promise<void> => {
    const { body: text } = await fetchJson<{ body: string }>(`/data/sync/quarantine/${id}`, { signal });
    body.textContent = text;
  };
  details.addEventListener('toggle', () => {
    if (details.open)
      show().catch((error: unknown) => {
        body.textContent = messageOf(error);
      });
  });
  return h(
    'li',
    tag(resource),
    h('div.main', h('span.name', reason), h('div.facts', details)),
    h('span.when', time(seen_at)),
  );
}
