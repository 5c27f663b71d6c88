import { h, watchPointer } from './dom.ts';
import { openDialog } from './parts.ts';

interface FrameOptions {
  go(address: string): void;
  signOut(): Promise<void>;
}

/** What stands around every page: theme, keys, sign-out. */
export function startFrame({ go, signOut }: FrameOptions): void {
  startTheme();
  watchPointer();
  // Whether g was pressed just before.
  let isLed = false;
  document.querySelector('.sign-out')?.addEventListener('click', () => void signOut());
  document.querySelector('.show-keys')?.addEventListener('click', showKeys);
  document.addEventListener('pointerdown', ({ target }) => closePicks(target));
  document.addEventListener('focusin', ({ target }) => closePicks(target));
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && closePicks(null)) event.preventDefault();
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isField(event.target))
      return;
    if (document.querySelector('dialog[open]')) return;
    const led = isLed ? navigation().find(({ key }) => key === event.key) : undefined;
    isLed = false;
    if (event.key === '?') showKeys();
    else if (event.key === '/') toSearch(go);
    else if (led) go(led.href);
    else if (event.key === 'g') isLed = true;
    else return;
    event.preventDefault();
  });
}

/** A box of choices that is open closes as soon as the person turns to something else. */
function closePicks(target: EventTarget | null): boolean {
  let hasClosed = false;
  for (const open of document.querySelectorAll<HTMLDetailsElement>('details.picks[open]'))
    if (!(target instanceof Node && open.contains(target))) {
      open.open = false;
      if (target === null) open.querySelector('summary')?.focus();
      hasClosed = true;
    }
  return hasClosed;
}

const SEARCH_TO_COME = 'search-to-come';

function toSearch(go: FrameOptions['go']): void {
  const search = document.querySelector<HTMLInputElement>('#field-search');
  search?.focus();
  search?.select();
  if (search) return;
  const toCome = h(`input.${SEARCH_TO_COME}`, { id: 'field-search', 'aria-label': 'Search posts' });
  document.querySelector('main')?.append(toCome);
  toCome.focus();
  go('/posts');
}

/** A field that has the focus keeps it when its page is drawn anew, and one that was only waited for keeps what was typed into it. */
export function keepFocus(root: Element, replace: () => void): void {
  const old = document.activeElement;
  replace();
  const field = old?.id ? root.querySelector<HTMLElement>(`#${CSS.escape(old.id)}`) : null;
  field?.focus({ preventScroll: true });
  const isTyped =
    old instanceof HTMLInputElement && old.classList.contains(SEARCH_TO_COME) && old.value !== '';
  if (!isTyped || !(field instanceof HTMLInputElement)) return;
  field.value = old.value;
  field.dispatchEvent(new Event('input'));
}

export function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input, select, textarea, [contenteditable], .editor');
}

/** Told when another theme is chosen: charts are drawn on a canvas, which does not follow the style by itself. */
export const themeEvents = new EventTarget();

function startTheme(): void {
  const select = document.querySelector<HTMLSelectElement>('#theme');
  if (!select) return;
  select.value = localStorage.getItem('theme') ?? 'auto';
  select.addEventListener('change', () => {
    if (select.value === 'auto') localStorage.removeItem('theme');
    else localStorage.setItem('theme', select.value);
    if (select.value === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = select.value;
    themeEvents.dispatchEvent(new Event('change'));
  });
}

/** What follows a g: the pages of the navigation. */
function navigation(): { key: string; href: string; text: string }[] {
  const links = document.querySelectorAll<HTMLAnchorElement>('nav a[data-key]');
  return [...links].map(({ dataset, pathname, firstChild }) => {
    return { key: dataset.key ?? '', href: pathname, text: firstChild?.textContent?.trim() ?? '' };
  });
}

const KEYS: [keys: string[], what: string][] = [
  [['?'], 'Show these keys'],
  [['/'], 'Search posts'],
  [['j', '↓'], 'Next post in the list'],
  [['k', '↑'], 'Previous post in the list'],
  [['Enter'], 'Open the post'],
  [['x'], 'Choose the post, or not'],
  [['c'], 'Copy the links of the chosen posts'],
  [['n', 'p'], 'Next or previous page of the list'],
  [['Esc'], 'Clear the search, or close a dialog'],
  [['Ctrl + Enter'], 'Run the SQL statement'],
];

function showKeys(): void {
  const pages = navigation().map(({ key, text }) => `${key} ${text}`);
  const all: typeof KEYS = [...KEYS, [['g'], `Go to a page: then ${pages.join(', ')}`]];
  const rows = all.map(([keys, what]) => [h('dt', ...keys.map((key) => h('kbd', key))), h('dd', what)]);
  const close = h('button.main', { type: 'button' }, 'Close');
  const dialog = openDialog('Keys', h('dl.key-list', rows), h('div.actions', close));
  close.addEventListener('click', () => dialog.close());
  close.focus();
}
