import { h } from './dom.ts';
import { openDialog } from './parts.ts';

export interface FrameOptions {
  go(address: string): void;
  signOut(): Promise<void>;
}

/** What stands around every page: theme, keys, sign-out. */
export function startFrame({ go, signOut }: FrameOptions): void {
  startTheme();
  document.querySelector('.sign-out')?.addEventListener('click', () => void signOut());
  document.querySelector('.show-keys')?.addEventListener('click', showKeys);
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isField(event.target))
      return;
    if (document.querySelector('dialog[open]')) return;
    if (event.key === '?') showKeys();
    else if (event.key === '/') toSearch(go);
    else return;
    event.preventDefault();
  });
}

function toSearch(go: FrameOptions['go']): void {
  const search = document.querySelector<HTMLInputElement>('#field-search');
  if (!search) go('/posts?focus=search');
  search?.focus();
  search?.select();
}

export function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input, select, textarea, [contenteditable]');
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

const KEYS: [keys: string[], what: string][] = [
  [['?'], 'Show these keys'],
  [['/'], 'Search posts'],
  [['j', '↓'], 'Next post in the list'],
  [['k', '↑'], 'Previous post in the list'],
  [['Enter'], 'Open the post'],
  [['Esc'], 'Clear the search, or close a dialog'],
  [['Ctrl + Enter'], 'Run the SQL statement'],
];

function showKeys(): void {
  const rows = KEYS.map(([keys, what]) => [h('dt', ...keys.map((key) => h('kbd', key))), h('dd', what)]);
  const close = h('button.main', { type: 'button' }, 'Close');
  const dialog = openDialog('Keys', h('dl.key-list', rows), h('div.actions', close));
  close.addEventListener('click', () => dialog.close());
  close.focus();
}
