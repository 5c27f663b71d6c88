import type { ListedPerson, PeopleAnswer } from '../../http/dashboard/posts.ts';
import type { PersonView } from '../../search/browse/pages.ts';
import { fetchJson, withQuery } from '../api.ts';
import { counted, date, number } from '../format.ts';
import { h } from '../h.ts';
import { choiceField, field, SearchInput } from '../parts/controls.ts';
import { pageHead, pager, tag, timeTag } from '../parts/layout.ts';
import { emailText } from '../parts/prose.ts';
import { type TableColumn, table } from '../parts/table.ts';
import { choicesOf, pageOf, results } from '../shell/page.ts';

const choices = choicesOf(['search', 'sort', 'from', 'email']);

const SEARCH = { id: 'field-search-people', placeholder: 'Name, e-mail or number' };

const SORTS = [
  { value: '', text: 'Most posts' },
  { value: 'comments', text: 'Most comments' },
  { value: 'last', text: 'Wrote last' },
  { value: 'name', text: 'Name' },
];

/** Where somebody of the page belongs to a customer of the imported file. */
const SEGMENT: TableColumn<ListedPerson> = {
  head: 'Segment',
  cell: ({ company, plan }) => [
    company && h('a', { dir: 'auto', href: `/companies/${encodeURIComponent(company)}` }, company),
    plan && h('div.note', plan),
  ],
};

const COLUMNS: TableColumn<ListedPerson>[] = [
  {
    head: 'Person',
    kind: 'person',
    cell: ({ id, name, email, isTeam }) => [
      h('a', { id: `person-${id}`, dir: 'auto', href: `/people/${id}` }, name ?? `user ${id}`),
      isTeam === 1 ? [' ', tag('team')] : null,
      email === null ? null : h('div.note', emailText(email)),
    ],
  },
  {
    head: 'Posts',
    kind: 'number',
    cell: ({ id, posts }) =>
      posts === 0 ? '0' : h('a', { href: withQuery('/posts', { creator: id }) }, number(posts)),
  },
  {
    head: 'Comments',
    kind: 'number',
    cell: ({ id, comments }) => (comments === 0 ? '0' : h('a', { href: `/people/${id}` }, number(comments))),
  },
  { head: 'Wrote last', cell: ({ last }) => (last === null ? '–' : timeTag(last, date(last))) },
];

/** Everybody who wrote, to look through and to search. */
export const page = pageOf<PeopleAnswer>({
  title: 'People',
  choices,
  follows: () => true,
  async load({ url, go }, signal) {
    const email = url.searchParams.get('email');
    if (email !== null) {
      const { person } = await fetchJson<PersonView>(withQuery('/data/people', { email }), { signal });
      go(`/people/${person.id}`, { replace: true });
    }
    return await fetchJson(withQuery('/data/people', choices.read(url)), { signal });
  },
  view(shown) {
    const { answer, place } = shown;
    const chosen = choices.read(place.url);
    const choose = choices.chooser(place);
    const from = answer.from;
    const to = (first: number): string => withQuery('/people', { ...chosen, from: first > 1 ? first : null });
    const onText = (search: string | null): void => choose({ search, from: null }, { replace: true });
    return [
      pageHead(
        'People',
        `${counted(answer.total, 'person', 'people')} of this mirror.`,
        h('a.button', { href: '/customers' }, 'Customers'),
      ),
      h(
        'div.filters',
        field('Search people', h(SearchInput, { value: chosen.search, input: SEARCH, onText })),
        choiceField('sort', 'Sort by', SORTS, chosen.sort, (sort) => choose({ sort, from: null })),
      ),
      results(
        shown,
        h(
          'div.card',
          table({
            columns: answer.rows.some(({ company, plan }) => company ?? plan)
              ? COLUMNS.toSpliced(1, 0, SEGMENT)
              : COLUMNS,
            rows: answer.rows,
            key: ({ id }) => id,
            label: 'People',
            empty: 'Nobody is found.',
          }),
          pager({
            from,
            rows: answer.rows.length,
            total: { rows: answer.total, isMore: false },
            previous: from > 1 ? to(Math.max(1, from - answer.pageRows)) : null,
            next: from + answer.rows.length <= answer.total ? to(from + answer.rows.length) : null,
          }),
        ),
      ),
    ];
  },
});
