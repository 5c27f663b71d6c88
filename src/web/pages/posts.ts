import type { LinkedPost, LinksAnswer, PostsAnswer } from '../../http/dashboard/posts.ts';
import type { ListedPost } from '../../store/browse/post.ts';
import type { Part } from '../../store/search/search.ts';
import { fetchJson, withQuery } from '../api.ts';
import { type Child, fill, h, refill } from '../dom.ts';
import {
  boardChoices,
  changedList,
  choiceField,
  listed,
  picks,
  statusChoices,
  withZone,
  zonedPeriodFields,
} from '../fields.ts';
import { counted, date, number, OWN_ZONE } from '../format.ts';
import { isField } from '../frame.ts';
import { type Choose as ChooseOf, keepChosen, onNews, type Page, type PageContext } from '../page.ts';
import {
  attempt,
  button,
  type Choice,
  copyText,
  failure,
  field,
  liveRegion,
  pageHead,
  pager,
  swatched,
  tag,
  timeTag,
} from '../parts.ts';
import { openShelf, VIEWS } from '../saved.ts';
import { excerpt } from '../text.ts';

/** Long enough for the next letter of a quick typist, short enough to feel like none. */
const TYPING_MS = 150;

/** Finds one post among all: by words as they are typed, by filters, in any order. */
export const page: Page = {
  title: 'Posts',
  async show(context) {
    const finder = createFinder(context);
    const [shelf] = await Promise.all([openShelf(VIEWS, context.signal), finder.refresh()]);
    const views = h(
      'details.picks.views',
      { id: 'picks-views' },
      h('summary', 'Saved views'),
      h('div.picks-list', shelf.element),
    );
    const save = button('Save view', () => shelf.save('Save this view', finder.address(), null));
    const tools = h('div.actions', views, save, finder.csv, finder.copy);
    context.root.append(finder.head, finder.filters, tools, finder.news, finder.list);
    addPostKeys(context, finder);
    onNews(context, finder.follow);
  },
};

function createFinder(context: PageContext) {
  const { signal } = context;
  let asking = new AbortController();
  let typing: ReturnType<typeof setTimeout> | undefined;
  const [filters, list] = [h('div.filters.posts-filters'), h('div.posts-stage')];
  const news = liveRegion();
  const csv = h('a.button', { download: 'posts.csv' }, 'Download CSV');
  const links = createLinks(list, news, async () => {
    const path = withQuery('/data/posts/links', now());
    return await fetchJson<LinksAnswer>(path, { signal });
  });
  const lead = h('span', { role: 'status' });

  const show = (answer: PostsAnswer): void => {
    const chosen = now();
    fill(lead, totalOf(answer, chosen));
    refill(filters, ...postFilters(chosen, answer, choose));
    fill(list, remarks(answer, correct), postList(answer, chosen), pagerOf(answer, chosen));
    links.show(answer);
    const { cursor: _, from: __, ...wanted } = chosen;
    csv.setAttribute('href', withQuery('/data/posts.csv', wanted));
  };
  /** The newest question only: what was asked before it is not waited for any more. */
  const refresh = async (): Promise<void> => {
    asking.abort();
    asking = new AbortController();
    const mine = AbortSignal.any([signal, asking.signal]);
    try {
      const answer = await fetchJson<PostsAnswer>(withQuery('/data/posts', now()), { signal: mine });
      if (mine.aborted) return;
      fill(news);
      show(answer);
    } catch (error) {
      if (mine.aborted) return;
      if (list.childElementCount === 0) throw error;
      fill(news, failure(error));
    }
  };
  const kept = keepChosen(context, NAMES, refresh, withZone);
  const { now } = kept;
  const choose: Choose = (change, options) =>
    kept.choose((current) => {
      const wanted = typeof change === 'function' ? change(current) : change;
      return { cursor: null, from: null, ...wanted };
    }, options);
  const search = searchField(now().search ?? '', (text) => {
    clearTimeout(typing);
    typing = setTimeout(() => choose({ search: text }, { replace: true }), TYPING_MS);
  });
  const correct = (text: string): void => {
    search.value = text;
    search.focus();
    choose({ search: text });
  };
  signal.addEventListener('abort', () => clearTimeout(typing), { once: true });
  const head = h('div', pageHead('Posts', lead), h('div.posts-search', field('Search posts', search)));
  /** The first page moves with the mirror; what somebody has searched for or walked to stays. */
  const follow = async (): Promise<void> => {
    const { search: text, cursor } = now();
    if (text === null && cursor === null) await refresh();
  };
  const address = (): string => withQuery('/posts', { ...now(), cursor: null, from: null });
  return {
    head,
    filters,
    news,
    list,
    search,
    refresh,
    follow,
    csv,
    address,
    copy: links.button,
    toggle: links.toggle,
  };
}

/** The upstream's own addresses of the posts that are ticked; of all in the list while none is. Ticks outlive a list that is drawn again. */
function createLinks(list: HTMLElement, news: HTMLElement, all: () => Promise<LinksAnswer>) {
  const ticked = new Set<number>();
  let rows: readonly LinkedPost[] = [];
  const copy = async (): Promise<void> => {
    const wanted = rows.filter(({ id }) => ticked.has(id));
    const { links, isMore } = ticked.size === 0 ? await all() : { links: wanted, isMore: false };
    const addresses = links.map(({ id, original }) => original ?? `${location.origin}/posts/${id}`);
    const said = `Copied ${isMore ? 'the first ' : ''}${counted(links.length, 'link')}`;
    await copyText(addresses.join('\n'), element, said);
  };
  const element = button('Copy all links', () => void attempt(news, copy), { id: 'copy-links' });
  const boxes = (): NodeListOf<HTMLInputElement> => list.querySelectorAll('input.tick-post');
  const name = (): void => {
    element.textContent = ticked.size === 0 ? 'Copy all links' : `Copy ${counted(ticked.size, 'link')}`;
  };
  list.addEventListener('change', () => {
    for (const { value, checked } of boxes())
      if (checked) ticked.add(Number(value));
      else ticked.delete(Number(value));
    name();
  });
  return {
    button: element,
    show(shown: PostsAnswer): void {
      rows = shown.rows;
      for (const id of ticked) if (!rows.some((row) => row.id === id)) ticked.delete(id);
      for (const box of boxes()) box.checked = ticked.has(Number(box.value));
      name();
    },
    /** Ticks the post that has the focus, or takes the tick away. */
    toggle(): boolean {
      const box = document.activeElement?.closest('li')?.querySelector<HTMLInputElement>('input.tick-post');
      box?.click();
      return box !== null && box !== undefined;
    },
  };
}

/** What the address says; `from` is where the page of the cursor stands in the list. */
const FILTERS = ['search', 'board', 'status', 'creator', 'deleted', 'since', 'until', 'votes'] as const;
const NAMES = [...FILTERS, 'tz', 'sort', 'cursor', 'from'] as const;

/** Null is no choice. */
type Chosen = Record<(typeof NAMES)[number], string | null>;

/** Whether it shows less than everything. */
function isFiltered(chosen: Chosen): boolean {
  return FILTERS.some((name) => chosen[name]);
}

type Choose = ChooseOf<keyof Chosen>;

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
    placeholder: 'Words in posts or comments, #626, or an address',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-keyshortcuts': '/',
  });
  input.addEventListener('input', () => onText(input.value.trim() === '' ? null : input.value));
  return input;
}

function postFilters(chosen: Chosen, answer: PostsAnswer, choose: Choose): Child[] {
  const one = (name: keyof Chosen, label: string, choices: Choice[]): HTMLElement =>
    choiceField(name, label, withOther(choices, chosen[name]), chosen[name], (value) =>
      choose({ [name]: value }),
    );
  const several = (name: 'board' | 'status', label: string, choices: Choice[]): HTMLElement =>
    picks(name, label, choices, listed(chosen[name]), (change) =>
      choose((now) => ({ [name]: changedList(now[name], change) })),
    );
  return [
    several('board', 'Board', boardChoices(answer.boards)),
    several('status', 'Status', statusChoices(answer.statuses)),
    ...zonedPeriodFields(chosen, { usual: 'Any time', hasUntil: true }, choose),
    typed('votes', 'Votes, at least', chosen.votes, { type: 'number', min: 0, step: 1 }, choose),
    typed('creator', 'Written by', creatorText(chosen, answer), { placeholder: 'Name or e-mail' }, choose),
    one('deleted', 'Deleted posts', DELETED),
    chosen.search === null ? one('sort', 'Sort by', SORTS) : null,
    isFiltered(chosen) ? h('a.button', { id: 'clear-filters', href: '/posts' }, 'Clear all') : null,
  ];
}

/** A person's number in the address is shown as their name. */
function creatorText({ creator }: Chosen, { creator: person }: PostsAnswer): string | null {
  return creator !== null && person && String(person.id) === creator
    ? (person.name ?? `user ${creator}`)
    : creator;
}

function typed(
  name: 'votes' | 'creator',
  label: string,
  value: string | null,
  attributes: Record<string, string | number>,
  choose: Choose,
): HTMLElement {
  const input = h('input', { id: `field-${name}`, name, value, autocomplete: 'off', ...attributes });
  input.addEventListener('change', () => {
    const text = input.value.trim();
    // At least no vote is what every post has.
    if (input.reportValidity())
      choose({ [name]: name === 'votes' && Number(text) === 0 ? null : text || null });
  });
  return field(label, input);
}

/** What came with the address and is none of the usual choices is one too. */
function withOther(choices: Choice[], chosen: string | null): Choice[] {
  const isKnown = chosen === null || choices.some(({ value }) => value === chosen);
  return isKnown ? choices : [...choices, { value: chosen, text: chosen }];
}

function totalOf({ total, unindexed }: PostsAnswer, { search }: Chosen): string {
  const later =
    unindexed > 0 ? ` ${counted(unindexed, 'post')} cannot be searched yet: the index is being made.` : '';
  if (search !== null)
    return total.isMore
      ? `More than ${counted(total.posts, 'post')} found, the most relevant first.${later}`
      : `${counted(total.posts, 'post')} found.${later}`;
  return total.isMore ? `More than ${counted(total.posts, 'post')}.` : `${counted(total.posts, 'post')}.`;
}

/** What a search has to say besides what it found. */
function remarks({ rows, isPartial, suggestion }: PostsAnswer, correct: (text: string) => void): Child {
  const meant = suggestion && [
    'Did you mean ',
    button(suggestion, () => correct(suggestion), { class: 'link', id: 'suggestion' }),
    '? ',
  ];
  const some = isPartial && rows.length > 0 && 'No post has all of these words: these have most of them.';
  return meant || some ? h('p.note.remarks', meant, some) : null;
}

function postList({ rows }: PostsAnswer, chosen: Chosen): HTMLElement {
  if (rows.length > 0)
    return h(
      'ol.posts.card',
      { 'aria-label': 'Posts' },
      ...rows.map((row) => postRow(row, { canTick: true, zone: chosen.tz ?? OWN_ZONE })),
    );
  const isLess = isFiltered(chosen);
  return h(
    'p.empty.card',
    isLess ? 'No post matches. ' : 'Nothing is mirrored yet: see ',
    isLess ? h('a', { href: '/posts' }, 'Show all') : h('a', { href: '/sync' }, 'Sync'),
    '.',
  );
}

type Listed = ListedPost & Partial<Pick<LinkedPost, 'marked'>>;

/** A post as a line of a list. */
export function postRow(post: Listed, { canTick = false, zone = OWN_ZONE } = {}): HTMLElement {
  const { id, title, beginning, marked, votes, deleted } = post;
  const tick = h('input.tick-post', {
    type: 'checkbox',
    id: `tick-${id}`,
    value: id,
    'aria-label': `Choose ${title}`,
  });
  return h(
    'li',
    h(
      'span.post-votes',
      h('b', number(votes)),
      h('span', votes === 1 ? 'vote' : 'votes'),
      canTick ? tick : null,
    ),
    h(
      'div.post-body',
      h(
        'a.post-title',
        { dir: 'auto', id: `post-${id}`, href: `/posts/${id}` },
        marked ? marks(marked.title) : title || '(no title)',
      ),
      deleted === null ? null : [' ', tag('deleted', 'bad')],
      h(
        'p.post-snippet',
        { dir: 'auto' },
        marked?.isComment ? [tag('in a comment'), ' '] : null,
        marked ? marks(marked.snippet) : excerpt(beginning, BEGINNING),
      ),
      facts(post, zone),
    ),
  );
}

function facts(post: ListedPost, zone: string): HTMLElement {
  const { status, statusColor, board, boardSlug, creator, creatorId, comments, created } = post;
  return h(
    'p.post-facts',
    swatched(status, statusColor),
    h('a', { dir: 'auto', href: `/boards/${encodeURIComponent(boardSlug)}` }, board),
    h('a', { dir: 'auto', href: `/people/${creatorId}` }, creator ?? `user ${creatorId}`),
    h('span', counted(comments, 'comment')),
    timeTag(created, date(created, zone), zone),
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

type Finder = Pick<ReturnType<typeof createFinder>, 'search' | 'list' | 'copy' | 'toggle'>;

const DOWN = ['j', 'ArrowDown'];
const UP = ['k', 'ArrowUp'];

/**
 * j and k or the arrows through the posts, Enter opens (it is a link), x chooses, c copies links, n and p turn the page, Escape
 * clears. What is selected has the focus, so that a screen reader says it.
 */
function addPostKeys({ signal }: PageContext, { search, list, copy, toggle }: Finder): void {
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
    if (isField(event.target) && !isTick(event.target)) return false;
    const other = OTHER[event.key];
    if (other) return other();
    if (DOWN.includes(event.key) && (event.key === 'j' || isInList(event))) return move(1);
    return UP.includes(event.key) && isInList(event) && move(-1);
  };
  const press = (selector: string): boolean => {
    const link = document.querySelector<HTMLElement>(selector);
    link?.click();
    return link !== null;
  };
  const OTHER: Record<string, () => boolean> = {
    x: toggle,
    c: () => {
      copy.click();
      return true;
    },
    n: () => press('#next-page'),
    p: () => press('#previous-page'),
  };
  const isTick = (target: EventTarget | null): boolean =>
    target instanceof Element && target.matches('input.tick-post');
  const isInList = ({ target }: KeyboardEvent): boolean => target instanceof Node && list.contains(target);
  document.addEventListener('keydown', (event) => act(event) && event.preventDefault(), { signal });
}
