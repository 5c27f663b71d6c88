import { useEffect, useRef } from 'preact/hooks';
import { isField } from '../shell/frame.ts';

interface ListKeys {
  search: HTMLInputElement | null;
  list: HTMLElement | null;
  clear(): void;
  copy(): void;
}

/**
 * j and k or the arrows through the posts, Enter opens (it is a link), x chooses, c copies links, n and p turn the page, Escape
 * clears. What is selected has the focus, so that a screen reader says it.
 */
export function usePostKeys(parts: () => ListKeys): void {
  const latest = useRef(parts);
  latest.current = parts;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (act(event, latest.current())) event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** Whether the key meant something here. */
function act(event: KeyboardEvent, keys: ListKeys): boolean {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return false;
  const isSearching = target === keys.search;
  const isInList = target instanceof Node && (keys.list?.contains(target) ?? false);
  if (key === 'Escape' && (isSearching || isInList)) return clear(keys, isSearching);
  if (isSearching) return key === 'ArrowDown' && move(keys, 1);
  const isTick = target instanceof Element && target.matches('input.tick-post');
  if (isField(target) && !isTick) return false;
  if (key === 'j' || (key === 'ArrowDown' && isInList)) return move(keys, 1);
  if ((key === 'k' || key === 'ArrowUp') && isInList) return move(keys, -1);
  if (key === 'x') return click(document.activeElement?.closest('li')?.querySelector('input.tick-post'));
  if (key === 'n') return click(document.querySelector('#next-page'));
  if (key === 'p') return click(document.querySelector('#previous-page'));
  if (key === 'c') keys.copy();
  return key === 'c';
}

function clear({ search, clear: empty }: ListKeys, isSearching: boolean): boolean {
  if (isSearching && search?.value === '') return false;
  empty();
  search?.focus();
  return true;
}

function move({ search, list }: ListKeys, by: 1 | -1): boolean {
  const links = [...(list?.querySelectorAll<HTMLElement>('a.post-title') ?? [])];
  const row = document.activeElement?.closest('li')?.querySelector<HTMLElement>('a.post-title');
  const at = row ? links.indexOf(row) : -1;
  if (by < 0 && at <= 0) {
    search?.focus();
    return true;
  }
  const next = links[at + by];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  return next !== undefined;
}

function click(element: Element | null | undefined): boolean {
  if (element instanceof HTMLElement) element.click();
  return element instanceof HTMLElement;
}
