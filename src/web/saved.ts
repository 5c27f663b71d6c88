import type { SavedItem } from '../store/saved.ts';
import { fetchJson } from './api.ts';
import { fill, h } from './dom.ts';
import { button, field, openForm } from './parts.ts';

/** A list of things that people keep under names: where it is, and what each item holds. */
interface ShelfOptions<K extends string> {
  /** `queries` or `views`: the address of the list and its name in the answer. */
  name: string;
  column: K;
  /** What one is called: `query`. */
  item: string;
  /** What is said while there is none. */
  empty: string;
  /** How one is used: a link or a button with its name. */
  taker(item: SavedItem<K>): HTMLElement;
}

/** The list, drawn and kept current; what is kept there is for everybody who uses this mirror. */
export async function openShelf<K extends string>(options: ShelfOptions<K>, signal: AbortSignal) {
  const { name, column, item, empty, taker } = options;
  type Item = SavedItem<K>;
  const path = `/data/${name}`;
  const element = h('div');
  const refresh = async (): Promise<void> => {
    const { [name]: items = [] } = await fetchJson<Record<string, Item[]>>(path, { signal });
    fill(element, items.length === 0 ? h('p.note', empty) : h('ul.plain', ...items.map((one) => rowOf(one))));
  };
  const rowOf = (one: Item): HTMLElement =>
    h(
      'li.kept',
      taker(one),
      button('Rename', () => rename(one), { class: 'link quiet', 'aria-label': `Rename ${one.name}` }),
      button('Delete', () => remove(one), { class: 'link quiet', 'aria-label': `Delete ${one.name}` }),
    );
  const rename = (one: Item): void =>
    nameDialog('Rename', one.name, 'Rename', async (next) => {
      await fetchJson(`${path}/${one.id}`, { body: { name: next } });
      await refresh();
    });
  const remove = ({ id, name: called }: Item): void =>
    openForm({
      title: `Delete this ${item}?`,
      content: [`“${called}” will be gone for everyone who uses this mirror.`],
      action: 'Delete',
      isDangerous: true,
      async run() {
        await fetchJson(`${path}/${id}/delete`, { body: {} });
        await refresh();
      },
    });
  await refresh();
  return {
    element,
    /** Asks for a name and keeps the text; one that was taken from the list can be changed in place. */
    save(
      title: string,
      text: string,
      taken: Item | null,
      done: (saved: Item) => void = () => undefined,
    ): void {
      nameDialog(title, taken?.name ?? '', 'Save', async (called) => {
        const target = taken && taken.name === called ? `${path}/${taken.id}` : path;
        done(await fetchJson<Item>(target, { body: { name: called, [column]: text } }));
        await refresh();
      });
    },
  };
}

/** Lists and reports with their filters. */
export const VIEWS: ShelfOptions<'address'> = {
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
  const input = h('input', { id: 'saved-name', name: 'name', value: name, required: true, maxlength: 100 });
  openForm({ title, content: [field('Name', input)], action, run: () => run(input.value.trim()) });
  input.select();
}
