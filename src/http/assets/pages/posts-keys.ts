import type { PageContext } from '../page.ts';

interface Places {
  search: HTMLInputElement;
  list: HTMLElement;
}

const DOWN = ['j', 'ArrowDown'];
const UP = ['k', 'ArrowUp'];

/**
 * `/` to the search, j and k or the arrows through the posts, Enter opens (it is a link), Escape clears. What is selected has the
 * focus, so that a screen reader says it.
 */
export function addPostKeys({ signal }: PageContext, { search, list }: Places): void {
  const links = (): HTMLElement[] => [...list.querySelectorAll<HTMLElement>('a.post-title')];
  const move = (by: number): boolean => {
    const all = links();
    const active = document.activeElement;
    const at = active instanceof HTMLElement ? all.indexOf(active) : -1;
    if (by < 0 && at <= 0) {
      search.focus();
      return true;
    }
    const next = all[at + by];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
    return next !== undefined;
  };
  const clear = (): boolean => {
    if (search.value === '' && document.activeElement === search) return false;
    search.value = '';
    search.dispatchEvent(new Event('input'));
    search.focus();
    return true;
  };
  const act = (event: KeyboardEvent): boolean => {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const isSearching = event.target === search;
    if (event.key === 'Escape' && (isSearching || isInList(event))) return clear();
    if (isSearching) return event.key === 'ArrowDown' && move(1);
    if (isField(event.target)) return false;
    if (event.key === '/') {
      search.focus();
      search.select();
      return true;
    }
    if (DOWN.includes(event.key) && (event.key === 'j' || isInList(event))) return move(1);
    return UP.includes(event.key) && isInList(event) && move(-1);
  };
  const isInList = ({ target }: KeyboardEvent): boolean => target instanceof Node && list.contains(target);
  document.addEventListener('keydown', (event) => act(event) && event.preventDefault(), { signal });
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input, select, textarea, [contenteditable]');
}
