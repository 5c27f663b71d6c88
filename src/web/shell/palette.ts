import { useEffect, useState } from 'preact/hooks';
import type { PeopleAnswer, PostsAnswer } from '../../http/dashboard/posts.ts';
import type { ReportsAnswer } from '../../http/dashboard/reports.ts';
import type { SourcesAnswer } from '../../sources/site.ts';
import { fetchJson, withQuery } from '../api.ts';
import { titleOf } from '../format.ts';
import { h, type VNode } from '../h.ts';
import { IS_OF_ALL, ownSource } from '../mount.ts';
import { openDialog } from '../parts/dialog.ts';
import { useAnswer } from '../parts/load.ts';
import type { Go } from './page.ts';

interface Entry {
  /** What it leads to: a page, a post, a person. */
  kind: string;
  text: string;
  href: string;
  /** Another document, of another source or of all. */
  isElsewhere?: true;
}

const TYPING_MS = 150;
const MOST_OF_A_KIND = 6;

const ACTIONS: Entry[] = [
  { kind: 'Action', text: 'Write a post', href: '/outbox?new=1' },
  { kind: 'Action', text: 'Import a CSV', href: '/outbox/import' },
  { kind: 'Action', text: 'Export everything', href: '/exports' },
  { kind: 'Page', text: 'Webhooks', href: '/webhooks' },
  { kind: 'Page', text: 'Rules', href: '/rules' },
  { kind: 'Page', text: 'Queues', href: '/queues' },
  { kind: 'Page', text: 'Customers', href: '/customers' },
];

/** Leads anywhere by a few letters: pages, reports, boards, actions, posts by number or words, and people. */
export function openPalette(pages: readonly Entry[], go: Go): void {
  if (document.querySelector('dialog.palette')) return;
  openDialog('Go to', (close) => h(Palette, { pages, close, go }), 'palette');
}

interface PaletteOptions {
  pages: readonly Entry[];
  close(): void;
  go: Go;
}

function Palette({ pages, close, go }: PaletteOptions): VNode {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { answer } = useAnswer<ReportsAnswer>(IS_OF_ALL ? null : '/data/reports');
  const hasSources = IS_OF_ALL || ownSource() !== null;
  const { answer: all } = useAnswer<SourcesAnswer>(hasSources ? '/data/sources' : null);
  const found = useFound(text.trim(), otherSources(all));
  const own = IS_OF_ALL ? [] : [...pages, ...ACTIONS, ...entriesOf(answer)];
  const known = [...own, ...sourceEntries(all)];
  const entries = [...matching(known, text.trim()), ...found];
  const chosen = Math.min(at, entries.length - 1);
  const take = (entry: Entry | undefined): void => {
    if (!entry) return;
    close();
    if (entry.isElsewhere) location.assign(entry.href);
    else go(entry.href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt((chosen + step + entries.length) % Math.max(1, entries.length));
    else if (event.key === 'Enter') take(entries[chosen]);
    // By itself a search field would only be emptied, and the palette stay open.
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  };
  return h(
    'div',
    h('input', {
      type: 'search',
      role: 'combobox',
      value: text,
      placeholder: 'Page, report, board, person, words of a post, or #626',
      autocomplete: 'off',
      'aria-label': 'Where to?',
      'aria-expanded': true,
      'aria-controls': 'palette-list',
      'aria-activedescendant': entries.length > 0 ? `palette-${chosen}` : null,
      onInput: ({ currentTarget }) => {
        setText(currentTarget.value);
        setAt(0);
      },
      onKeyDown,
    }),
    entryList(entries, chosen, take),
    entries.length === 0 ? h('p.note', 'Nothing is found.') : null,
  );
}

function entryList(entries: readonly Entry[], chosen: number, take: (entry: Entry) => void): VNode {
  const items = entries.map((entry, i) =>
    h(
      'li',
      {
        key: `${entry.kind} ${entry.href}`,
        id: `palette-${i}`,
        role: 'option',
        'aria-selected': i === chosen,
        onClick: () => take(entry),
      },
      h('span', { dir: 'auto' }, entry.text),
      h('span.note', entry.kind),
    ),
  );
  return h('ul.palette-list', { id: 'palette-list', role: 'listbox', 'aria-label': 'Where to' }, items);
}

function otherSources(all: SourcesAnswer | null): string[] {
  return (all?.sources ?? []).filter(({ name }) => name !== ownSource()).map(({ name }) => name);
}

function sourceEntries(all: SourcesAnswer | null): Entry[] {
  const names = otherSources(all);
  if (names.length === 0) return [];
  const entries = names.map(
    (name): Entry => ({ kind: 'Source', text: name, href: `/s/${name}/`, isElsewhere: true }),
  );
  return IS_OF_ALL
    ? entries
    : [...entries, { kind: 'Page', text: 'All sources', href: '/', isElsewhere: true }];
}

function entriesOf(answer: ReportsAnswer | null): Entry[] {
  return [
    ...(answer?.reports ?? []).map(({ name }) => ({
      kind: 'Report',
      text: titleOf(name),
      href: `/reports/${name}`,
    })),
    ...(answer?.boards ?? []).map(({ name, slug }) => ({
      kind: 'Board',
      text: name,
      href: `/boards/${encodeURIComponent(slug)}`,
    })),
  ];
}

/** Those with every word in them; the pages while nothing is typed. */
export function matching(entries: readonly Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/);
  const fits = ({ text: own, kind }: Entry): boolean =>
    words.every((word) => `${own} ${kind}`.toLowerCase().includes(word));
  return entries.filter(fits).slice(0, text === '' ? 12 : 8);
}

/** Sources beside this one that are asked with each pause of typing. */
const MOST_SOURCES = 8;
const MOST_OF_OTHERS = 3;

/** What the mirrors find for the text: posts and people of this source, then posts of the others. */
function useFound(text: string, others: readonly string[]): Entry[] {
  const [found, setFound] = useState<Entry[]>([]);
  const names = others.slice(0, MOST_SOURCES).join();
  useEffect(() => {
    if (text.length < 2) return setFound([]);
    const leave = new AbortController();
    const ask = async (): Promise<void> => {
      const elsewhere = names === '' ? [] : names.split(',').map((name) => postsOf(name, text, leave.signal));
      const parts = [IS_OF_ALL ? [] : ownFound(text, leave.signal), ...elsewhere];
      setFound((await Promise.all(parts)).flat());
    };
    // What fails is asked again with the next letter.
    const pause = setTimeout(() => void ask().catch(() => undefined), TYPING_MS);
    return () => {
      clearTimeout(pause);
      leave.abort();
    };
  }, [text, names]);
  return found;
}

async function ownFound(text: string, signal: AbortSignal): Promise<Entry[]> {
  const [posts, people] = await Promise.all([
    fetchJson<PostsAnswer>(withQuery('/data/posts', { search: text }), { signal }),
    fetchJson<PeopleAnswer>(withQuery('/data/people', { search: text }), { signal }),
  ]);
  return [
    ...posts.rows.slice(0, MOST_OF_A_KIND).map(({ id, title }) => ({
      kind: `Post ${id}`,
      text: title || '(no title)',
      href: `/posts/${id}`,
    })),
    ...people.rows.slice(0, MOST_OF_A_KIND).map(({ id, name, email }) => ({
      kind: 'Person',
      text: [name ?? `user ${id}`, email].filter(Boolean).join(', '),
      href: `/people/${id}`,
    })),
  ];
}

/** A source that does not answer leaves the others their place. */
async function postsOf(source: string, text: string, signal: AbortSignal): Promise<Entry[]> {
  const address = withQuery(`/s/${source}/data/posts`, { search: text });
  const answer = await fetchJson<PostsAnswer>(address, { signal }).catch(() => null);
  return (answer?.rows ?? []).slice(0, MOST_OF_OTHERS).map(({ id, title }) => ({
    kind: `${source}, post ${id}`,
    text: title || '(no title)',
    href: `/s/${source}/posts/${id}`,
    isElsewhere: true,
  }));
}
