import { useEffect, useState } from 'preact/hooks';
import type { PeopleAnswer, PostsAnswer } from '../../http/dashboard/posts.ts';
import type { ReportsAnswer } from '../../http/dashboard/reports.ts';
import { fetchJson, withQuery } from '../api.ts';
import { h, type VNode } from '../h.ts';
import { openDialog } from '../parts/dialog.ts';
import { useAnswer } from '../parts/load.ts';
import type { Go } from './page.ts';

interface Entry {
  /** What it leads to: a page, a post, a person. */
  kind: string;
  text: string;
  href: string;
}

const TYPING_MS = 150;
const MOST_OF_A_KIND = 6;

const ACTIONS: Entry[] = [
  { kind: 'Action', text: 'Write a post', href: '/outbox?new=1' },
  { kind: 'Action', text: 'Import a CSV', href: '/outbox/import' },
  { kind: 'Action', text: 'Export everything', href: '/exports' },
  { kind: 'Page', text: 'People', href: '/people' },
  { kind: 'Page', text: 'Webhooks', href: '/webhooks' },
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
  const { answer } = useAnswer<ReportsAnswer>('/data/reports');
  const found = useFound(text.trim());
  const known = [...pages, ...ACTIONS, ...entriesOf(answer)];
  const entries = [...matching(known, text.trim()), ...found];
  const chosen = Math.min(at, entries.length - 1);
  const take = (entry: Entry | undefined): void => {
    if (!entry) return;
    close();
    go(entry.href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt((chosen + step + entries.length) % Math.max(1, entries.length));
    else if (event.key === 'Enter') take(entries[chosen]);
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
    h(
      'ul.palette-list',
      { id: 'palette-list', role: 'listbox', 'aria-label': 'Where to' },
      entries.map((entry, i) =>
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
      ),
    ),
    entries.length === 0 ? h('p.note', 'Nothing is found.') : null,
  );
}

function entriesOf(answer: ReportsAnswer | null): Entry[] {
  return [
    ...(answer?.reports ?? []).map(({ name }) => ({
      kind: 'Report',
      text: name.replaceAll('-', ' '),
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
function matching(entries: readonly Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/);
  const fits = ({ text: own, kind }: Entry): boolean =>
    words.every((word) => `${own} ${kind}`.toLowerCase().includes(word));
  return entries.filter(fits).slice(0, text === '' ? 12 : 8);
}

/** What the mirror finds for the text: posts and people. */
function useFound(text: string): Entry[] {
  const [found, setFound] = useState<Entry[]>([]);
  useEffect(() => {
    if (text.length < 2) return setFound([]);
    const leave = new AbortController();
    const { signal } = leave;
    const ask = async (): Promise<void> => {
      const [posts, people] = await Promise.all([
        fetchJson<PostsAnswer>(withQuery('/data/posts', { search: text }), { signal }),
        fetchJson<PeopleAnswer>(withQuery('/data/people', { search: text }), { signal }),
      ]);
      setFound([
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
      ]);
    };
    // What fails is asked again with the next letter.
    const pause = setTimeout(() => void ask().catch(() => undefined), TYPING_MS);
    return () => {
      clearTimeout(pause);
      leave.abort();
    };
  }, [text]);
  return found;
}
