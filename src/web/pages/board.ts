import type { BoardColumn, BoardView } from '../../search/browse/pages.ts';
import { fetchJson, withQuery } from '../api.ts';
import { counted, number, titleOf } from '../format.ts';
import { h, type VNode } from '../h.ts';
import { pageHead, swatched } from '../parts/layout.ts';
import { postLink } from '../parts/prose.ts';
import { pageOf } from '../shell/page.ts';

/** What is worth knowing of one board besides its posts. */
const REPORTS = ['top-posts', 'climbers', 'unanswered', 'stale', 'first-reply', 'new-by-week'];

/** A board as a roadmap: a column for each status, those with the most votes first. */
export const page = pageOf<BoardView>({
  title: ({ board }) => board.name,
  follows: () => true,
  load: ({ parts: [slug = ''] }, signal) =>
    fetchJson(`/data/boards/${encodeURIComponent(decodeURIComponent(slug))}`, { signal }),
  view: ({ answer: { board, posts, votes, columns } }) => [
    h('p.crumbs', h('a', { href: '/posts' }, 'Posts')),
    pageHead(
      board.name,
      `${counted(posts, 'post')} with ${counted(votes, 'vote')}, by status.`,
      h('a.button', { href: withQuery('/posts', { board: board.slug }) }, 'All posts'),
    ),
    h('div.stacked', reports(board.slug), roadmap(board.slug, columns)),
  ],
});

function reports(board: string): VNode {
  const links = REPORTS.map((name) =>
    h('li', h('a', { href: withQuery(`/reports/${name}`, { board }) }, titleOf(name))),
  );
  return h('ul.chips', { 'aria-label': 'Reports about this board' }, links);
}

function roadmap(slug: string, columns: readonly BoardColumn[]): VNode {
  if (columns.length === 0) return h('p.empty.card', 'No post is on this board.');
  return h(
    'div.roadmap',
    { role: 'region', 'aria-label': 'Posts by status', tabIndex: 0 },
    columns.map((column) => columnOf(slug, column)),
  );
}

function columnOf(slug: string, { status, posts, votes, top }: BoardColumn): VNode {
  const rest = posts - top.length;
  const items = top.map(({ id, title, votes: has }) =>
    h(
      'li',
      { key: id },
      h('b.roadmap-votes', { title: counted(has, 'vote') }, number(has)),
      postLink(id, title),
    ),
  );
  return h(
    'section.card',
    { key: status.id },
    h('h2', swatched(status.name, status.color)),
    h('p.note', `${counted(posts, 'post')}, ${counted(votes, 'vote')}`),
    h('ol', items),
    rest > 0
      ? h(
          'a',
          { href: withQuery('/posts', { board: slug, status: status.id, sort: 'votes' }) },
          counted(rest, 'more post'),
        )
      : null,
  );
}
