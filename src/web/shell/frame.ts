import { h } from '../h.ts';
import { openDialog } from '../parts/dialog.ts';
import { themeEvents } from '../theme-colors.ts';

interface FrameOptions {
  go(address: string): void;
  signOut(): Promise<void>;
}

/** What stands around every page: theme, keys, sign-out. */
export function startFrame({ go, signOut }: FrameOptions): void {
  startTheme();
  const toPalette = async (): Promise<void> => {
    const pages = navigation().map(({ text, href }) => ({ kind: 'Page', text, href }));
    (await import('./palette.ts')).openPalette(pages, go);
  };
  // Whether g was pressed just before.
  let isLed = false;
  document.querySelector('.sign-out')?.addEventListener('click', () => void signOut());
  document.querySelector('.show-keys')?.addEventListener('click', showKeys);
  document.querySelector('.show-palette')?.addEventListener('click', () => void toPalette());
  document.addEventListener('pointerdown', ({ target }) => closePicks(target));
  document.addEventListener('focusin', ({ target }) => closePicks(target));
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && closePicks(null)) event.preventDefault();
    if (event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      void toPalette();
      return;
    }
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

/** Loads the palette after the first page, which stays light. The palette then opens before the first key. */
export function loadPalette(): void {
  setTimeout(() => void import('./palette.ts').catch(() => undefined), 2000);
}

/** Closes an open box of choices when the person turns to something else. */
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

/** Goes to the search of the list. While the page of the list is loaded, another field takes what is typed. */
function toSearch(go: FrameOptions['go']): void {
  const search = document.querySelector<HTMLInputElement>('#field-search');
  search?.focus();
  search?.select();
  if (search) return;
  const toCome = document.createElement('input');
  toCome.className = SEARCH_TO_COME;
  toCome.setAttribute('aria-label', 'Search posts');
  document.body.append(toCome);
  toCome.focus();
  go('/posts');
}

/** Hands what was typed meanwhile to the search, once it is there. */
export function settleSearch(): void {
  const toCome = document.querySelector<HTMLInputElement>(`.${SEARCH_TO_COME}`);
  const search = document.querySelector<HTMLInputElement>('#field-search');
  if (!toCome || !search) return;
  const isTyping = document.activeElement === toCome;
  if (isTyping) search.focus({ preventScroll: true });
  toCome.remove();
  if (toCome.value === '' || !isTyping) return;
  search.value = toCome.value;
  search.dispatchEvent(new Event('input', { bubbles: true }));
}

/** Where what had the focus is gone from the page, the page has it: the next Tab goes on there and not at the top. */
export function keepFocus(main: HTMLElement): void {
  let last: EventTarget | null = null;
  main.addEventListener('focusin', ({ target }) => {
    last = target;
  });
  const onChange = (): void => {
    const isLost = document.activeElement === document.body && last instanceof Node && !last.isConnected;
    if (!isLost) return;
    last = null;
    main.focus({ preventScroll: true });
  };
  new MutationObserver(onChange).observe(main, { childList: true, subtree: true });
}

export function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input, select, textarea, [contenteditable], .editor');
}

function startTheme(): void {
  const select = document.querySelector<HTMLSelectElement>('#theme');
  if (!select) return;
  select.value = localStorage.getItem('theme') ?? 'auto';
  const show = (theme: string): void => {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    themeEvents.dispatchEvent(new Event('change'));
  };
  select.addEventListener('change', () => {
    if (select.value === 'auto') localStorage.removeItem('theme');
    else localStorage.setItem('theme', select.value);
    show(select.value);
  });
  // Paper is light, and a chart has its colours drawn in.
  addEventListener('beforeprint', () => show('light'));
  addEventListener('afterprint', () => show(select.value));
}

/** What follows a g: the pages of the navigation. */
function navigation(): { key: string; href: string; text: string }[] {
  const links = document.querySelectorAll<HTMLAnchorElement>('nav a[data-key]');
  return [...links].map(({ dataset, pathname, firstChild }) => {
    return { key: dataset.key ?? '', href: pathname, text: firstChild?.textContent?.trim() ?? '' };
  });
}

const KEYS: [keys: string[], what: string][] = [
  [['Ctrl + K'], 'Go to a page, post, person, board or report (on a Mac, ⌘ + K)'],
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
  const rows = all.map(([keys, what]) => [
    h(
      'dt',
      keys.map((key) => h('kbd', key)),
    ),
    h('dd', what),
  ]);
  openDialog('Keys', (close) => [
    h('dl.key-list', rows),
    h('div.actions', h('button.main', { type: 'button', autofocus: true, onClick: close }, 'Close')),
  ]);
}
