import type { PostsAnswer } from '../../http/dashboard/posts.ts';
import type { FoundPost } from '../../http/dashboard/reading.ts';
import type { Part } from '../../store/search.ts';
import { fetchJson, withQuery } from '../api.ts';
import { type Child, fill, h } from '../dom.ts';
import { counted, date, number } from '../format.ts';
import { isField } from '../frame.ts';
import { onNews, type Page, type PageContext } from '../page.ts';
import { button, type Choice, failure, field, pageHead, pager, select, swatched, timeTag } from '../parts.ts';
import { excerpt } from '../text.ts';

/** Long enough for the next letter of a quick typist, short enough to feel like none. */
const TYPING_MS = 150;

/** Finds one post among all: by words as they are typed, by filters, in any order. */
export const page: Page = {
  title: 'Posts',
  async show(context) {
    const finder = createFinder(context);
    await finder.refresh();
    context.root.append(finder.head, finder.filters, finder.news, finder.list);
    if (context.url.searchParams.has('focus')) requestAnimationFrame(() => finder.search.focus());
    addPostKeys(context, { search: finder.search, list: finder.list });
    onNews(context, finder.follow);
  },
};

function createFinder(context: PageContext) {
  const { signal } = context;
  let chosen = chosenIn(context.url);
  let asking = new AbortController();
  let typing: ReturnType<typeof setTimeout> | undefined;
  const [filters, list] = [h('div.filters.posts-filters'), h('div.posts-stage')];
  const news = h('div', { 'aria-live': 'polite' });
  const lead = h('span', { role: 'status' });

  const show = (answer: PostsAnswer): void => {
    fill(lead, totalOf(answer, chosen));
    fill(filters, ...postFilters(chosen, answer, choose));
    fill(list, postList(answer, isFiltered(chosen)), pagerOf(answer, chosen));
  };
  /** The newest question only: what was asked before it is not waited for any more. */
  const refresh = async (): Promise<void> => {
    asking.abort();
    asking = new AbortController();
    const mine = AbortSignal.any([signal, asking.signal]);
    const { search: text, ...rest } = chosen;
    try {
      const answer = await fetchJson<PostsAnswer>(withQuery('/data/posts', { search: text, ...rest }), {
        signal: mine,
      });
      if (mine.aborted) return;
      fill(news);
      show(answer);
    } catch (error) {
      if (mine.aborted) return;
      if (list.childElementCount === 0) throw error;
      fill(news, failure(error));
    }
  };
  /** In place, so that whoever types or chooses keeps the field; the address says the same, and so does the button back. */
  const choose = (change: Partial<Chosen>, { replace = false } = {}): void => {
    chosen = { ...chosen, cursor: null, from: null, ...change };
    const address = withQuery('/posts', { ...chosen });
    if (replace) history.replaceState(null, '', address);
    else history.pushState(null, '', address);
    void refresh();
  };
  const search = searchField(chosen.search ?? '', (text) => {
    clearTimeout(typing);
    typing = setTimeout(() => choose({ search: text }, { replace: true }), TYPING_MS);
  });
  signal.addEventListener('abort', () => clearTimeout(typing), { once: true });
  const head = h('div', pageHead('Posts', lead), h('div.posts-search', field('Search posts', search)));
  /** The first page moves with the mirror; what somebody has searched for or walked to stays. */
  const follow = async (): Promise<void> => {
    if (chosen.search === null && chosen.cursor === null) await refresh();
  };
  return { head, filters, news, list, search, refresh, follow };
}

/** What the address says; `from` is where the page of the cursor stands in the list. */
const FILTERS = ['search', 'board', 'status', 'creator', 'deleted', 'since', 'until'] as const;
const NAMES = [...FILTERS, 'sort', 'cursor', 'from'] as const;

/** Null is no choice. */
type Chosen = Record<(typeof NAMES)[number], string | null>;

function chosenIn({ searchParams }: URL): Chosen {
  return Object.fromEntries(NAMES.map((name) => [name, searchParams.get(name)])) as Chosen;
}

/** Whether it shows less than everything. */
function isFiltered(chosen: Chosen): boolean {
  return FILTERS.some((name) => chosen[name]);
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
  { value: '', text: 'Hide' },
  { value: 'too', text: 'Include' },
  { value: 'only', text: 'Only' },
];

const SORTS: Choice[] = [
  { value: '', text: 'Newest' },
  { value: 'oldest', text: 'Oldest' },
  { value: 'votes', text: 'Most votes' },
  { value: 'comments', text: 'Most comments' },
  { value: 'changed', text: 'Recently changed' },
];

function searchField(text: string, onText: (text: string | null) => void): HTMLInputElement {
  const input = h('input', {
    type: 'search',
    id: 'field-search',
    name: 'search',
    value: text,
    placeholder: 'Words in title or text, or #626',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-keyshortcuts': '/',
  });
  input.addEventListener('input', () => onText(input.value.trim() === '' ? null : input.value));
  return input;
}

function postFilters(chosen: Chosen, answer: PostsAnswer, choose: Choose): Child[] {
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
    isFiltered(chosen) ? h('a.button', { id: 'clear-filters', href: '/posts' }, 'Clear all') : null,
  ];
}

/** What came with the address and is none of the usual choices is one too. */
function withOther(choices: Choice[], chosen: string | null): Choice[] {
  const isKnown = chosen === null || choices.some(({ value }) => value === chosen);
  return isKnown ? choices : [...choices, { value: chosen, text: chosen }];
}

function totalOf({ total, rows, unindexed }: PostsAnswer, { search }: Chosen): string {
  const later =
    unindexed > 0 ? ` ${counted(unindexed, 'post')} cannot be searched yet: the index is being made.` : '';
  if (search !== null)
    return rows.length === 50
      ? `The 50 most relevant posts.${later}`
      : `${counted(rows.length, 'post')} found.${later}`;
  return total.isMore ? `More than ${counted(total.posts, 'post')}.` : `${counted(total.posts, 'post')}.`;
}

function postList({ rows }: PostsAnswer, isFiltered: boolean): HTMLElement {
  if (rows.length > 0) return h('ol.posts.card', { 'aria-label': 'Posts' }, ...rows.map(row));
  return h(
    'p.empty.card',
    isFiltered ? 'No post matches. ' : 'Nothing is mirrored yet: see ',
    isFiltered ? h('a', { href: '/posts' }, 'Show all') : h('a', { href: '/sync' }, 'Sync'),
    '.',
  );
}

function row(post: FoundPost): HTMLElement {
  const { id, title, beginning, marked, votes, deleted } = post;
  return h(
    'li',
    h('span.post-votes', h('b', number(votes)), h('span', votes === 1 ? 'vote' : 'votes')),
    h(
      'div.post-body',
      h(
        'a.post-title',
        { dir: 'auto', id: `post-${id}`, href: `/posts/${id}` },
        marked ? marks(marked.title) : title || '(no title)',
      ),
      deleted === null ? null : [' ', h('span.tag', { 'data-tone': 'bad' }, 'deleted')],
      h('p.post-snippet', { dir: 'auto' }, marked ? marks(marked.snippet) : excerpt(beginning, BEGINNING)),
      facts(post),
    ),
  );
}

function facts(post: FoundPost): HTMLElement {
  const { status, statusColor, board, creator, creatorId, comments, created } = post;
  return h(
    'p.post-facts',
    swatched(status, statusColor),
    h('span', board),
    h(
      'a',
      { dir: 'auto', href: withQuery('/posts', { creator: creatorId }) },
      creator ?? `user ${creatorId}`,
    ),
    h('span', counted(comments, 'comment')),
    timeTag(created, date(created)),
  );
}

function marks(parts: readonly Part[]): Child {
  return parts.map(({ text, isMatch }) => (isMatch ? h('mark', text) : text));
}

function pagerOf({ rows, total, next, previous }: PostsAnswer, chosen: Chosen): HTMLElement | null {
  const from = previous === null ? 1 : Math.max(1, Number(chosen.from) || 1);
  const to = (cursor: string | null, first: number): string | null =>
    cursor && withQuery('/posts', { ...chosen, cursor, from: first > 1 ? first : null });
  return pager({
    from,
    rows: rows.length,
    total: { rows: total.posts, isMore: total.isMore },
    previous: to(previous, from - PAGE_ROWS),
    next: to(next, from + rows.length),
  });
}

/** What a page of the server holds, and how much of each text. */
const PAGE_ROWS = 50;
const BEGINNING = 179;

interface Places {
  search: HTMLInputElement;
  list: HTMLElement;
}

const DOWN = ['j', 'ArrowDown'];
const UP = ['k', 'ArrowUp'];

/**
 * j and k or the arrows through the posts, Enter opens (it is a link), Escape clears. What is selected has the focus, so that a
 * screen reader says it.
 */
function addPostKeys({ signal }: PageContext, { search, list }: Places): void {
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
    if (DOWN.includes(event.key) && (event.key === 'j' || isInList(event))) return move(1);
    return UP.includes(event.key) && isInList(event) && move(-1);
  };
  const isInList = ({ target }: KeyboardEvent): boolean => target instanceof Node && list.contains(target);
  document.addEventListener('keydown', (event) => act(event) && event.preventDefault(), { signal });
}
