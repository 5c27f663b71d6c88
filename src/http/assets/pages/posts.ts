import type { PostsAnswer } from '../../dashboard/posts.ts';
import { ask, withQuery } from '../api.ts';
import { fill, h } from '../dom.ts';
import type { Page, PageContext } from '../page.ts';
import { banner, field, pageHead } from '../parts.ts';
import { onNews } from '../refresh.ts';
import { type Chosen, chosenIn, isFiltered, postFilters, searchField } from './posts-filters.ts';
import { addPostKeys } from './posts-keys.ts';
import { pagerOf, postList, totalOf } from './posts-list.ts';

/** Long enough for the next letter of a quick typist, short enough to feel like none. */
const TYPING_MS = 150;

/** Finds one post among all: by words as they are typed, by filters, in any order. */
export const page: Page = {
  title: 'Posts',
  async show(context) {
    const finder = createFinder(context);
    await finder.refresh();
    context.root.append(finder.head, finder.filters, finder.news, finder.list);
    addPostKeys(context, { search: finder.search, list: finder.list });
    onNews(context, finder.follow);
  },
};

function createFinder(context: PageContext) {
  const { signal } = context;
  let chosen = chosenIn(context.url);
  let asking = new AbortController();
  let typing: ReturnType<typeof setTimeout> | undefined;
  const [filters, list] = [h('div', { class: 'filters posts-filters' }), h('div', { class: 'posts-stage' })];
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
      const answer = await ask<PostsAnswer>(withQuery('/data/posts', { search: text, ...rest }), {
        signal: mine,
      });
      if (mine.aborted) return;
      fill(news);
      show(answer);
    } catch (error) {
      if (mine.aborted) return;
      if (list.childElementCount === 0) throw error;
      fill(news, banner('bad', error instanceof Error ? error.message : String(error)));
    }
  };
  /** In place, so that whoever types or chooses keeps the field; the address says the same, and so does the button back. */
  const choose = (change: Partial<Chosen>, { replace = false } = {}): void => {
    chosen = { ...chosen, cursor: null, ...change };
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
  const head = h(
    'div',
    {},
    pageHead('Posts', lead),
    h('div', { class: 'posts-search' }, field('Search posts', search)),
  );
  /** The first page moves with the mirror; what somebody has searched for or walked to stays. */
  const follow = async (): Promise<void> => {
    if (chosen.search === null && chosen.cursor === null) await refresh();
  };
  return { head, filters, news, list, search, refresh, follow };
}
