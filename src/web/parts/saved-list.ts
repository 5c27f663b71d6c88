import type { SavedItem } from '../../query/saved.ts';
import { fetchJson } from '../api.ts';
import { h, type VNode } from '../h.ts';
import { button, field } from './controls.ts';
import { openForm } from './dialog.ts';
import { failure } from './layout.ts';
import { useAnswer } from './load.ts';

/** A list of things that people keep under names: where it is, and what each item holds. */
interface SavedListOptions<K extends string> {
  /** `queries` or `views`: the address of the list and its name in the answer. */
  name: string;
  column: K;
  /** What one is called: `query`. */
  item: string;
  /** What is said while there is none. */
  empty: string;
  /** How one is used: a link or a button with its name. */
  taker(item: SavedItem<K>): VNode;
}

/** What is kept is for everybody who uses this mirror. */
export function useSavedList<K extends string>({ name, column, item, empty, taker }: SavedListOptions<K>) {
  type Item = SavedItem<K>;
  const path = `/data/${name}`;
  const { answer, problem, reload } = useAnswer<Record<string, Item[]>>(path);
  const rename = (one: Item): void =>
    nameDialog('Rename', one.name, 'Rename', async (next) => {
      await fetchJson(`${path}/${one.id}`, { body: { name: next } });
      await reload();
    });
  const remove = ({ id, name: called }: Item): void =>
    openForm({
      title: `Delete this ${item}?`,
      content: `“${called}” will be gone for everyone who uses this mirror.`,
      action: 'Delete',
      isDangerous: true,
      async run() {
        await fetchJson(`${path}/${id}/delete`, { body: {} });
        await reload();
      },
    });
  const rowOf = (one: Item): VNode =>
    h(
      'li.kept',
      { key: one.id },
      taker(one),
      button('Rename', () => rename(one), { class: 'link quiet', 'aria-label': `Rename ${one.name}` }),
      button('Delete', () => remove(one), { class: 'link quiet', 'aria-label': `Delete ${one.name}` }),
    );
  const items = answer?.[name] ?? [];
  return {
    list:
      problem !== null
        ? failure(problem)
        : items.length === 0
          ? h('p.note', answer ? empty : '…')
          : h('ul.plain', items.map(rowOf)),
    /** Asks for a name and keeps the text; one that was taken from the list can be changed in place. */
    save(title: string, text: string, taken: Item | null, done?: (saved: Item) => void): void {
      nameDialog(title, taken?.name ?? '', 'Save', async (called) => {
        const target = taken && taken.name === called ? `${path}/${taken.id}` : path;
        const saved = await fetchJson<Item>(target, { body: { name: called, [column]: text } });
        done?.(saved);
        await reload();
      });
    },
  };
}

/** Lists and reports with their filters. */
export const VIEWS: SavedListOptions<'address'> = {
  name: 'views',
  column: 'address',
  item: 'view',
  empty: 'Nothing is saved yet. Choose filters on a list or report, then Save view.',
  taker: ({ name, address }) => h('a.kept-name', { dir: 'auto', href: address }, name),
};

/** Keeps the list or report of an address, from a page that does not show the kept ones. */
export function saveView(address: string): void {
  nameDialog('Save this view', '', 'Save', async (name) => {
    await fetchJson('/data/views', { body: { name, address } });
  });
}

function nameDialog(title: string, name: string, action: string, run: (name: string) => Promise<void>): void {
  const input = h('input', {
    id: 'saved-name',
    name: 'name',
    defaultValue: name,
    required: true,
    maxLength: 100,
    onFocus: ({ currentTarget }) => currentTarget.select(),
  });
  openForm({
    title,
    content: field('Name', input),
    action,
    run: (fields) => run(String(fields.get('name')).trim()),
  });
}
