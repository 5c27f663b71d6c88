import type { Resource } from '../../../contract/resources.ts';
import type { AbsentRow } from '../../../store/mirror/view.ts';
import type { Absent } from '../../dashboard/sync.ts';
import { ask, withQuery } from '../api.ts';
import { fill, h } from '../dom.ts';
import { time } from '../format.ts';
import { button, table } from '../parts.ts';

export interface AbsentList {
  resource: Resource;
  /** Held by the mass-delete guard, or without enough evidence yet. */
  held: boolean;
  signal: AbortSignal;
}

/** Rows that no longer show upstream, folded away; fetched when somebody opens them. */
export function absentRows({ resource, held, signal }: AbsentList): HTMLElement {
  const name = `${resource} ${held ? 'held' : 'not shown'}`;
  const rows: AbsentRow[] = [];
  const body = h('div', { class: 'tall', tabindex: 0, role: 'region', 'aria-label': name });
  const more = async (after: number | null): Promise<void> => {
    const path = withQuery(`/data/sync/${resource}/absent`, { held: held ? 1 : 0, after });
    const found = await ask<Absent>(path, { signal });
    rows.push(...found.rows);
    fill(body, rowTable(resource, rows, name), found.after === null ? null : moreButton(found.after));
  };
  const tell = (error: unknown): void => fill(body, error instanceof Error ? error.message : String(error));
  const moreButton = (after: number): HTMLElement => {
    const element = button('More', () => void more(after).catch(tell));
    element.id = `more-${held ? 'held' : 'suspects'}-${resource}`;
    return h('div', { class: 'pager' }, element);
  };
  const summary = h('summary', { id: `${held ? 'held' : 'suspects'}-${resource}` }, 'Which rows');
  const details = h('details', { class: 'below' }, summary, body);
  details.addEventListener('toggle', () => {
    if (details.open && rows.length === 0) more(null).catch(tell);
  });
  return details;
}

function rowTable(resource: Resource, rows: readonly AbsentRow[], name: string): HTMLElement {
  return table<AbsentRow>(
    [
      { head: 'Id', cell: ({ id }) => String(id) },
      {
        head: resource === 'posts' ? 'Title' : 'Text',
        cell: ({ id, text }) => (resource === 'posts' ? h('a', { href: `/posts/${id}` }, text) : text),
      },
      { head: 'Missing since', cell: ({ since }) => h('span', { class: 'nowrap' }, time(since)) },
      { head: 'Sweeps without it', kind: 'number', cell: ({ sweeps }) => sweeps },
    ],
    rows,
    name,
  );
}
