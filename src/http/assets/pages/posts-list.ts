import type { Part } from '../../../store/search.ts';
import type { PostsAnswer } from '../../dashboard/posts.ts';
import type { FoundPost } from '../../dashboard/reading.ts';
import { withQuery } from '../api.ts';
import { type Child, h } from '../dom.ts';
import { counted, date, number } from '../format.ts';
import { swatched } from '../parts.ts';
import type { Chosen } from './posts-filters.ts';

export function totalOf({ total, rows, unindexed }: PostsAnswer, { search }: Chosen): string {
  const later =
    unindexed > 0 ? ` ${counted(unindexed, 'post')} cannot be searched yet: the index is being made.` : '';
  if (search !== null)
    return rows.length === 50
      ? `The 50 most relevant posts.${later}`
      : `${counted(rows.length, 'post')} found.${later}`;
  if (total === null) return 'Further down the list.';
  return total.isMore ? `More than ${counted(total.posts, 'post')}.` : `${counted(total.posts, 'post')}.`;
}

export function postList({ rows }: PostsAnswer, isFiltered: boolean): HTMLElement {
  if (rows.length > 0) return h('ol', { class: 'posts card', 'aria-label': 'Posts' }, ...rows.map(row));
  return h(
    'p',
    { class: 'empty card' },
    isFiltered ? 'No post is like that. ' : 'Nothing is mirrored yet: see ',
    isFiltered ? h('a', { href: '/posts' }, 'Show all') : h('a', { href: '/sync' }, 'Sync'),
    '.',
  );
}

function row(post: FoundPost): HTMLElement {
  const { id, title, beginning, marked, votes, deleted } = post;
  return h(
    'li',
    {},
    h(
      'span',
      { class: 'post-votes' },
      h('b', {}, number(votes)),
      h('span', {}, votes === 1 ? 'vote' : 'votes'),
    ),
    h(
      'div',
      { class: 'post-body' },
      h(
        'a',
        { class: 'post-title', id: `post-${id}`, href: `/posts/${id}` },
        marked ? marks(marked.title) : title || '(no title)',
      ),
      deleted === null ? null : [' ', h('span', { class: 'tag', 'data-tone': 'bad' }, 'deleted')],
      h('p', { class: 'post-snippet' }, marked ? marks(marked.snippet) : beginning),
      facts(post),
    ),
  );
}

function facts(post: FoundPost): HTMLElement {
  const { status, statusColor, board, creator, creatorId, comments, created } = post;
  return h(
    'p',
    { class: 'post-facts' },
    swatched(status, statusColor),
    h('span', {}, board),
    h('a', { href: withQuery('/posts', { creator: creatorId }) }, creator ?? `user ${creatorId}`),
    h('span', {}, counted(comments, 'comment')),
    h('time', { datetime: created }, date(created)),
  );
}

function marks(parts: readonly Part[]): Child {
  return parts.map(({ text, isMatch }) => (isMatch ? h('mark', {}, text) : text));
}

export function pagerOf({ next }: PostsAnswer, chosen: Chosen): HTMLElement | null {
  if (next === null && chosen.cursor === null) return null;
  const to = (cursor: string | null): string => withQuery('/posts', { ...chosen, cursor });
  return h(
    'nav',
    { class: 'pager', 'aria-label': 'Pages' },
    chosen.cursor === null
      ? null
      : h('a', { class: 'button', id: 'first-page', href: to(null) }, 'First page'),
    next === null ? null : h('a', { class: 'button', id: 'next-page', href: to(next) }, 'Next page'),
  );
}
