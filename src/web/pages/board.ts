import type { BoardColumn, BoardView } from '../../store/browse/pages.ts';
import { fetchJson, withQuery } from '../api.ts';
import { type Child, h } from '../dom.ts';
import { counted, number } from '../format.ts';
import { keepDrawn, type Page } from '../page.ts';
import { pageHead, postLink, swatched } from '../parts.ts';

/** What is worth knowing of one board besides its posts. */
const REPORTS = ['top-posts', 'climbers', 'unanswered', 'stale', 'first-reply', 'new-by-week'];

/** A board as a roadmap: a column for each status, those with the most votes first. */
export const page: Page = {
  title: 'Board',
  async show(context) {
    const { root, parts, signal } = context;
    const slug = decodeURIComponent(parts[0] ?? '');
    const load = (): Promise<BoardView> =>
      fetchJson<BoardView>(`/data/boards/${encodeURIComponent(slug)}`, { signal });
    const body = h('div.stacked');
    await keepDrawn(context, body, load, (view) => drawn(view));
    root.append(h('p.crumbs', h('a', { href: '/posts' }, 'Posts')), body);
  },
};

function drawn({ board, posts, votes, columns }: BoardView): Child[] {
  document.title = `${board.name} · Feedback Mirror`;
  const reports = REPORTS.map((name) =>
    h(
      'li',
      h('a', { href: withQuery(`/reports/${name}`, { board: board.slug }) }, name.replaceAll('-', ' ')),
    ),
  );
  const tools = h('a.button', { href: withQuery('/posts', { board: board.slug }) }, 'All posts');
  return [
    pageHead(board.name, `${counted(posts, 'post')} with ${counted(votes, 'vote')}, by status.`, tools),
    h('ul.chips', { 'aria-label': 'Reports about this board' }, ...reports),
    columns.length === 0
      ? h('p.empty.card', 'No post is on this board.')
      : h(
          'div.roadmap',
          { role: 'region', 'aria-label': 'Posts by status', tabindex: 0 },
          ...columns.map((column) => columnOf(board.slug, column)),
        ),
  ];
}

function columnOf(slug: string, { status, posts, votes, top }: BoardColumn): HTMLElement {
  const rest = posts - top.length;
  const items = top.map(({ id, title, votes: has }) =>
    h('li', h('b.roadmap-votes', { title: counted(has, 'vote') }, number(has)), postLink(id, title)),
  );
  return h(
    'section.card',
    h('h2', swatched(status.name, status.color)),
    h('p.note', `${counted(posts, 'post')}, ${counted(votes, 'vote')}`),
    h('ol', ...items),
    rest > 0
      ? h(
          'a',
          { href: withQuery('/posts', { board: slug, status: status.id, sort: 'votes' }) },
          `${counted(rest, 'more post')}`,
        )
      : null,
  );
}
