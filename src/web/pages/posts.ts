import { useRef, useState } from 'preact/hooks';
import type { LinksAnswer, PostsAnswer } from '../../http/dashboard/posts.ts';
import { fetchJson, withQuery } from '../api.ts';
import { counted, OWN_ZONE } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { mounted } from '../mount.ts';
import { button, Filters, field, SearchInput } from '../parts/controls.ts';
import { useCopy } from '../parts/dialog.ts';
import { failure, pageHead, pager } from '../parts/layout.ts';
import { useOutcome } from '../parts/load.ts';
import { withZone } from '../parts/period.ts';
import { postRow } from '../parts/post-row.ts';
import { useSavedList, VIEWS } from '../parts/saved-list.ts';
import { segmentChoices, type WithCustomers } from '../parts/segment-field.ts';
import { type Choose, choicesOf, type PageProps, pageOf } from '../shell/page.ts';
import { countFilters, FILTERS, isFiltered, postFilters } from './post-filters.ts';
import { usePostKeys } from './post-keys.ts';

/** `from` is where the page of the cursor begins in the list. */
const choices = choicesOf([...FILTERS, 'tz', 'sort', 'cursor', 'from'], withZone);
type Chosen = ReturnType<typeof choices.read>;

/** Finds one post among all: by words as they are typed, by filters, in any order. */
export const page = pageOf<PostsAnswer & WithCustomers>({
  title: 'Posts',
  choices,
  async load({ url }, signal) {
    const asked = fetchJson<PostsAnswer>(withQuery('/data/posts', choices.read(url)), { signal });
    const [answer, customers] = await Promise.all([asked, segmentChoices(signal)]);
    return { ...answer, customers };
  },
  // The first page moves with the mirror; what somebody has searched for or walked to stays.
  follows({ url }) {
    const { search, cursor } = choices.read(url);
    return search === null && cursor === null;
  },
  view: (shown) => h(Finder, shown),
});

const SEARCH = {
  id: 'field-search',
  name: 'search',
  placeholder: 'Words in posts or comments, #626, or an address',
  'aria-keyshortcuts': '/',
} as const;

function Finder({ place, answer, isBusy, problem }: PageProps<PostsAnswer & WithCustomers>): Child {
  const chosen = choices.read(place.url);
  const turn = choices.chooser(place);
  /** Another choice begins with the first page. */
  const choose: Choose<keyof Chosen> = (change, options) =>
    turn(
      (now) => ({ cursor: null, from: null, ...(typeof change === 'function' ? change(now) : change) }),
      options,
    );
  const [search, list] = [useRef<HTMLInputElement>(null), useRef<HTMLDivElement>(null)];
  const shelf = useSavedList(VIEWS);
  const { said, attempt } = useOutcome();
  const links = useLinks(answer, chosen);
  usePostKeys(() => ({
    search: search.current,
    list: list.current,
    clear: () => choose({ search: null }),
    copy: () => void attempt(links.copy),
  }));
  const { cursor: _, from: __, ...wanted } = chosen;
  const onText = (text: string | null): void => choose({ search: text }, { replace: true });
  return [
    pageHead(
      'Posts',
      h('span', { role: 'status' }, totalOf(answer, chosen)),
      h(
        'div.actions',
        h(
          'details.picks.views',
          { id: 'picks-views' },
          h('summary', 'Saved views'),
          h('div.picks-list', shelf.list),
        ),
        button('Save view', () => shelf.save('Save this view', withQuery('/posts', wanted), null)),
        h('a.button', { download: 'posts.csv', href: withQuery('/data/posts.csv', wanted) }, 'Download CSV'),
        button(links.label, () => void attempt(links.copy), { id: 'copy-links' }),
      ),
    ),
    h(
      'div.posts-find',
      field(
        'Search posts',
        h(SearchInput, { value: chosen.search, onText, input: { ...SEARCH, ref: search } }),
      ),
      h(
        Filters,
        { look: 'posts-filters', chosen: countFilters(chosen) },
        postFilters(chosen, answer, choose),
      ),
    ),
    said,
    h(
      'div.posts-stage',
      { ref: list, class: isBusy ? 'busy' : null },
      problem ? failure(problem) : null,
      remarks(answer, (text) => choose({ search: text })),
      postList(answer, chosen, links),
      pagerOf(answer, chosen),
    ),
  ];
}

/** The upstream's own addresses of the posts that are ticked; of all in the list while none is. */
function useLinks({ rows }: PostsAnswer, chosen: Chosen) {
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set());
  const { said, copy } = useCopy();
  const wanted = rows.filter(({ id }) => ticked.has(id));
  return {
    ticked,
    label: said ?? (wanted.length === 0 ? 'Copy all links' : `Copy ${counted(wanted.length, 'link')}`),
    tick: (id: number, isOn: boolean): void =>
      setTicked((before) => new Set([...before].filter((one) => one !== id).concat(isOn ? [id] : []))),
    async copy(): Promise<void> {
      const { links, isMore } =
        wanted.length > 0
          ? { links: wanted, isMore: false }
          : await fetchJson<LinksAnswer>(withQuery('/data/posts/links', chosen));
      const addresses = links.map(
        ({ id, original }) => original ?? `${location.origin}${mounted(`/posts/${id}`)}`,
      );
      await copy(
        addresses.join('\n'),
        `Copied ${isMore ? 'the first ' : ''}${counted(links.length, 'link')}`,
      );
    },
  };
}

function totalOf(
  { total, unindexed }: Pick<PostsAnswer, 'total' | 'unindexed'>,
  { search }: Pick<Chosen, 'search'>,
): string {
  const later =
    unindexed > 0 ? ` ${counted(unindexed, 'post')} cannot be searched yet: the index is being made.` : '';
  const posts = counted(total.posts, 'post');
  if (search === null) return `${posts}.`;
  const order = total.posts > 1 ? ', the most relevant first' : '';
  if (!total.isMore) return `${posts} found${order}.${later}`;
  return total.posts < MOST_LISTED
    ? `More than ${posts} found. Type one more letter, and all are counted.${later}`
    : `More than ${posts} found, and the list and its CSV end there: a filter narrows the search.${later}`;
}

/** As many posts of a search can be gone through. */
const MOST_LISTED = 10_000;

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

function postList(
  { rows }: PostsAnswer,
  chosen: Chosen,
  { ticked, tick }: ReturnType<typeof useLinks>,
): VNode {
  if (rows.length > 0)
    return h(
      'ol.posts.card',
      { 'aria-label': 'Posts' },
      rows.map((row) =>
        postRow(row, {
          zone: chosen.tz ?? OWN_ZONE,
          tick: { isOn: ticked.has(row.id), onChange: (isOn) => tick(row.id, isOn) },
        }),
      ),
    );
  const isFilteredList = isFiltered(chosen);
  return h(
    'p.empty.card',
    isFilteredList ? 'No post matches. ' : 'Nothing is mirrored yet: see ',
    isFilteredList ? h('a', { href: '/posts' }, 'Show all') : h('a', { href: '/sync' }, 'Sync'),
    '.',
  );
}

/** What a page of the server holds. */
const PAGE_ROWS = 50;

function pagerOf({ rows, total, next, previous }: PostsAnswer, chosen: Chosen): VNode | null {
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
