import type { CompanyAnswer } from '../../http/dashboard/segments.ts';
import { fetchJson, withQuery } from '../api.ts';
import { counted, number, titleOf } from '../format.ts';
import { h } from '../h.ts';
import { card, facts, pageHead } from '../parts/layout.ts';
import { postRow } from '../parts/post-row.ts';
import { pageOf } from '../shell/page.ts';

/** One customer: its plan and value, its people, and all that they asked for. */
export const page = pageOf<CompanyAnswer>({
  title: ({ company }) => company,
  follows: () => true,
  load: ({ parts: [name = ''] }, signal) =>
    fetchJson(withQuery('/data/companies', { name: decodeURIComponent(name) }), { signal }),
  view({ answer: { company, plans, value, valueName, people, posts } }) {
    const linked = people.map(({ id, name, email }) =>
      h('li', { key: id }, h('a', { href: `/people/${id}`, dir: 'auto' }, name ?? email ?? `user ${id}`)),
    );
    return [
      h('p.crumbs', h('a', { href: '/customers' }, 'Customers')),
      pageHead(company, `${counted(people.length, 'person', 'people')}, ${counted(posts.length, 'post')}.`),
      h(
        'div.grid',
        card(
          { title: 'The company', size: 'third' },
          facts([
            ['Plan', plans.join(', ') || '–'],
            [titleOf(valueName ?? 'value'), number(value)],
            ['People', h('ul.plain', linked)],
          ]),
        ),
        card(
          { title: 'What its people asked for', size: 'two-thirds' },
          posts.length === 0
            ? h('p.empty', 'They wrote and commented on nothing.')
            : h(
                'ol.posts.bare',
                posts.map((post) => postRow(post)),
              ),
        ),
      ),
    ];
  },
});
