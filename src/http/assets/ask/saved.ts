import type { SavedQuery } from '../../../store/saved-queries.ts';
import type { Saved } from '../../dashboard/ask.ts';
import { ask } from '../api.ts';
import { confirm, openDialog } from '../dialog.ts';
import { fill, h } from '../dom.ts';
import { banner, button, card, field } from '../parts.ts';
import { EXAMPLES } from './examples.ts';

export interface SavedPart {
  element: HTMLElement;
  /** Asks for a name and keeps the statement; one that was taken from the list can be changed in place. */
  save(sql: string): void;
}

/** Statements to take: those that people keep, for everybody, and a few to begin with. */
export async function savedPart(take: (sql: string) => void, signal: AbortSignal): Promise<SavedPart> {
  const kept = h('div', {});
  let taken: SavedQuery | null = null;
  const refresh = async (): Promise<void> => {
    const { queries } = await ask<Saved>('/data/queries', { signal });
    fill(kept, keptList(queries));
  };
  const keptList = (queries: SavedQuery[]): HTMLElement =>
    queries.length === 0
      ? h('p', { class: 'note' }, 'Nothing is saved yet. Write a statement, then choose Save.')
      : h('ul', { class: 'plain' }, ...queries.map(keptItem));
  const keptItem = (query: SavedQuery): HTMLElement =>
    h(
      'li',
      { class: 'kept' },
      taker(query.name, () => {
        taken = query;
        take(query.sql);
      }),
      small('Rename', query.name, () => rename(query, refresh)),
      small('Delete', query.name, () => remove(query, refresh)),
    );
  const examples = EXAMPLES.map(({ name, sql }) =>
    h(
      'li',
      {},
      taker(name, () => {
        taken = null;
        take(sql);
      }),
    ),
  );
  await refresh();
  return {
    element: card(
      { title: 'Saved', note: 'For everybody who uses this mirror' },
      kept,
      h('h3', {}, 'Examples'),
      h('ul', { class: 'plain' }, ...examples),
    ),
    save: (sql) =>
      save(taken, sql, async (query) => {
        taken = query;
        await refresh();
      }),
  };
}

function taker(name: string, onClick: () => void): HTMLElement {
  return h('button', { type: 'button', class: 'link', on: { click: onClick } }, name);
}

function small(what: string, name: string, onClick: () => void): HTMLElement {
  return h(
    'button',
    { type: 'button', class: 'link quiet', 'aria-label': `${what} ${name}`, on: { click: onClick } },
    what,
  );
}

function rename({ id, name }: SavedQuery, done: () => Promise<void>): void {
  nameDialog('Rename', name, 'Rename', async (next) => {
    await ask(`/data/queries/${id}`, { body: { name: next } });
    await done();
  });
}

function remove({ id, name }: SavedQuery, done: () => Promise<void>): void {
  confirm({
    title: 'Delete this query?',
    text: `“${name}” will be gone for everybody who uses this mirror.`,
    action: 'Delete',
    isDangerous: true,
    async run() {
      await ask(`/data/queries/${id}/delete`, { body: {} });
      await done();
    },
  });
}

function save(taken: SavedQuery | null, sql: string, done: (query: SavedQuery) => Promise<void>): void {
  nameDialog('Save this statement', taken?.name ?? '', 'Save', async (name) => {
    const isSame = taken?.name === name;
    const path = isSame ? `/data/queries/${taken?.id}` : '/data/queries';
    await done(await ask<SavedQuery>(path, { body: { name, sql } }));
  });
}

function nameDialog(title: string, name: string, action: string, run: (name: string) => Promise<void>): void {
  const input = h('input', { id: 'query-name', name: 'name', value: name, required: true, maxlength: 100 });
  const trouble = h('div', {});
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await run(input.value.trim());
      dialog.close();
    } catch (error) {
      fill(trouble, banner('bad', error instanceof Error ? error.message : String(error)));
    }
  };
  const actions = h(
    'div',
    { class: 'actions' },
    button('Go back', () => dialog.close()),
    h('button', { class: 'main' }, action),
  );
  const form = h(
    'form',
    { class: 'naming', on: { submit: (event) => void submit(event) } },
    field('Name', input),
    trouble,
    actions,
  );
  const dialog = openDialog(title, form);
  input.select();
}
