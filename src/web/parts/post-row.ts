import type { LinkedPost } from '../../http/dashboard/posts.ts';
import type { ListedPost } from '../../search/browse/post.ts';
import type { Part } from '../../search/search.ts';
import { counted, date, number, OWN_ZONE } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { excerpt } from '../text.ts';
import { swatched, tag, timeTag } from './layout.ts';

/** How much of each text the server sends to be shown; where one more character comes, the text goes on. */
const BEGINNING = 179;

type Listed = ListedPost & Partial<Pick<LinkedPost, 'marked'>>;

interface RowOptions {
  zone?: string;
  /** The box that chooses the post; none unless given. */
  tick?: { isOn: boolean; onChange(isOn: boolean): void };
}

/** A post as a line of a list. */
export function postRow(post: Listed, { zone = OWN_ZONE, tick }: RowOptions = {}): VNode {
  const { id, title, beginning, marked, votes, deleted } = post;
  const box =
    tick &&
    h('input.tick-post', {
      type: 'checkbox',
      id: `tick-${id}`,
      checked: tick.isOn,
      'aria-label': `Choose ${title}`,
      onChange: ({ currentTarget }) => tick.onChange(currentTarget.checked),
    });
  return h(
    'li',
    { key: id },
    h('span.post-votes', h('b', number(votes)), h('span', votes === 1 ? 'vote' : 'votes'), box),
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

function facts(post: ListedPost, zone: string): VNode {
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
