import type { PostsAnswer } from '../../dashboard/posts.ts';
import { type Child, h } from '../dom.ts';
import { button, type Choice, field, select } from '../parts.ts';

/** What the address says; null is no choice. */
export interface Chosen {
  search: string | null;
  board: string | null;
  status: string | null;
  creator: string | null;
  deleted: string | null;
  since: string | null;
  until: string | null;
  sort: string | null;
  cursor: string | null;
}

const NAMES = [
  'search',
  'board',
  'status',
  'creator',
  'deleted',
  'since',
  'until',
  'sort',
  'cursor',
] as const;

export function chosenIn({ searchParams }: URL): Chosen {
  return Object.fromEntries(NAMES.map((name) => [name, searchParams.get(name)])) as unknown as Chosen;
}

/** Whether it shows less than everything. */
export function isFiltered({ sort: _sort, cursor: _cursor, ...filters }: Chosen): boolean {
  return Object.values(filters).some((value) => value !== null && value !== '');
}

type Choose = (change: Partial<Chosen>) => void;

const PERIODS: Choice[] = [
  { value: '', text: 'Any time' },
  { value: '7d', text: 'Last 7 days' },
  { value: '30d', text: 'Last 30 days' },
  { value: '90d', text: 'Last 90 days' },
  { value: '365d', text: 'Last 12 months' },
];

const DELETED: Choice[] = [
  { value: '', text: 'Left out' },
  { value: 'too', text: 'Shown too' },
  { value: 'only', text: 'Shown alone' },
];

const SORTS: Choice[] = [
  { value: '', text: 'Newest' },
  { value: 'oldest', text: 'Oldest' },
  { value: 'votes', text: 'Most votes' },
  { value: 'comments', text: 'Most comments' },
  { value: 'changed', text: 'Recently changed' },
];

export function searchField(text: string, onText: (text: string | null) => void): HTMLInputElement {
  const input = h('input', {
    type: 'search',
    id: 'field-search',
    name: 'search',
    value: text,
    placeholder: 'Words in title or text',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-keyshortcuts': '/',
  });
  input.addEventListener('input', () => onText(input.value.trim() === '' ? null : input.value));
  return input;
}

export function postFilters(chosen: Chosen, answer: PostsAnswer, choose: Choose): Child[] {
  const one = (name: keyof Chosen, label: string, choices: Choice[]): HTMLElement =>
    field(
      label,
      select(name, withOther(choices, chosen[name]), chosen[name] ?? '', (value) =>
        choose({ [name]: value === '' ? null : value }),
      ),
    );
  const boards = answer.boards.map(({ slug, name }) => ({ value: slug, text: name }));
  const statuses = answer.statuses.map(({ id, name }) => ({ value: String(id), text: name }));
  return [
    one('board', 'Board', [{ value: '', text: 'All boards' }, ...boards]),
    one('status', 'Status', [{ value: '', text: 'Any status' }, ...statuses]),
    one('since', 'Written', PERIODS),
    one('deleted', 'Deleted posts', DELETED),
    chosen.search === null ? one('sort', 'Sort by', SORTS) : null,
    answer.creator
      ? button(`By ${answer.creator.name ?? `user ${answer.creator.id}`} ✕`, () => choose({ creator: null }))
      : null,
    isFiltered(chosen) ? h('a', { class: 'button', id: 'clear-filters', href: '/posts' }, 'Clear all') : null,
  ];
}

/** What came with the address and is none of the usual choices is one too. */
function withOther(choices: Choice[], chosen: string | null): Choice[] {
  const isKnown = chosen === null || choices.some(({ value }) => value === chosen);
  return isKnown ? choices : [...choices, { value: chosen, text: chosen }];
}
